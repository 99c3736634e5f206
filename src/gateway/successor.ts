// A new process that takes over: the same command again, with our listening sockets. Both accept from the same queues until we
// stop, so nobody is refused at any moment; a successor that does not come up changes nothing.
//
//   we       ── serve ──────────── serve ─────┬─ accept no more ── finish ── end
//                 │ sockets          ▲ ready  │
//   successor     └─► start ─────────┴─ serve ┴──────────────────────────────────
//
// A pair of processes of different versions can do this too: all they share is the variable in `inherited.ts`.

import { spawn } from 'node:child_process';
import { passing, type PassedSocket } from './inherited.ts';

const variable = 'PLIMSOLL_SUCCESSOR';
/** A process that is not ready by then is given up. */
const patienceMs = 30_000;

let succeeded = false;

/** Starts it, and waits until it is ready; returns why it is not, in words. A process has one successor. */
export async function startSuccessor(sockets: readonly PassedSocket[]): Promise<string | undefined> {
  if (succeeded) return 'another process is taking over already';
  succeeded = true;
  const problem = await started(sockets);
  succeeded = problem === undefined;
  return problem;
}

function started(sockets: readonly PassedSocket[]): Promise<string | undefined> {
  const { env, fds } = passing(sockets);
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, ...env, [variable]: '1' },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...fds],
  });
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve('the new process was not ready in time; this one goes on');
    }, patienceMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve(`the new process could not be started: ${error.message}; this one goes on`);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      resolve(`the new process ended (${signal ?? `exit code ${code}`}) before it was ready; this one goes on`);
    });
    child.once('message', () => {
      clearTimeout(timer);
      child.disconnect();
      child.unref();
      resolve(undefined);
    });
  });
}

/** Says to the process that started this one that it may go, if it is one that waits for that. */
export function tellPredecessor(): void {
  const waited = process.env[variable] === '1';
  Reflect.deleteProperty(process.env, variable);
  if (!waited || process.send === undefined || !process.connected) return;
  process.send({ ready: true }, () => process.disconnect?.());
}
