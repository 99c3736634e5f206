// What a request and its answer become on their way through, with node:http and raw sockets on both sides.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering, echo, gate, get, httpEndpoint, rawEndpoint, seenOf, stand, Talk } from './stand/stand.ts';

test('a request arrives as it was sent, with the traces of a gateway', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  const answer = await get(gateway.port, '/a/b?c=d', {
    method: 'POST',
    headers: { 'x-own': 'Value', cookie: 'a=b; c=d', host: 'shop.example', 'x-forwarded-for': '10.1.2.3' },
    body: 'twelve bytes',
  });
  const seen = seenOf(answer.body);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['x-plimsoll-replica'], 'api-1');
  assert.equal(seen.method, 'POST');
  assert.equal(seen.url, '/a/b?c=d');
  assert.equal(seen.size, 12);
  assert.equal(seen.headers['host'], 'shop.example');
  assert.equal(seen.headers['x-own'], 'Value');
  assert.equal(seen.headers['cookie'], 'a=b; c=d');
  assert.equal(seen.headers['x-forwarded-for'], '10.1.2.3, 127.0.0.1');
  assert.equal(seen.headers['via'], '1.1 plimsoll');
});

test('fields of one hop are not passed on, in either direction', async () => {
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.once('data', (bytes) => {
      const body = bytes.toString('latin1');
      socket.write(
        'HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\nX-Hop: secret\r\n' +
          `X-End: kept\r\nProxy-Connection: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say(
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: X-Private, close\r\nX-Private: no\r\nTE: trailers\r\n' +
      'Keep-Alive: 5\r\nProxy-Connection: y\r\nTrailer: z\r\nX-Public: yes\r\n\r\n',
  );
  const heard = await talk.toTheEnd();
  const [head, seen] = splitOnce(heard, '\r\n\r\n');
  assert.match(seen, /\r\nx-public: yes\r\n/i);
  assert.doesNotMatch(seen, /x-private|keep-alive|proxy-connection|trailer:|connection: (?!te\r)/i);
  assert.match(head, /\r\nX-End: kept/);
  assert.match(head, /\r\nconnection: close/);
  assert.doesNotMatch(head, /x-hop|keep-alive|proxy-connection/i);
});

test('an absolute target decides the host, whatever the Host field says', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('GET http://real.example:81/p?q HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n');
  const seen = seenOf(bodyOf(await talk.toTheEnd()));
  assert.equal(seen.url, '/p?q');
  assert.equal(seen.headers['host'], 'real.example:81');
});

test('an answer without a Date gets one', async () => {
  await using api = await rawEndpoint('api-1', answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  await using gateway = await stand([api]);
  const { headers } = await get(gateway.port);
  assert.ok(Math.abs(Date.parse(headers.date ?? '') - Date.now()) < 5000);
});

test('HEAD, 204 and 304 have no body, and the connection goes on behind them', async () => {
  await using api = await httpEndpoint('api-1', (request, response) => {
    if (request.url === '/204') response.writeHead(204).end();
    else if (request.url === '/304') response.writeHead(304, { etag: '"e"' }).end();
    else response.writeHead(200, { 'content-length': 5 }).end(request.method === 'HEAD' ? undefined : 'hello');
  });
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('HEAD / HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(await talk.until(/\r\n\r\n/), /content-length: 5\r\n\r\n$/i);
  talk.heard = '';
  talk.say('GET /204 HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.doesNotMatch(await talk.until(/\r\n\r\n/), /content-length|transfer-encoding/i);
  talk.heard = '';
  talk.say('GET /304 HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(await talk.until(/\r\n\r\n/), /etag: "e"/i);
  talk.heard = '';
  talk.say('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.match(await talk.toTheEnd(), /\r\n\r\nhello$/);
});

test('a chunked body is passed on chunk by chunk, in both directions', async () => {
  const firstSeen = gate();
  await using api = await httpEndpoint('api-1', (request, response) => {
    request.on('data', (piece: Buffer) => {
      response.write(piece.toString('latin1').toUpperCase());
      firstSeen.open();
    });
    request.on('end', () => response.end());
  });
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
  await firstSeen.opened;
  assert.match(await talk.until(/ABC/), /transfer-encoding: chunked\r\n(.*\r\n)*\r\n3\r\nABC\r\n/i);
  talk.say('2\r\nde\r\n0\r\n\r\n');
  // The answer began before the request was complete, so this connection is not used again.
  assert.match(await talk.toTheEnd(), /2\r\nDE\r\n0\r\n\r\n$/);
});

test('an answer that ends with its connection reaches a 1.1 client in chunks and a 1.0 client until close', async () => {
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nall of it'));
  });
  await using gateway = await stand([api]);
  const answer = await get(gateway.port);
  assert.equal(answer.headers['transfer-encoding'], 'chunked');
  assert.equal(answer.body, 'all of it');
  using old = await Talk.with(gateway.port);
  old.say('GET / HTTP/1.0\r\n\r\n');
  const heard = await old.toTheEnd();
  assert.doesNotMatch(heard, /transfer-encoding|content-length/i);
  assert.match(heard, /\r\n\r\nall of it$/);
});

test('a 1.0 client keeps its connection only when it asks to', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  using plain = await Talk.with(gateway.port);
  plain.say('GET / HTTP/1.0\r\n\r\n');
  assert.match(await plain.toTheEnd(), /^HTTP\/1.1 200 OK\r\n(.*\r\n)*connection: close/);
  using asking = await Talk.with(gateway.port);
  asking.say('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
  assert.match(await asking.until(/\}$/), /connection: keep-alive/);
  asking.heard = '';
  asking.say('GET /again HTTP/1.0\r\n\r\n');
  assert.match(await asking.toTheEnd(), /"url":"\/again"/);
});

test('pipelined requests are answered in order, and one at a time reaches an endpoint', async () => {
  let inside = 0;
  let insideMax = 0;
  await using api = await httpEndpoint('api-1', (request, response) => {
    inside += 1;
    insideMax = Math.max(insideMax, inside);
    setImmediate(() => {
      inside -= 1;
      response.end(`[${request.url}]`);
    });
  });
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  const requests = Array.from({ length: 20 }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: x\r\n\r\n`);
  talk.say(`${requests.join('')}GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const heard = await talk.toTheEnd();
  const order = [...heard.matchAll(/\[\/(\w+)\]/g)].map((match) => match[1]);
  assert.deepEqual(order, [...Array.from({ length: 20 }, (_, index) => String(index)), 'last']);
  assert.equal(insideMax, 1);
});

test('a request cut into single bytes is one request', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port, { allowHalfOpen: true });
  talk.socket.setNoDelay(true);
  for (const character of 'PUT /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc') {
    talk.say(character);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const seen = seenOf(bodyOf(await talk.toTheEnd()));
  assert.equal(seen.size, 3);
  assert.equal(seen.headers['content-length'], '3');
});

test('the endpoint says 100 Continue, and the client hears it before it sends its body', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n');
  assert.match(await talk.until(/\r\n\r\n/), /^HTTP\/1.1 100 Continue\r\n/);
  talk.say('body');
  assert.match(await talk.toTheEnd(), /HTTP\/1.1 200 OK[^]*"size":4/);
});

test('a final answer instead of 100 Continue ends the connection, since the body may or may not come', async () => {
  await using api = await rawEndpoint(
    'api-1',
    answering('HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n'),
  );
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n');
  assert.match(await talk.toTheEnd(), /^HTTP\/1.1 417 [^]*connection: close/);
});

test('other interim answers pass, but not to a 1.0 client', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n';
  await using api = await rawEndpoint('api-1', answering(`${early}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`));
  await using gateway = await stand([api]);
  using modern = await Talk.with(gateway.port);
  modern.say('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.match(await modern.toTheEnd(), /^HTTP\/1.1 103 Early Hints\r\nLink: <\/a.css>\r\n\r\nHTTP\/1.1 200 OK/);
  using old = await Talk.with(gateway.port);
  old.say('GET / HTTP/1.0\r\n\r\n');
  assert.match(await old.toTheEnd(), /^HTTP\/1.1 200 OK/);
});

test('one upstream connection serves request after request', async () => {
  await using api = await rawEndpoint('api-1', answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  await using gateway = await stand([api]);
  for (let count = 0; count < 10; count++) await get(gateway.port);
  assert.equal(api.connections(), 1);
});

test('an upstream connection is not used again after a close, in whatever way it was announced', async () => {
  for (const head of [
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
  ]) {
    await using api = await rawEndpoint('api-1', answering(head));
    await using gateway = await stand([api]);
    for (let count = 0; count < 3; count++) await get(gateway.port);
    assert.equal(api.connections(), 3, head);
  }
});

test('an upgrade becomes a tunnel in both directions, and its first bytes are not lost', async () => {
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.once('data', (head) => {
      const asked = /upgrade: echo/i.test(head.toString('latin1'));
      socket.write(`HTTP/1.1 ${asked ? 101 : 400} x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello`);
      const rest = head.toString('latin1').split('\r\n\r\n')[1] ?? '';
      socket.write(rest.toUpperCase());
      socket.on('data', (bytes) => socket.write(bytes.toString('latin1').toUpperCase()));
      socket.on('end', () => socket.end('bye'));
    });
  });
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst.');
  await talk.until(/FIRST\./);
  talk.say('second.');
  await talk.until(/SECOND\./);
  talk.socket.end();
  const heard = await talk.toTheEnd();
  assert.match(heard, /^HTTP\/1.1 101 x\r\n[^]*upgrade: echo\r\n\r\nhelloFIRST\.SECOND\.bye$/i);
});

test('an upgrade that is refused leaves the connection to HTTP', async () => {
  await using api = await httpEndpoint('api-1', (_request, response) => response.end('no'));
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await talk.until(/no$/);
  talk.say('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.equal((await talk.toTheEnd()).match(/HTTP\/1.1 200 OK/g)?.length, 2);
});

test('an upgrade to h2c is not passed on', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say(
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n',
  );
  const seen = seenOf(bodyOf(await talk.toTheEnd()));
  assert.equal(seen.headers['upgrade'], undefined);
  assert.equal(seen.headers['http2-settings'], undefined);
});

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

/** The body of a single answer with a Content-Length. */
function bodyOf(text: string): string {
  return splitOnce(text, '\r\n\r\n')[1];
}
