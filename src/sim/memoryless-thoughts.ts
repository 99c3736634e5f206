// Users whose thoughts are exponential. Such a thought forgets how long it has lasted. So nobody's end need be known: of n who
// think, the first ends after an exponential time of mean think ÷ n, and it is each of them with equal chance. One event in
// the calendar does for three million.
//
//   users   │ 4 │ 17 │ 2 │ 9 │ 30 │ 12 │ 8 │
//             └─ candidates: one ─┘ └─────┘ began since, and will be candidates then
//                ends at `#endsAt`
//
// Who begins while the others wait for that end may be through before it. So a thought is drawn for it: one that ends earlier has an
// event of its own; of one that does not nothing is kept, for what is left of it after that instant is exponential again. This is
// exact, and as n is large it is nearly always the second.
//
// Hot: everything.

import type { Dice } from '../base.ts';
import { grownInts } from './grown.ts';

export interface MemorylessDuties {
  /** The user's thought is over. */
  ended(user: number, now: number): void;
  /** Schedules the one event that leads to `pass`. */
  arm(at: number): void;
  /** Schedules the end of this user's thought alone. */
  armAlone(at: number, user: number): void;
}

export class MemorylessThoughts {
  readonly #mean: number;
  readonly #dice: Dice;
  readonly #duties: MemorylessDuties;
  #users: Int32Array<ArrayBuffer>;
  #count = 0;
  #candidates = 0;
  /** Not rounded, so that many short gaps add up to what they should. */
  #endsAt = Infinity;

  /** There is room for `users` from the start. */
  constructor(mean: number, users: number, dice: Dice, duties: MemorylessDuties) {
    this.#mean = mean;
    this.#dice = dice;
    this.#duties = duties;
    this.#users = new Int32Array(Math.max(1, users));
  }

  /** All of these begin to think together. */
  beginAll(firstUser: number, users: number, now: number): void {
    for (let user = firstUser; user < firstUser + users; user++) this.#add(user);
    if (this.#candidates === 0) this.#await(now);
  }

  begin(user: number, now: number): void {
    const end = now + this.#dice.exponential(this.#mean);
    if (this.#candidates === 0) {
      this.#add(user);
      this.#awaitUntil(end);
    } else if (end < this.#endsAt) this.#duties.armAlone(Math.round(end), user);
    else this.#add(user);
  }

  /** The event has come: one of the candidates is through. */
  pass(now: number): void {
    const place = this.#dice.below(this.#candidates);
    const user = this.#users[place] ?? 0;
    this.#count -= 1;
    this.#users[place] = this.#users[this.#count] ?? 0;
    this.#candidates = 0;
    if (this.#count > 0) this.#await(this.#endsAt);
    this.#duties.ended(user, now);
  }

  #await(from: number): void {
    this.#awaitUntil(from + this.#dice.exponential(this.#mean / this.#count));
  }

  #awaitUntil(end: number): void {
    this.#candidates = this.#count;
    this.#endsAt = end;
    this.#duties.arm(Math.round(end));
  }

  #add(user: number): void {
    if (this.#count === this.#users.length) this.#users = grownInts(this.#users, 2 * this.#count);
    this.#users[this.#count++] = user;
  }
}
