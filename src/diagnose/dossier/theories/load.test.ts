import assert from 'node:assert/strict';
import { test } from 'node:test';

import { result, type Row, said, samples, series, settings, table } from '../testing/facts.ts';
import { judged, standing } from '../testing/judged.ts';

// ── generator-saturated ──

test('users at their ceiling and dropped iterations: a lower bound', () => {
  const found = judged({
    results: [
      result('k6', {
        requests: 54_000,
        plannedRatePerSecond: 2000,
        ratePerSecond: 900,
        seconds: 60,
        dropped: 66_000,
        users: 200,
        usersMax: 200,
        latency: { mean: 0.22 },
      }),
    ],
  });
  assert.equal(found.verdict.pattern, 'generator-saturated');
});

test('a generator without processor time cannot send in time', () => {
  const found = judged({
    samples: samples('cpu_usage_percent{host=loadgen-1} 99\ncpu_usage_percent{host=web-1} 31'),
    results: [
      result('vegeta', {
        requests: 30_000,
        plannedRatePerSecond: 1000,
        ratePerSecond: 500,
        seconds: 60,
        latency: { mean: 0.01 },
      }),
    ],
  });
  assert.equal(found.verdict.pattern, 'generator-saturated');
});

test('a plan that was reached is nobody’s limit', () => {
  const found = judged({
    results: [
      result('k6', {
        requests: 60_000,
        plannedRatePerSecond: 1000,
        ratePerSecond: 999.8,
        seconds: 60,
        dropped: 0,
        users: 41,
        usersMax: 200,
        latency: { mean: 0.03, '0.99': 0.2, '1': 0.4 },
      }),
    ],
  });
  assert.equal(standing(found, 'generator-saturated'), 'refuted');
  assert.equal(standing(found, 'overload-open-loop'), 'refuted');
});

// ── overload-open-loop ──

test('latency that has grown by what was not served: overload, rightly measured', () => {
  const found = judged({
    settings: settings(
      'load-generator | command | load.rate = 4000 | run.sh\nload-generator | command | load.seconds = 30 | run.sh\nload-generator | command | load.connections = 64 | run.sh',
    ),
    results: [
      result('wrk2', {
        requests: 84_000,
        ratePerSecond: 2800,
        seconds: 30,
        latency: { '0.5': 4.5, '0.99': 8.9, '1': 9.0 },
        uncorrected: { '0.5': 0.0225, '1': 0.04 },
      }),
    ],
  });
  assert.equal(found.verdict.pattern, 'overload-open-loop');
  assert.match(found.verdict.arithmetic.join(), /30 s × \(1 − 2800 ÷ 4000\) = 9 s/);
});

test('a queue that grows by the difference of what is offered and served', () => {
  const found = judged({
    series: series(`
      offered_requests_per_second 120x60
      completed_requests_per_second 100x60
      queue_length ${Array.from({ length: 60 }, (_, index) => index * 20).join(' ')}
    `),
  });
  assert.equal(found.verdict.pattern, 'overload-open-loop');
});

// ── closed-loop-artifact ──

test('two runs of the same connections: the quick one is quick because it is refused', () => {
  const found = judged({
    settings: settings('load-generator | command | load.connections = 50 | run.sh'),
    results: [
      result('wrk', { run: 'healthy', requests: 6000, ratePerSecond: 200, latency: { mean: 0.25 }, connections: 50 }),
      result('wrk', {
        run: 'down',
        requests: 750_000,
        ratePerSecond: 25_000,
        latency: { mean: 0.002 },
        connections: 50,
        statuses: { '503': 750_000 },
      }),
    ],
  });
  assert.equal(found.verdict.pattern, 'closed-loop-artifact');
});

test('one closed run alone is no artefact: every closed loop keeps Little’s law', () => {
  const found = judged({
    results: [result('wrk', { requests: 6000, ratePerSecond: 200, latency: { mean: 0.25 }, connections: 50 })],
  });
  assert.notEqual(found.verdict.pattern, 'closed-loop-artifact');
});

