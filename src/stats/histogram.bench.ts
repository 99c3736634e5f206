// What one record costs: ours beside hdr-histogram-js and the histogram inside Node, over the same 100,000 latencies.
//
//   node src/stats/histogram.bench.ts

import { createHistogram } from 'node:perf_hooks';
import { Float64Histogram } from 'hdr-histogram-js';
import { Bench } from 'tinybench';
import { dice, type Duration, ms } from '../base.ts';
import { Histogram } from './histogram.ts';

const die = dice(1, 'bench');
const latencies: readonly Duration[] = Array.from({ length: 100_000 }, () => ms(0.1 + die.exponential(20)));

const ours = new Histogram();
const hdr = new Float64Histogram(1, 2 ** 42, 3);
const native = createHistogram({ lowest: 1, highest: 2 ** 42, figures: 3 });
const merged = new Histogram();

const bench = new Bench({ time: 1000, warmupTime: 200 })
  .add('record, ours', () => {
    for (const latency of latencies) ours.record(latency);
  })
  .add('record, hdr-histogram-js', () => {
    for (const latency of latencies) hdr.recordValue(latency);
  })
  .add('record, node:perf_hooks', () => {
    for (const latency of latencies) native.record(latency);
  })
  .add('add one histogram to another', () => merged.add(ours))
  .add('p50, p90 and p99 of one histogram', () => {
    for (const q of [0.5, 0.9, 0.99]) ours.quantile(q);
  });
await bench.run();

for (const task of bench.tasks) {
  if (!('latency' in task.result)) continue;
  const medianNs = task.result.latency.p50 * 1e6;
  const line = task.name.startsWith('record')
    ? `${(medianNs / latencies.length).toFixed(1)} ns a record`
    : `${(medianNs / 1000).toFixed(1)} µs`;
  console.log(`${task.name.padEnd(36)} ${line}`);
}
