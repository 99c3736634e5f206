// A whole record as one value: what the diagnosis and the reports look at. Lines are sorted into their phases; nothing is
// computed that is not in them.

import { assert } from '../base.ts';
import { Histogram, histogramOfFields } from '../stats.ts';
import type {
  EndLine,
  EventLine,
  HeaderLine,
  HistogramLine,
  JournalLine,
  LedgerLine,
  PhaseLine,
  RecordLine,
  TickLine,
  TopologyLine,
  VerdictLine,
} from './lines.ts';
import { LineOrder } from './order.ts';

export interface RunRecord {
  readonly header: HeaderLine;
  readonly topology: TopologyLine;
  readonly phases: readonly PhaseRecord[];
  /** All of them, those before the first phase included. */
  readonly events: readonly EventLine[];
  readonly journal: readonly JournalLine[];
  readonly verdict: VerdictLine | undefined;
  readonly end: EndLine | undefined;
  /** Whether the run came to its end line. A record that was cut off holds everything up to the cut. */
  readonly complete: boolean;
}

/** One phase with everything that was told while it lasted. */
export interface PhaseRecord {
  readonly line: PhaseLine;
  /** When the next phase began, or the record ended; for the last phase of a record without an end, when its last tick did. */
  readonly untilNs: number;
  readonly events: readonly EventLine[];
  readonly ticks: readonly TickLine[];
  readonly histograms: readonly HistogramLine[];
  readonly ledgers: readonly LedgerLine[];
}

/**
 * Lines in the order of the record, at least up to the topology. That they are in order is the caller's promise: whoever
 * wrote them did it through `RecordWriter`, whoever read them through `readRecord`.
 */
export function recordOf(lines: readonly RecordLine[]): RunRecord {
  const order = new LineOrder();
  const gathering = new Gathering();
  for (const line of lines) {
    const problem = order.accept(line);
    assert(problem === undefined, `a record in order: ${problem}`);
    gathering.add(line);
  }
  return gathering.record();
}

/** Ticks that count: those that begin when the warm-up is over. */
export function measuredTicks(phase: PhaseRecord): readonly TickLine[] {
  return phase.ticks.filter((tick) => tick.at_ns >= phase.line.measure_from_ns);
}

/** The histogram of a line that was read or written by this room, whose buckets have therefore been checked. */
export function histogramOfLine(line: HistogramLine): Histogram {
  const histogram = histogramOfFields(line);
  assert(histogram instanceof Histogram, 'a histogram line that was read has buckets that add up');
  return histogram;
}

interface OpenPhase {
  readonly line: PhaseLine;
  readonly events: EventLine[];
  readonly ticks: TickLine[];
  readonly histograms: HistogramLine[];
  readonly ledgers: LedgerLine[];
}

/** Sorts lines into their places as they come. */
class Gathering {
  #header: HeaderLine | undefined;
  #topology: TopologyLine | undefined;
  readonly #phases: OpenPhase[] = [];
  readonly #phasesByName = new Map<string, OpenPhase>();
  readonly #events: EventLine[] = [];
  readonly #journal: JournalLine[] = [];
  #verdict: VerdictLine | undefined;
  #end: EndLine | undefined;

  add(line: RecordLine): void {
    switch (line.kind) {
      case 'header':
        this.#header = line;
        break;
      case 'topology':
        this.#topology = line;
        break;
      case 'phase':
        this.#begin(line);
        break;
      case 'event':
        this.#events.push(line);
        this.#phases.at(-1)?.events.push(line);
        break;
      case 'tick':
        this.#phasesByName.get(line.phase)?.ticks.push(line);
        break;
      case 'histogram':
        this.#phasesByName.get(line.phase)?.histograms.push(line);
        break;
      case 'ledger':
        this.#phasesByName.get(line.phase)?.ledgers.push(line);
        break;
      case 'journal':
        this.#journal.push(line);
        break;
      case 'verdict':
        this.#verdict = line;
        break;
      case 'end':
        this.#end = line;
        break;
    }
  }

  #begin(line: PhaseLine): void {
    const phase: OpenPhase = { line, events: [], ticks: [], histograms: [], ledgers: [] };
    this.#phases.push(phase);
    this.#phasesByName.set(line.name, phase);
  }

  record(): RunRecord {
    assert(this.#header !== undefined && this.#topology !== undefined, 'a record has a header and a topology');
    return {
      header: this.#header,
      topology: this.#topology,
      phases: this.#phases.map((phase, index) => ({ ...phase, untilNs: this.#endOf(phase, index) })),
      events: this.#events,
      journal: this.#journal,
      verdict: this.#verdict,
      end: this.#end,
      complete: this.#end !== undefined,
    };
  }

  #endOf(phase: OpenPhase, index: number): number {
    const next = this.#phases[index + 1]?.line.at_ns ?? this.#end?.at_ns;
    if (next !== undefined) return next;
    const lastTick = phase.ticks.at(-1);
    return lastTick === undefined ? phase.line.at_ns : lastTick.at_ns + lastTick.span_ns;
  }
}
