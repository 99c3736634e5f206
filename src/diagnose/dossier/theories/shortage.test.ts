import assert from 'node:assert/strict';
import { test } from 'node:test';

import { events, type Row, said, samples, series, settings, table } from '../testing/facts.ts';
import { judged, standing } from '../testing/judged.ts';

const at = (count: number, each: (index: number) => Row): Row[] =>
  Array.from({ length: count }, (_, index) => each(index));

// ── worker-pool-exhaustion ──

const blocked = `
  workers_busy 3x20 32x60
  dependency_latency_seconds 0.04x20 8x60
`;

test('all workers wait for a dependency that became slow, and the processors are idle', () => {
  const found = judged({
    settings: settings('app | server | workers.count = 32 | app.yaml'),
    series: series(blocked),
    samples: samples('container_cpu_usage_ratio{container=app} 0.12'),
  });
  assert.equal(found.verdict.pattern, 'worker-pool-exhaustion');
  assert.match(found.verdict.arithmetic.join(), /32 ÷ 8 s = 4\/s/);
});

test('processors at their limit are another shortage', () => {
  const found = judged({
    settings: settings('app | server | workers.count = 32 | app.yaml'),
    series: series(blocked),
    samples: samples('container_cpu_usage_ratio{container=app} 0.98'),
  });
  assert.equal(standing(found, 'worker-pool-exhaustion'), 'refuted');
});

test('free workers refute it', () => {
  const found = judged({
    settings: settings('app | server | workers.count = 32 | app.yaml'),
    series: series(blocked.replace('32x60', '20x60')),
  });
  assert.equal(standing(found, 'worker-pool-exhaustion'), 'refuted');
});

test('where probes fail of it, the theory of the health check tells it', () => {
  const found = judged({
    settings: settings('app | server | workers.count = 32 | app.yaml'),
    series: series(blocked),
    events: events('30 unhealthy app-1 | Target.Timeout'),
  });
  assert.equal(standing(found, 'worker-pool-exhaustion'), 'silent');
});

// ── rate-limited ──

test('refusals with 429 at no cost, and the limit that says so', () => {
  const found = judged({
    settings: settings('nginx | location /api | limit.rate = 10\nnginx | location /api | limit.burst = 5'),
    requests: [
      table(
        'nginx',
        at(300, (index) =>
          index % 3 === 0
            ? { at: index / 30, seconds: 0, status: 429 }
            : { at: index / 30, seconds: 0.03, status: 200 },
        ),
      ),
    ],
  });
  assert.equal(found.verdict.pattern, 'rate-limited');
  assert.match(found.verdict.culprit ?? '', /nginx location \/api: limit of 10\/s, burst 5/);
});

test('429 after work is the application’s own answer', () => {
  const found = judged({
    requests: [
      table(
        'nginx',
        at(300, (index) => ({
          at: index / 30,
          seconds: index % 3 === 0 ? 2 : 0.03,
          status: index % 3 === 0 ? 429 : 200,
        })),
      ),
    ],
  });
  assert.equal(standing(found, 'rate-limited'), 'refuted');
});

// ── unreachable-target ──

test('504s at the end of connecting are a target that cannot be reached', () => {
  const found = judged({
    requests: [
      table(
        'alb',
        at(60, (index) =>
          index % 5 === 0
            ? { at: index, seconds: 10.001, status: 504, flag: 'target-not-reached', replica: '10.0.0.7:80' }
            : { at: index, seconds: 0.05, status: 200, upstream: 0.04, upstreamStatus: 200, replica: '10.0.0.6:80' },
        ),
      ),
    ],
  });
  assert.equal(found.verdict.pattern, 'unreachable-target');
  assert.match(found.verdict.culprit ?? '', /10\.0\.0\.7:80/);
});

test('a full table of connections explains why nobody can be reached', () => {
  const found = judged({
    messages: said('kernel', 'conntrack-full', 'nf_conntrack: table full, dropping packet', 5),
    requests: [
      table(
        'alb',
        at(60, (index) => ({
          at: index,
          seconds: index % 2 === 0 ? 10.001 : 0.05,
          status: index % 2 === 0 ? 504 : 200,
          flag: index % 2 === 0 ? 'target-not-reached' : '-',
        })),
      ),
    ],
  });
  assert.equal(found.verdict.pattern, 'conntrack-full');
});

// ── descriptors-exhausted, cpu-steal, cache-stampede ──

test('a worker that has no connection left says so', () => {
  const found = judged({
    settings: settings('nginx | main | workers.connections = 512'),
    messages: said(
      'nginx',
      'worker-connections-full',
      '512 worker_connections are not enough while connecting to upstream',
      40,
    ),
  });
  assert.equal(found.verdict.pattern, 'descriptors-exhausted');
  assert.match(found.verdict.culprit ?? '', /worker_connections 512/);
});

const ticks = (steal: string): ReturnType<typeof samples> =>
  samples(
    `node_cpu_seconds_total{cpu=all,mode=user} 100 160\nnode_cpu_seconds_total{cpu=all,mode=idle} 800 820\nnode_cpu_seconds_total{cpu=all,mode=steal} ${steal}`,
  ).map((one) => ({ ...one, type: 'counter' }));

test('a fifth of the time stolen is a noisy neighbour, a hundredth is not', () => {
  assert.equal(judged({ samples: ticks('10 30') }).verdict.pattern, 'cpu-steal');
  assert.equal(standing(judged({ samples: ticks('10 10.5') }), 'cpu-steal'), 'refuted');
});

test('an emptied cache: the same demand, many times the load behind', () => {
  const found = judged({
    series: series(`
      cache_hit_ratio 0.95x30 0.2x60
      client_requests_per_second 1000x90
      database_queries_per_second 50x30 800x60
    `),
  });
  assert.equal(found.verdict.pattern, 'cache-stampede');
});

test('demand that rose with the misses is growth', () => {
  const found = judged({
    series: series(`
      cache_hit_ratio 0.95x30 0.8x60
      client_requests_per_second 1000x30 4000x60
      database_queries_per_second 50x30 800x60
    `),
  });
  assert.notEqual(found.verdict.pattern, 'cache-stampede');
});
