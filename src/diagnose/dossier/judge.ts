// From what was left behind to a verdict. As with a run's record: a theory that made a necessary claim which fails is
// refuted; one with a sufficient claim that holds, and nothing necessary failed, is established.
//
// Of several established ones:
//
//   1  one whose effects another established theory brings about is a part of that story, no finding of its own
//   2  a fault that was seen stands before "nothing is wrong", and that before a fault that only the settings predict
//   3  then the one with more proof: sufficient claims count twice, supporting ones half, and half off where they failed
//   4  then the order of the table
//
// Confidence: 1 − ½·0.7^proof for the winner, times 0.85 for every other fault that stands beside it and that it does not
// explain, and where nothing is said to be wrong times 0.9 for every fault that is still possible; then what such a number has been
// worth (`calibration.ts`), at most 0.97. Undecided at most 0.5.

import type { Dossier } from '../../record.ts';
import type { AuditRow, Standing } from '../audit.ts';
import { calibrated } from '../calibration.ts';
import type { Diagnosis, Verdict } from '../diagnose.ts';
import { listed } from '../wording.ts';
import type { DossierSlug } from './slugs.ts';
import { dossierTheories } from './theories.ts';
import type { DossierClaim, DossierTheory, Examination } from './theory.ts';
import { standingOf } from './standing.ts';
import { View } from './view.ts';

interface Examined {
  readonly theory: DossierTheory;
  readonly examination: Examination;
  readonly standing: Standing;
  readonly reason: string;
}

/** What an audit row calls the one stretch of time that a dossier is about. */
export const incident = 'incident';

/** Judges what readers understood. Never throws for what is missing: then the verdict is `undecided`. */
export function diagnoseDossier(dossier: Dossier, theories: readonly DossierTheory[] = dossierTheories): Diagnosis {
  const view = new View(dossier);
  const examined = theories.flatMap((theory): Examined[] => {
    const examination = theory.examine(view);
    return examination === undefined ? [] : [{ theory, examination, ...standingOf(examination.claims) }];
  });
  return {
    verdict: verdictOf(examined),
    theories: examined.map(({ theory, standing, reason }) => ({
      theory: theory.slug,
      title: theory.title,
      standing,
      reason,
    })),
    audit: examined.flatMap(({ theory, examination }) => examination.claims.map((one) => rowOf(theory.slug, one))),
    checks: [],
    phases: [],
  };
}

function verdictOf(examined: readonly Examined[]): Verdict {
  const established = examined.filter((one) => one.standing === 'established');
  const causes = established.filter(
    (one) => !established.some((other) => explains(other, one) && !explains(one, other)),
  );
  const [winner, ...others] = causes.toSorted(
    (one, other) => rankOf(other) - rankOf(one) || proofOf(other) - proofOf(one),
  );
  if (winner === undefined) return undecided(examined);
  const beside = others.filter((one) => one.theory.kind !== 'harmless' && !explains(winner, one));
  const rivals = beside.filter((one) => rankOf(one) === rankOf(winner));
  const { sentence, arithmetic, fix } = winner.examination;
  return {
    pattern: winner.theory.slug,
    ...culpritOf(winner),
    ...(winner.examination.basis === 'configured' ? { basis: 'configured' } : {}),
    confidence: rounded(
      calibrated((1 - 0.5 * 0.7 ** proofOf(winner)) * 0.85 ** rivals.length * calmOf(winner, examined)),
    ),
    sentence,
    arithmetic,
    fix: fix ?? winner.theory.fix,
    ...(beside.length === 0
      ? {}
      : {
          simultaneous: beside.map((one) => ({
            pattern: one.theory.slug,
            ...culpritOf(one),
            sentence: one.examination.sentence,
          })),
        }),
  };
}

/** That nothing is wrong is worth less for every fault that remains possible. */
function calmOf(winner: Examined, examined: readonly Examined[]): number {
  if (winner.theory.kind !== 'harmless') return 1;
  const open = examined.filter(({ standing, theory }) => standing === 'possible' && theory.kind !== 'harmless');
  return 0.9 ** open.length;
}

