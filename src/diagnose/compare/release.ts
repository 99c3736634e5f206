// May the candidate replace what is there? From effects, objectives and the mechanisms that the diagnosis found in the runs of
// either side to one of three answers:
//
//   reject        clients are worse off by more than what matters, or an objective that held does not hold any more
//   conditional   nothing of that is proven, but something is open: an effect that is not settled, a price, a mechanism that has
//                 changed without anybody feeling it yet, or runs that were not alike
//   sign off      every gate is shown to be no worse than what matters, every objective holds, no new mechanism
//
// How often equal sides are called worse: each gate is tested at 1 % ÷ the number of gates, so all together at 1 % or less.

import type { Diagnosis } from '../diagnose.ts';
import { numeral, percent } from '../wording.ts';
import type { RunValue } from './difference.ts';
import { type Effect, effectOf, type FigureKind } from './effect.ts';

/** One run as it is compared. */
export interface ComparedRun {
  readonly order: number | undefined;
  readonly figures: ReadonlyMap<string, { readonly value: number; readonly error: number | undefined }>;
  readonly objectives: readonly ObjectiveInRun[];
}

/** The runs of one side, and what the diagnosis says of all their seconds together: one run may be too short to tell. */
export interface ComparedSide {
  readonly runs: readonly ComparedRun[];
  readonly diagnosis: Diagnosis;
}

export interface ObjectiveInRun {
  /** `http_req_duration p(95)<200`. */
  readonly name: string;
  readonly observed: number | undefined;
  readonly met: boolean;
}

export interface ObjectiveCompared {
  readonly name: string;
  readonly base: string;
  readonly candidate: string;
  readonly finding: 'met' | 'missed' | 'missed before too' | 'unsettled';
}

export type ReleaseVerdict = 'sign off' | 'conditional' | 'reject';

/** Which mechanism is at work in the runs of a side together. */
export interface Mechanism {
  readonly pattern: string;
  readonly culprit?: string;
  readonly confidence: number;
}

/** Plain data: survives JSON. */
export interface Comparison {
  readonly verdict: ReleaseVerdict;
  readonly sentence: string;
  /** Why, the weightiest first. */
  readonly reasons: readonly string[];
  /** What must be done, accepted or measured before it can be signed off. */
  readonly conditions: readonly string[];
  readonly effects: readonly Effect[];
  readonly objectives: readonly ObjectiveCompared[];
  readonly mechanism: {
    readonly base: Mechanism;
    readonly candidate: Mechanism;
    readonly moved: boolean;
    /** In the candidate: what happens, with its own arithmetic. Empty where nothing moved. */
    readonly sentences: readonly string[];
  };
  readonly runs: { readonly base: number; readonly candidate: number };
  /** What makes the two sides not alike, and other doubts about the measurement. */
  readonly doubts: readonly string[];
}

/** Equal sides are rejected at most this often. */
export const falseRejections = 0.01;

export interface ReleaseOptions {
  readonly kinds: readonly FigureKind[];
  /** What is known to differ besides the release, a sentence each. */
  readonly doubts: readonly string[];
}

/** Judges the candidate. Both sides have at least one run. */
export function judgeRelease(
  baseSide: ComparedSide,
  candidateSide: ComparedSide,
  { kinds, doubts: given }: ReleaseOptions,
): Comparison {
  const [base, candidate] = [baseSide.runs, candidateSide.runs];
  const gates = kinds.filter(({ role }) => role === 'gate').length;
  const effects = kinds.flatMap(
    (kind) =>
      effectOf(kind, valuesOf(base, kind), valuesOf(candidate, kind), falseRejections / Math.max(1, gates)) ?? [],
  );
  const objectives = objectivesOf(base, candidate);
  const mechanism = mechanismOf(baseSide.diagnosis, candidateSide.diagnosis, effects);
  const doubts = [...given, ...doubtsOf(base, candidate, effects, mechanism.candidate)];
  const harms = effects.filter(({ role, finding }) => role === 'gate' && finding === 'worse');
  const missed = objectives.filter(({ finding }) => finding === 'missed');
  const reasons = [
    ...harms.map(effectSentence),
    ...missed.map(({ name, base: before, candidate: after }) => `${name}: ${before} before, ${after} now`),
    ...(harms.length + missed.length > 0 ? [...mechanism.sentences, ...triggers(effects)] : []),
  ];
  const conditions = [...conditionsOf(effects, objectives, mechanism, harms.length + missed.length > 0), ...doubts];
  const verdict = reasons.length > 0 ? 'reject' : conditions.length > 0 ? 'conditional' : 'sign off';
  return {
    verdict,
    sentence: sentenceOf(verdict, harms, missed, mechanism, conditions),
    reasons: verdict === 'reject' ? reasons : verdict === 'sign off' ? calmReasons(effects) : [],
    conditions: verdict === 'reject' ? doubts : conditions,
    effects,
    objectives,
    mechanism,
    runs: { base: base.length, candidate: candidate.length },
    doubts,
  };
}

