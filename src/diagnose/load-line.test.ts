import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TopologyLine } from '../record.ts';
import { diagnose } from './diagnose.ts';
import type { LoadLineFacts } from './load-line.ts';
import type { SeenRecord } from './seen.ts';

interface Fleet {
  readonly replicas?: number;
  readonly rate?: number;
  readonly calls?: NonNullable<TopologyLine['services'][number]['calls']>;
  readonly retries?: number;
  readonly budget?: number;
  readonly workers?: number;
  /** Share of the time for which a quota stops each replica. */
  readonly stopped?: number;
  /** Of each replica: its part of the requests, and how many times as long its work takes. */
  readonly parts?: readonly number[];
  readonly slowness?: readonly number[];
  readonly policy?: string;
  /** A replica that an autoscaler added in the meantime. */
  readonly added?: string;
}

/** Four replicas of four workers with 20 ms of work, unless told otherwise. */
function lineOf({
  replicas = 4,
  rate = 300,
  calls = [],
  retries,
  budget,
  workers = 4,
  stopped,
  parts = Array.from({ length: replicas }, () => 1 / replicas),
  slowness = [],
  policy,
  added,
}: Fleet): LoadLineFacts | undefined {
  const ids = Array.from({ length: replicas }, (_, index) => `api-${index + 1}`);
  const record: SeenRecord = {
    topology: {
      kind: 'topology',
      at_ns: 0,
      services: [{ name: 'api', role: 'service', replicas: ids.map((id) => ({ id, workers })), calls }],
      ...(policy === undefined ? {} : { gateway: { program: 'haproxy', policy } }),
      clients: [
        {
          group: 'users',
          via: 'gateway',
          service: 'api',
          ...(retries === undefined ? {} : { retries }),
          ...(budget === undefined ? {} : { retry_budget: budget }),
        },
      ],
    },
    phases: [
      {
        line: { kind: 'phase', at_ns: 0, name: 'baseline', measure_from_ns: 0 },
        events: added === undefined ? [] : [{ kind: 'event', at_ns: 5e9, event: 'replica-added', target: added }],
        ticks: Array.from({ length: 10 }, (_, second) => ({
          kind: 'tick' as const,
          at_ns: second * 1e9,
          span_ns: 1e9,
          phase: 'baseline',
          replicas: ids.map((id, index) => ({
            id,
            finished: rate * (parts[index] ?? 0),
            started: rate * (parts[index] ?? 0),
            in_flight_mean: 2,
            busy_workers_mean: 2,
            service_sum_ns: rate * (parts[index] ?? 0) * 20e6 * (slowness[index] ?? 1),
            service_count: rate * (parts[index] ?? 0),
            ...(stopped === undefined ? {} : { throttled_ns: stopped * 1e9 }),
          })),
          clients: [{ group: 'users', planned: rate, sent: rate, answered: rate, in_flight_mean: 8 }],
        })),
      },
    ],
  };
  return diagnose(record).load_line;
}

const safeOf = (line: LoadLineFacts | undefined): number => {
  assert.ok(line?.kind === 'line', JSON.stringify(line));
  return Math.round(line.safe_per_s);
};

test('three of four replicas with a tenth to spare: 0.9 × 3 × 4 ÷ 20 ms', () => {
  const line = lineOf({});
  assert.equal(safeOf(line), 540);
  assert.ok(line?.kind === 'line' && Math.abs(line.share - 300 / 540) < 1e-9);
});

test('four tries that nobody bounds draw the line where a spell can still be worked off: 600 × 33 ÷ (4 × 45)', () => {
  // A search by imagined runs found 102/s safe in twenty of twenty, and half of the runs back at 124/s.
  assert.equal(safeOf(lineOf({ retries: 3 })), 110);
});

test('a budget of a tenth makes 1.1 tries of one', () => {
  assert.equal(safeOf(lineOf({ retries: 3, budget: 0.1 })), 400);
});

test('a dependency at its timeout is in the time that a request holds a worker, tries included', () => {
  assert.equal(safeOf(lineOf({ calls: [{ to: 'store', timeout_ns: 80e6, retries: 1 }] })), 60);
});

test('a replica three times as slow that gets as much as the others draws the line for all: 0.9 × 66.7/s ÷ a third', () => {
  assert.equal(safeOf(lineOf({ slowness: [1, 1, 3, 1] })), 180);
  // Whoever gives less to whom can do less is not held by it.
  assert.equal(safeOf(lineOf({ slowness: [1, 1, 3, 1], policy: 'least-request' })), 540);
});

test('where all goes to one replica the others carry nothing: 0.9 × 200/s', () => {
  const line = lineOf({ parts: [1, 0, 0, 0], rate: 150 });
  assert.equal(safeOf(line), 180);
  assert.match(
    (line?.kind === 'line' ? line.arithmetic : []).join('\n'),
    /api-1 gets 100 % and can do 200\/s: full at 200\/s/,
  );
});

test('where a quota stops the replicas, workers draw no line', () => {
  const line = lineOf({ stopped: 0.2 });
  assert.equal(
    line?.kind === 'none' && line.because.slice(0, 52),
    'a quota stops a replica for 20.0 % of the time: its ',
  );
  assert.equal(safeOf(lineOf({ stopped: 0.01 })), 540);
});

test('where replicas came and went, there is no fleet whose line it would be', () => {
  const line = lineOf({ added: 'api-4' });
  assert.equal(
    line?.kind === 'none' && line.because,
    'replicas came and went: the line would be that of a fleet which was there for a while only',
  );
});

test('without a timeout, with one replica, or where workers are unknown, it says why there is none', () => {
  const because = (line: LoadLineFacts | undefined): string => (line?.kind === 'none' ? line.because : 'a line');
  assert.match(because(lineOf({ calls: [{ to: 'store' }] })), /store has no timeout/);
  assert.match(because(lineOf({ replicas: 1 })), /one replica/);
  assert.match(because(lineOf({ workers: 0 })), /how many workers/);
});
