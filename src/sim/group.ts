// One client group in one phase: who asks, by which gate, and what became of it. Closed users wait for each answer; open
// arrivals come when their pacer says, whatever the answers do.

import { instantAt } from '../base.ts';
import type { RetryPolicy } from '../policy.ts';
import type { ClosedDemand, Pacer } from '../scenario.ts';
import { Level } from '../stats.ts';
import type { Deadlines } from './deadlines.ts';
import type { Gate } from './gate.ts';
import { grownInts } from './grown.ts';
import type { End } from './network.ts';
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
  /** Where its clients are in the network, where there is one. */
  readonly home: End | undefined;
}

export type Source =
  | (ClosedDemand & { readonly firstUser: number })
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
  readonly home: End | undefined;
  /** By user: 1 where it has an open connection. Undefined where nobody asks: an arrival of an open group finds one. */
  readonly #connected: Uint8Array | undefined;
  readonly inFlight: Level;
  /** The present second, whenever its requests came due. */
  readonly recent = new Tally();
  /** What came due in the judged part. */
  readonly measured = new Tally();
  /** Answers in the present second, by the station's number counted from the first that it asks. */
  #answeredBy: Int32Array<ArrayBuffer>;
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
    this.home = settings.home;
    this.#connected =
      settings.home !== undefined && source.kind === 'closed' ? new Uint8Array(source.users) : undefined;
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

  /** Whether a user must open a connection first; from now on it has one. */
  opens(user: number): boolean {
    if (this.#connected === undefined) return false;
    const place = this.#placeOf(user);
    const opens = this.#connected[place] === 0;
    this.#connected[place] = 1;
    return opens;
  }

  /** A user's connection is no more. */
  disconnected(user: number): void {
    if (this.#connected !== undefined) this.#connected[this.#placeOf(user)] = 0;
  }

  answered(station: number): void {
    const place = station - this.#firstStation;
    if (place >= this.#answeredBy.length) this.#answeredBy = grownInts(this.#answeredBy, 2 * place);
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
