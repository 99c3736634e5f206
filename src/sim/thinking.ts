// Everybody who thinks, and when each will be through. How that is kept depends on what the thoughts are like:
//
//   none          through at once
//   constant      a ring in the order of beginning, one for all groups with thoughts of that length (thoughts.ts)
//   exponential   a crowd of which one is through now and then (memoryless-thoughts.ts)
//   others        an event in the calendar for each, as of users whose steps are not alike (walks.ts)
//
// Each group draws its thoughts from a stream of its own.

import { dice } from '../base.ts';
import { type Distribution, sampler } from '../scenario.ts';
import type { Source } from './group.ts';
import { MemorylessThoughts } from './memoryless-thoughts.ts';
import { Thoughts } from './thoughts.ts';
import { isWalk, Walks } from './walks.ts';

export interface ThinkingDuties {
  readonly seed: number;
  /** The user's thought is over. */
  ended(user: number, group: number, now: number): void;
  /** Wants `pass` to be called for this number then. */
  schedulePass(at: number, number: number): void;
  /** `arrive` wants to be called for this user then. */
  scheduleEnd(at: number, user: number): void;
}

type ClosedSource = Extract<Source, { kind: 'closed' }>;

/** How one group thinks. */
interface Way {
  begin(user: number, group: number, now: number): void;
  /** How long the user's thought is, if it begins now. */
  length(user: number, now: number): number;
  /** The user has thought, or rested, by an event of its own. Absent: it asks. */
  arrive?(user: number, now: number): void;
}

export class Thinking {
  readonly #duties: ThinkingDuties;
  /** Those whose ends share one event, by the number that `pass` is called with; undefined for those of earlier phases. */
  readonly #shared: ({ pass(now: number): void } | undefined)[] = [];
  /** By group. */
  readonly #ways: Way[] = [];

  constructor(duties: ThinkingDuties) {
    this.#duties = duties;
  }

  /** A phase begins: so do all closed users, by thinking. */
  beginPhase(sources: readonly Source[], phase: number, now: number): void {
    this.#shared.fill(undefined);
    this.#ways.length = 0;
    const lengths = new Set<number>();
    sources.forEach((source, group) => {
      if (source.kind !== 'closed') return;
      if (isWalk(source)) this.#beginWalk(source, group, `thoughts/${phase}/${group}`, now);
      else if (source.think.kind === 'constant') lengths.add(source.think.value);
      else this.#beginDrawn(source, source.think, group, `thoughts/${phase}/${group}`, now);
    });
    for (const length of lengths) this.#beginEqual(length, sources, now);
  }

  /** The user of this group begins to think. */
  begin(user: number, group: number, now: number): void {
    this.#ways[group]?.begin(user, group, now);
  }

  /** How long a user of this group thinks this time, if it has to rest so long in any case. */
  pause(user: number, group: number, restAtLeast: number, now: number): number {
    return Math.max(restAtLeast, Math.round(this.#ways[group]?.length(user, now) ?? 0));
  }

  /** The user's own event has come. */
  arrive(user: number, group: number, now: number): void {
    const way = this.#ways[group];
    if (way?.arrive === undefined) this.#duties.ended(user, group, now);
    else way.arrive(user, now);
  }

  /** The event of those who share it has come. */
  pass(number: number, now: number): void {
    this.#shared[number]?.pass(now);
  }

  #beginDrawn(source: ClosedSource, think: Distribution, group: number, stream: string, now: number): void {
    const { firstUser, users } = source;
    const chance = dice(this.#duties.seed, stream);
    const length = sampler(think, chance);
    if (think.kind !== 'exponential') {
      const begin = (user: number, _group: number, from: number): void =>
        this.#duties.scheduleEnd(from + Math.round(length()), user);
      this.#ways[group] = { begin, length };
      for (let user = firstUser; user < firstUser + users; user++) begin(user, group, now);
      return;
    }
    const number = this.#shared.length;
    const crowd = new MemorylessThoughts(think.mean, users, chance, {
      ended: (user, at) => this.#duties.ended(user, group, at),
      arm: (at) => this.#duties.schedulePass(at, number),
      armAlone: (at, user) => this.#duties.scheduleEnd(at, user),
    });
    this.#shared.push(crowd);
    this.#ways[group] = { begin: (user, _group, from) => crowd.begin(user, from), length };
    crowd.beginAll(firstUser, users, now);
  }

  /** As in the lab: those who always think for the same time start spread over it, with a distribution each draws when it starts. */
  #beginWalk(source: ClosedSource, group: number, stream: string, now: number): void {
    const { firstUser, users, think } = source;
    const chance = dice(this.#duties.seed, stream);
    const walks = new Walks(source, chance, {
      ask: (user, at) => this.#duties.ended(user, group, at),
      scheduleArrival: (at, user) => this.#duties.scheduleEnd(at, user),
      schedulePass: (at, gathering) => this.#duties.schedulePass(at, this.#numberOf(gathering)),
    });
    this.#ways[group] = {
      begin: (user, _group, from) => walks.begin(user, from),
      length: (user, from) => walks.pause(user, from),
      arrive: (user, at) => walks.arrive(user, at),
    };
    const draw = sampler(think, chance);
    for (let place = 0; place < users; place++) {
      const wait = think.kind === 'constant' ? (think.value * place) / users : draw();
      this.#duties.scheduleEnd(now + Math.round(wait), firstUser + place);
    }
  }

  /** All closed users who think for so long begin, spread over one thought so that they do not march in step: the first of each
   * group, the second of each, … */
  #beginEqual(length: number, sources: readonly Source[], now: number): void {
    const closed = sources.flatMap((source, group) =>
      source.kind === 'closed' && !isWalk(source) && source.think.kind === 'constant' && source.think.value === length
        ? [{ source, group }]
        : [],
    );
    const users = closed.reduce((sum, { source }) => sum + source.users, 0);
    const most = closed.reduce((least, { source }) => Math.max(least, source.users), 0);
    const ring = length === 0 ? undefined : this.#newRing(users);
    const way = this.#equal(length, ring);
    for (const { group } of closed) this.#ways[group] = way;
    let begun = 0;
    for (let place = 0; place < most; place++) {
      for (const { source, group } of closed) {
        if (place >= source.users) continue;
        const at = now + Math.round((length * begun++) / users);
        if (at === now || ring === undefined) this.#duties.ended(source.firstUser + place, group, now);
        else ring.begin(source.firstUser + place, group, at);
      }
    }
  }

  #equal(length: number, ring: Thoughts | undefined): Way {
    const same = (): number => length;
    if (ring === undefined) return { begin: (user, group, now) => this.#duties.ended(user, group, now), length: same };
    return { begin: (user, group, now) => ring.begin(user, group, now + length), length: same };
  }

  /** Whose event it is that is scheduled with this number. */
  #numberOf(shared: { pass(now: number): void }): number {
    const known = this.#shared.indexOf(shared);
    return known < 0 ? this.#shared.push(shared) - 1 : known;
  }

  #newRing(users: number): Thoughts {
    const number = this.#shared.length;
    const ring = new Thoughts(
      users,
      (user, group, now) => this.#duties.ended(user, group, now),
      (at) => this.#duties.schedulePass(at, number),
    );
    this.#shared.push(ring);
    return ring;
  }
}
