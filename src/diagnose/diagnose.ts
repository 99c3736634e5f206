// From a record to a verdict. The winner is the established theory that stands highest in the table; what only others leave
// open is undecided, and then the verdict says which one measurement would decide.
//
// Confidence is what is left after three doubts, each a plain number:
//
//   luck        for an accused replica: the chance that the slowest of equal replicas looks at least this slow
//   untried     ½ · 0.8^n, with n the winner's claims that could have failed and held, experiments counted twice
//   rivals      0.1 for every other theory of an incident that is still possible and that the winner does not include
//
//   confidence = (1 − luck) · (1 − untried) · 0.9^rivals,  at most 0.99; undecided: at most 0.5

import { type Audit, auditOf, type AuditRow, type TheorySummary } from './audit.ts';
import { type DataCheck, dataChecks } from './checks.ts';
import { type Evidence, evidenceOf, knowsWorkerTimes, replicaOf, slownessFor } from './evidence.ts';
import { type FleetView, fleetsOf } from './fleets.ts';
import { type LoadLineFacts, loadLineOf, loadLineOfAll } from './load-line.ts';
import { pileLuck, pileOf } from './pile.ts';
import { type PhaseSummary, summaryOf } from './summary.ts';
import type { SeenRecord } from './seen.ts';
import { theories } from './theories.ts';
import type { Finding, Pattern, Slug, Theory, TheorySlug } from './theory.ts';
import { listed, numeral, percent, wholePercent } from './wording.ts';

/** Plain data: survives JSON. */
export interface Diagnosis {
  readonly verdict: Verdict;
  readonly theories: readonly TheorySummary[];
  readonly audit: readonly AuditRow[];
  /** Laws that any data must obey, checked on this record's. */
  readonly checks: readonly DataCheck[];
  /** The numbers by phase and replica that the arithmetic uses. */
  readonly phases: readonly PhaseSummary[];
  /** How much it may safely carry, by arithmetic; absent where nothing was run. */
  readonly load_line?: LoadLineFacts;
}

export interface Verdict {
  readonly pattern: Pattern;
  /** A replica, a client group, or absent where nobody is to blame. */
  readonly culprit?: string;
  /** 0–1. */
  readonly confidence: number;
  /** `configured`: follows from settings alone; no harm was seen. */
  readonly basis?: 'configured';
  readonly sentence: string;
  readonly arithmetic: readonly string[];
  readonly fix: string;
  /** For `undecided`: the one measurement that would decide, and how to get it. */
  readonly missing?: string;
  /** Other theories that are established beside this one and not a part of it. */
  readonly simultaneous?: readonly {
    readonly pattern: Pattern;
    readonly culprit?: string;
    readonly sentence: string;
  }[];
}

/** Judges a record by what is in it. Never throws for what a record lacks: then the verdict is `undecided`. */
export function diagnose(record: SeenRecord): Diagnosis {
  const fleets = fleetsOf(record);
  return fleets.length === 0 ? diagnoseFleet(record) : diagnoseAll(fleets);
}

/** Share of the services that may be undecided while the whole is called healthy: chance alone makes some of thousands so. */
const undecidedMax = 0.02;

function diagnoseAll(fleets: readonly FleetView[]): Diagnosis {
  const all = fleets.map(({ service, record }) => ({ service, diagnosis: diagnoseFleet(record) }));
  const accused = all.filter(({ diagnosis }) => !['healthy', 'undecided'].includes(diagnosis.verdict.pattern));
  const open = all.filter(({ diagnosis }) => diagnosis.verdict.pattern === 'undecided');
  const chosen =
    accused.length > 0
      ? accused
      : open.length > undecidedMax * all.length
        ? open
        : all.filter(({ diagnosis }) => diagnosis.verdict.pattern === 'healthy');
  const [worst] = chosen.toSorted(
    (one, other) => other.diagnosis.verdict.confidence - one.diagnosis.verdict.confidence,
  );
  if (worst === undefined) return nothingToJudge();
  const { verdict } = worst.diagnosis;
  const same = chosen.filter(({ diagnosis }) => diagnosis.verdict.pattern === verdict.pattern);
  const lines = all.flatMap(({ diagnosis }) => diagnosis.load_line ?? []);
  const beside = open.length === 0 || verdict.pattern === 'undecided' ? '' : ` ${open.length} could not be decided.`;
  return {
    ...worst.diagnosis,
    ...(lines.length === 0 ? {} : { load_line: loadLineOfAll(lines) }),
    verdict: {
      ...verdict,
      sentence: `${verdict.pattern} in ${same.length} of ${all.length} services.${beside} Of ${worst.service}: ${verdict.sentence}`,
    },
  };
}

