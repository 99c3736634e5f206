// What a process has used of this computer, and how late our own loop is.

import { type Duration, ms, ns } from '../base.ts';
import { now } from './clock.ts';
import { type ReadFile, readSystemFile } from './read-file.ts';

/** /proc counts processor time in hundredths of a second on every Linux that Node runs on (sysconf(_SC_CLK_TCK) is 100). */
const clockTick = ms(10);

/**
 * User and system time of a process and all its threads, those that have ended included, since it began; to 10 ms. Undefined
 * when there is no such process, or no /proc.
 */
export function cpuTimeOf(pid: number, read: ReadFile = readSystemFile): Duration | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold anything, parentheses and spaces too: so fields are
  // counted from the last one. utime and stime are the 14th and 15th of proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ns(ticks * clockTick) : undefined;
}

export interface LoopLag {
  /** The latest that a timer rang since the reading before. */
  readonly worst: Duration;
  readonly mean: Duration;
}

/**
 * Watches this thread's event loop with a timer of its own, 100 times a second. (Node's own monitor of the loop begins each
 * reading anew and so misses the stall that is going on: a busy loop of 200 ms was seen as 0.1 ms.)
 */
export class LoopWatch {
  readonly #every = ms(10);
  #due = now() + this.#every;
  #worst = 0;
  #sum = 0;
  #rings = 0;
  readonly #timer = setInterval(() => this.#ring(), this.#every / 1e6).unref();

  /** The lag since the reading before, a stall that is still going on included. */
  read(): LoopLag {
    const overdue = Math.max(0, now() - this.#due);
    const worst = Math.max(this.#worst, overdue);
    const mean = this.#rings === 0 ? overdue : this.#sum / this.#rings;
    this.#worst = 0;
    this.#sum = 0;
    this.#rings = 0;
    return { worst: ns(worst), mean: ns(mean) };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #ring(): void {
    const at = now();
    const late = Math.max(0, at - this.#due);
    this.#worst = Math.max(this.#worst, late);
    this.#sum += late;
    this.#rings += 1;
    // Node starts a repeating timer anew when it has rung, so the next is due one interval from here.
    this.#due = at + this.#every;
  }
}
