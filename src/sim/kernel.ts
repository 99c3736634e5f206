// The loop of the simulation: take the next event, move the clock, hand it over. Time is whole nanoseconds since the
// simulation began, exact up to 2^53 (104 days); inside this room it is a plain number, and becomes an Instant where it
// leaves (balancers, records).
//
// An event is a kind and a subject (the number of a job, a user, a group, …) packed into one Int32. The digest is a hash of
// every event handled, with its time: two runs with equal digests did the same things in the same order.
//
// Hot: `schedule` and `run`.

import { assert } from '../base.ts';
import { Calendar, rankMax } from './calendar.ts';

const kindBits = 4;
const kindsMax = 2 ** kindBits;
/** Subjects are below this: 134 million. */
export const subjectMax = 2 ** (31 - kindBits);

export type EventHandler = (kind: number, subject: number, now: number) => void;

export class Kernel {
  /** The instant of the event that is being handled, or that the last `run` ended at. */
  now = 0;
  /** Events handled so far. */
  handled = 0;
  /** Hears of every event before it is handled; for debugging. */
  trace: EventHandler | undefined;

  readonly #calendar = new Calendar();
  readonly #ranks: readonly number[];
  readonly #handler: EventHandler;
  #hash = 0x811c9dc5;

  /** `ranks`, by kind: of several events at one instant the lowest rank goes first. */
  constructor(ranks: readonly number[], handler: EventHandler) {
    assert(ranks.length <= kindsMax, 'at most sixteen kinds of event');
    assert(
      ranks.every((rank) => Number.isInteger(rank) && rank >= 0 && rank <= rankMax),
      'a rank is a small whole number',
    );
    this.#ranks = ranks;
    this.#handler = handler;
  }

  get pending(): number {
    return this.#calendar.pending;
  }

  /** When the next event happens; Infinity when there is none. */
  get nextTime(): number {
    return this.#calendar.nextTime;
  }

  /** Eight hexadecimal digits that say what has happened so far. */
  get digest(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  schedule(at: number, kind: number, subject: number): void {
    assert(at >= this.now, 'the past is over');
    assert(subject >= 0 && subject < subjectMax, 'a subject fits beside its kind');
    this.#calendar.schedule(at, this.#ranks[kind] ?? 0, (subject << kindBits) | kind);
  }

  /** Handles every event up to and at `until`, and leaves the clock there. */
  run(until: number): void {
    while (this.#calendar.nextTime <= until) this.step();
    assert(until >= this.now, 'the clock does not run backwards');
    this.now = until;
  }

  /** Handles one event. False when there is none. */
  step(): boolean {
    const calendar = this.#calendar;
    if (!calendar.next()) return false;
    const { time, event } = calendar;
    this.now = time;
    this.handled += 1;
    this.#hash = Math.imul(this.#hash ^ event, 0x01000193);
    this.#hash = Math.imul(this.#hash ^ (time | 0) ^ (time / 2 ** 32), 0x01000193);
    const kind = event & (kindsMax - 1);
    const subject = event >> kindBits;
    if (this.trace !== undefined) this.trace(kind, subject, time);
    this.#handler(kind, subject, time);
    return true;
  }
}