const valuesOf = (runs: readonly ComparedRun[], { name }: FigureKind): readonly RunValue[] =>
  runs.flatMap(({ figures, order }) => {
    const figure = figures.get(name);
    return figure === undefined ? [] : [{ ...figure, order }];
  });

/** An objective is missed when most runs of the candidate miss it and most of the base did not. */
function objectivesOf(base: readonly ComparedRun[], candidate: readonly ComparedRun[]): readonly ObjectiveCompared[] {
  return (candidate[0]?.objectives ?? []).map(({ name }) => {
    const before = metShare(base, name);
    const after = metShare(candidate, name);
    const finding = after === 1 ? 'met' : after > 0.25 ? 'unsettled' : before < 0.5 ? 'missed before too' : 'missed';
    return { name, base: metText(base, name), candidate: metText(candidate, name), finding };
  });
}

const inRuns = (runs: readonly ComparedRun[], name: string): readonly ObjectiveInRun[] =>
  runs.flatMap(({ objectives }) => objectives.filter((one) => one.name === name));

function metShare(runs: readonly ComparedRun[], name: string): number {
  const all = inRuns(runs, name);
  return all.length === 0 ? 0 : all.filter(({ met }) => met).length / all.length;
}

function metText(runs: readonly ComparedRun[], name: string): string {
  const all = inRuns(runs, name);
  const values = all.flatMap(({ observed }) => observed ?? []).toSorted((one, other) => one - other);
  const middle = values[Math.floor(values.length / 2)];
  const seen = middle === undefined ? 'not observed' : `${Number(middle.toPrecision(4))} in the middle run`;
  return `met in ${all.filter(({ met }) => met).length} of ${all.length} runs, ${seen}`;
}

function mechanismOf(base: Diagnosis, candidate: Diagnosis, effects: readonly Effect[]): Comparison['mechanism'] {
  const before = shownBy(base);
  const after = shownBy(candidate);
  const moved = isFault(after.pattern) && after.pattern !== before.pattern;
  const sentences = moved ? movedSentences(candidate, before, after, effects) : [];
  return { base: before, candidate: after, moved, sentences };
}

function shownBy({ verdict: { pattern, culprit, confidence } }: Diagnosis): Mechanism {
  return { pattern, confidence, ...(culprit === undefined ? {} : { culprit }) };
}

function movedSentences(
  { verdict }: Diagnosis,
  before: Mechanism,
  after: Mechanism,
  effects: readonly Effect[],
): readonly string[] {
  const starved = effects.filter(({ name, finding }) => name === 'p50' && finding === 'better');
  const signs = effects.filter(({ role, finding }) => role === 'mechanism' && finding === 'worse');
  return [
    `the mechanism: ${after.pattern}${atCulprit(after)}, ${before.pattern} before`,
    ...signs.map(effectSentence),
    ...(after.pattern === 'convoy'
      ? starved.map((effect) => `${changeText(effect)} is no gain: most replicas are idle while users wait at one`)
      : []),
    verdict.sentence,
    ...verdict.arithmetic,
  ];
}

/** Whatever costs more for certain, however little: the trigger of a collapse may be small. */
const triggers = (effects: readonly Effect[]): readonly string[] =>
  effects
    .filter(({ role, low }) => role === 'price' && low > 0)
    .map((effect) => `what set it off: ${effectSentence(effect)}`);

