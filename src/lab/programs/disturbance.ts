// What a process can do to itself: spend processor time, or stand still. They block the event loop, so while they last
// the replica reads no request, ends no work and answers no scrape, as with a garbage collection or a busy neighbour.
//
// A timer does not know that the process was away; a computation would. So whoever blocks the loop on purpose reports for
// how long, and the pool moves all timed work by as much: a service time stands for work that needs the process.

import { type Dice, type Duration, ms, ns, us } from '../../base.ts';
import { type GcPauses, sampler } from '../../scenario.ts';
import { clock } from './alarm.ts';

/** Spends this much processor time of this thread, however long that takes on the wall. */
export function spin(cpu: Duration): void {
  if (cpu <= 0) return;
  const begun = cpuOfThread();
  while (cpuOfThread() - begun < cpu);
}

/** Sleeps without letting the event loop run. Returns how long it really was. */
export function standStill(length: Duration): Duration {
  const begun = clock();
  Atomics.wait(neverNotified, 0, 0, length / 1e6);
  return ns(clock() - begun);
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4));

/** Stands still again and again, as a process that collects its garbage: runs for `every`, and before the first pause for a part of
 * that, drawn evenly. `stoodStill` hears of each pause right after it. */
export function collectGarbage(pauses: GcPauses, chance: Dice, stoodStill: (length: Duration) => void): void {
  const every = sampler(pauses.every, chance);
  const length = sampler(pauses.length, chance);
  const pause = (): void => {
    stoodStill(standStill(length()));
    setTimeout(pause, every() / 1e6);
  };
  setTimeout(pause, (every() * chance.next()) / 1e6);
}

/** One slice of burning: short enough that requests are read between two of them, long enough to cost few timers. */
const sliceUsual = ms(5);
/** When the burner was kept from running it catches up, but never blocks the loop longer than this at once. */
const sliceMax = ms(50);

/** Burns a share of the wall time in slices until told otherwise. */
export class Burner {
  readonly #burnt: (length: Duration) => void;
  #timer: NodeJS.Timeout | undefined;

  /** `burnt` hears of each slice right after it. */
  constructor(burnt: (length: Duration) => void) {
    this.#burnt = burnt;
  }

  /** From now on burns `share` (0 to below 1) of the time, for `length` or until set again. */
  set(share: number, length: Duration | undefined): void {
    clearTimeout(this.#timer);
    if (share <= 0) return;
    const begun = clock();
    let spent = 0;
    const idleMs = Math.max(1, (sliceUsual * (1 - share)) / share / 1e6);
    const slice = (): void => {
      const elapsed = clock() - begun;
      if (length !== undefined && elapsed >= length) return;
      // `owed` makes burnt ÷ elapsed equal to the share at the end of the slice that it pays.
      const owed = (share * elapsed - spent) / (1 - share);
      const burnt = burn(ns(Math.min(Math.max(owed, us(100)), sliceMax)));
      spent += burnt;
      this.#burnt(burnt);
      this.#timer = setTimeout(slice, idleMs);
    };
    this.#timer = setTimeout(slice, idleMs);
  }
}

/** Keeps the thread busy for so long on the wall: the share is one of time, whoever else wants the processor. */
function burn(length: Duration): Duration {
  const begun = clock();
  while (clock() - begun < length);
  return ns(clock() - begun);
}

function cpuOfThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1e3;
}
