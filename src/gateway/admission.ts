// Who is let in now, who waits for it, who is turned away. Four things may say no, each only where it is configured:
//
//   ceilings      fixed numbers of requests, connections, requests that wait for a connection, and retries
//   concurrency   a number of requests that follows latency (the gradient)
//   hopeless      what could not be finished in the time that it has left
//   queue         what finds no place waits here instead of being turned away, for as long as waiting can still do good
//
//             place free?              queue?            room, and not too long?
//   request ──────────────► inside   ─────────► waits ─────────────────────────► inside
//                 │ no                  │ none     │ full, or late
//                 └─────────────────────┴──────────┴──► 503 UO, counted by reason
//
// A request inside holds one connection at most, so requests are let in up to the ceiling of connections, too; and when a
// connection is wanted while idle ones to other endpoints fill that ceiling, one of those is closed.
//
// Hot where configured: enter, leave.

import { assert, dice, type Duration, type Instant } from '../base.ts';
import type { Engine } from '../net.ts';
import { CeilingCounts, type Ceilings, GradientLimit, Hopeless, WaitingRoom } from '../policy.ts';
import type { LiveFleet } from './live-fleet.ts';
import type { AdmitConfig } from './policy-config.ts';
import { Timeout, type Timeouts } from './timeouts.ts';

/** Why a request, or an attempt, was not let on. */
export const refusals = [
  'requests',
  'connections',
  'waiting',
  'retries',
  'concurrency',
  'queue-full',
  'queue-late',
  'hopeless',
] as const;

export type Refusal = (typeof refusals)[number];

/** What waits in the queue. */
export interface Guest {
  admitted(now: Instant): void;
  turnedAway(now: Instant): void;
}

/** One for each service: what one of them has too much of takes no place from another. */
export class Admissions {
  readonly #make: () => Admission;
  readonly #byFleet = new Map<LiveFleet, Admission>();

  constructor(make: () => Admission) {
    this.#make = make;
  }

  /** Hot where configured. */
  of(fleet: LiveFleet): Admission {
    const known = this.#byFleet.get(fleet);
    if (known !== undefined) return known;
    const made = this.#make();
    this.#byFleet.set(fleet, made);
    return made;
  }

  /** Those of fleets that have left are forgotten; who is inside holds on to its own. */
  keep(isPresent: (fleet: LiveFleet) => boolean): void {
    for (const fleet of this.#byFleet.keys()) if (!isPresent(fleet)) this.#byFleet.delete(fleet);
  }
}

/** Undefined when nothing of it is configured. */
export function admissionsOf(
  engine: Engine,
  timeouts: Timeouts,
  config: AdmitConfig,
  seed: number,
): Admissions | undefined {
  const { ceilings, concurrency, hopeless } = config;
  if (ceilings === undefined && concurrency === undefined && hopeless === undefined) return undefined;
  return new Admissions(() => new Admission(engine, timeouts, config, seed));
}

export class Admission {
  readonly refused: Record<Refusal, number>;
  /** Requests that had to wait, and were let in then. */
  waited = 0;
  readonly #timeouts: Timeouts;
  readonly #counts: CeilingCounts | undefined;
  readonly #gradient: GradientLimit | undefined;
  readonly #room: WaitingRoom<Guest> | undefined;
  readonly #hopeless: Hopeless | undefined;
  readonly #connectionsMax: number;
  readonly #late: Timeout;
  #serving = false;

  constructor(engine: Engine, timeouts: Timeouts, config: AdmitConfig, seed: number) {
    const now = engine.now();
    const { ceilings, concurrency, queue } = config;
    this.refused = {
      requests: 0,
      connections: 0,
      waiting: 0,
      retries: 0,
      concurrency: 0,
      'queue-full': 0,
      'queue-late': 0,
      hopeless: 0,
    };
    this.#timeouts = timeouts;
    this.#connectionsMax = ceilings?.connections ?? Infinity;
    this.#counts = ceilings === undefined ? undefined : new CeilingCounts(insideConnections(ceilings));
    this.#gradient =
      concurrency === undefined ? undefined : new GradientLimit(concurrency, dice(seed, 'gateway/concurrency'), now);
    this.#hopeless = config.hopeless === undefined ? undefined : new Hopeless(config.hopeless);
    this.#room = queue === undefined ? undefined : new WaitingRoom<Guest>(queue, now);
    this.#late = new Timeout((at) => this.#turnAwayTheLate(at));
  }

