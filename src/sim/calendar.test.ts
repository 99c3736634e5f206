import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Calendar } from './calendar.ts';

function drain(calendar: Calendar): readonly (readonly [time: number, event: number])[] {
  const out: (readonly [number, number])[] = [];
  while (calendar.next()) out.push([calendar.time, calendar.event]);
  return out;
}

test('events come in order of time', () => {
  const calendar = new Calendar();
  for (const time of [5, 1, 4, 2, 3]) calendar.schedule(time, 0, time * 10);
  assert.deepEqual(drain(calendar), [
    [1, 10],
    [2, 20],
    [3, 30],
    [4, 40],
    [5, 50],
  ]);
});

test('at one instant the lower rank goes first, and of equal ranks the one that was scheduled first', () => {
  const calendar = new Calendar();
  calendar.schedule(7, 2, 1);
  calendar.schedule(7, 0, 2);
  calendar.schedule(7, 2, 3);
  calendar.schedule(7, 1, 4);
  calendar.schedule(7, 0, 5);
  assert.deepEqual(
    drain(calendar).map(([, event]) => event),
    [2, 5, 4, 1, 3],
  );
});

test('an empty calendar has nothing next', () => {
  const calendar = new Calendar();
  assert.equal(calendar.next(), false);
  assert.equal(calendar.nextTime, Infinity);
  calendar.schedule(3, 0, 1);
  assert.equal(calendar.nextTime, 3);
  assert.equal(calendar.next(), true);
  assert.equal(calendar.pending, 0);
  assert.equal(calendar.next(), false);
});

type Step = { readonly kind: 'schedule'; readonly after: number; readonly rank: number } | { readonly kind: 'next' };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('schedule' as const), after: fc.nat(6), rank: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('next' as const) }) },
  ),
  { maxLength: 400 },
);

test('whatever the order of scheduling and taking, it agrees with a sorted list', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const calendar = new Calendar();
      let model: { time: number; rank: number; event: number }[] = [];
      let now = 0;
      script.forEach((step, event) => {
        if (step.kind === 'schedule') {
          calendar.schedule(now + step.after, step.rank, event);
          model.push({ time: now + step.after, rank: step.rank, event });
        } else {
          model = model.toSorted((a, b) => a.time - b.time || a.rank - b.rank || a.event - b.event);
          const expected = model.shift();
          assert.equal(calendar.nextTime, expected?.time ?? Infinity);
          assert.equal(calendar.next(), expected !== undefined);
          if (expected === undefined) return;
          assert.deepEqual([calendar.time, calendar.event], [expected.time, expected.event]);
          now = expected.time;
        }
        assert.equal(calendar.pending, model.length);
      });
    }),
  );
});
