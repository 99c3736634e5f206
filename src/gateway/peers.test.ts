// One byte stream, one reading, whoever stands behind us: Node, nginx and HAProxy as endpoints, the last two before a Node server that
// says what has reached it. Every vector is sent through each of them, with a request behind it; what arrives at the end is the
// same for all, and what we read ourselves. A machine without nginx or HAProxy skips theirs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { haproxy, nginx, noHaproxy, noNginx, temporaryFolder } from './stand/peers.ts';
import { type EndpointAddress, get, type HttpEndpoint, httpEndpoint, stand, Talk } from './stand/stand.ts';
import { vectors } from './stand/smuggling-vectors.ts';

test('Node behind us reads what we read', async () => {
  await using last = await recorder();
  await readsAlike(last, last);
});

test('nginx behind us reads what we read', { skip: noNginx }, async () => {
  await using folder = await temporaryFolder();
  await using last = await recorder();
  const server = `server { listen 127.0.0.1:PORT; location / { proxy_pass http://127.0.0.1:${last.port}; } }`;
  await using peer = await nginx(folder.path, server);
  await readsAlike(peer, last);
});

test('HAProxy behind us reads what we read', { skip: noHaproxy }, async () => {
  await using folder = await temporaryFolder();
  await using last = await recorder();
  await using peer = await haproxy(folder.path, 'bind 127.0.0.1:PORT', `server api-1 127.0.0.1:${last.port}`);
  await readsAlike(peer, last);
});

type Recorder = HttpEndpoint & { readonly readings: string[] };

/** A server that writes down each whole request: `POST / "ab"`. */
async function recorder(): Promise<Recorder> {
  const readings: string[] = [];
  const server = await httpEndpoint('api-1', (request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString('latin1')));
    request.on('end', () => {
      readings.push(`${request.method} ${request.url} ${JSON.stringify(body)}`);
      response.end('fine');
    });
    request.on('error', () => {});
  });
  return Object.assign(server, { readings });
}

async function readsAlike(peer: EndpointAddress, last: Recorder): Promise<void> {
  await using gateway = await stand([peer]);
  const wrong: string[] = [];
  for (const { name, bytes, status, body } of vectors) {
    last.readings.length = 0;
    using talk = await Talk.with(gateway.port);
    talk.say(`${bytes}GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const heard = await talk.toTheEnd();
    const [, method = 'GET', path = '/'] = /^(?:\r\n)*([A-Z]+) (\S+) /.exec(bytes) ?? [];
    const first = `${method} ${originForm(path)} ${JSON.stringify(body ?? '')}`;
    const expected = status === undefined ? [first, 'GET /next ""'] : [];
    const answers = heard.match(/HTTP\/1\.1 \d\d\d /g) ?? [];
    const goodAnswers = status === undefined ? ['HTTP/1.1 200 ', 'HTTP/1.1 200 '] : [`HTTP/1.1 ${status} `];
    if (String(last.readings) !== String(expected))
      wrong.push(`${name}: read ${last.readings.join(', ') || 'nothing'}`);
    if (String(answers) !== String(goodAnswers)) wrong.push(`${name}: answered ${answers.join(', ') || 'nothing'}`);
  }
  assert.deepEqual(wrong, []);
  const large = await get(gateway.port, '/', { method: 'POST', body: 'x'.repeat(1024 * 1024) });
  assert.equal(large.status, 200);
  assert.equal((await get(gateway.port, '/', { method: 'HEAD' })).status, 200);
}

function originForm(target: string): string {
  return target.replace(/^http:\/\/[^/]+/, '');
}
