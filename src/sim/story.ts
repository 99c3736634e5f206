// What happened in a stretch of imagined time, event by event: for whoever asks why a replica was chosen, or why two runs differ.
// Each line says which event it was, whose, and what it changed at the replicas.
//
//   simulation ── event ──► pending line ── the next event ──► what has changed since ──► line
//
// An event can be seen only before it is handled, so its changes are told when the next one comes.

import { type Duration, ns } from '../base.ts';
import { baselineOf, type Scenario } from '../scenario.ts';
import { purposes } from './jobs.ts';
import { Simulation } from './simulation.ts';
import type { Station } from './station.ts';
import { eventNames, type World } from './world.ts';

export interface StoryOptions {
  readonly seed: number;
  /** From when on, since the beginning of the run. */
  readonly from: Duration;
  /** For how long. */
  readonly length: Duration;
}

export interface StoryLine {
  readonly at_ns: number;
  /** One of `eventNames`. */
  readonly event: string;
  /** Whose, in words: a request, a call, a check. Absent: of nobody in particular. */
  readonly of?: string;
  readonly changes: readonly StationChange[];
}

/** How many requests a replica or dependency holds after the event, and where. */
export interface StationChange {
  readonly id: string;
  readonly in_flight: number;
  readonly busy: number;
  readonly waiting: number;
}

/** Tells a stretch of the baseline line by line. Returns what the run adds up to at the end of the stretch: events handled, and the
 * digest of them all. */
export function* storyOf(
  scenario: Scenario,
  { seed, from, length }: StoryOptions,
): Generator<StoryLine, { readonly events: number; readonly digest: string }> {
  const until = from + length;
  // One tick, so that the run stands still where the stretch ends.
  const simulation = new Simulation(scenario, { seed, tick: ns(until) });
  const lines: StoryLine[] = [];
  const watch = new Watch(simulation.world, lines);
  simulation.trace = (kind, subject, now) => {
    watch.settle();
    if (now >= from && now <= until) watch.see(kind, subject, now);
  };
  for (const line of simulation.play(baselineOf(scenario))) {
    if (line.kind === 'tick' && simulation.now >= until) break;
  }
  watch.settle();
  yield* lines;
  return { events: simulation.events, digest: simulation.digest };
}

/** Sees events coming, and tells each once it is known what it changed. */
class Watch {
  readonly #world: World;
  readonly #lines: StoryLine[];
  readonly #before = new Map<Station, StationChange>();
  #pending: Omit<StoryLine, 'changes'> | undefined;

  constructor(world: World, lines: StoryLine[]) {
    this.#world = world;
    this.#lines = lines;
  }

  see(kind: number, subject: number, now: number): void {
    const event = eventNames[kind] ?? String(kind);
    const of = whose(this.#world, event, subject);
    this.#pending = { at_ns: now, event, ...(of === undefined ? {} : { of }) };
    for (const station of this.#world.fleet.stations) this.#before.set(station, stateOf(station));
  }

  /** The event that was seen last has been handled. */
  settle(): void {
    if (this.#pending === undefined) return;
    const changes = this.#world.fleet.stations
      .map((station) => ({ now: stateOf(station), before: this.#before.get(station) }))
      .filter(({ now, before }) => before === undefined || !isSame(now, before))
      .map(({ now }) => now);
    this.#lines.push({ ...this.#pending, changes });
    this.#pending = undefined;
  }
}

const stateOf = (station: Station): StationChange => ({
  id: station.id,
  in_flight: station.inFlight,
  busy: station.busy,
  waiting: station.waiting,
});

const isSame = (one: StationChange, other: StationChange): boolean =>
  one.in_flight === other.in_flight && one.busy === other.busy && one.waiting === other.waiting;

/** Whom an event is about, in words. Numbers are places in a pool, and used again once they are free. */
function whose({ jobs, fleet, requests, groups }: World, event: string, subject: number): string | undefined {
  switch (event) {
    case 'due':
    case 'tell':
    case 'callAgain': {
      const parent = jobs.parent[subject] ?? -1;
      const at = fleet.stations[jobs.station[subject] ?? -1]?.id ?? 'nobody';
      if (parent < 0) return `somebody who has left, at ${at}`;
      if (jobs.purpose[subject] === purposes.check) return `a health check at ${at}`;
      if (jobs.purpose[subject] === purposes.request) return `request ${parent} at ${at}`;
      const caller = fleet.stations[jobs.station[parent] ?? -1]?.id ?? 'nobody';
      return `a call of ${caller} at ${at}`;
    }
    case 'again':
      return `request ${subject} of ${groups[requests.group[subject] ?? -1]?.name ?? 'nobody'}`;
    case 'arrival':
      return `a request of ${groups[subject]?.name ?? 'nobody'}`;
    case 'rested':
      return `user ${subject}`;
    default:
      return undefined;
  }
}
