// Fleets with nothing wrong, in many forms and mixtures, with somebody else's trouble beside them: whatever is said of them, no fault
// is. The seed of a failure is printed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { diagnoseDossier } from '../diagnose.ts';
import { readDossier } from '../observe.ts';

interface Fleet {
  readonly counts: readonly number[];
  readonly meanMs: number;
  /** Between 0 and 1, for whatever varies. */
  readonly noise: readonly number[];
}

/** Counts as a fair balancer deals them: within three standard deviations of their mean. */
const fleet: fc.Arbitrary<Fleet> = fc
  .record({
    replicas: fc.integer({ min: 2, max: 9 }),
    mean: fc.integer({ min: 400, max: 6000 }),
    meanMs: fc.integer({ min: 4, max: 250 }),
    noise: fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 64, maxLength: 64 }),
  })
  .map(({ replicas, mean, meanMs, noise }) => ({
    counts: Array.from({ length: replicas }, (_, index) =>
      Math.round(mean + 2 * ((noise[index] ?? 0.5) - 0.5) * Math.sqrt(mean)),
    ),
    meanMs,
    noise,
  }));

const second = (at: number): string =>
  `2026-03-02T10:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;

const forms: Readonly<Record<string, (of: Fleet) => string>> = {
  'hosts.csv': ({ counts, meanMs, noise }) =>
    `host,requests,errors_5xx,mean_ms,cpu_percent,connections\n${counts.map((count, at) => `srv-${at},${count},0,${(meanMs * (0.97 + 0.06 * (noise[at] ?? 0))).toFixed(1)},${20 + at},20`).join('\n')}\n`,
  'scrape.prom': ({ counts }) =>
    `# TYPE http_requests_total counter\n${counts.map((count, at) => `http_requests_total{pod="srv-${at}"} ${count}`).join('\n')}\n# TYPE http_connections_open gauge\n${counts.map((_, at) => `http_connections_open{pod="srv-${at}"} ${18 + (at % 3)}`).join('\n')}\n`,
  'access.log': ({ counts, meanMs, noise }) =>
    `${Array.from({ length: 240 }, (_, at) => {
      const draw = noise[(at * 7) % 64] ?? 0.5;
      const path = Math.floor(9 * (noise[(at * 13 + 5) % 64] ?? 0));
      return `${second(at)}Z "GET /p/${path} HTTP/1.1" 200 rt=${((meanMs / 1000) * (0.5 + draw)).toFixed(3)} upstream=10.1.0.${1 + (at % counts.length)}:80`;
    }).join('\n')}\n`,
  'stats.txt': ({ counts }) =>
    `cluster.a.upstream_rq_total: ${counts[0]}\ncluster.a.upstream_rq_retry: 1\ncluster.a.membership_total: ${counts.length}\ncluster.a.membership_healthy: ${counts.length}\ncluster.a.lb_healthy_panic: 0\ncluster.a.upstream_rq_pending_overflow: 0\n`,
  'pool.prom': ({ noise }) =>
    `hikaricp_connections_max{pool="m"} 20\nhikaricp_connections_active{pool="m"} ${3 + Math.floor(6 * (noise[0] ?? 0))}\nhikaricp_connections_pending{pool="m"} 0\n`,
  'haproxy.cfg': ({ counts }) =>
    `defaults\n    mode http\n    timeout connect 1s\n    timeout client 10s\n    timeout server 5s\nbackend a\n    balance leastconn\n${counts.map((_, at) => `    server srv-${at} 10.1.0.${at + 1}:80 check`).join('\n')}\n`,
  // Somebody else's trouble.
  'batch.csv': () =>
    `time,host,cpu_percent\n${Array.from({ length: 10 }, (_, at) => `${second(at)}Z,batch-1,${at > 4 ? 99 : 3}`).join('\n')}\n`,
  'events.jsonl': () => '{"ts":"2026-03-02T10:01:00Z","event":"deploy","service":"newsletter","version":"v3"}\n',
  'gc.log': () =>
    '[2026-03-02T10:00:01.120+0000][info][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.512ms\n',
  'cron.prom': () =>
    'container_cpu_cfs_periods_total{pod="cron-1"} 1000\ncontainer_cpu_cfs_throttled_periods_total{pod="cron-1"} 900\n',
};

test('a fleet that works is accused of nothing, whatever is known of it and whatever else went wrong nearby', () => {
  const innocent = new Set(['healthy', 'undecided', 'benign-accept-order']);
  const names = fc.uniqueArray(fc.constantFrom(...Object.keys(forms)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fleet, names, (of, chosen) => {
      const files = chosen.map((name) => ({ name, text: forms[name]?.(of) ?? '' }));
      const { dossier, problems } = readDossier(files);
      assert.deepEqual(problems, []);
      const { verdict } = diagnoseDossier(dossier);
      assert.ok(innocent.has(verdict.pattern), `${verdict.pattern}: ${verdict.sentence}`);
    }),
    { numRuns: 100 },
  );
});