/** Judges one service by what is in its record. */
function diagnoseFleet(record: SeenRecord): Diagnosis {
  const evidence = evidenceOf(record);
  if (evidence === undefined) return nothingToJudge();
  const audit = auditOf(evidence);
  return {
    verdict: verdictOf(evidence, audit),
    theories: audit.summaries,
    audit: audit.rows,
    checks: dataChecks(evidence),
    phases: [evidence.baseline, ...evidence.experiments].map((phase) => summaryOf(evidence, phase)),
    load_line: loadLineOf(evidence),
  };
}

/** What a theory of one mechanism looks like from further away. */
const general: readonly TheorySlug[] = [
  'slow-replica',
  'skewed-balancer',
  'overload',
  'network',
  'healthy',
  'cpu-throttling',
];

/** What a theory's effect includes: where the first is established, the second is no finding of its own. */
const includes: Readonly<Partial<Record<Slug, readonly TheorySlug[]>>> = {
  'worker-pool-exhaustion': [...general, 'eviction-cascade', 'convoy'],
  'eviction-cascade': [...general, 'convoy', 'fast-fail-blackhole'],
  'metastable-retry': [...general, 'convoy', 'eviction-cascade'],
  'fast-fail-blackhole': [...general, 'pick-first'],
  'cold-start': [...general, 'convoy'],
  'zone-imbalance': [...general, 'convoy', 'pick-first'],
  'connection-pinning': [...general, 'convoy', 'pick-first', 'cold-start'],
  convoy: ['overload', 'cpu-throttling', 'slow-replica', 'skewed-balancer', 'healthy'],
  'pick-first': ['skewed-balancer', 'overload', 'slow-replica', 'convoy', 'healthy', 'network'],
  'slow-replica': ['healthy', 'skewed-balancer'],
  'cpu-throttling': ['slow-replica', 'healthy', 'skewed-balancer', 'network'],
  overload: ['healthy', 'network'],
  'generator-saturated': ['healthy', 'network'],
  healthy: [
    'convoy',
    'slow-replica',
    'cpu-throttling',
    'skewed-balancer',
    'network',
    'overload',
    'pick-first',
    'generator-saturated',
    'worker-pool-exhaustion',
    'eviction-cascade',
    'metastable-retry',
    'fast-fail-blackhole',
    'cold-start',
    'zone-imbalance',
    'connection-pinning',
  ],
};

function verdictOf(evidence: Evidence, audit: Audit): Verdict {
  const established = theories.filter((theory) => standing(audit, theory.slug) === 'established');
  const winner = established[0];
  if (winner === undefined) return undecided(evidence, audit);
  const nearly = nearlyConvoy(evidence, audit, winner.slug);
  if (nearly !== undefined) return nearly;
  const finding = winner.verdict(evidence);
  if (winner.pattern === 'undecided') {
    return { pattern: 'undecided', confidence: 0.5, ...finding };
  }
  const beside = established.slice(1).filter((other) => !(includes[winner.slug] ?? []).includes(other.slug));
  return {
    pattern: winner.pattern,
    confidence: confidenceOf(evidence, audit, winner),
    ...finding,
    ...(beside.length === 0
      ? {}
      : { simultaneous: beside.map((other) => besideOf(other.pattern, other.verdict(evidence))) }),
  };
}

function besideOf(pattern: Pattern, finding: Finding): { pattern: Pattern; culprit?: string; sentence: string } {
  const { culprit, sentence } = finding;
  return { pattern, ...(culprit === undefined ? {} : { culprit }), sentence };
}

function confidenceOf(evidence: Evidence, audit: Audit, winner: Theory): number {
  const luck = winner.slug === 'convoy' || winner.slug === 'slow-replica' ? luckOf(evidence) : 0;
  const held = audit.rows.filter((row) => row.theory === winner.slug && row.result === 'supports');
  const weight = held.reduce((sum, row) => sum + (row.phase === evidence.baseline.name ? 1 : 2), 0);
  const untried = 0.5 * 0.8 ** weight;
  const part = includes[winner.slug] ?? [];
  const rivals = audit.summaries.filter(
    (other) => other.theory !== winner.slug && other.standing === 'possible' && !part.includes(other.theory),
  );
  return rounded(Math.min(0.99, (1 - luck) * (1 - untried) * 0.9 ** rivals.length));
}

/** Where worker times are unknown the pile speaks for itself. */
function luckOf(evidence: Evidence): number {
  const slow = slownessFor(evidence, evidence.suspect)?.luck;
  const pile = pileOf(evidence);
  const held = replicaOf(evidence.baseline, evidence.suspect)?.held?.value;
  const byPile = pile === undefined || held === undefined ? 0.05 : pileLuck(pile, held);
  return knowsWorkerTimes(evidence) ? (slow ?? byPile) : Math.min(slow ?? 1, byPile);
}

/** A convoy whose only open question is whether the slowest replica is slower than chance: saying "evenly overloaded" would
 * hide that, and saying "convoy" would accuse somebody by luck. It is open while a slowness of 5 % is not less than a tenth as
 * likely as none: the log likelihood ratio of the estimate d with error e, (d·δ − δ²/2) / e² with δ = ln 1.05. */
