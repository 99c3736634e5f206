// What a client costs that has connected, asked once, and is silent since: the growth of the gateway's memory ÷ connections.
// What the kernel keeps for a socket is not in it, and is the same for every proxy.

import net from 'node:net';
import { once } from 'node:events';
import { proxyPort, residentBytesOf } from './site.ts';

/** How many connections one address of loopback opens; the next ones come from the next address. */
const perAddress = 10_000;
const atOnce = 64;
const settleMs = 3000;

export interface Idle {
  readonly connections: number;
  readonly bytesEach: number;
}

/** Holds `wanted` connections to the proxy whose process is `pid`. */
export async function idleMemory(pid: number, wanted: number): Promise<Idle> {
  const held: net.Socket[] = [];
  // Buffers, seats and compiled code are there before it is measured.
  for (let round = 0; round < 4; round++) {
    const visitors = await Promise.all(Array.from({ length: atOnce }, (_, index) => visit(index)));
    for (const visitor of visitors) visitor.destroy();
  }
  await settled();
  const before = residentBytesOf(pid);
  while (held.length < wanted) {
    const from = held.length;
    held.push(...(await Promise.all(Array.from({ length: atOnce }, (_, index) => visit(from + index)))));
  }
  await settled();
  const after = residentBytesOf(pid);
  const open = held.filter((socket) => !socket.destroyed).length;
  for (const socket of held) socket.destroy();
  return { connections: open, bytesEach: (after - before) / open };
}

/** Connects, asks once, and stays. */
async function visit(number: number): Promise<net.Socket> {
  const localAddress = `127.0.0.${2 + Math.floor(number / perAddress)}`;
  const socket = net.connect({ host: '127.0.0.1', port: proxyPort, localAddress });
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  // Who is refused is not among those that stay open.
  await once(socket, 'data').catch(() => socket.destroy());
  return socket;
}

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, settleMs));
}
