// What evictions leave: enough for the load, and somebody at all.

import { ns, seconds } from '../../../base.ts';
import { type GatewaySafety, unsafeGateway, type UnsafeName } from '../../../policy.ts';
import type { Origin, SettingFact } from '../../../record.ts';
import { ownerOf } from '../../dossier/view-words.ts';
import type { View } from '../../dossier/view.ts';
import { type Finding, nothing, type Plan, type Rule } from '../rule.ts';

export const evictionHeadroom: Rule = {
  name: 'eviction-headroom',
  holds: 'Who is left after an eviction can carry the rest.',
  because:
    'n endpoints of which some are out carry n ÷ (n − out) of their load. Where that is more than they can, the next ones miss their checks ' +
    'as well, and the fleet falls one by one.',
  check(plan) {
    const outliers = plan.view.settings('outlier.max-ejection-share').filter(({ implied }) => !implied);
    if (outliers.length === 0) return nothing;
    return {
      findings: outliers.flatMap((setting) =>
        found(plan, setting, { ejectedShareMax: Number(setting.value) }, 'eviction-overloads-rest'),
      ),
    };
  },
};

export const nobodyLeft: Rule = {
  name: 'nobody-left',
  holds: 'When checks fail everywhere at once, somebody is asked all the same.',
  because:
    'Checks that wait behind slow work fail on all endpoints together. A balancer that then asks nobody turns slowness into refusals, until the ' +
    'checks pass again; a panic threshold asks all instead.',
  check(plan) {
    const closed = plan.view.settings('balance.panic-threshold').filter(({ value }) => value === 0);
    return {
      findings: closed.flatMap((setting) =>
        found(plan, setting, checksOf(plan.view, setting), 'eviction-empties-fleet'),
      ),
    };
  },
};

function checksOf(view: View, beside: SettingFact): Partial<GatewaySafety> {
  const number = (key: 'health.fall' | 'health.interval' | 'health.timeout', otherwise: number): number =>
    view.number(key, ({ origin }) => origin.file === beside.origin.file) ?? view.number(key) ?? otherwise;
  const passive = view.number('outlier.consecutive-5xx', ({ origin }) => origin.file === beside.origin.file);
  const checked = view.settings('health.interval', 'health.fall').length > 0;
  if (!checked && passive === undefined) return {};
  return {
    panicBelow: 0,
    checks: {
      fall: checked ? number('health.fall', 3) : (passive ?? 5),
      interval: seconds(checked ? number('health.interval', 5) : 1),
      timeout: seconds(number('health.timeout', 1)),
    },
  };
}

/** By the arithmetic that our own gateway is held to. */
function found(plan: Plan, setting: SettingFact, known: Partial<GatewaySafety>, name: UnsafeName): Finding[] {
  const where: Origin = setting.origin;
  const inFile = ({ origin }: SettingFact): boolean => origin.file === where.file;
  const endpoints = plan.view.number('upstream.endpoints', inFile) ?? plan.view.number('replicas.count') ?? 0;
  const safety: GatewaySafety = {
    timeout: seconds(1),
    connectTimeout: ns(1),
    retries: 0,
    retryRatio: undefined,
    queueInterval: undefined,
    checks: undefined,
    panicBelow: 1,
    ejectedShareMax: undefined,
    endpoints,
    before: undefined,
    calls: [],
    workers: undefined,
    ratePerSecond: undefined,
    spare: plan.spare,
    ...known,
  };
  return unsafeGateway(safety)
    .filter((one) => one.name === name)
    .map(({ because, instead }) => ({
      rule: name === 'eviction-overloads-rest' ? 'eviction-headroom' : 'nobody-left',
      severity: 'warning',
      where,
      also: [],
      because: `${ownerOf(setting)}: ${because}`,
      instead: name === 'eviction-overloads-rest' ? instead : 'a panic threshold above 0: Envoy’s default is 50 %',
    }));
}
