// The program as a person or a pipeline meets it, for tests: one process, what it wrote, how it ended.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const launcher = join(import.meta.dirname, '..', '..', '..', 'bin', 'plimsoll.js');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `plimsoll` with these words; `ended` resolves when it has. */
export function startPlimsoll(
  args: readonly string[],
  options: { readonly folder?: string; readonly input?: string } = {},
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [launcher, ...args], {
    ...(options.folder === undefined ? {} : { cwd: options.folder }),
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(options.input ?? '');
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
  return { child, ended };
}

export const plimsoll = (...args: readonly string[]): Promise<Ended> => startPlimsoll(args).ended;
