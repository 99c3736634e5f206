// Closed users whose steps are not alike: a step may have a thought of its own, or a rendezvous before it, and the flow a pacing. Each user
// has a place in its flow; when its thought is over it is at its next step.
//
//   answered ── think (of the step taken), and what is left of the pacing before the first ──► at the step ──[rendezvous]──► asks
//
// What a step asks for, finds in an answer, or keeps as a cookie takes no time and is not imagined.

import type { Dice } from '../base.ts';
import { type ClosedDemand, type Rendezvous, sampler } from '../scenario.ts';

export interface WalkDuties {
  /** The user asks. */
  ask(user: number, now: number): void;
  /** `arrive` wants to be called for this user then. */
  scheduleArrival(at: number, user: number): void;
  /** `pass` of this gathering wants to be called then. */
  schedulePass(at: number, gathering: Gathering): void;
}

/** Whether users have to be followed step by step. */
export const isWalk = ({ flow, pacing }: ClosedDemand): boolean =>
  pacing !== undefined || flow.some(({ think, rendezvous }) => think !== undefined || rendezvous !== undefined);

export class Walks {
  readonly #duties: WalkDuties;
  readonly #pacing: number;
  /** By step: how long a user thinks after it, and who waits before it. */
  readonly #draws: readonly (() => number)[];
  readonly #gatherings: readonly (Gathering | undefined)[];
  readonly #firstUser: number;
  /** By user, from the first: the step that it takes next, and when it began its flow last. */
  readonly #steps: Uint16Array;
  readonly #begun: Float64Array;

  constructor(demand: ClosedDemand & { readonly firstUser: number }, dice: Dice, duties: WalkDuties) {
    const { flow, think, users } = demand;
    this.#duties = duties;
    this.#firstUser = demand.firstUser;
    this.#pacing = demand.pacing ?? 0;
    const usual = sampler(think, dice);
    this.#draws = flow.map((step) => (step.think === undefined ? usual : sampler(step.think, dice)));
    this.#gatherings = flow.map(({ rendezvous }) =>
      rendezvous === undefined ? undefined : new Gathering(rendezvous, duties, (user, now) => this.#ask(user, now)),
    );
    this.#steps = new Uint16Array(users);
    this.#begun = new Float64Array(users);
  }

  /** The user has its answer. */
  begin(user: number, now: number): void {
    const pause = this.pause(user, now);
    if (pause === 0) this.arrive(user, now);
    else this.#duties.scheduleArrival(now + pause, user);
  }

  /** How long it is now until the user is at its next step. */
  pause(user: number, now: number): number {
    const place = user - this.#firstUser;
    const next = this.#steps[place] ?? 0;
    const taken = next === 0 ? this.#draws.length - 1 : next - 1;
    const think = Math.round(this.#draws[taken]?.() ?? 0);
    return next === 0 ? Math.max(think, (this.#begun[place] ?? 0) + this.#pacing - now) : think;
  }

  /** The user is at its next step. */
  arrive(user: number, now: number): void {
    const gathering = this.#gatherings[this.#steps[user - this.#firstUser] ?? 0];
    if (gathering === undefined) this.#ask(user, now);
    else gathering.join(user, now);
  }

  #ask(user: number, now: number): void {
    const place = user - this.#firstUser;
    const step = this.#steps[place] ?? 0;
    if (step === 0) this.#begun[place] = now;
    this.#steps[place] = step + 1 === this.#draws.length ? 0 : step + 1;
    this.#duties.ask(user, now);
  }
}

/** Users who wait for each other before a step, and take it together: when enough have come, or, those who are there, when the first of them
 * has waited long enough. */
export class Gathering {
  readonly #settings: Rendezvous;
  readonly #duties: Pick<WalkDuties, 'schedulePass'>;
  readonly #leave: (user: number, now: number) => void;
  #waiting: number[] = [];
  /** Of the first who waits. */
  #expiresAt = 0;

  constructor(
    settings: Rendezvous,
    duties: Pick<WalkDuties, 'schedulePass'>,
    leave: (user: number, now: number) => void,
  ) {
    this.#settings = settings;
    this.#duties = duties;
    this.#leave = leave;
  }

  join(user: number, now: number): void {
    this.#waiting.push(user);
    if (this.#waiting.length >= this.#settings.users) this.#go(now);
    else if (this.#waiting.length === 1) {
      this.#expiresAt = now + this.#settings.timeout;
      this.#duties.schedulePass(this.#expiresAt, this);
    }
  }

  /** The time of some first user is over; that of the present one, if it has not gone meanwhile. */
  pass(now: number): void {
    if (this.#waiting.length > 0 && now === this.#expiresAt) this.#go(now);
  }

  #go(now: number): void {
    const leaving = this.#waiting;
    this.#waiting = [];
    for (const user of leaving) this.#leave(user, now);
  }
}
