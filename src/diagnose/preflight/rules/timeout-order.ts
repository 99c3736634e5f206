// Neighbouring tiers: the inner one must end first.

import { sayDurationSetting, sayTime } from '../../dossier/view-words.ts';
import { type Finding, nothing, type Plan, type Rule } from '../rule.ts';
import { type Tier, tiersOf } from '../tiers.ts';

export const timeoutOrder: Rule = {
  name: 'timeout-order',
  holds: 'What is inside ends before what is outside gives up.',
  because:
    'A tier that goes on after the one in front has given up works for nobody, and holds its workers meanwhile; the tier in front ' +
    'sees only its own timeout, and retries into it.',
  check(plan) {
    if (plan.order.length < 2)
      return { ...nothing, missing: 'a second tier: give the configurations in the order of a request' };
    const findings = plan.order.slice(1).flatMap((inner, index) => between(plan, plan.order[index] ?? '', inner));
    return { findings };
  },
};

/** The worst pair of places of two neighbours. All pairs wrong is an error; some, and it depends on which of them meet. */
function between({ view }: Plan, outer: string, inner: string): Finding[] {
  const pairs = tiersOf(view, outer).flatMap((one) => tiersOf(view, inner).map((other) => ({ one, other })));
  const wrong = pairs.filter(({ one, other }) => outlives(one, other));
  const [worst] = wrong.toSorted((a, b) => b.other.worst - b.one.oneTry - (a.other.worst - a.one.oneTry));
  if (worst === undefined) return [];
  const { one, other } = worst;
  return [
    {
      rule: 'timeout-order',
      severity: wrong.length === pairs.length ? 'error' : 'warning',
      where: other.setting.origin,
      also: [one.setting.origin],
      because: `${sayWorst(other)}, and ${sayDurationSetting(one.setting)} in front of it`,
      instead: `everything inside below ${sayTime(one.oneTry)}: ${fitting(one, other)}`,
    },
  ];
}

function outlives(one: Tier, other: Tier): boolean {
  return Number.isFinite(one.oneTry) && one.oneTry > 0 && other.worst >= one.oneTry;
}

function sayWorst(tier: Tier): string {
  if (!Number.isFinite(tier.worst)) return `${sayDurationSetting(tier.setting)} never ends`;
  const tries = Math.round((tier.worst + tier.backOffMax) / (tier.oneTry + tier.backOffMax));
  if (tries <= 1 || tier.worst === Number(tier.whole?.value))
    return `${sayTime(tier.worst)} at most (${sayDurationSetting(tier.setting)})`;
  const pauses = tier.backOffMax > 0 ? ` + ${tries - 1} × ${sayTime(tier.backOffMax)}` : '';
  return `${tries} × ${sayTime(tier.oneTry)}${pauses} = ${sayTime(tier.worst)} (${sayDurationSetting(tier.setting)})`;
}

function fitting(one: Tier, other: Tier): string {
  const each = (one.oneTry - other.retries * other.backOffMax) / (other.retries + 1);
  return each > 0 ? `a try of less than ${sayTime(Number(each.toPrecision(3)))}` : 'fewer retries';
}