function doubtsOf(
  base: readonly ComparedRun[],
  candidate: readonly ComparedRun[],
  effects: readonly Effect[],
  after: Mechanism,
): readonly string[] {
  const single = effects.some(({ basis }) => basis === 'inside one run');
  const orders = [...base, ...candidate].flatMap(({ order }) => order ?? []);
  const apart =
    orders.length === base.length + candidate.length &&
    Math.max(...base.map(({ order }) => order ?? 0)) < Math.min(...candidate.map(({ order }) => order ?? 0));
  return [
    ...(after.pattern === 'generator-saturated'
      ? ['the load generator was at its own limit with the candidate: measure again with more of it']
      : []),
    ...effects
      .filter(({ role, finding }) => role === 'ruler' && finding === 'worse')
      .map((effect) => `the ruler itself moved: ${effectSentence(effect)}`),
    ...(single
      ? ['one run a side cannot show how much runs differ by themselves: repeat both, in turns (A-B-B-A)']
      : apart && !single
        ? ['all runs of the base came before those of the candidate: a machine that drifts would look like a release']
        : []),
  ];
}

function conditionsOf(
  effects: readonly Effect[],
  objectives: readonly ObjectiveCompared[],
  mechanism: Comparison['mechanism'],
  rejected: boolean,
): readonly string[] {
  if (rejected) return [];
  return [
    ...(mechanism.moved
      ? [
          `${mechanism.candidate.pattern}${atCulprit(mechanism.candidate)} with the candidate, ${mechanism.base.pattern} before, though clients do not feel it yet`,
        ]
      : []),
    ...objectives
      .filter(({ finding }) => finding === 'unsettled')
      .map(({ name, candidate }) => `${name} is on the edge: ${candidate}`),
    ...objectives
      .filter(({ finding }) => finding === 'missed before too')
      .map(({ name, candidate }) => `${name} is not met, nor was it before: ${candidate}`),
    ...effects
      .filter(({ role, finding }) => role === 'price' && finding === 'worse')
      .map((effect) => `the price, if it may be paid: ${effectSentence(effect)}`),
    ...effects
      .filter(({ role, finding }) => role === 'gate' && finding === 'unsettled')
      .map(
        (effect) => `${effectSentence(effect)}, which does not settle ${smallestText(effect)}: ${neededText(effect)}`,
      ),
  ];
}

const neededText = ({ runsNeeded = 0 }: Effect): string =>
  runsNeeded > 100 ? 'not with a hundred runs a side' : `about ${runsNeeded} runs a side would`;

const calmReasons = (effects: readonly Effect[]): readonly string[] =>
  effects
    .filter(({ role }) => role === 'gate')
    .map((effect) => `${effectSentence(effect)}, less than ${smallestText(effect)}`);

function sentenceOf(
  verdict: ReleaseVerdict,
  harms: readonly Effect[],
  missed: readonly ObjectiveCompared[],
  mechanism: Comparison['mechanism'],
  conditions: readonly string[],
): string {
  switch (verdict) {
    case 'reject': {
      const worse = [...harms.map(changeText), ...missed.map(({ name }) => `${name} missed`)].join(', ');
      const why = mechanism.moved ? `: ${mechanism.candidate.pattern}${atCulprit(mechanism.candidate)}` : '';
      return `Do not release: ${worse}${why}.`;
    }
    case 'conditional':
      return `Not yet: ${numeral(conditions.length)} ${conditions.length === 1 ? 'thing is' : 'things are'} open.`;
    case 'sign off':
      return 'Release: clients are not worse off by anything that matters.';
  }
}

const atCulprit = ({ culprit }: Mechanism): string => (culprit === undefined ? '' : ` at ${culprit}`);

const changeText = ({ name, change, scale }: Effect): string =>
  `${name} ${signed(change)}${scale === 'difference' ? ' points' : ''}`;

/** `p99 +31.4 % (+28.0 % … +35.1 %)`. */
function effectSentence(effect: Effect): string {
  return `${changeText(effect)} (${signed(effect.low)} … ${signed(effect.high)})`;
}

const smallestText = ({ smallest, scale }: Effect): string =>
  `${percent(smallest)}${scale === 'difference' ? ' points' : ''}`;

const signed = (change: number): string => `${change < 0 ? '−' : '+'}${percent(Math.abs(change))}`;

/** Patterns in which something is wrong with what was measured. */
const isFault = (pattern: string): boolean => pattern !== 'healthy' && pattern !== 'undecided';
