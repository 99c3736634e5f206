// Processor time that a process has used, from /proc. The scheduler counts it in nanoseconds for each thread; the sum over
// the threads is finer than the clock ticks (10 ms) of /proc/PID/stat, which are the fallback.

import { readdirSync, readFileSync } from 'node:fs';

const tickNs = 10e6;

/** Nanoseconds of user and system time since the process began; undefined when it is gone or the system does not tell. */
export function cpuNsOf(pid: number): number | undefined {
  try {
    return threadsOf(pid) ?? ticksOf(pid);
  } catch {
    return undefined;
  }
}

function threadsOf(pid: number): number | undefined {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readIfThere(`/proc/${pid}/task/${thread}/schedstat`);
    if (text === undefined) return undefined;
    sum += Number(text.split(' ')[0]);
  }
  return sum;
}

function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field is the program's name in parentheses and may hold anything; fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickNs;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
