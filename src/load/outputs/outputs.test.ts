import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, instantAt, ms, seconds } from '../../base.ts';
import { Histogram, histogramOfPoint } from '../../stats.ts';
import type { LoadPlan } from '../contract.ts';
import { ReplicaNames } from '../replica-names.ts';
import { Tally } from '../tally.ts';
import { snapshotOf } from '../views.ts';
import { csvHead, csvRows } from './csv.ts';
import { otlpRequest } from './otlp.ts';
import { prometheusText } from './prometheus-text.ts';
import { RunningTotals } from './running-totals.ts';

const plan: LoadPlan = {
  seed: 1,
  groups: [
    {
      group: 'a "shop", large',
      demand: { kind: 'open', clients: 'shop', ratePerSecond: 10, arrivals: 'constant', flow: [] },
      targets: [{ id: 'gateway', host: '10.0.0.1', port: 80 }],
      choice: 'round-robin',
      timeout: seconds(1),
      retry: { retries: 3, backOff: ms(0), budget: undefined },
    },
  ],
};

/** Between the bounds that dashboards have. */
const times = Array.from({ length: 100 }, (_, index) => ms(index + 0.5));

/** A second in which a hundred were answered in these times, ten failed and five timed out. */
function second() {
  const names = new ReplicaNames();
  const tally = new Tally();
  for (const time of times) tally.answer(names.indexOf('api-1'), 200, time, time, 10);
  for (let count = 1; count <= 10; count++) tally.failure(names.indexOf('api-2'), 'reset');
  for (let count = 1; count <= 5; count++) tally.timeout(names.indexOf('api-2'), seconds(1));
  tally.planned = tally.ended;
  tally.sent = 110;
  tally.tries = 130;
  tally.retries = 20;
  const groups = [{ tally, inFlight: { mean: 1.5, min: 0, max: 7 } }];
  const cut = { at: after(instantAt(0), seconds(1)), span: seconds(1), cpu: ms(10), groups, held: [] };
  return { tally, snapshot: snapshotOf(plan, cut, names, { broken: [], detail: 'histograms' }) };
}

test('a row of the table says what is a lower bound, and quotes what needs it', () => {
  const rows = csvRows(second().snapshot, 3).split('\n');
  const names = csvHead.trim().split(',');
  const cells = rows[0]?.replace('"a ""shop"", large"', 'quoted').split(',') ?? [];
  const row = Object.fromEntries(names.map((name, index) => [name, cells[index]]));
  assert.equal(row['name'], 'quoted');
  assert.deepEqual([row['failed'], row['timed_out'], row['answered'], row['planned']], ['10', '5', '100', '115']);
  assert.deepEqual([row['sent'], row['tries'], row['retries']], ['110', '130', '20']);
  assert.equal(row['at_least'], 'p99 p999 max');
  assert.equal(row['latency_max_ms'], '1000.000');
  assert.equal(row['errors'], 'reset=10 timeout=5');
  assert.equal(rows.length, 4, 'the group, two replicas, and the end of the last line');
});

test('cumulative buckets for Prometheus rise to the count, and labels are escaped', () => {
  const totals = new RunningTotals();
  totals.add(second().snapshot);
  totals.add(second().snapshot);
  const text = prometheusText(totals);
  const buckets = [...text.matchAll(/^plimsoll_load_latency_seconds_bucket\{.*le="(.*)"\} (\d+)$/gm)];
  assert.deepEqual(
    buckets.filter(([, le]) => ['0.01', '0.05', '0.1', '+Inf'].includes(le ?? '')).map(([, , count]) => Number(count)),
    [20, 100, 200, 200],
  );
  assert.match(text, /plimsoll_load_ended_total\{group="a \\"shop\\", large",how="timed_out"\} 10/);
  assert.match(text, /plimsoll_load_tries_total\{group="a \\"shop\\", large"\} 260/);
  assert.match(text, /plimsoll_load_retries_total\{group="a \\"shop\\", large"\} 40/);
  assert.match(text, /plimsoll_load_errors_total\{group="a \\"shop\\", large",kind="reset"\} 20/);
  assert.equal([...text.matchAll(/^# TYPE (\S+)/gm)].length, new Set(text.match(/^# TYPE \S+/gm)).size);
});

test('latencies cross to OpenTelemetry and back without loss', () => {
  const totals = new RunningTotals();
  const { tally, snapshot } = second();
  totals.add(snapshot);
  const request = otlpRequest(totals, { start: 1n, now: 2n }, { 'service.name': 'x' }, '0');
  const metrics = request.resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
  const [point] = metrics.find(({ name }) => name === 'plimsoll.load.latency')?.exponentialHistogram?.dataPoints ?? [];
  assert.ok(point !== undefined);
  const back = histogramOfPoint({
    ...point,
    count: Number(point.count),
    zeroCount: Number(point.zeroCount),
    positive: { offset: point.positive.offset, bucketCounts: point.positive.bucketCounts.map(Number) },
  });
  const finished = new Histogram();
  for (const time of times) finished.record(time);
  assert.deepEqual(back.contents(), finished.contents());
  assert.equal(tally.latency.unfinishedCount, 5);
  assert.equal(back.sum, ms(5000));
});