function nearlyConvoy(evidence: Evidence, audit: Audit, winner: Slug): Verdict | undefined {
  if (winner !== 'overload' && winner !== 'healthy') return undefined;
  const slow = slownessFor(evidence, evidence.suspect);
  if (standing(audit, 'convoy') !== 'possible' || slow === undefined) return undefined;
  const { error } = slow.ratio;
  const worth = Math.log(1.05);
  if (Math.log(slow.ratio.value) * worth - worth ** 2 / 2 < Math.log(0.1) * error ** 2) return undefined;
  const { seconds } = evidence.baseline;
  const needed = Math.ceil(Math.max(seconds, seconds * ((error / 0.012) ** 2 - 1)));
  return {
    pattern: 'undecided',
    confidence: 0.5,
    sentence: `Either a convoy behind ${slow.id} or plain saturation: ${slow.id} looks ${percent(slow.ratio.value - 1)} slower than the others, which chance gives to one of ${numeral(evidence.ids.length)} equal replicas in ${wholePercent(slow.luck)} of all runs.`,
    arithmetic: [
      `${slow.id} is slower by ${percent(slow.ratio.value - 1)} ± ${percent(error)}: ${slow.z.toFixed(1)} standard errors from equal`,
    ],
    fix: 'Nothing yet: measure longer first.',
    missing: `worker times over a longer run: about ${needed} s more of the same load would tell`,
  };
}

function undecided(evidence: Evidence, audit: Audit): Verdict {
  const possible = audit.summaries.filter((summary) => summary.standing === 'possible');
  const missing = mostMissed(audit, possible);
  const leading = theories.find((theory) => possible.some((summary) => summary.theory === theory.slug));
  if (leading?.pattern === 'undecided')
    return { pattern: 'undecided', confidence: 0.5, missing, ...leading.verdict(evidence) };
  return {
    pattern: 'undecided',
    confidence: rounded(1 / Math.max(2, possible.length)),
    sentence: undecidedSentence(possible),
    arithmetic: possible.length === 0 ? nearest(audit) : [],
    fix: 'Nothing yet: measure first.',
    missing,
  };
}

/** What most claims of the theories that are still possible wait for; what would prove one counts double. */
function mostMissed(audit: Audit, possible: readonly TheorySummary[]): string {
  const votes = new Map<string, number>();
  for (const row of audit.rows) {
    if (row.missing === undefined || row.bearing === 'supporting') continue;
    if (!possible.some((summary) => summary.theory === row.theory)) continue;
    votes.set(row.missing, (votes.get(row.missing) ?? 0) + (row.bearing === 'sufficient' ? 2 : 1));
  }
  return [...votes].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 'a longer measurement of the same';
}

function undecidedSentence(possible: readonly TheorySummary[]): string {
  const [only] = possible;
  if (only === undefined) return 'No theory fits what was seen: each made a necessary claim that failed.';
  const names = possible.map((summary) => summary.title.replace(/:.*/, '').toLowerCase());
  return possible.length === 1
    ? `It may be ${names[0] ?? ''}: nothing speaks against it, but nothing proves it either.`
    : `The record does not decide between ${listed(names)}.`;
}

/** Where every theory is refuted: those of a fault that one claim speaks against and two or more speak for, the best supported first.
 * Whoever must do something now begins there. */
function nearest({ rows, summaries }: Audit): readonly string[] {
  return summaries
    .filter((summary) => summary.standing === 'refuted' && summary.theory !== 'healthy')
    .map((summary) => {
      const own = rows.filter(({ theory, bearing }) => theory === summary.theory && bearing !== 'supporting');
      const failed = own.filter(({ result, bearing }) => result === 'contradicts' && bearing === 'necessary');
      return { summary, failed: failed.length, held: own.filter(({ result }) => result === 'supports').length };
    })
    .filter(({ failed, held }) => failed === 1 && held >= 2)
    .toSorted((one, other) => other.held - one.held)
    .slice(0, 2)
    .map(
      ({ summary: { title, reason } }) =>
        `nearest is ${title.replace(/:.*/, '').toLowerCase()}, but for this: ${reason}`,
    );
}

function nothingToJudge(): Diagnosis {
  return {
    verdict: {
      pattern: 'undecided',
      confidence: 0,
      sentence: 'The record holds no measured second of any replica, so there is nothing to judge.',
      arithmetic: [],
      fix: 'Let the run go on past its warm-up.',
      missing: 'a baseline phase with ticks of at least one replica after its warm-up',
    },
    theories: [],
    audit: [],
    checks: [],
    phases: [],
  };
}

function standing(audit: Audit, slug: Slug): TheorySummary['standing'] | undefined {
  return audit.summaries.find((summary) => summary.theory === slug)?.standing;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
