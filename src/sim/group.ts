// One client group in one phase: who asks, by which gate, and what became of it. Closed users wait for each answer; open
// arrivals come when their pacer says, whatever the answers do.

import { instantAt } from '../base.ts';
import type { RetryPolicy } from '../policy.ts';
import type { Distribution, Pacer } from '../scenario.ts';
import { Level } from '../stats.ts';
import type { Deadlines } from './deadlines.ts';
import type { Gate } from './gate.ts';
import { Pins, type PinsSettings } from './pins.ts';
import { Tally } from './tally.ts';

export interface GroupSettings {
  readonly name: string;
  readonly gate: Gate;
  readonly source: Source;
  /** The clients' patience. */
  readonly deadlines: Deadlines;
  /** From when on requests are judged. */
  readonly measureFrom: number;
  /** Undefined: clients do not ask again. */
  readonly retry: RetryPolicy | undefined;
  /** Undefined where each request is placed anew. */
  readonly pinned: Omit<PinsSettings, 'users'> | undefined;
}

export type Source =
  | { readonly kind: 'closed'; readonly firstUser: number; readonly users: number; readonly think: Distribution }
  | { readonly kind: 'open'; readonly pacer: Pacer; readonly beganAt: number };

export class Group {
  readonly name: string;
  readonly gate: Gate;
  readonly source: Source;
  readonly deadlines: Deadlines;
  readonly measureFrom: number;
  readonly retry: RetryPolicy | undefined;
  /** Undefined where users keep no connections. */
  readonly #pins: Pins | undefined;
  readonly inFlight: Level;
  /** The present second, whenever its requests came due. */
  readonly recent = new Tally();
  /** What came due in the judged part. */
  readonly measured = new Tally();
  /** Answers in the present second, by the station's number counted from the first that it asks. */
  readonly #answeredBy: Int32Array;
  readonly #firstStation: number;
  /** Arrivals so far, in an open group. */
  arrivals = 0;
  /** Further tries of its clients so far. */
  retried = 0;

  constructor(settings: GroupSettings, now: number) {
    this.name = settings.name;
    this.gate = settings.gate;
    this.source = settings.source;
    this.deadlines = settings.deadlines;
    this.measureFrom = settings.measureFrom;
    this.retry = settings.retry;
    const { source, pinned } = settings;
    this.#pins =
      pinned === undefined || source.kind === 'open'
        ? undefined
        : new Pins({ users: source.users, ...pinned }, settings.gate);
    this.inFlight = new Level(0, instantAt(now));
    const { stations } = settings.gate;
    this.#firstStation = stations[0]?.index ?? 0;
    this.#answeredBy = new Int32Array((stations.at(-1)?.index ?? 0) - this.#firstStation + 1);
  }

  isMeasured(dueAt: number): boolean {
    return dueAt >= this.measureFrom;
  }

  /** Which endpoint gets a user's request: the gate's choice, or the one that its connection leads to. */
  endpointFor(user: number, view: number, tried: readonly number[] | undefined, now: number): number | undefined {
    if (this.#pins === undefined) return this.gate.pick(view, tried, now);
    return this.#pins.endpointFor(this.#placeOf(user), now);
  }

  /** The user's connection broke, or was never made. */
  connectionBroke(user: number, endpoint: number, now: number): void {
    this.#pins?.broke(this.#placeOf(user), endpoint, now);
  }

  /** The user did not wait for the answer. */
  gaveUp(user: number, endpoint: number, now: number): void {
    this.#pins?.gaveUp(this.#placeOf(user), endpoint, now);
  }

  /** Its clients go, with their connections. */
  end(now: number): void {
    this.#pins?.closeAll(now);
  }

  /** Counted from the group's first user. */
  #placeOf(user: number): number {
    return this.source.kind === 'closed' ? user - this.source.firstUser : user;
  }

  answered(station: number): void {
    const place = station - this.#firstStation;
    this.#answeredBy[place] = (this.#answeredBy[place] ?? 0) + 1;
  }

  /** Who has answered how often since it was last asked, in the order of the stations. */
  takeAnswered(): readonly (readonly [number, number])[] {
    const taken: [number, number][] = [];
    this.#answeredBy.forEach((count, place) => {
      if (count > 0) taken.push([this.#firstStation + place, count]);
    });
    this.#answeredBy.fill(0);
    return taken;
  }
}
