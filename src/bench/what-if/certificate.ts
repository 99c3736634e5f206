// How far a fit can be believed: one is made from the first half of a record, plays the second, and is held against it. The error that it
// makes there is what a prediction of the same fleet is worth, and stands beside every one.
//
//   ├── first half ──┤── second half ──┤
//      fit ──► play ───────────────────►   compared with what was seen
//
// What is compared can be read off single ticks: a histogram is of the whole phase and has no halves.
//
// No certificate is given where something began or ended in the second half that no fit of the first could foresee: its error
// would be the incident's, not the fit's.

import { ns } from '../../base.ts';
import { measuredTicks, type PhaseRecord, recordOf, type RunRecord, type TickLine } from '../../record.ts';
import type { Scenario } from '../../scenario.ts';
import { simulate } from '../../sim.ts';
import { type Figure, figureNamed } from '../figures.ts';
import { type FigureInterval, predictionsOf, seedsFrom } from '../replications.ts';
import { drawnFrom, fitPhase, type FittedFleet } from './fit-fleet.ts';
import { faultsSeen } from './seen-faults.ts';

export interface Certificate {
  readonly rows: readonly CertificateRow[];
}

export interface CertificateRow {
  readonly figure: string;
  readonly unit: Figure['unit'];
  readonly observed: number;
  /** Where one run would lie. */
  readonly predicted: FigureInterval;
  /** Predicted less observed: of a share in points of it, of all else as a part of what was seen. */
  readonly error: number;
  /** Whether single runs of the fit differ as much. */
  readonly within: boolean;
}

const runs = 12;
const ticksMin = 8;

/** Of a record's first phase, or why there is none. */
export function certify(record: RunRecord, seed: number): Certificate | string {
  const phase = record.phases[0];
  const measured = phase === undefined ? [] : measuredTicks(phase);
  const middle = measured[Math.floor(measured.length / 2)];
  const last = measured.at(-1);
  if (phase === undefined || middle === undefined || last === undefined || measured.length < ticksMin) {
    return `fewer than ${ticksMin} judged seconds have no halves`;
  }
  const surprise = surpriseIn(phase, record, middle.at_ns - phase.line.at_ns);
  if (surprise !== undefined) return surprise;
  const half = { ...phase, ticks: phase.ticks.filter(({ at_ns: at }) => at < middle.at_ns) };
  const fleet = fitPhase(record, half);
  if (typeof fleet === 'string') return `the first half alone cannot be fitted: ${fleet}`;
  const warmUp = ns(middle.at_ns - phase.line.at_ns);
  const duration = ns(last.at_ns + last.span_ns - middle.at_ns);
  const predicted = predictionsOf(
    seedsFrom(seed, runs).map((each) => ({
      figures: played({ ...drawnFrom(fleet, each), warmUp, duration }, each, fleet),
    })),
  );
  const seen = tickFigures(measured.filter(({ at_ns: at }) => at >= middle.at_ns));
  return {
    rows: predicted.flatMap((prediction): CertificateRow[] => {
      const observed = figureNamed(seen, prediction.name);
      if (observed === undefined) return [];
      const difference = prediction.value - observed;
      const error = prediction.unit === 'share' ? difference : observed === 0 ? 0 : difference / observed;
      const within = observed >= prediction.low && observed <= prediction.high;
      return [{ figure: prediction.name, unit: prediction.unit, observed, predicted: prediction, error, within }];
    }),
  };
}

function surpriseIn(phase: PhaseRecord, { topology }: RunRecord, middle: number): string | undefined {
  const late = faultsSeen(phase, topology).faults.some(
    ({ at, for: length }) => at >= middle || (at > 0 && length !== undefined && at + length > middle),
  );
  return late ? 'something went wrong or right again in the second half, which the first could not foresee' : undefined;
}

function played(scenario: Scenario, seed: number, { path }: FittedFleet): readonly Figure[] {
  const phase = recordOf([...simulate(scenario, { seed })]).phases[0];
  return (phase === undefined ? [] : tickFigures(measuredTicks(phase))).map((figure) =>
    figure.unit === 'nanoseconds' ? { ...figure, value: figure.value + path } : figure,
  );
}

function tickFigures(ticks: readonly TickLine[]): readonly Figure[] {
  const clients = ticks.flatMap((tick) => tick.clients);
  const span = sum(ticks.map((tick) => tick.span_ns));
  const answered = sum(clients.map((group) => group.answered));
  const failed = sum(clients.flatMap(({ errors = {} }) => Object.values(errors)));
  const waits = clients.flatMap(({ latency }) => latency ?? []);
  const count = sum(waits.map((wait) => wait.count));
  return [
    { name: 'throughput', unit: 'per-second', value: span === 0 ? 0 : (answered * 1e9) / span },
    { name: 'failed', unit: 'share', value: answered + failed === 0 ? 0 : failed / (answered + failed) },
    ...(count === 0
      ? []
      : [
          {
            name: 'mean latency',
            unit: 'nanoseconds' as const,
            value: sum(waits.map((wait) => wait.count * wait.mean_ns)) / count,
          },
        ]),
  ];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
