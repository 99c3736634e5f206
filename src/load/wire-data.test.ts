import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Duration, ms, ns, start } from '../base.ts';
import type { DriverCut } from './driver.ts';
import { laterCut, mergedCut, mergedEnd } from './merge.ts';
import { ReplicaNames } from './replica-names.ts';
import { Tally } from './tally.ts';
import { cutData, cutOf, type TallyData, tallyData, tallyOf } from './wire-data.ts';

const duration: fc.Arbitrary<Duration> = fc.integer({ min: 0, max: 10_000_000 }).map((us) => ns(us * 1000));
const end = fc.record({
  what: fc.constantFrom('answer', 'failure', 'timeout', 'refusal', 'leftInFlight', 'leftUnsent'),
  replica: fc.nat(4),
  status: fc.constantFrom(200, 404, 503),
  age: duration,
});

const tallies: fc.Arbitrary<Tally> = fc.array(end, { maxLength: 40 }).map((ends) => {
  const tally = new Tally();
  for (const { what, replica, status, age } of ends) {
    tally.planned += 1;
    tally.lag.record(ns(age / 10));
    if (what === 'answer') tally.answer(replica, status, age, ns(age / 2), 100);
    else if (what === 'failure') tally.failure(replica, 'reset');
    else if (what === 'timeout' || what === 'leftInFlight') tally[what](replica, age);
    else if (what === 'refusal' || what === 'leftUnsent') tally[what](age);
  }
  return tally;
});

const named = (order: readonly string[]): ReplicaNames => {
  const names = new ReplicaNames();
  for (const name of order) names.indexOf(name);
  return names;
};
const ids = ['api-1', 'api-2', 'api-3', 'api-4', 'api-5'];

test('a tally survives the way to another process that met the replicas in another order', () => {
  fc.assert(
    fc.property(tallies, (tally) => {
      const here = named(ids);
      const there = named(ids.toReversed());
      const sent = structuredClone(tallyData(tally, here));
      const arrived = tallyOf(sent, there);
      const back = tallyData(tallyOf(tallyData(arrived, there), here), here);
      const sorted = { ...back, replicas: back.replicas.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
      assert.deepEqual(JSON.parse(JSON.stringify(sorted)), JSON.parse(JSON.stringify(tallyData(tally, here))));
      assert.equal(arrived.ended, arrived.planned);
    }),
  );
});

test('every end is one end: the ledger of any tally sums to its plan', () => {
  fc.assert(
    fc.property(tallies, tallies, (one, other) => {
      const sum = new Tally();
      sum.add(one);
      sum.add(other);
      assert.equal(sum.ended, sum.planned);
      assert.equal(sum.planned, one.planned + other.planned);
      sum.clear();
      assert.deepEqual([sum.planned, sum.ended, sum.latency.count, sum.errors.size], [0, 0, 0, 0]);
    }),
  );
});

test('drivers merged in any order are the same', () => {
  fc.assert(
    fc.property(fc.array(tallies, { minLength: 2, maxLength: 4 }), (parts) => {
      const names = named(ids);
      const ends = parts.map((tally) => ({ span: ms(1), groups: [tally], held: [], limits: [] }));
      const forth = mergedEnd(ends, 1, 0).groups[0] ?? new Tally();
      const back = mergedEnd(ends.toReversed(), 1, 0).groups[0] ?? new Tally();
      assert.deepEqual(inOrder(tallyData(forth, names)), inOrder(tallyData(back, names)));
    }),
  );
});

const byKind = (errors: TallyData['errors']): TallyData['errors'] =>
  errors.toSorted(([one], [other]) => (one < other ? -1 : 1));

/** Kinds of errors come in the order in which they were first met, which says nothing. */
const inOrder = (data: TallyData): TallyData => ({
  ...data,
  errors: byKind(data.errors),
  replicas: data.replicas.map((replica) => ({ ...replica, errors: byKind(replica.errors) })),
});

const cut = (mean: number, min: number, max: number, span: Duration): DriverCut => ({
  at: start,
  span,
  cpu: ms(1),
  groups: [{ tally: new Tally(), inFlight: { mean, min, max } }],
  held: [],
});

test('what is in flight adds up between drivers, and is weighted by time between seconds', () => {
  const beside = mergedCut([cut(2, 1, 3, ms(100)), cut(4, 0, 9, ms(100))], 1, 0);
  assert.deepEqual(beside.groups[0]?.inFlight, { mean: 6, min: 1, max: 12 });
  assert.equal(beside.span, ms(100));
  const after = laterCut(cut(2, 1, 3, ms(300)), cut(6, 0, 9, ms(100)));
  assert.deepEqual(after.groups[0]?.inFlight, { mean: 3, min: 0, max: 9 });
  assert.equal(after.span, ms(400));
  assert.equal(after.cpu, ms(2));
});

test('a cut survives the way with its span and its levels', () => {
  const names = named(ids);
  const sent = cut(2, 1, 3, ms(100));
  assert.deepEqual(cutOf(cutData(sent, names), names).groups[0]?.inFlight, { mean: 2, min: 1, max: 3 });
});
