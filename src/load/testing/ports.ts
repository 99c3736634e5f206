// Ports of this machine for programs that are started by tests.

import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';

export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function untilConnectable(port: number, program: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (reached) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`${program} did not start`);
}
