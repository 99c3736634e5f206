import assert from 'node:assert/strict';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connectHttp2 } from './http2-client.ts';

test('a link that is destroyed while it connects is closed, and nothing is thrown when the connection is made after all', async () => {
  const server = http2.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let ready = 0;
  const closings = Array.from(
    { length: 20 },
    () =>
      new Promise((resolve) => {
        const handler = { onReady: () => (ready += 1), onGoAway: () => {}, onClosed: resolve };
        connectHttp2({ host: '127.0.0.1', port }, handler).destroy();
      }),
  );
  const errors = await Promise.all(closings);
  // Whoever is told of a connection that its session does not want any more is told in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    errors.filter((error) => error !== undefined),
    [],
  );
  assert.equal(ready, 0);
  server.close();
});