function undecided(examined: readonly Examined[]): Verdict {
  const faults = examined.filter(({ theory }) => theory.kind !== 'harmless');
  const byProof = (one: Examined, other: Examined): number => proofOf(other) - proofOf(one);
  const possible = faults.filter(({ standing }) => standing === 'possible').toSorted(byProof);
  // Where nothing necessary could be tested, a hint is better than nothing: whoever has some support.
  const hinted = faults.filter((one) => one.standing === 'untestable' && proofOf(one) > 0).toSorted(byProof);
  const calm = examined.find(({ theory }) => theory.slug === 'healthy');
  const leading = possible[0] ?? hinted[0] ?? (calm?.standing === 'possible' ? calm : undefined);
  const open = openSentence(
    possible.map(({ theory }) => theory.slug),
    hinted[0]?.theory.slug,
  );
  return {
    pattern: 'undecided',
    confidence: rounded(Math.min(0.5, 1 / Math.max(2, possible.length))),
    sentence: leading === undefined || leading === calm ? `${open}${notHealthy(calm)}` : open,
    arithmetic: [],
    fix: 'Nothing yet: measure first.',
    missing: leading === undefined ? whatIsAlwaysNeeded : decidedBy(leading),
  };
}

/** Why it is not called healthy either, where nothing else is known. */
function notHealthy(calm: Examined | undefined): string {
  if (calm?.standing === 'refuted') return ` It is not called healthy because this does not hold: ${calm.reason}`;
  return calm?.standing === 'possible' ? ' It is too little to say that nothing is wrong.' : '';
}

function openSentence(possible: readonly DossierSlug[], hinted: DossierSlug | undefined): string {
  if (possible.length === 1) {
    return `It may be ${possible[0]}: nothing speaks against it, but nothing proves it either.`;
  }
  if (possible.length > 1) {
    const more = possible.length > 3 ? ' and others' : '';
    return `The evidence does not decide between ${listed(possible.slice(0, 3))}${more}.`;
  }
  return hinted === undefined
    ? 'Nothing in the evidence proves any theory, and nothing points to one.'
    : `Nothing in the evidence proves any theory. Some of it would fit ${hinted}, whose decisive facts are missing.`;
}

const whatIsAlwaysNeeded = 'requests by replica with their times and results, and the settings of what balances them';

/** What would prove the theory that leads, as exactly as its own claims say. */
function decidedBy({ theory, examination }: Examined): string {
  const open = examination.claims.find((one) => one.bearing === 'sufficient' && one.missing !== undefined);
  return examination.decidedBy ?? open?.missing ?? theory.decidedBy;
}

function rankOf({ theory, examination }: Examined): number {
  if (examination.basis === 'configured') return 0;
  return theory.kind === 'harmless' ? 1 : 2;
}

function proofOf({ examination }: Examined): number {
  return examination.claims.reduce((sum, one) => {
    if (one.holds === undefined) return sum;
    if (one.bearing === 'supporting') return sum + (one.holds ? 0.5 : -0.5);
    return one.holds ? sum + (one.bearing === 'sufficient' ? 2 : 1) : sum;
  }, 0);
}

function explains(one: Examined, other: Examined): boolean {
  return one !== other && one.theory.explains.includes(other.theory.slug);
}

function culpritOf({ examination }: Examined): { culprit?: string } {
  return examination.culprit === undefined ? {} : { culprit: examination.culprit };
}

function rowOf(theory: DossierSlug, one: DossierClaim): AuditRow {
  return {
    theory,
    phase: incident,
    claim: one.says,
    predicted: { text: one.predicted },
    ...(one.observed === undefined ? {} : { observed: { text: one.observed } }),
    refutes: one.refutes,
    bearing: one.bearing,
    result: one.holds === undefined ? 'untestable' : one.holds ? 'supports' : 'contradicts',
    ...(one.missing === undefined ? {} : { missing: one.missing }),
    ...(one.origins.length === 0 ? {} : { origins: one.origins }),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