test('two states of a paced generator are not a closed loop', () => {
  const found = judged({
    settings: settings(
      'load-generator | options | load.rate = 200 | options.json\nload-generator | options | load.connections = 50 | options.json',
    ),
    series: series('requests_per_second 200x60\nlatency_mean_seconds 0.02x30 0.2x30'),
  });
  assert.notEqual(found.verdict.pattern, 'closed-loop-artifact');
});

test('a spike of traffic with the same response time is a spike of traffic', () => {
  const found = judged({
    settings: settings('load-generator | command | load.connections = 50 | run.sh'),
    series: series('requests_per_second 200x30 2000x30\nlatency_mean_seconds 0.02x60'),
  });
  assert.notEqual(found.verdict.pattern, 'closed-loop-artifact');
});

// ── retries ──

test('a log with the number of tries: failures make them, successes do not', () => {
  const rows = Array.from({ length: 100 }, (_, index): Row =>
    index % 5 === 0
      ? { at: index, seconds: 3, status: 502, attempts: 40 }
      : { at: index, seconds: 0.1, status: 200, attempts: 1 },
  );
  const found = judged({ requests: [table('envoy', rows)] });
  assert.equal(found.verdict.pattern, 'retry-storm');
});

test('a proxy’s counters: five calls for each request', () => {
  const found = judged({
    settings: settings('envoy | route / | route.retries = 4 | envoy.yaml'),
    samples: samples(
      'envoy_cluster_upstream_rq_retry{envoy_cluster_name=a} 0 40000\nenvoy_cluster_upstream_rq_total{envoy_cluster_name=a} 0 50000',
    ),
  });
  assert.equal(found.verdict.pattern, 'retry-storm');
});

test('a few retries of a healthy fleet are what retries are for', () => {
  const rows = Array.from({ length: 200 }, (_, index): Row => ({
    at: index,
    seconds: 0.1,
    status: 200,
    attempts: index % 40 === 0 ? 2 : 1,
  }));
  const found = judged({ requests: [table('envoy', rows)] });
  assert.equal(standing(found, 'retry-storm'), 'refuted');
});

const course = (success: string, attempts: string, service = '0.02x20 0.1x5 0.02x75'): string => `
  client_requests_per_second 100x100
  attempts_per_second ${attempts}
  success_per_second ${success}
  service_time_seconds ${service}
`;
const policy =
  'client | policy | route.retries = 2 | client.yaml\nserver | app | workers.count = 5 | server.yaml\nclient | policy | route.per-try-timeout = 0.25 | client.yaml';

test('trigger over, demand and service time as before, three tries each, nothing succeeds', () => {
  const found = judged({
    settings: settings(policy),
    series: series(course('100x20 10x5 0x75', '100x20 250x5 300x75')),
  });
  assert.equal(found.verdict.pattern, 'metastable-retry');
  assert.match(found.verdict.arithmetic.join('\n'), /100\/s × 3 tries = 300\/s/);
  assert.match(found.verdict.arithmetic.join('\n'), /5 workers ÷ 20 ms = 250\/s/);
});

test('a fleet that recovers when the trigger ends is not metastable', () => {
  const found = judged({
    settings: settings(policy),
    series: series(course('100x20 10x5 100x75', '100x20 250x5 100x75')),
  });
  assert.notEqual(found.verdict.pattern, 'metastable-retry');
});

test('a server that is still slow is the trigger, not its aftermath', () => {
  const found = judged({
    settings: settings(policy),
    series: series(course('100x20 10x80', '100x20 300x80', '0.02x20 0.1x80')),
  });
  assert.notEqual(found.verdict.pattern, 'metastable-retry');
});

test('demand that doubled and stayed is growth, with retries or without', () => {
  const found = judged({
    settings: settings(policy),
    series: series(course('100x20 10x5 0x75', '100x20 660x80').replace('100x100', '100x20 220x80')),
  });
  assert.notEqual(found.verdict.pattern, 'metastable-retry');
});

