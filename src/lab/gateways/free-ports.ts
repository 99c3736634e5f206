// Ports for programs that cannot ask the kernel for one and say which it was. Between finding a port free and the program's
// taking it somebody else may; so the start is tried again with other ports.

import { createServer } from 'node:net';
import { LabError } from '../lab-error.ts';

const triesMax = 5;

/** Starts something with `count` free ports, again with others when it fails because an address was in use. */
export async function withFreePorts<Started>(
  options: { readonly host: string; readonly count: number },
  start: (ports: readonly number[]) => Promise<Started>,
): Promise<Started> {
  for (let tries = 1; ; tries++) {
    try {
      return await start(await freePorts(options.host, options.count));
    } catch (error) {
      const collided = error instanceof LabError && error.message.includes('in use');
      if (!collided || tries === triesMax) throw error;
    }
  }
}

/** Different ports, all held at once before any is let go. */
async function freePorts(host: string, count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port: 0 }, resolve);
      });
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
