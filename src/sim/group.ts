// One client group in one phase: who asks, by which gate, and what became of it. Closed users wait for each answer; open
// arrivals come when their pacer says, whatever the answers do.

import { instantAt } from '../base.ts';
import type { RetryPolicy } from '../policy.ts';
import type { Pacer } from '../scenario.ts';
import { Level } from '../stats.ts';
import type { Deadlines } from './deadlines.ts';
import type { Gate } from './gate.ts';
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
  /** Whether each closed user keeps the replica that it got first. */
  readonly pinned: boolean;
}

export type Source =
  | { readonly kind: 'closed'; readonly firstUser: number; readonly users: number; readonly think: number }
  | { readonly kind: 'open'; readonly pacer: Pacer; readonly beganAt: number };

export class Group {
  readonly name: string;
  readonly gate: Gate;
  readonly source: Source;
  readonly deadlines: Deadlines;
  readonly measureFrom: number;
  readonly retry: RetryPolicy | undefined;
  /** By user, counted from the group's first: its endpoint; −1 for none yet. Undefined where users keep none. */
  readonly #pins: Int32Array | undefined;
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
    const { source } = settings;
    this.#pins = settings.pinned && source.kind === 'closed' ? new Int32Array(source.users).fill(-1) : undefined;
    this.inFlight = new Level(0, instantAt(now));
    const { stations } = settings.gate;
    this.#firstStation = stations[0]?.index ?? 0;
    this.#answeredBy = new Int32Array((stations.at(-1)?.index ?? 0) - this.#firstStation + 1);
  }

  isMeasured(dueAt: number): boolean {
    return dueAt >= this.measureFrom;
  }

  /** Which endpoint gets a user's request: the gate's choice, or the one that the user keeps, chosen at its first request. */
  endpointFor(user: number, view: number, tried: readonly number[] | undefined, now: number): number | undefined {
    if (this.#pins === undefined || this.source.kind !== 'closed') return this.gate.pick(view, tried, now);
    const place = user - this.source.firstUser;
    const kept = this.#pins[place] ?? -1;
    if (kept >= 0) return kept;
    const endpoint = this.gate.pick(view, undefined, now);
    if (endpoint !== undefined) this.#pins[place] = endpoint;
    return endpoint;
  }

  /** The user's connection broke, or was never made: it chooses anew. */
  unpin(user: number): void {
    if (this.#pins !== undefined && this.source.kind === 'closed') this.#pins[user - this.source.firstUser] = -1;
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
