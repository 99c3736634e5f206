// The static check: settings in, findings out, before anything has run. What a rule could not look at for want of a fact is said as
// well, since a check that is silent for lack of evidence reads like one that passed.

import type { Dossier } from '../../record.ts';
import { View } from '../dossier/view.ts';
import type { Finding, Plan, RuleName, Severity } from './rule.ts';
import { preflightRules } from './rules.ts';

export interface Preflight {
  /** Errors first, then warnings, then notes; within them in the order of files and lines. */
  readonly findings: readonly Finding[];
  readonly unchecked: readonly { readonly rule: RuleName; readonly missing: string }[];
}

export interface PreflightFacts {
  readonly ratePerSecond?: number;
  /** Default 1.5. */
  readonly spare?: number;
  /** Files in the order in which a request meets them; default: that of the dossier. */
  readonly order?: readonly string[];
}

/** Looks at the settings of a dossier; whatever else is in it does not count. */
export function preflight(dossier: Dossier, facts: PreflightFacts = {}): Preflight {
  const settings: Dossier = {
    ...dossier,
    samples: [],
    series: [],
    requests: [],
    results: [],
    messages: [],
    events: [],
  };
  const files = facts.order ?? dossier.sources.map(({ file }) => file);
  const plan: Plan = {
    view: new View(settings),
    order: files.filter((file) =>
      dossier.settings.some(({ origin, key, program }) => origin.file === file && isOnTheWay(key, program)),
    ),
    ratePerSecond: facts.ratePerSecond,
    spare: facts.spare ?? 1.5,
  };
  const outcomes = preflightRules.map((rule) => ({ rule, outcome: rule.check(plan) }));
  const place = (finding: Finding): number => files.indexOf(finding.where.file) * 1e6 + (finding.where.line ?? 0);
  return {
    findings: outcomes
      .flatMap(({ outcome }) => outcome.findings)
      .toSorted((one, other) => weights[one.severity] - weights[other.severity] || place(one) - place(other)),
    unchecked: outcomes.flatMap(({ rule, outcome }) =>
      outcome.missing === undefined ? [] : [{ rule: rule.name, missing: outcome.missing }],
    ),
  };
}

const weights: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 };

/** Whether a file with this setting times requests. */
function isOnTheWay(key: string, program: string): boolean {
  return (
    program !== 'load-generator' &&
    (key === 'upstream.read-timeout' ||
      key === 'route.timeout' ||
      key === 'route.per-try-timeout' ||
      key === 'downstream.request-timeout' ||
      key === 'dependency.timeout')
  );
}
