// Waits until somebody listens.

import { connect } from 'node:net';

const pauseMs = 5;

/** Resolves when a connection to the port has been made. Tries until `given.up`, then never resolves: whoever waits has a
 * time limit of its own. */
export async function portListens(host: string, port: number, given: { readonly up: boolean }): Promise<void> {
  while (!(await connects(host, port))) {
    if (given.up) return new Promise(() => {});
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
