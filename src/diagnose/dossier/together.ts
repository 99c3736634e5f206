// One verdict from two looks at one incident: the log second by second as a record of ticks, and everything that was given as a
// dossier. They share the requests and differ in what else they know, so they agree or one of them knows better:
//
//   one has no verdict, or says that nothing is wrong     the other's stands
//   one theory brings about what the other says           it stands: a slow replica at the end of a convoy is no finding
//   else                                                  the more certain one stands, with the other beside it

import type { Diagnosis, Verdict } from '../diagnose.ts';
import type { TheorySlug } from '../theory.ts';
import { dossierTheories } from './theories.ts';

/** At least one of the two must be there. */
export function together(record: Diagnosis | undefined, dossier: Diagnosis | undefined): Diagnosis {
  if (record === undefined || dossier === undefined) return record ?? dossier ?? nothing;
  const recordFirst = comesFirst(record.verdict, dossier.verdict);
  const [first, second] = recordFirst ? [record, dossier] : [dossier, record];
  return {
    verdict: withBeside(first.verdict, second.verdict),
    theories: [...first.theories, ...second.theories],
    audit: [...first.audit, ...second.audit],
    checks: [...record.checks, ...dossier.checks],
    phases: [...record.phases, ...dossier.phases],
  };
}

const nothing: Diagnosis = {
  verdict: {
    pattern: 'undecided',
    confidence: 0,
    sentence: 'There is no evidence.',
    arithmetic: [],
    fix: 'Give some.',
    missing: 'anything that the incident left behind',
  },
  theories: [],
  audit: [],
  checks: [],
  phases: [],
};

function comesFirst(record: Verdict, dossier: Verdict): boolean {
  const rank = rankOf(record) - rankOf(dossier);
  if (rank !== 0) return rank > 0;
  if (record.pattern === dossier.pattern) return record.confidence >= dossier.confidence;
  if (bringsAbout(record.pattern, dossier.pattern)) return true;
  if (bringsAbout(dossier.pattern, record.pattern)) return false;
  return record.confidence >= dossier.confidence;
}

function rankOf({ pattern, basis }: Verdict): number {
  if (pattern === 'undecided') return 0;
  if (basis === 'configured') return 1;
  return pattern === 'healthy' || pattern === 'benign-accept-order' ? 2 : 3;
}

/** Of theories of a record, what includes what a dossier may call by another name. */
const ofRecords: Readonly<Record<string, readonly TheorySlug[]>> = {
  convoy: ['slow-replica', 'closed-loop-artifact', 'overload-open-loop', 'sticky-session', 'connection-pinning'],
  overload: ['overload-open-loop', 'slow-replica'],
  'pick-first': ['slow-replica', 'connection-pinning'],
  'generator-saturated': ['closed-loop-artifact'],
};

/** What a record calls overload, its pieces may explain. */
const sameAs: Readonly<Record<string, string>> = { overload: 'overload-open-loop' };

function bringsAbout(one: string, other: string): boolean {
  const own = ofRecords[one] ?? [];
  if (own.some((slug) => slug === other)) return true;
  const explained = dossierTheories.find(({ slug }) => slug === one)?.explains ?? [];
  return explained.some((slug) => slug === other || slug === sameAs[other]);
}

function withBeside(first: Verdict, second: Verdict): Verdict {
  const others = [
    ...(first.simultaneous ?? []),
    ...(rankOf(second) === 1 || rankOf(second) === 3 ? [second, ...(second.simultaneous ?? [])] : []),
  ].filter(({ pattern }) => pattern !== first.pattern && !bringsAbout(first.pattern, pattern));
  if (others.length === 0 || first.pattern === 'undecided') return first;
  return {
    ...first,
    simultaneous: others.map(({ pattern, culprit, sentence }) => ({
      pattern,
      ...(culprit === undefined ? {} : { culprit }),
      sentence,
    })),
  };
}
