import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Step } from '../scenario.ts';
import type { LoadTarget } from './contract.ts';
import { requestBytes } from './request-bytes.ts';

const step: Step = { method: 'GET', path: '/items?id=1', headers: {}, body: undefined };
const here = { id: 'gateway', host: '127.0.0.1', port: 8080 };

function check(asked: Step, target: LoadTarget, expected: string): void {
  assert.equal(new TextDecoder().decode(requestBytes(asked, target)), expected.replaceAll('\n', '\r\n'));
}

test('a plain request has a host, and says who asks', () => {
  check(step, here, 'GET /items?id=1 HTTP/1.1\nHost: 127.0.0.1:8080\nUser-Agent: plimsoll\nAccept: */*\n\n');
});

test("the scheme's own port is left out, and an IPv6 address stands in brackets", () => {
  check(
    step,
    { ...here, host: '::1', port: 80 },
    'GET /items?id=1 HTTP/1.1\nHost: [::1]\nUser-Agent: plimsoll\nAccept: */*\n\n',
  );
});

test("behind TLS the scheme's own port is another", () => {
  const tls = { serverName: 'shop.example' };
  const secure = { ...here, host: 'shop.example', tls };
  check(
    step,
    { ...secure, port: 443 },
    'GET /items?id=1 HTTP/1.1\nHost: shop.example\nUser-Agent: plimsoll\nAccept: */*\n\n',
  );
  check(
    step,
    { ...secure, port: 80 },
    'GET /items?id=1 HTTP/1.1\nHost: shop.example:80\nUser-Agent: plimsoll\nAccept: */*\n\n',
  );
});

test('a body is announced by its length in bytes, not in characters', () => {
  check(
    { ...step, method: 'POST', body: 'Größe' },
    here,
    'POST /items?id=1 HTTP/1.1\nHost: 127.0.0.1:8080\nUser-Agent: plimsoll\nAccept: */*\nContent-Length: 7\n\nGröße',
  );
});

test('an empty body is a body', () => {
  assert.match(new TextDecoder().decode(requestBytes({ ...step, body: '' }, here)), /Content-Length: 0\r\n/);
});

test("a step's own headers win over ours", () => {
  check(
    { ...step, headers: { host: 'shop.example', 'user-agent': 'probe', accept: 'text/html', 'X-Id': '7' } },
    here,
    'GET /items?id=1 HTTP/1.1\nhost: shop.example\nuser-agent: probe\naccept: text/html\nX-Id: 7\n\n',
  );
});

test('a line break cannot smuggle a second header in', () => {
  assert.throws(() => requestBytes({ ...step, headers: { a: 'b\r\nc: d' } }, here), /is one line/);
});
