// One client group in one phase: who asks, by which gate, and what became of it. Closed users wait for each answer; open
// arrivals come when their pacer says, whatever the answers do.

import { instantAt } from '../base.ts';
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
  readonly inFlight: Level;
  /** The present second, whenever its requests came due. */
  readonly recent = new Tally();
  /** What came due in the judged part. */
  readonly measured = new Tally();
  /** Answers in the present second, by station. */
  readonly answeredBy = new Map<number, number>();
  /** Arrivals so far, in an open group. */
  arrivals = 0;

  constructor(settings: GroupSettings, now: number) {
    this.name = settings.name;
    this.gate = settings.gate;
    this.source = settings.source;
    this.deadlines = settings.deadlines;
    this.measureFrom = settings.measureFrom;
    this.inFlight = new Level(0, instantAt(now));
  }

  isMeasured(dueAt: number): boolean {
    return dueAt >= this.measureFrom;
  }

  answered(station: number): void {
    this.answeredBy.set(station, (this.answeredBy.get(station) ?? 0) + 1);
  }
}