  /** The limit that follows latency at present; undefined when there is none. */
  get concurrencyLimit(): number | undefined {
    return this.#gradient?.limit;
  }

  /** Requests in the queue. */
  get waiting(): number {
    return this.#room?.size ?? 0;
  }

  remaining(which: keyof Ceilings): number | undefined {
    return this.#counts?.remaining(which);
  }

  /** Would work that begins now be in vain? Counted if so. */
  cannotFinish(deadline: Instant, now: Instant): boolean {
    if (this.#hopeless?.cannotFinish(deadline, now) !== true) return false;
    this.refused.hopeless += 1;
    return true;
  }

  /** `in`: go on, and call `leave` at the end. `waits`: `admitted` or `turnedAway` will be called, unless `cancel` comes first. */
  enter(guest: Guest, now: Instant): 'in' | 'waits' | 'refused' {
    const room = this.#room;
    // Nobody passes those who wait.
    const refusal = room !== undefined && room.size > 0 ? 'queue-full' : this.#takePlace(now);
    if (refusal === undefined) return 'in';
    if (room === undefined) return this.#refuse(refusal);
    if (!room.enter(guest, now)) return this.#refuse('queue-full');
    this.#watch(now);
    return 'waits';
  }

  /** A request that was let in has ended. `latency`: from its last attempt to the answer; undefined when that says nothing. */
  leave(latency: Duration | undefined, now: Instant): void {
    this.#counts?.leave('requests');
    this.#gradient?.leave(latency, now);
    if (latency !== undefined) this.#hopeless?.add(latency, now);
    if (this.#room !== undefined) this.#serve(this.#room, now);
  }

  /** A guest leaves the queue by itself. */
  cancel(guest: Guest): void {
    this.#room?.cancel(guest);
  }

  /** May one more connection to the fleet be opened? At the ceiling one that nobody uses is closed, if there is one. */
  mayConnect(fleet: LiveFleet): boolean {
    if (this.#connectionsMax === Infinity || fleet.connections < this.#connectionsMax) return true;
    if (fleet.closeOneIdleConnection()) return true;
    this.refused.connections += 1;
    return false;
  }

  /** A request begins to wait for a connection; or to be a retry, which it is until its end. */
  begin(which: 'waiting' | 'retries'): boolean {
    if (this.#counts?.enter(which) !== false) return true;
    this.refused[which] += 1;
    return false;
  }

  finish(which: 'waiting' | 'retries'): void {
    this.#counts?.leave(which);
  }

  #refuse(refusal: Refusal): 'refused' {
    this.refused[refusal] += 1;
    return 'refused';
  }

  /** Takes a place, or says what is in the way. */
  #takePlace(now: Instant): 'requests' | 'concurrency' | undefined {
    if (this.#counts?.enter('requests') === false) return 'requests';
    if (this.#gradient?.enter(now) !== false) return undefined;
    this.#counts?.leave('requests');
    return 'concurrency';
  }

  /** Lets in as many as there are places for. One of those may end at once and leave: the loop that runs already goes on. */
  #serve(room: WaitingRoom<Guest>, now: Instant): void {
    if (this.#serving) return;
    this.#serving = true;
    while (room.size > 0 && this.#takePlace(now) === undefined) {
      const guest = room.take(now, (late) => this.#turnAway(late, now));
      if (guest === undefined) {
        this.#counts?.leave('requests');
        this.#gradient?.leave(undefined, now);
        break;
      }
      this.waited += 1;
      guest.admitted(now);
    }
    this.#serving = false;
    this.#watch(now);
  }

  #turnAwayTheLate(now: Instant): void {
    const room = this.#room;
    assert(room !== undefined, 'somebody waits somewhere');
    room.expire(now, (late) => this.#turnAway(late, now));
    this.#watch(now);
  }

  #turnAway(guest: Guest, now: Instant): void {
    this.refused['queue-late'] += 1;
    guest.turnedAway(now);
  }

  #watch(now: Instant): void {
    const late = this.#room?.nextLateAt(now);
    if (late === undefined) this.#timeouts.cancel(this.#late);
    else this.#timeouts.set(this.#late, late);
  }
}

function insideConnections(ceilings: Ceilings): Ceilings {
  return { ...ceilings, requests: Math.min(ceilings.requests, ceilings.connections) };
}
