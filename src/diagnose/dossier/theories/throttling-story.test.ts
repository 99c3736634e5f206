// “No healthy upstream”: a batch job was suspected of taking the processors. Three claims of that theory fail, each on its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { events, samples, series } from '../testing/facts.ts';
import { judged, standing } from '../testing/judged.ts';

test('the suspected batch job is cleared by flat counters, other hosts, and times that do not line up', () => {
  const found = judged({
    samples: samples(`
      container_cpu_cfs_periods_total{pod=web-1,node=node-a1} 1000 4000
      container_cpu_cfs_throttled_periods_total{pod=web-1,node=node-a1} 12 12
      container_cpu_usage_seconds_total{pod=batch-77,node=node-b7} 100 900
    `),
    series: series(`
      container_cpu_cfs_throttled_rate 0x20 0.4x5 0x35
      http_latency_p99_seconds 0.05x40 30x10 0.05x10
    `),
    events: events('20 batch-start batch-77 | nightly report job on node-b7'),
  });
  assert.equal(standing(found, 'cpu-throttling'), 'refuted');
  const failed = found.audit.filter(
    (row) => row.theory === 'cpu-throttling' && row.bearing === 'necessary' && row.result === 'contradicts',
  );
  const seen = failed.map((row) => row.observed?.text ?? '').join('\n');
  assert.equal(failed.length, 3);
  assert.match(seen, /flat counters/);
  assert.match(seen, /other hosts \(node-b7\), the service on node-a1/);
  assert.match(seen, /throttled in 0 of 10 readings with the symptom: times that do not line up/);
});
