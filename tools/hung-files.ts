// Test files that spin: a loop that never ends lets no timer fire, so neither the runner's time limit nor the file's own
// deadline can end it. Whoever started the runner looks at the runner's children now and then and kills those that are too
// old. Only where /proc tells whose child a process is; elsewhere a spinning file spins.

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

export interface Child {
  readonly pid: number;
  /** Last word of its command line: the test file. */
  readonly file: string;
}

/** Looks every `everyMs` and kills children of `runner` that have been seen for longer than `limitMs`, telling each. */
export function killHungFiles(
  runner: number,
  limitMs: number,
  everyMs: number,
  tell: (text: string) => void,
): NodeJS.Timeout {
  let limits: ReadonlyMap<number, number> = new Map();
  return setInterval(() => {
    const now = performance.now();
    // Rebuilt each time: the number of a process that has ended may be given to another.
    limits = new Map(
      childrenOf(runner).map(({ pid, file }) => {
        const limit = limits.get(pid) ?? now + limitMs;
        if (now < limit) return [pid, limit];
        tell(`${basename(file)} has not ended after ${limitMs / 1000} s. It spins, and was killed.`);
        kill(pid);
        // It may take a moment to go: told once is enough.
        return [pid, Number.POSITIVE_INFINITY];
      }),
    );
  }, everyMs);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself after all.
  }
}

/** The running children of a process; none where there is no /proc. */
export function childrenOf(parent: number): Child[] {
  return processIds().flatMap((pid) => {
    try {
      // The fields after the program's name, which stands in brackets and may hold anything: state, parent, …
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
      if (Number(fields[1]) !== parent || fields[0] === 'Z') return [];
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
      return [{ pid, file: words.at(-1) ?? 'a test file' }];
    } catch {
      // Ended while we looked.
      return [];
    }
  });
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
