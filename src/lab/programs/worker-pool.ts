// A fixed pool of workers with one queue in front, first come first served: the capacity of a replica is workers divided by
// the mean time that a piece of work holds one.
//
//   arrive ──► waiting ──► a worker: timed ──► held while it calls others ──► release
//     └─► refused when `waitingMax` wait
//
// The trouble is the clock. A timer of Node rings about a millisecond late, which is 5 % of a service time of 20 ms, and a
// pool that started its next work when it *noticed* the end of the last would run 5 % below its capacity. So a worker is
// free when it is *due* to be free, at start plus duration, and the next work starts at that instant even though the pool
// notices a little later: lateness is repaid at once instead of adding up.
//
//   real       ├──── work 1 ────┤late├──── work 2 ────
//   accounted  ├──── work 1 ────├──── work 2 ────
//
// Repaid are at most `repaidMax` a piece. What is later than that is no timer's fault: the process itself stood still
// (garbage collection, a stolen or throttled processor, a SIGSTOP), and a worker of such a process is slow in truth. The
// same account goes the other way: an alarm that rings up to `earlyMax` before the due instant ends the work, and the
// worker's next work begins at the due instant all the same. So the errors of single answers cancel out (within half
// a millisecond) and the rate has none.
//
// Time is an argument. Whoever owns the pool calls `advance` when `nextDue` has come.

import { after, assert, between, type Duration, type Instant, ms, ns, us } from '../../base.ts';
import { Level } from './level.ts';

/** The most lateness that is a timer's fault. Node's timers count whole milliseconds, of a clock that it reads once a turn. */
export const repaidMax = ms(2);
/** How early an alarm may end a piece of work: half of a timer's grain. */
export const earlyMax = us(500);

export interface Duties<Work> {
  /** A worker takes `work` up. Returns how long it holds the worker by itself, counted from `startedAt`. */
  begin(work: Work, startedAt: Instant): Duration;
  /** That time is over. The worker stays with the task until `release`, which may be called at once. */
  due(task: Task<Work>, now: Instant): void;
}

/** A worker at work. */
export interface Task<Work> {
  readonly work: Work;
  readonly startedAt: Instant;
  readonly dueAt: Instant;
  /** How late its end was noticed, as far as that is repaid (negative: noticed early). Undefined while it is timed. */
  readonly lateness: Duration | undefined;
}

type MutableTask<Work> = { -readonly [Key in keyof Task<Work>]: Task<Work>[Key] };

export class WorkerPool<Work> {
  readonly #duties: Duties<Work>;
  readonly #waitingMax: number;
  #workers: number;
  /** Since when each idle worker is free: up to `earlyMax` ahead of the clock. */
  readonly #idle: Instant[] = [];
  /** Every task, timed or calling. `tasks + idle` is the number of workers, except while surplus ones finish. */
  readonly #tasks = new Set<MutableTask<Work>>();
  /** The timed ones, soonest due first. */
  readonly #timed: MutableTask<Work>[] = [];
  /** In order of arrival, with its instant. */
  readonly #waiting = new Map<Work, Instant>();
  readonly #waitingLevel: Level;
  /** Worker time of tasks that have ended. */
  #heldNs = 0;

  constructor(options: { workers: number; waitingMax: number; duties: Duties<Work>; now: Instant }) {
    assert(Number.isInteger(options.workers) && options.workers > 0, 'a pool has at least one worker');
    this.#duties = options.duties;
    this.#waitingMax = options.waitingMax;
    this.#workers = options.workers;
    this.#waitingLevel = new Level(options.now);
    for (let count = 0; count < options.workers; count++) this.#idle.push(options.now);
  }

  get workers(): number {
    return this.#workers;
  }

