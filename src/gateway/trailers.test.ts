// Fields behind the body: they go on where both hops can carry them and somebody wants them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEndpoint, rawEndpoint, stand, Talk } from './stand/stand.ts';

const asked = (fields: string): string =>
  `POST / HTTP/1.1\r\nHost: x\r\n${fields}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n`;

test('the trailers of a request reach the endpoint, announced or not, but for those that must not be trailers', async () => {
  let seen = '';
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1');
      if (seen.endsWith('\r\n\r\n') && seen.includes('\r\n0\r\n'))
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say(asked('Trailer: X-Sum, X-More\r\n'));
  talk.say('X-Sum: 42\r\nContent-Length: 7\r\nHost: other\r\nAuthorization: no\r\nX-More: yes\r\n\r\n');
  assert.match(await talk.until(/\r\n\r\n/), /^HTTP\/1\.1 200/);
  assert.match(seen, /\r\ntrailer: X-Sum, X-More\r\n/);
  assert.match(seen, /\r\n4\r\nbody\r\n0\r\nX-Sum: 42\r\nX-More: yes\r\n\r\n$/);
});

test('the trailers of an answer reach a client that can take them, and nobody else', async () => {
  let seen = '';
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.on('data', (bytes) => {
      seen = bytes.toString('latin1');
      socket.write(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 42\r\n\r\n',
      );
    });
  });
  await using gateway = await stand([api]);
  const ask = async (fields: string): Promise<string> => {
    using talk = await Talk.with(gateway.port);
    talk.say(`GET / HTTP/1.1\r\nHost: x\r\n${fields}Connection: close\r\n\r\n`);
    return await talk.toTheEnd();
  };
  assert.match(await ask('TE: gzip, trailers\r\n'), /\r\ntrailer: X-Sum\r\n[^]*4\r\nbody\r\n0\r\nX-Sum: 42\r\n\r\n$/);
  assert.match(seen, /\r\nte: trailers\r\nconnection: te\r\n/);
  for (const fields of ['', 'TE: trailersx\r\n', 'TE: gzip\r\n']) {
    assert.match(await ask(fields), /4\r\nbody\r\n0\r\n\r\n$/, fields);
    assert.doesNotMatch(seen, /\r\nte: /, fields);
  }
});

test('a request is sent again with its trailers, and its connection goes on behind them', async () => {
  await using bad = await rawEndpoint('api-1', (socket) => socket.once('data', () => socket.destroy()));
  await using good = await httpEndpoint('api-2', (request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(request.trailers)));
  });
  await using gateway = await stand([bad, good]);
  using talk = await Talk.with(gateway.port);
  const put = asked('').replace('POST', 'PUT');
  talk.say(`${put}X-Sum: 1\r\n\r\n`);
  await talk.until(/"x-sum":"1"/);
  talk.say(`${put}X-Sum: 2\r\n\r\n`);
  assert.match(await talk.until(/"x-sum":"2"/), /^HTTP\/1\.1 200 [^]*"x-sum":"1"[^]*"x-sum":"2"/);
});
