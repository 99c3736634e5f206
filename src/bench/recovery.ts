// How long a service stays down after what was wrong with it is over. Failures that outlive their cause are invisible in means: two
// runs may fail equally often, one during the fault and the other ever after.
//
//   ▔▔▔▔▔▔▔╲▁▁▁▁▁▁▁▁▁▁▁▁▁▁╱▔▔▔╲▁╱▔▔▔▔▔▔▔     good answers
//           └─ fault ─┘            │
//                     └── back after ──┘     until the end of the last bad second
//
// A second is bad when fewer than nine in ten of what ended in it were good answers, or when fewer ended than half of what came due.

import { type Duration, ns } from '../base.ts';
import type { PhaseRecord, TickLine } from '../record.ts';
import { allFaults, type Scenario } from '../scenario.ts';

export interface Recovery {
  /** From the end of the fault to the end of the last bad second. Where it was not back, the time that was looked at. */
  readonly after: Duration;
  /** Whether the last second that was looked at was good. */
  readonly back: boolean;
}

const goodShare = 0.9;
const endedShare = 0.5;

/** When the last of what goes wrong for a while is over, from the start of the run. Undefined where nothing ends. */
export function healedAt(scenario: Pick<Scenario, 'faults' | 'network'>): Duration | undefined {
  const ends = allFaults(scenario).flatMap(({ at, for: length }) => (length === undefined ? [] : [at + length]));
  return ends.length === 0 ? undefined : ns(Math.max(...ends));
}

/** Of a phase in which something was wrong until `healed`, counted from its beginning. Undefined when nothing was seen after that. */
export function recoveryOf(phase: PhaseRecord, healed: Duration): Recovery | undefined {
  const from = phase.line.at_ns + healed;
  const later = phase.ticks.filter(({ at_ns: at }) => at >= from);
  const last = later.at(-1);
  if (last === undefined) return undefined;
  const lastBad = later.findLast(isBad);
  return {
    after: ns(lastBad === undefined ? 0 : lastBad.at_ns + lastBad.span_ns - from),
    back: lastBad !== last,
  };
}

export function isBad({ clients }: Pick<TickLine, 'clients'>): boolean {
  const planned = sum(clients.map((group) => group.planned));
  const good = sum(clients.map((group) => group.answered));
  const ended = good + sum(clients.flatMap(({ errors = {} }) => Object.values(errors)));
  return ended < endedShare * planned || good < goodShare * ended;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
