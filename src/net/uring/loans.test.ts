// What is received is sent on from where it lies. With four buffers for everybody, one that is not given back is missed at once:
// readers that stall, and sockets that are dropped while their bytes are under way, must not keep any, and no byte may change
// while it waits.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { dice } from '../../base.ts';
import type { Engine, Socket } from '../engine.ts';
import { uringEngine } from './uring-engine.ts';

const host = '127.0.0.1';
const timeout = 20_000;
const sizes = { receiveBytes: 5000, receiveBuffersFirst: 2, receiveBuffersMax: 4 };

test('bytes are passed on unchanged past readers that stall and peers that go', { timeout }, async (context) => {
  const engine = uringEngine({ sizes, highWaterMark: 20_000 });
  if ('why' in engine) return context.skip(engine.why);
  const chance = dice(3, 'loans');
  const said = Buffer.from(Array.from({ length: 400_000 }, () => Math.floor(chance.next() * 256)));
  try {
    await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const goesAfter = index % 3 === 2 ? Math.floor(chance.next() * said.length) : undefined;
        const heard = await passedOn(engine, said, goesAfter);
        assert.ok(heard.equals(said.subarray(0, heard.length)), `reader ${index} hears what was said`);
        if (goesAfter === undefined) assert.equal(heard.length, said.length);
      }),
    );
    // Four buffers are left: with one missing this would be slower, with all of them it would never end.
    assert.ok((await passedOn(engine, said, undefined)).equals(said));
  } finally {
    await engine.close();
  }
});

test('readers that never read hold nothing of what all receive into', { timeout }, async (context) => {
  const engine = uringEngine({ sizes, highWaterMark: 100_000 });
  if ('why' in engine) return context.skip(engine.why);
  const reader = net.createServer({ pauseOnConnect: true }, (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => reader.listen(0, host, resolve));
  const address = reader.address();
  assert.ok(address !== null && typeof address === 'object');
  let stalled = 0;
  const passer = await engine.listen({ host, port: 0 }, (from) =>
    passTo(engine, from, address.port, () => (stalled += 1)),
  );
  const speakers = Array.from({ length: 8 }, () => net.connect(passer.port, host));
  for (const speaker of speakers) speaker.on('error', () => {}).write(Buffer.alloc(20_000_000));
  try {
    while (stalled < speakers.length) await new Promise((resolve) => setImmediate(resolve));
    const said = Buffer.alloc(100_000, 'abcdefg');
    assert.ok((await passedOn(engine, said, undefined)).equals(said));
  } finally {
    for (const speaker of speakers) speaker.destroy();
    await engine.close();
    reader.close();
  }
});

/** What a reader hears of what is said to the engine, which passes it on; it stalls again and again, and resets its connection after
 * so many bytes. */
async function passedOn(engine: Engine, said: Buffer, goesAfter: number | undefined): Promise<Buffer> {
  const heard: Buffer[] = [];
  let length = 0;
  const reader = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      heard.push(bytes);
      length += bytes.length;
      if (goesAfter !== undefined && length > goesAfter) socket.resetAndDestroy();
      socket.pause();
      setImmediate(() => socket.resume());
    });
  });
  await new Promise<void>((resolve) => reader.listen(0, host, resolve));
  const address = reader.address();
  assert.ok(address !== null && typeof address === 'object');
  const passer = await engine.listen({ host, port: 0 }, (from) => passTo(engine, from, address.port));
  const speaker = net.connect(passer.port, host);
  speaker.on('error', () => {});
  speaker.end(said);
  const [socket] = (await once(reader, 'connection')) as [net.Socket];
  await once(socket, 'close');
  speaker.destroy();
  reader.close();
  await passer.close();
  return Buffer.concat(heard);
}

function passTo(engine: Engine, from: Socket, port: number, stalled: () => void = () => {}) {
  const to = engine.connect(
    { host, port },
    { onData: () => {}, onDrain: () => from.resume(), onClose: () => from.destroy() },
  );
  return {
    onData: (_from: Socket, bytes: Uint8Array) => {
      // In pieces, as a body in chunks is.
      const middle = bytes.length >> 1;
      to.write(bytes.subarray(0, middle));
      if (to.write(bytes.subarray(middle))) return;
      from.pause();
      stalled();
    },
    onEnd: () => to.end(),
    onClose: () => to.destroy(),
  };
}