test('a backlog of abandoned work, in order of arrival: busy, and nobody is served', () => {
  const found = judged({
    settings: settings(
      'client | app | downstream.request-timeout = 5 | notes.yaml\nserver | app | workers.queue-order = fifo | notes.yaml',
    ),
    series: series(`
      offered_requests_per_second 95x100
      goodput_per_second 95x20 30x5 0x75
      completed_per_second 95x20 100x80
      queue_length 0x20 500x5 1200x75
    `),
  });
  assert.equal(found.verdict.pattern, 'metastable-stale-backlog');
  assert.match(found.verdict.arithmetic.join(), /1200 ÷ 100\/s = 12 s > 5 s/);
});

test('a backlog that is worked off in a second is a burst', () => {
  const found = judged({
    settings: settings('client | app | downstream.request-timeout = 5 | notes.yaml'),
    series: series(`
      offered_requests_per_second 95x100
      goodput_per_second 95x20 60x5 95x75
      completed_per_second 95x20 100x80
      queue_length 0x20 120x5 0x75
    `),
  });
  assert.notEqual(found.verdict.pattern, 'metastable-stale-backlog');
});

test('messages of nothing in particular accuse nobody', () => {
  const found = judged({ messages: said('app', 'info', 'started', 5) });
  assert.equal(found.verdict.pattern, 'undecided');
});

test('a generator that warns of itself is believed', () => {
  const found = judged({
    messages: said('locust', 'log-warning', 'CPU usage above 90%! This may constrain your throughput', 3),
    results: [
      result('locust', { requests: 90_000, ratePerSecond: 1500, seconds: 60, errors: 0, latency: { mean: 0.23 } }),
    ],
  });
  assert.equal(found.verdict.pattern, 'generator-saturated');
});

test('a run that was served to its end shows the whole backlog in the last request', () => {
  const found = judged({
    results: [
      result('vegeta', {
        requests: 60_000,
        ratePerSecond: 1000,
        seconds: 98,
        errors: 0,
        latency: { '0.5': 19.1, '1': 38.2, mean: 19.2 },
      }),
    ],
  });
  assert.equal(found.verdict.pattern, 'overload-open-loop');
  assert.equal(standing(found, 'generator-saturated'), 'refuted');
});

test('two runs whose quick answers succeed may be a service that was mended', () => {
  const found = judged({
    settings: settings('load-generator | command | load.connections = 50 | run.sh'),
    results: [
      result('wrk', {
        run: 'before',
        requests: 6000,
        errors: 0,
        ratePerSecond: 200,
        latency: { mean: 0.25 },
        connections: 50,
      }),
      result('wrk', {
        run: 'after',
        requests: 60_000,
        errors: 0,
        ratePerSecond: 2000,
        latency: { mean: 0.025 },
        connections: 50,
      }),
    ],
  });
  assert.notEqual(found.verdict.pattern, 'closed-loop-artifact');
});

test('passing over three servers that are down is no storm of retries', () => {
  const rows = Array.from({ length: 60 }, (_, index): Row => ({
    at: index,
    seconds: 0.01,
    status: 502,
    attempts: 3,
    replica: `10.0.0.${index % 3}:80`,
  }));
  const found = judged({ requests: [table('nginx', rows)] });
  assert.notEqual(found.verdict.pattern, 'retry-storm');
});

test('a few more tries for everybody are no storm', () => {
  const rows = Array.from({ length: 100 }, (_, index): Row =>
    index % 10 === 0
      ? { at: index, seconds: 1, status: 502, attempts: 3 }
      : { at: index, seconds: 0.1, status: 200, attempts: 2 },
  );
  const found = judged({ requests: [table('envoy', rows)] });
  assert.equal(standing(found, 'retry-storm'), 'possible');
});

test('how old the head of the queue is tells a stale backlog without its length', () => {
  const found = judged({
    settings: settings('client | app | downstream.request-timeout = 3 | notes.yaml'),
    series: series(`
      arrived_requests_per_second 400x100
      useful_responses_per_second 400x30 150x5 0x65
      queue_oldest_age_seconds 0.1x30 6x5 25x65
    `),
  });
  assert.equal(found.verdict.pattern, 'metastable-stale-backlog');
  assert.match(found.verdict.arithmetic.join(), /the head of the queue is 25 s old > 3 s/);
});
