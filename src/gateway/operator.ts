// What a gateway as a process reads from its operator, and says to them: the file, signals, words on standard error.

import { readFile } from 'node:fs/promises';
import { FilesRefused } from './certificates.ts';
import { describeProblem, type GatewayConfig, type ParsedConfig, parseGatewayConfig } from './config.ts';
import { parseAside } from './parse-aside.ts';

/** Whoever holds our standard input watches this process, and would take a successor for an orphan. */
export const held =
  'standard input is held by the program that started this process: it has to start the new one itself';

export type Stop = 'signal' | 'orphaned' | 'succeeded';

type Read = { readonly config: GatewayConfig } | { readonly problems: readonly string[] };

/** The configuration in `file`, or every problem in it with its place. */
export function readGatewayFile(file: string): Promise<Read> {
  return readBy(parseGatewayConfig, file);
}

/** The same while requests are served, which do not wait for it. */
export function rereadGatewayFile(file: string): Promise<Read> {
  return readBy(parseAside, file);
}

async function readBy(
  parse: (text: string, file: string) => ParsedConfig | Promise<ParsedConfig>,
  file: string,
): Promise<Read> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return { problems: [`${file}: cannot be read: ${messageOf(error)}`] };
  }
  const parsed = await parse(text, file);
  return parsed.ok ? { config: parsed.config } : { problems: parsed.problems.map(describeProblem) };
}

/** Says why on standard error and returns the exit code. */
export function startFailed(error: unknown, file: string): number {
  if (error instanceof FilesRefused) {
    for (const { path, message } of error.problems) console.error(`${file}: ${path}: ${message}`);
    return 2;
  }
  announce(`cannot start: ${messageOf(error)}`);
  return 1;
}

export function announce(words: string): void {
  console.error(`plimsoll gateway: ${words}`);
}

/** Does `act` each time the signal comes, and says what became of it. */
export function onSignal(signal: 'SIGHUP' | 'SIGUSR2', act: () => Promise<readonly string[]>, done: string): void {
  process.on(signal, () => {
    void told(act, done);
  });
}

async function told(act: () => Promise<readonly string[]>, done: string): Promise<void> {
  const problems = await act();
  for (const problem of problems) announce(problem);
  announce(problems.length === 0 ? done : 'nothing has changed');
}

function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  return String(error);
}
