// Verdicts against truths: who was right, who was accused though nothing was wrong, and whether confidence means what it says.
//
//   right          the pattern (or another name of it), and where one replica is to blame, that replica
//   Brier score    mean of (confidence − right)²: 0 is perfect, 0.25 is what always saying ½ gives
//   calibration    of all verdicts with a confidence around c, the share that was right

import type { IncidentTruth } from './incident.ts';

export interface Said {
  readonly pattern: string;
  readonly culprit: string | undefined;
  readonly confidence: number;
}

export interface Scored {
  readonly id: string;
  readonly truth: IncidentTruth;
  readonly said: Said;
  readonly right: boolean;
}

const calm = new Set(['healthy', 'benign-accept-order', 'undecided']);

export function scoredOf(id: string, truth: IncidentTruth, said: Said): Scored {
  const named = said.pattern === truth.pattern || truth.alike.includes(said.pattern);
  const culprit = said.culprit?.toLowerCase() ?? '';
  const blamed =
    truth.culprit.length === 0 ||
    calm.has(said.pattern) ||
    truth.culprit.some((word) => word !== '' && culprit.includes(word.toLowerCase()));
  return { id, truth, said, right: named && blamed };
}

export const isCalm = (pattern: string): boolean => calm.has(pattern);

export interface Score {
  readonly cases: number;
  readonly right: number;
  /** Right where something was wrong. */
  readonly faultsRight: number;
  /** Named another fault than the one it was. */
  readonly wrong: number;
  readonly undecided: number;
  /** Of those in which nothing was wrong, how many accused somebody. */
  readonly healthy: number;
  readonly accused: number;
  /** And of how many it was said that the evidence does not tell. */
  readonly calmUndecided: number;
  readonly brier: number;
}

export function scoreOf(all: readonly Scored[]): Score {
  const healthy = all.filter(({ truth }) => isCalm(truth.pattern));
  return {
    cases: all.length,
    right: all.filter(({ right }) => right).length,
    faultsRight: all.filter(({ right, truth }) => right && !isCalm(truth.pattern)).length,
    wrong: all.filter(({ right, said }) => !right && said.pattern !== 'undecided').length,
    undecided: all.filter(({ said }) => said.pattern === 'undecided').length,
    healthy: healthy.length,
    accused: healthy.filter(({ said }) => !isCalm(said.pattern)).length,
    calmUndecided: healthy.filter(({ said }) => said.pattern === 'undecided').length,
    brier: mean(all.map(({ said, right }) => (said.confidence - (right ? 1 : 0)) ** 2)),
  };
}

export interface CalibrationBin {
  readonly from: number;
  readonly to: number;
  readonly cases: number;
  readonly confidence: number;
  readonly right: number;
}

export function calibrationOf(all: readonly Scored[], bins = 10): readonly CalibrationBin[] {
  return Array.from({ length: bins }, (_, index) => {
    const [from, to] = [index / bins, (index + 1) / bins];
    const own = all.filter(({ said }) => said.confidence >= from && (said.confidence < to || index === bins - 1));
    return {
      from,
      to,
      cases: own.length,
      confidence: mean(own.map(({ said }) => said.confidence)),
      right: mean(own.map(({ right }) => (right ? 1 : 0))),
    };
  }).filter(({ cases }) => cases > 0);
}

/** What was said, by what it was, most frequent first. */
export function confusionOf(all: readonly Scored[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const rows = new Map<string, Map<string, number>>();
  for (const { truth, said, right } of all) {
    const row = rows.get(truth.pattern) ?? new Map<string, number>();
    const name = right
      ? truth.pattern
      : said.pattern === truth.pattern
        ? `${said.pattern}, other culprit`
        : said.pattern;
    row.set(name, (row.get(name) ?? 0) + 1);
    rows.set(truth.pattern, row);
  }
  return rows;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
