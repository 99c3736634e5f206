// Many timeouts on one alarm: a wheel of slots, each a list of those that are looked at when time comes to it. Setting one
// costs a few stores, and a timeout that is put off again and again (every request of a busy connection puts off the same
// one) costs a single store: it stays where it is, and is moved when its old slot is reached.
//
//            now
//      ┌───┬──▼┬───┬───┬───┬───┐
//      │   │   │ ● │   │ ● │   │     4 ms a slot, 2048 slots: 8.2 s a lap
//      └───┴───┴─┼─┴───┴─┼─┴───┘     what is due later than a lap waits in the last slot and is moved on
//                ●       ●
//
// A timeout rings up to one slot late and never early. Hot: `set`, `cancel`.

import { type Alarm, type Engine } from '../net.ts';
import { type Instant, instantAt, ms } from '../base.ts';

const slotLength = ms(4);
const slots = 2048;
const never = Infinity;

/** One thing that may take too long. Belongs to one owner, which sets, puts off and cancels it. */
export class Timeout {
  readonly ring: (now: Instant) => void;
  /** When it is due; Infinity when nobody waits. */
  due = never;
  /** The slot of all time in which it is looked at next; meaningless while not `linked`. */
  turn = 0;
  linked = false;
  next: Timeout | undefined = undefined;
  previous: Timeout | undefined = undefined;

  constructor(ring: (now: Instant) => void) {
    this.ring = ring;
  }
}

export class Timeouts {
  readonly #engine: Engine;
  readonly #afterwards: () => void;
  readonly #heads: (Timeout | undefined)[] = Array.from({ length: slots }, () => undefined);
  /** Everything up to this turn has been looked at. */
  #turn: number;
  #alarm: Alarm | undefined;
  #alarmTurn = never;

  /** `afterwards` is called when all that were due together have rung. */
  constructor(engine: Engine, afterwards: () => void = () => {}) {
    this.#engine = engine;
    this.#afterwards = afterwards;
    this.#turn = Math.floor(engine.now() / slotLength);
  }

  /** Rings `timeout` once, not before `at`; replaces what was set before. */
  set(timeout: Timeout, at: Instant): void {
    timeout.due = at;
    // Its slot comes first and will move it on.
    if (timeout.linked && timeout.turn * slotLength <= at) return;
    if (timeout.linked) this.#unlink(timeout);
    this.#link(timeout);
    if (timeout.turn < this.#alarmTurn) this.#arm(timeout.turn);
  }

  /** It will not ring. It may stay in its slot until that is reached. */
  cancel(timeout: Timeout): void {
    timeout.due = never;
  }

  /** It will not ring and the wheel lets go of it: for owners that end. */
  forget(timeout: Timeout): void {
    timeout.due = never;
    if (timeout.linked) this.#unlink(timeout);
  }

  #link(timeout: Timeout): void {
    const turn = Math.max(this.#turn + 1, Math.min(Math.ceil(timeout.due / slotLength), this.#turn + slots - 1));
    const slot = turn % slots;
    const head = this.#heads[slot];
    timeout.turn = turn;
    timeout.linked = true;
    timeout.previous = undefined;
    timeout.next = head;
    if (head !== undefined) head.previous = timeout;
    this.#heads[slot] = timeout;
  }

  #unlink(timeout: Timeout): void {
    const { previous, next } = timeout;
    if (previous === undefined) this.#heads[timeout.turn % slots] = next;
    else previous.next = next;
    if (next !== undefined) next.previous = previous;
    timeout.linked = false;
    timeout.next = undefined;
    timeout.previous = undefined;
  }

  #arm(turn: number): void {
    this.#alarm?.cancel();
    this.#alarmTurn = turn;
    this.#alarm = this.#engine.alarm(instantAt(turn * slotLength), this.#pass);
  }

  /** Looks at every slot up to now, then sleeps until the next that holds something. */
  readonly #pass = (now: Instant): void => {
    this.#alarm = undefined;
    this.#alarmTurn = never;
    const until = Math.floor(now / slotLength);
    // After a long sleep every slot is visited once, not once for each lap missed.
    const first = Math.max(this.#turn + 1, until - slots + 1);
    for (let turn = first; turn <= until; turn++) {
      this.#turn = turn;
      this.#visit(turn % slots, now);
    }
    this.#turn = Math.max(this.#turn, until);
    this.#afterwards();
    for (let turn = this.#turn + 1; turn < this.#turn + slots; turn++) {
      if (this.#heads[turn % slots] === undefined) continue;
      if (turn < this.#alarmTurn) this.#arm(turn);
      return;
    }
  };

  #visit(slot: number, now: Instant): void {
    for (;;) {
      const timeout = this.#heads[slot];
      if (timeout === undefined) return;
      this.#unlink(timeout);
      if (timeout.due === never) continue;
      if (timeout.due <= now) {
        timeout.due = never;
        timeout.ring(now);
      } else this.#link(timeout);
    }
  }
}
