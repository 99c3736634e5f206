// Little’s law at the timeout: for workers, and for the connections of a pool.

import type { SettingFact } from '../../../record.ts';
import { say } from '../../wording.ts';
import { sayCountSetting, sayDurationSetting, sayTime } from '../../dossier/view-words.ts';
import { nothing, type Outcome, type Plan, type Rule } from '../rule.ts';

export const workersAtTimeout: Rule = {
  name: 'workers-at-timeout',
  holds: 'The workers suffice while what they call hangs until its timeout.',
  because:
    'Little’s law: workers in use = requests a second × time that one is held. A dependency that hangs holds each for its whole timeout; ' +
    'then all are busy, also for requests that never call it, and for health checks.',
  check: (plan) => lawAt(plan, 'workers-at-timeout', 'workers.count', 'workers'),
};

export const poolAtTimeout: Rule = {
  name: 'pool-at-timeout',
  holds: 'The connections of a pool suffice while what it leads to hangs until its timeout.',
  because:
    'The same law for a pool: connections in use = uses a second × time that one is held. Beyond it callers wait for the acquire timeout ' +
    'and fail, whatever the database could do.',
  check: (plan) => lawAt(plan, 'pool-at-timeout', 'pool.size', 'connections'),
};

function lawAt(
  { view, ratePerSecond }: Plan,
  rule: 'workers-at-timeout' | 'pool-at-timeout',
  key: 'workers.count' | 'pool.size',
  noun: string,
): Outcome {
  const sizes = view.settings(key).filter(({ value, implied }) => typeof value === 'number' && value > 0 && !implied);
  const calls = view
    .settings('dependency.timeout', 'pool.hold-time')
    .filter(({ value }) => typeof value === 'number' && value > 0);
  if (sizes.length === 0) return nothing;
  const [longest] = calls.toSorted((one, other) => Number(other.value) - Number(one.value));
  if (longest === undefined)
    return { ...nothing, missing: 'how long a call of a dependency may take (dependency.timeout, in notes)' };
  const held = Number(longest.value);
  // No timeout is another rule's.
  if (!Number.isFinite(held)) return nothing;
  const replicas = view.number('replicas.count') ?? 1;
  const missing = ratePerSecond === undefined ? 'requests a second (--rate)' : undefined;
  const findings = sizes.map((size) => {
    const there = Number(size.value) * replicas;
    const most = there / held;
    const needed = ratePerSecond === undefined ? undefined : ratePerSecond * held;
    const times = replicas > 1 ? `${Number(size.value)} × ${replicas} replicas = ${there} ${noun}` : `${there} ${noun}`;
    return {
      rule,
      severity: needed === undefined ? ('note' as const) : needed > there ? ('error' as const) : ('note' as const),
      where: size.origin,
      also: [longest.origin],
      because:
        needed === undefined
          ? `${times} ÷ ${sayTime(held)} = ${say(most, 'requests/s')} while ${sayDurationSetting(longest)} is used up (${sayCountSetting(size)})`
          : `${say(ratePerSecond ?? 0, 'requests/s')} × ${sayTime(held)} = ${Math.ceil(needed)} ${noun} in use while it hangs, ${times} there (${sayDurationSetting(longest)})`,
      instead: insteadOf(size, there, held, ratePerSecond),
    };
  });
  return { findings, ...(missing === undefined ? {} : { missing }) };
}

function insteadOf(size: SettingFact, there: number, held: number, rate: number | undefined): string {
  if (rate === undefined) return `a load below that, or a timeout below ${sayTime(held)}`;
  return rate * held > there
    ? `a timeout below ${sayTime(Number((there / rate).toPrecision(3)))}, or ${Math.ceil(rate * held)} of them; and a bound on what may wait`
    : `as it is: ${sayTime(Number((there / rate).toPrecision(3)))} is the longest timeout that ${String(size.value)} can bear`;
}