  get busy(): number {
    return this.#tasks.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Gives `work` to an idle worker or lets it wait. False: too many wait already, and it was not taken. */
  arrive(work: Work, now: Instant): boolean {
    const freeAt = this.#idle.pop();
    if (freeAt !== undefined) {
      this.#start(work, latest(freeAt, now));
      return true;
    }
    if (this.#waiting.size >= this.#waitingMax) return false;
    this.#waiting.set(work, now);
    this.#waitingLevel.add(1, now);
    return true;
  }

  /** Takes `work` out of the queue. False: it does not wait there, a worker has it or it has ended. */
  withdraw(work: Work, now: Instant): boolean {
    if (!this.#waiting.delete(work)) return false;
    this.#waitingLevel.add(-1, now);
    return true;
  }

  /** When `advance` wants to be called next. */
  get nextDue(): Instant | undefined {
    return this.#timed[0]?.dueAt;
  }

  /** Ends the time of every task that is due by `now`, or up to `early` later (at most `earlyMax`). */
  advance(now: Instant, early: Duration): void {
    assert(early <= earlyMax, 'work is ended early by less than a grain of the timer');
    for (;;) {
      const task = this.#timed[0];
      if (task === undefined || task.dueAt > now + early) return;
      this.#timed.shift();
      task.lateness = ns(Math.min(between(task.dueAt, now), repaidMax));
      this.#duties.due(task, now);
    }
  }

  /** The worker has done with `task` and takes up what has waited longest. Returns the worker time that it took. */
  release(task: Task<Work>, now: Instant): Duration {
    assert(task.lateness !== undefined, 'only work whose time is over is released');
    assert(this.#tasks.delete(task), 'work is released once');
    const freeAt = workedUntil(task, now);
    const held = ns(Math.max(0, between(task.startedAt, freeAt)));
    this.#heldNs += held;
    if (this.#tasks.size + this.#idle.length < this.#workers) this.#takeNext(freeAt, now);
    return held;
  }

  /** More workers take up waiting work at once. Fewer: idle ones go now, busy ones when they have done. */
  setWorkers(workers: number, now: Instant): void {
    assert(Number.isInteger(workers) && workers > 0, 'a pool has at least one worker');
    this.#workers = workers;
    while (this.#tasks.size + this.#idle.length > workers && this.#idle.pop() !== undefined);
    while (this.#tasks.size + this.#idle.length < workers) this.#takeNext(now, now);
  }

  /** The process did nothing for `length`: no timed work has advanced in it. */
  standStill(length: Duration): void {
    for (const task of this.#timed) task.dueAt = after(task.dueAt, length);
  }

  /** Worker time up to `now`, in nanoseconds: the area under the number of busy workers, by the account above. */
  heldNsAt(now: Instant): number {
    let held = this.#heldNs;
    for (const task of this.#tasks) held += Math.max(0, between(task.startedAt, workedUntil(task, now)));
    return held;
  }

  /** The area under the number of waiting requests up to `now`, in nanoseconds. */
  waitedNsAt(now: Instant): number {
    return this.#waitingLevel.areaAt(now);
  }

  #takeNext(freeAt: Instant, now: Instant): void {
    const next = this.#waiting.entries().next();
    if (next.done) {
      this.#idle.push(freeAt);
      return;
    }
    const [work, arrivedAt] = next.value;
    this.#waiting.delete(work);
    this.#waitingLevel.add(-1, now);
    this.#start(work, latest(freeAt, arrivedAt));
  }

  #start(work: Work, startedAt: Instant): void {
    const task: MutableTask<Work> = { work, startedAt, dueAt: startedAt, lateness: undefined };
    this.#tasks.add(task);
    task.dueAt = after(startedAt, this.#duties.begin(work, startedAt));
    let at = this.#timed.length;
    while (at > 0 && (this.#timed[at - 1]?.dueAt ?? 0) > task.dueAt) at -= 1;
    this.#timed.splice(at, 0, task);
  }
}

/** Until when the worker has worked on `task`, as accounted: `now` less the lateness that is the timer's. */
function workedUntil<Work>(task: Task<Work>, now: Instant): Instant {
  const lateness = task.lateness ?? Math.min(Math.max(0, between(task.dueAt, now)), repaidMax);
  return after(now, ns(-lateness));
}

function latest(one: Instant, other: Instant): Instant {
  return one > other ? one : other;
}
