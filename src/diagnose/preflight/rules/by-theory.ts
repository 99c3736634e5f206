// Rules whose arithmetic a theory has already: where settings alone establish it, that is a finding, at the settings that do.

import { dossierTheories } from '../../dossier/theories.ts';
import type { DossierSlug } from '../../dossier/slugs.ts';
import { standingOf } from '../../dossier/standing.ts';
import { type Finding, nothing, type Outcome, type Plan, type Rule, type RuleName } from '../rule.ts';

export const keepAliveOrder = byTheory(
  'keep-alive-order',
  'keepalive-race',
  'Whoever sends gives an idle connection up before whoever receives closes it.',
);
export const pinning = byTheory(
  'connection-pinning',
  'connection-pinning',
  'What keeps connections for long does not stand before an address that balances connections.',
);
export const drainOrder = byTheory(
  'drain-order',
  'drain-race',
  'A replica that is told to end goes on until its balancers have heard of it.',
);
export const zoneBalance = byTheory(
  'zone-balance',
  'zone-imbalance',
  'Zones that keep their traffic are of equal size.',
);

function byTheory(name: RuleName, slug: DossierSlug, holds: string): Rule {
  const theory = dossierTheories.find((one) => one.slug === slug);
  return { name, holds, because: theory?.mechanism ?? '', check: (plan) => examined(plan, name, slug) };
}

function examined({ view }: Plan, rule: RuleName, slug: DossierSlug): Outcome {
  const theory = dossierTheories.find((one) => one.slug === slug);
  const examination = theory?.examine(view);
  if (theory === undefined || examination === undefined) return nothing;
  if (standingOf(examination.claims).standing !== 'established') return nothing;
  const origins = examination.claims.filter(({ holds }) => holds === true).flatMap((one) => one.origins);
  const [where, ...also] = origins.filter(
    (origin, index) => origins.findIndex((one) => one.file === origin.file && one.line === origin.line) === index,
  );
  if (where === undefined) return nothing;
  const arithmetic = examination.arithmetic.length === 0 ? '' : ` (${examination.arithmetic.join('; ')})`;
  const finding: Finding = {
    rule,
    severity: 'error',
    where,
    also: also.slice(0, 3),
    because: `${examination.sentence.replace(/\.$/, '')}${arithmetic}`,
    instead: examination.fix ?? theory.fix,
  };
  return { findings: [finding] };
}
