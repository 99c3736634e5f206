// Bodies of a megabyte in both directions, with peers that read slowly or stop: every byte arrives, and the gateway holds no
// more of them than the buffers between it and the kernel.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { gate, get, httpEndpoint, rawEndpoint, stand, Talk } from './stand/stand.ts';

const megabyte = randomBytes(1024 * 1024);
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Reads a stream in small sips, one a turn, and digests it. */
async function sip(stream: NodeJS.ReadableStream & AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of stream) {
    hash.update(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return hash.digest('hex');
}

test('a megabyte comes through in both directions, with a length and in chunks, to slow readers', async () => {
  await using api = await httpEndpoint('api-1', async (request, response) => {
    const got = await sip(request);
    response.setHeader('x-got', got);
    if (request.url === '/length') response.setHeader('content-length', megabyte.length);
    response.end(megabyte);
  });
  await using gateway = await stand([api]);
  for (const path of ['/length', '/chunked']) {
    const headers = path === '/length' ? { 'content-length': megabyte.length } : { 'transfer-encoding': 'chunked' };
    const answered = Promise.withResolvers<http.IncomingMessage>();
    const request = http.request(
      { host: '127.0.0.1', port: gateway.port, method: 'POST', path, headers },
      answered.resolve,
    );
    request.end(megabyte);
    const response = await answered.promise;
    assert.equal(response.headers['x-got'], digest(megabyte));
    assert.equal(await sip(response), digest(megabyte));
  }
});

test('a client that stops reading stops the endpoint, not the gateway’s memory', async () => {
  let written = 0;
  const stalled = gate();
  await using api = await httpEndpoint('api-1', (_request, response) => {
    // Offers 256 MB, as fast as they are taken.
    const offer = (): void => {
      for (;;) {
        if (written >= 256 * megabyte.length) return void response.end();
        written += megabyte.length;
        if (!response.write(megabyte)) break;
      }
      stalled.open();
      response.once('drain', offer);
    };
    offer();
  });
  await using gateway = await stand([api]);
  const client = net.connect(gateway.port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  client.pause();
  await stalled.opened;
  // Wait until nothing has moved for a while: every buffer on the way is full.
  for (let before = -1; before !== written;) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const inKernel = 24 * 1024 * 1024;
  assert.ok(written < inKernel, `${written} bytes left the endpoint while nobody read`);
  client.destroy();
});

test('an endpoint that stops reading stops the client, not the gateway’s memory', async () => {
  await using api = await rawEndpoint('api-1', (socket) => socket.pause());
  await using gateway = await stand([api]);
  const client = net.connect(gateway.port, '127.0.0.1');
  client.on('error', () => {});
  client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${256 * megabyte.length}\r\n\r\n`);
  let sent = 0;
  const offer = (): void => {
    while (sent < 256 * megabyte.length) {
      sent += megabyte.length;
      if (!client.write(megabyte)) break;
    }
  };
  client.on('drain', offer);
  offer();
  for (let before = -1; before !== sent;) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(sent < 24 * 1024 * 1024, `${sent} bytes left the client while nobody read`);
  client.destroy();
});

test('a client that was behind goes on where it stopped, and its connection is used again', async () => {
  await using api = await httpEndpoint('api-1', (_request, response) => response.end(megabyte));
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.socket.pause();
  talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8));
  await new Promise((resolve) => setTimeout(resolve, 100));
  talk.socket.resume();
  talk.say('GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const heard = await talk.toTheEnd();
  assert.equal(heard.match(/HTTP\/1\.1 200 OK\r\n/g)?.length, 9);
  assert.ok(heard.length > 9 * megabyte.length);
});

test('an answer that comes before the end of a large upload reaches the client', async () => {
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nenou');
      socket.end();
    });
  });
  await using gateway = await stand([api]);
  const answer = await get(gateway.port, '/', { method: 'POST', body: megabyte });
  assert.equal(answer.status, 413);
  assert.equal(answer.body, 'enou');
});
