import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import type { GroupSnapshot, LoadPlan } from './contract.ts';
import { ReplicaNames } from './replica-names.ts';
import { summaryOf } from './summary.ts';
import { Tally } from './tally.ts';
import { resultOf } from './views.ts';

const plan: LoadPlan = {
  seed: 1,
  groups: [
    {
      group: 'shop',
      demand: { kind: 'open', clients: 'shop', ratePerSecond: 10, arrivals: 'constant', flow: [] },
      targets: [{ id: 'gateway', host: '10.0.0.1', port: 80 }],
      choice: 'round-robin',
      timeout: seconds(1),
    },
  ],
};

/** A thousand answers of 1 to 1,000 ms, one in four by api-2, and what the case adds. */
function summary(change: (tally: Tally) => void = () => {}) {
  const names = new ReplicaNames();
  names.indexOf('api-1');
  names.indexOf('api-2');
  const tally = new Tally();
  for (let count = 1; count <= 1000; count++) tally.answer(count % 4 === 0 ? 1 : 0, 200, ms(count), ms(count / 2), 200);
  change(tally);
  tally.planned = tally.ended;
  return summaryOf(resultOf(plan, { span: seconds(10), groups: [tally], held: [], limits: [] }, names), []);
}

const near = (value: number | undefined, expected: number): void =>
  assert.ok(value !== undefined && Math.abs(value - expected) <= 0.006 * expected, `${value}, expected ${expected}`);

test('the distribution counts from due time, the uncorrected one from sending', () => {
  const { distribution, uncorrected, requests, requests_per_s, bytes_per_s } = summary();
  assert.deepEqual(
    distribution.map(({ percentile }) => percentile),
    [50, 75, 90, 99, 99.9, 99.99, 99.999, 100],
  );
  near(distribution[0]?.value_ns, ms(500));
  near(distribution[3]?.value_ns, ms(990));
  near(distribution.at(-1)?.value_ns, ms(1000));
  near(uncorrected[3]?.value_ns, ms(495));
  assert.deepEqual([requests, requests_per_s, bytes_per_s], [1000, 100, 20_000]);
});

test('mean and deviation are those of a uniform spread', () => {
  const { latency } = summary();
  near(latency?.mean, ms(500.5));
  near(latency?.stdev, ms(1000 / Math.sqrt(12)));
  near(latency?.max, ms(1000));
  // Within one deviation lie 2/√12 of a uniform distribution.
  near(latency?.within, 2 / Math.sqrt(12));
});

test('the spectrum takes five steps to each halving of the rest and ends at the greatest', () => {
  const { spectrum } = summary();
  assert.deepEqual(
    spectrum.slice(0, 11).map(({ percentile }) => +percentile.toFixed(3)),
    [0, 10, 20, 30, 40, 50, 55, 60, 65, 70, 75],
  );
  assert.deepEqual(
    [spectrum.at(-1)?.percentile, spectrum.at(-1)?.inverse, spectrum.at(-1)?.total],
    [100, Infinity, 1000],
  );
  assert.equal(spectrum[5]?.inverse, 2);
  assert.ok(spectrum.every(({ value_ns }, index) => index === 0 || value_ns >= (spectrum[index - 1]?.value_ns ?? 0)));
});

test('replicas have their share, their quantiles and their errors', () => {
  const { replicas } = summary((tally) => tally.failure(1, 'reset'));
  assert.deepEqual(
    replicas.map(({ id, finished, share }) => [id, finished, share]),
    [
      ['api-1', 750, 0.75],
      ['api-2', 250, 0.25],
    ],
  );
  assert.deepEqual(replicas[1]?.errors, { reset: 1 });
  near(replicas[1]?.p50_ns, ms(500));
});

test('errors are summed as wrk does, and kept by kind', () => {
  const { errors, errorsByKind } = summary((tally) => {
    tally.failure(0, 'refused');
    tally.failure(0, 'truncated');
    tally.failure(0, 'reset');
    tally.timeout(0, ms(1000));
    tally.answer(0, 503, ms(1), ms(1), 10);
  });
  assert.deepEqual(errors, { connect: 1, read: 2, timeout: 1, status: 1 });
  assert.deepEqual(errorsByKind, { refused: 1, truncated: 1, reset: 1, timeout: 1, 'status-5xx': 1 });
});

test('what never ended makes the high percentiles lower bounds', () => {
  const { distribution, ledger } = summary((tally) => {
    for (let count = 0; count < 50; count++) tally.leftInFlight(0, ms(6000));
  });
  assert.deepEqual(
    distribution.map(({ atLeast }) => atLeast),
    [false, false, false, true, true, true, true, true],
  );
  near(distribution[3]?.value_ns, ms(6000));
  assert.equal(ledger?.in_flight_at_end, 50);
});

test('requests of each second are those of whole seconds', () => {
  const snapshot = (answers: number): GroupSnapshot => ({
    group: 'shop',
    planned: answers,
    sent: answers,
    answered: answers,
    errors: {},
    inFlightMean: 0,
    inFlightMin: 0,
    inFlightMax: 0,
    latency: undefined,
    lag: undefined,
    refused: 0,
    inFlightAtEnd: 0,
    neverSent: 0,
    bytes: 0,
    answeredBy: { 'api-1': answers },
  });
  const result = resultOf(plan, { span: seconds(2), groups: [new Tally()], held: [], limits: [] }, new ReplicaNames());
  const { perSecond, latency } = summaryOf(result, [
    { span: seconds(1), snapshot: snapshot(90) },
    { span: seconds(1), snapshot: snapshot(110) },
    { span: ms(100), snapshot: snapshot(1) },
  ]);
  assert.deepEqual(perSecond, { mean: 100, stdev: 10, max: 110, within: 1 });
  assert.equal(latency, undefined);
});
