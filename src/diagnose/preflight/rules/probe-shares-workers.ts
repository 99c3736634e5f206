// Health checks that queue behind requests.

import { nativeName, sayTime } from '../../dossier/view-words.ts';
import type { Rule } from '../rule.ts';

export const probeSharesWorkers: Rule = {
  name: 'probe-shares-workers',
  holds: 'A health check does not wait for the workers that serve requests.',
  because:
    'A check that queues behind slow work fails when the work is slow, on all replicas at once: they are taken out or restarted although ' +
    'each of them works, and the rest gets their load.',
  check({ view }) {
    const probes = view
      .settings('health.kind')
      .filter(({ value, implied }) => (value === 'http' || value === 'grpc') && !implied);
    const pool = view
      .settings('workers.count')
      .find(({ program, implied }) => !implied && !['haproxy', 'nginx', 'envoy', 'load-generator'].includes(program));
    const said = view.setting('health.shares-workers', ({ value }) => value === true);
    const apart = view.setting('health.shares-workers', ({ value }) => value === false);
    if (apart !== undefined || (probes.length === 0 && said === undefined)) return { findings: [] };
    if (pool === undefined && said === undefined) {
      return { findings: [], missing: 'the worker pool behind the probe (the server’s configuration, or notes)' };
    }
    return {
      findings: (probes.length === 0 && said !== undefined ? [said] : probes).map((probe) => {
        const here = ({ scope, origin }: typeof probe): boolean =>
          scope === probe.scope && origin.file === probe.origin.file;
        const number = (key: 'health.interval' | 'health.timeout' | 'health.fall'): number | undefined =>
          view.number(key, here) ?? view.number(key);
        const [interval, timeout, fall] = [
          number('health.interval') ?? 10,
          number('health.timeout') ?? 1,
          number('health.fall') ?? 3,
        ];
        const until = interval * (fall - 1) + timeout;
        const workers = pool === undefined ? 'its workers' : `${String(pool.value)} workers`;
        const ends = /liveness/.test(probe.scope) ? 'restarted' : 'taken out';
        return {
          rule: 'probe-shares-workers' as const,
          severity: 'warning' as const,
          where: probe.origin,
          also: pool === undefined ? [] : [pool.origin],
          because: `when ${workers} are busy for ${sayTime(interval)} × (${fall} − 1) + ${sayTime(timeout)} = ${sayTime(until)}, every replica is ${ends} (${probe.scope}: ${nativeName(probe)} ${String(probe.value)})`,
          instead:
            'a probe that is answered apart from the workers (another port or thread), and a liveness probe that asks for no work',
        };
      }),
    };
  },
};
