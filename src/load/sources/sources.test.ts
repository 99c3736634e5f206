import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms } from '../../base.ts';
import { readSource } from './read-source.ts';
import type { Source } from './source.ts';

const lines = (source: Source | undefined): string[] =>
  (source ?? assert.fail('not recognised')).requests.map(
    ({ origin, step }) => `${step.method} ${origin ?? ''}${step.path}`,
  );
const problems = (source: Source | undefined): string[] =>
  (source?.problems ?? []).map(({ line, message }) => `${line ?? '-'}: ${message}`);

test('a curl command as a browser copies it', () => {
  const source = readSource(String.raw`curl 'https://shop.example:8443/api/cart?id=7' \
  -X 'PUT' \
  -H 'Content-Type: application/json' \
  -H 'X-Trace: it'\''s me' \
  -b 'session=abc' \
  --data-raw $'{"note":"don\'t\u0021"}' \
  --compressed`);
  assert.deepEqual(lines(source), ['PUT https://shop.example:8443/api/cart?id=7']);
  assert.deepEqual(source?.requests[0]?.step.headers, {
    'Content-Type': 'application/json',
    'X-Trace': "it's me",
    Cookie: 'session=abc',
  });
  assert.equal(source.requests[0].step.body, '{"note":"don\'t!"}');
});

test('curl flags in their shorter forms', () => {
  const source = readSource(`
$ curl -sS -u me:secret -d a=1 -d b=2 127.0.0.1:8080/form
curl -I http://127.0.0.1/
curl -G http://127.0.0.1/find?x=0 --data q=1
curl -XDELETE --url=http://127.0.0.1/items/1`);
  assert.deepEqual(lines(source), [
    'POST http://127.0.0.1:8080/form',
    'HEAD http://127.0.0.1/',
    'GET http://127.0.0.1/find?x=0&q=1',
    'DELETE http://127.0.0.1/items/1',
  ]);
  assert.equal(source?.requests[0]?.step.body, 'a=1&b=2');
  assert.equal(source.requests[0].step.headers['Authorization'], 'Basic bWU6c2VjcmV0');
  assert.equal(source.requests[0].step.headers['Content-Type'], 'application/x-www-form-urlencoded');
});

test('what a curl command cannot tell is a problem with its line', () => {
  const source = readSource(
    "curl --proxy http://p:1 http://a/\ncurl -d @body.json http://a/\ncurl -H 'x: y'\ncurl 'http://a/\n",
  );
  assert.deepEqual(lines(source), []);
  assert.deepEqual(problems(source), [
    '1: unknown flag --proxy: it may have a value, so what follows cannot be read',
    '2: the body is in the file body.json: put it into the command',
    '3: there is no address',
    '4: a quote is not closed',
  ]);
});

test('a HAR keeps the order and the times of its requests', () => {
  const entry = (at: string, method: string, url: string, more: object = {}): object => ({
    startedDateTime: `2026-11-30T06:00:${at}Z`,
    request: {
      method,
      url,
      headers: [
        { name: 'Host', value: 'x' },
        { name: ':authority', value: 'x' },
        { name: 'Accept', value: 'a/b' },
      ],
      ...more,
    },
  });
  const source = readSource(
    JSON.stringify({
      log: {
        version: '1.2',
        entries: [
          entry('00.000', 'GET', 'http://shop.example/'),
          entry('00.250', 'POST', 'http://shop.example/login', { postData: { mimeType: 'text/plain', text: 'hello' } }),
          entry('01.000', 'GET', 'data:text/plain,hi'),
        ],
      },
    }),
  );
  assert.deepEqual(lines(source), ['GET http://shop.example/', 'POST http://shop.example/login']);
  assert.deepEqual(
    source?.requests.map(({ at }) => at),
    [ms(0), ms(250)],
  );
  assert.deepEqual(source.requests[1]?.step.headers, { Accept: 'a/b' });
  assert.equal(source.requests[1].step.body, 'hello');
  assert.deepEqual(problems(source), ['-: entry 3: data:text/plain,hi is no address over HTTP']);
});

test("vegeta's targets as text", () => {
  const source = readSource(`# warm
GET http://127.0.0.1:8080/a
Accept: text/plain
X-Two: b:c

POST http://127.0.0.1:8080/b
@body.json
HEAD http://127.0.0.1:8080/c
nonsense here
`);
  assert.deepEqual(lines(source), [
    'GET http://127.0.0.1:8080/a',
    'POST http://127.0.0.1:8080/b',
    'HEAD http://127.0.0.1:8080/c',
  ]);
  assert.deepEqual(source?.requests[0]?.step.headers, { Accept: 'text/plain', 'X-Two': 'b:c' });
  assert.deepEqual(problems(source), [
    '7: the body is in the file body.json: give targets as JSON with the body in them',
    '9: found "nonsense here", expected a header such as Name: value',
  ]);
});

test("vegeta's targets as JSON", () => {
  const source = readSource(
    '{"method":"POST","url":"http://127.0.0.1/x","body":"aGVsbG8=","header":{"X-A":["1","2"]}}\n{"method":"GET"}\n{"method":"GET","url":"http://a/","body":"%%"}\n',
  );
  assert.deepEqual(lines(source), ['POST http://127.0.0.1/x']);
  assert.equal(source?.requests[0]?.step.body, 'hello');
  assert.deepEqual(problems(source), ['2: expected method and url, both texts', '3: body is not base64']);
});

test('an access log is played in its order, requests of one second spread over it', () => {
  const source = readSource(`10.0.0.7 - - [30/Nov/2026:06:01:38 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl/8"
10.0.0.7 - - [30/Nov/2026:06:01:38 +0000] "GET /b?x=1 HTTP/1.1" 200 5 "-" "curl/8"
10.0.0.7 - - [30/Nov/2026:07:01:39 +0100] "HEAD /c HTTP/1.1" 200 0 "-" "curl/8"
10.0.0.7 - - [30/Nov/2026:06:01:39 +0000] "POST /pay HTTP/1.1" 200 5 "-" "curl/8"
10.0.0.7 - - [30/Nov/2026:06:01:40 +0000] "\\x16\\x03" 400 0 "-" "-"
`);
  assert.deepEqual(lines(source), ['GET /a', 'GET /b?x=1', 'HEAD /c']);
  assert.deepEqual(
    source?.requests.map(({ at }) => at),
    [ms(0), ms(500), ms(1000)],
  );
  assert.deepEqual(problems(source), [
    '4: POST /pay: its body is not in the log',
    '5: no request in quotes such as "GET /path HTTP/1.1"',
  ]);
});

test('a log that knows milliseconds is played to the millisecond', () => {
  const at = (time: string, path: string): string =>
    `haproxy[7]: 10.0.0.1:5000 [${time}] main web/api-1 0/0/0/5/5 200 120 - - ---- 1/1/0/0/0 0/0 "GET ${path} HTTP/1.1"`;
  const source = readSource(`${at('30/Nov/2026:06:01:38.250', '/b')}\n${at('30/Nov/2026:06:01:38.100', '/a')}\n`);
  assert.deepEqual(lines(source), ['GET /a', 'GET /b']);
  assert.deepEqual(
    source?.requests.map(({ at: when }) => when),
    [ms(0), ms(150)],
  );
});

test('a text that is none of them is not guessed at', () => {
  for (const text of ['', 'hello', '<html></html>', 'GET /relative']) assert.equal(readSource(text), undefined, text);
});
