// One byte stream, one reading. Whatever could be read in two ways is refused before an endpoint hears of it; whatever is
// passed on is written anew, so that nginx, HAProxy and Node behind us see the same request that we saw.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEndpoint, rawEndpoint, stand, Talk } from './stand/stand.ts';
import { vectors } from './stand/smuggling-vectors.ts';

test('what has two readings is refused, and no byte of it reaches an endpoint', async (context) => {
  for (const { name, bytes, status } of vectors) {
    if (status === undefined) continue;
    await context.test(name, async () => {
      let reached = '';
      await using api = await rawEndpoint('api-1', (socket) => {
        socket.on('data', (piece) => (reached += piece.toString('latin1')));
      });
      await using gateway = await stand([api]);
      using talk = await Talk.with(gateway.port);
      talk.say(bytes);
      const heard = await talk.toTheEnd();
      assert.match(heard, new RegExp(`^HTTP/1.1 ${status} `));
      assert.equal(heard.match(/HTTP\/1\.1 \d/g)?.length, 1, 'one answer, and the connection ends');
      // A body that turns out to be wrong has been passed on up to there, but never to its end.
      if (!/^POST[^]*chunked\r\n\r\n/i.test(bytes)) assert.equal(reached, '');
      else assert.doesNotMatch(reached, /\r\n0\r\n\r\n/);
    });
  }
});

test('what has one reading reaches an endpoint in one canonical form', async (context) => {
  for (const { name, bytes, status, body } of vectors) {
    if (status !== undefined) continue;
    await context.test(name, async () => {
      await using api = await httpEndpoint('api-1', (request, response) => {
        const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
        assert.ok(length === undefined || coding === undefined, 'one length');
        assert.ok(coding === undefined || coding === 'chunked');
        let got = '';
        request.on('data', (piece: Buffer) => (got += piece.toString('latin1')));
        request.on('end', () => response.end(`<${got}>`));
      });
      await using gateway = await stand([api]);
      using talk = await Talk.with(gateway.port);
      talk.say(`${bytes}GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const heard = await talk.toTheEnd();
      assert.deepEqual(
        [...heard.matchAll(/<(.*?)>/g)].map((match) => match[1]),
        [body ?? '', ''],
      );
      assert.equal(api.served(), 2);
    });
  }
});

test('a bad request behind a good one is answered in its turn, after the good one', async () => {
  await using api = await httpEndpoint('api-1', (_request, response) => setImmediate(() => response.end('good')));
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/9.9\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(await talk.toTheEnd(), /^HTTP\/1.1 200 OK[^]*goodHTTP\/1.1 505 [^]*\n$/);
  assert.equal(api.served(), 1);
});

test('a body announced by GET is passed on with its length, never left for the next request', async () => {
  await using api = await httpEndpoint('api-1', (request, response) => {
    let got = '';
    request.on('data', (piece: Buffer) => (got += piece.toString('latin1')));
    request.on('end', () => response.end(`<${request.url} ${got.length}>`));
  });
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  const inner = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  talk.say(`GET /outer HTTP/1.1\r\nHost: x\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`);
  await talk.until(/<\/outer \d+>/);
  talk.say('GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const heard = await talk.toTheEnd();
  assert.match(heard, new RegExp(`</outer ${inner.length}>`));
  assert.match(heard, /<\/next 0>/);
  assert.doesNotMatch(heard, /smuggled/);
});
