// Where a worker of a crew lives: a thread of this process, or a process of its own. Threads are lighter; processes have each
// their own limit of open files, so that twenty thousand connections are not all there can be.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerSetting } from './worker.ts';

export type HandKind = 'thread' | 'process';

export interface HandEvents {
  readonly onMessage: (message: FromWorker) => void;
  /** It is gone, or something in it failed. May be called more than once. */
  readonly onLoss: (why: string) => void;
}

export interface Hand {
  tell(message: ToWorker): void;
  end(): Promise<void>;
}

/** Processes are taken where many connections are to be held, each with what it costs of memory. V8 would keep three times
 * sixteen megabytes for what is short-lived, of which a driver has little: of 16,000 connections that is 2 KiB each. */
const youngMegabytes = 4;

const program = new URL('worker.ts', import.meta.url);

export function newHand(kind: HandKind, setting: WorkerSetting, events: HandEvents): Hand {
  return kind === 'thread' ? thread(setting, events) : childProcess(setting, events);
}

function thread(setting: WorkerSetting, { onMessage, onLoss }: HandEvents): Hand {
  const worker = new Worker(program, { workerData: setting });
  worker.on('message', onMessage);
  worker.on('error', (error) => onLoss(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => onLoss(`it exited with code ${code}`));
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    tell: (message) => worker.postMessage(message),
    end: async () => {
      await worker.terminate();
    },
  };
}

/** The setting is its first message. It ends by itself when its parent is gone: the channel closes. */
function childProcess(setting: WorkerSetting, { onMessage, onLoss }: HandEvents): Hand {
  const child = fork(fileURLToPath(program), {
    execArgv: [...process.execArgv, `--max-semi-space-size=${youngMegabytes}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', (message) => {
    // Both ends are this very program: what arrives is what `worker.ts` sent.
    if (isFromWorker(message)) onMessage(message);
  });
  child.on('error', (error) => onLoss(error.message));
  child.on('exit', (code, signal) =>
    onLoss(signal === null ? `it exited with code ${code ?? 0}` : `it was ended by ${signal}`),
  );
  child.send({ kind: 'setting', setting });
  return { tell: (message) => sendTo(child, message), end: () => ended(child) };
}

function sendTo(child: ChildProcess, message: ToWorker): void {
  if (child.connected) child.send(message);
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

const isFromWorker = (message: unknown): message is FromWorker =>
  typeof message === 'object' && message !== null && 'kind' in message;
