// A theory is a program that says beforehand, in numbers, what must be seen if it is true. Evidence then holds each claim
// against what was seen, and a theory that made a wrong necessary claim is dead, however well the rest fits.
//
// A claim carries the function that measures, so that predicting and looking stay two acts: `predict` may use settings and
// quantities other than the one it predicts, and only the audit calls `measure`.

import type { DossierSlug } from './dossier/slugs.ts';
import type { ExperimentFacts, ExperimentKind } from '../record.ts';
import type { Evidence } from './evidence.ts';
import type { PhaseEvidence } from './phase-evidence.ts';
import type { Unit } from './wording.ts';

/** The members stand in this order in every theory's file. */
export interface Theory {
  readonly slug: Slug;
  /** What the verdict's `pattern` says when this theory wins. */
  readonly pattern: Pattern;
  readonly title: string;
  readonly mechanism: string;
  readonly lookAlikes: readonly string[];
  /** What the baseline must show. */
  readonly predict: (evidence: Evidence) => readonly Claim[];
  /** What an experiment must show, before it is done or after. */
  readonly foresee: (evidence: Evidence, experiment: ExperimentFacts) => readonly Claim[];
  readonly refutedBy: string;
  readonly provedBy: string;
  readonly fix: string;
  /** The experiments that decide, best first. */
  readonly experiments: readonly ExperimentKind[];
  /** How the verdict reads with this record's numbers. */
  readonly verdict: (evidence: Evidence) => Finding;
}

export type Slug =
  | 'generator-saturated'
  | 'pick-first'
  | 'convoy'
  | 'slow-replica'
  | 'overload'
  | 'healthy'
  | 'skewed-balancer'
  | 'cpu-throttling'
  | 'network'
  | 'worker-pool-exhaustion'
  | 'eviction-cascade'
  | 'metastable-retry'
  | 'fast-fail-blackhole'
  | 'cold-start'
  | 'zone-imbalance'
  | 'connection-pinning';

/** A theory of a run's record, or of a dossier. */
export type TheorySlug = Slug | DossierSlug;

export type Pattern =
  | 'convoy'
  | 'pick-first'
  | 'slow-replica'
  | 'overload'
  | 'healthy'
  | 'generator-saturated'
  | 'cpu-throttling'
  | 'eviction-cascade'
  | 'undecided'
  | DossierSlug;

export interface Finding {
  readonly culprit?: string;
  readonly sentence: string;
  /** Lines that can be checked by hand. */
  readonly arithmetic: readonly string[];
  readonly fix: string;
  readonly missing?: string;
}

/** `necessary`: when it fails, the theory is refuted. `sufficient`: when it holds and nothing necessary failed, the theory is
 * established. `supporting`: it weighs, no more. */
export type Bearing = 'necessary' | 'sufficient' | 'supporting';

export interface Claim {
  /** What is measured and of whom: two theories that predict the same key can be told apart by it. */
  readonly key: string;
  readonly says: string;
  readonly predicted: Predicted | Missing;
  readonly measure: Measure;
  readonly refutes: string;
  readonly bearing: Bearing;
}

/** A closed interval; a side that is absent is open. */
export interface Predicted {
  readonly low?: number;
  readonly high?: number;
  readonly unit: Unit;
}

export interface Missing {
  readonly missing: string;
}

/** Reads one number off one phase. */
export type Measure = (evidence: Evidence, phase: PhaseEvidence) => Reading | Missing;

export interface Reading {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Replaces the number where a word says more: "closed loop, 64 users". */
  readonly text?: string;
}

export function isMissing(one: Predicted | Reading | Missing): one is Missing {
  return 'missing' in one;
}
