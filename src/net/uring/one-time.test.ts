// Plain sockets and those under TLS have an engine each, on one thread and under one name: time must be one for both.

import assert from 'node:assert/strict';
import type net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import type { Instant } from '../../base.ts';
import type { Socket, SocketHandler } from '../engine.ts';
import { ServerTls } from '../server-tls.ts';
import { testCertificate, testKey } from '../test-certificate.ts';
import { uringEngine } from './uring-engine.ts';

const host = '127.0.0.1';
const engine = uringEngine({ waitsInRing: true });
const skip = 'why' in engine ? engine.why : false;

test('between plain sockets and sockets under TLS time does not go back', { skip, timeout: 20_000 }, async () => {
  if ('why' in engine) return;
  let last = 0;
  let backwards = 0;
  const seen = (now: Instant): void => {
    if (now < last) backwards += 1;
    last = now;
  };
  const echo: SocketHandler = {
    onData: (socket, bytes, now) => {
      seen(now);
      socket.write(bytes);
    },
    onClose: () => {},
  };
  const plain = await engine.listen({ host, port: 0 }, () => echo);
  // What comes under TLS goes on to a plain socket, and its answer back: a gateway.
  const gateway = (client: Socket): SocketHandler => {
    const upstream = engine.connect(
      { host, port: plain.port },
      { onData: (_socket, bytes, now) => (seen(now), void client.write(bytes)), onClose: () => {} },
    );
    return {
      onData: (_socket, bytes, now) => {
        seen(now);
        // Longer than the clock's step, so that instants taken at different times differ.
        for (const until = performance.now() + 0.02; performance.now() < until;);
        upstream.write(bytes);
      },
      onClose: () => upstream.destroy(),
    };
  };
  const secure = new ServerTls({ certificates: [{ key: testKey, cert: testCertificate }] });
  const listener = await engine.listen({ host, port: 0, tls: secure }, gateway);
  const clients = Array.from({ length: 12 }, () =>
    tls.connect({ port: listener.port, host, rejectUnauthorized: false }),
  );
  await Promise.all(clients.map((client) => bounced(client, 40)));
  for (const client of clients) client.destroy();
  await engine.close();
  assert.equal(backwards, 0);
});

/** Sends a byte and waits for it, so many times. */
function bounced(client: net.Socket, times: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = times;
    client.once('error', reject);
    client.on('data', () => {
      left -= 1;
      if (left > 0) client.write('x');
      else resolve();
    });
    client.write('x');
  });
}
