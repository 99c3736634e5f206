// Processor time that a process has used, from /proc. The scheduler counts it in nanoseconds for each thread; the sum over
// the threads is finer than the clock ticks (10 ms) that the system gives for the whole process, which are the fallback.

import { readdirSync, readFileSync } from 'node:fs';
import { type Duration, ns } from '../base.ts';
import { cpuTimeOf } from '../host.ts';
import type { CpuReading } from './contract.ts';

/** User and system time since the process began; undefined when it is gone or the system does not tell. */
export function exactCpuTimeOf(pid: number): Duration | undefined {
  return timeOfThreads(pid) ?? cpuTimeOf(pid);
}

/** The same as a reading of a program that no control group holds. */
export function cpuReadingOf(pid: number | undefined): CpuReading | undefined {
  const cpuNs = pid === undefined ? undefined : exactCpuTimeOf(pid);
  return cpuNs === undefined ? undefined : { cpuNs, throttledNs: undefined, throttledPeriods: undefined };
}

function timeOfThreads(pid: number): Duration | undefined {
  try {
    let sum = 0;
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]);
    }
    return ns(sum);
  } catch {
    return undefined;
  }
}
