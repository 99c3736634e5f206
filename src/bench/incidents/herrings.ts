// What else was going on: things that have nothing to do with the incident and look as if they had. They are loud, they are at the
// right time or a little before it, and they are about somebody else.

import type { Draw } from './draw.ts';
import { counting, stepped } from './kind.ts';
import { csv, events, iso, queryRange, scrape, type Signal, text } from './writers.ts';

type Herring = (draw: Draw, nearMs: number) => Signal;

/** A batch job on other hosts has their processors. */
const batchJob: Herring = (draw) =>
  csv(
    'batch-hosts.csv',
    ['host', 'cpu_percent'],
    [
      [`batch-${draw.count(1, 30)}`, draw.about(98, 0.01)],
      [`batch-${draw.count(31, 60)}`, draw.about(97, 0.01)],
    ],
  );

/** Somebody else deployed just before. */
const deploy: Herring = (draw, nearMs) =>
  events('deploys.jsonl', [
    {
      atMs: nearMs - draw.count(20, 400) * 1000,
      event: 'deploy',
      service: draw.word(),
      version: `v${draw.count(10, 400)}`,
    },
    {
      atMs: nearMs - draw.count(4000, 9000) * 1000,
      event: 'deploy',
      service: draw.word(),
      version: `v${draw.count(10, 400)}`,
    },
  ]);

/** A processor elsewhere rises at that very moment. */
const spikeElsewhere: Herring = (draw, nearMs) =>
  queryRange('other-cpu.json', nearMs - 90_000, 15, [
    {
      name: 'process_cpu_ratio',
      labels: { job: draw.word() },
      values: stepped(
        draw,
        [
          [0.2, 6],
          [0.93, 8],
        ],
        0.03,
      ),
    },
  ]);

/** The counters of a batch pod say that it is throttled. */
const throttledBatch: Herring = (draw, nearMs) => {
  const pod = `nightly-${draw.word()}-${draw.below(9)}`;
  return queryRange('batch-cgroup.json', nearMs - 60_000, 15, [
    {
      name: 'container_cpu_cfs_periods_total',
      labels: { pod },
      values: counting(1000, [150, 150, 150, 150, 150, 150]),
    },
    {
      name: 'container_cpu_cfs_throttled_periods_total',
      labels: { pod },
      values: counting(100, [131, 135, 133, 137, 130, 133]),
    },
  ]);
};

/** Pods of another service were restarted. */
const restarts: Herring = (draw) => {
  const pod = draw.replicas(1, draw.word())[0] ?? '';
  return text('other-events.txt', [
    'LAST SEEN   TYPE      REASON      OBJECT          MESSAGE',
    `${draw.count(1, 9)}m${draw.count(10, 59)}s       Normal    Pulled      pod/${pod}   Container image "example.test/${pod.split('-')[0]}:7" already present on machine`,
    `${draw.count(1, 9)}m${draw.count(10, 59)}s       Normal    Started     pod/${pod}   Started container main`,
  ]);
};

/** A log of another program with its usual errors. */
const noisyLog: Herring = (draw, nearMs) => {
  const other = draw.word();
  return text(
    `${other}.log`,
    Array.from(
      { length: 24 },
      (_, index) =>
        `${iso(nearMs - 30_000 + index * 2500)} ${index % 6 === 0 ? 'ERROR' : 'INFO'} [${other}] ${index % 6 === 0 ? 'could not parse feed item, skipped' : 'synchronised'} id=${draw.below(9000)}`,
    ),
  );
};

/** Memory that grows slowly, as memory does. */
const memory: Herring = (draw) =>
  scrape('memory.prom', [
    { name: 'process_resident_memory_bytes', labels: { job: draw.word() }, value: draw.count(200, 900) * 1e6 },
    { name: 'go_goroutines', labels: { job: draw.word() }, value: draw.count(40, 400) },
  ]);

/** An alert, at the wrong time: people notice late, and alerts wait for their `for`. */
const lateAlert: Herring = (draw, nearMs) =>
  events('alerts.jsonl', [
    {
      atMs: nearMs + draw.count(60, 600) * 1000,
      event: 'note',
      subject: 'alert',
      detail: `${draw.pick(['HighLatency', 'ErrorBudgetBurn', 'CPUThrottlingHigh', 'TargetDown'])} fired`,
    },
  ]);

export const herrings: readonly Herring[] = [
  batchJob,
  deploy,
  spikeElsewhere,
  throttledBatch,
  restarts,
  noisyLog,
  memory,
  lateAlert,
];

/** One to three of them. */
export function redHerrings(draw: Draw, nearMs: number): readonly Signal[] {
  return draw
    .shuffled(herrings)
    .slice(0, draw.count(1, 3))
    .map((herring) => herring(draw, nearMs));
}
