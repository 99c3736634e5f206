import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Dice, dice } from '../base.ts';
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

/** How long until what is scheduled next: the shapes that a calendar meets, and some that it does not like. */
const horizons: Readonly<Record<string, (die: Dice) => number>> = {
  'evenly far': (die) => die.below(1_000_000),
  exponential: (die) => Math.round(die.exponential(1e6)),
  'timeouts of 30 s beside services of 1 ms': (die) => (die.next() < 0.3 ? 30e9 : Math.round(die.exponential(1e6))),
  'now and much later': (die) => (die.next() < 0.5 ? 0 : 1e15),
  'few instants': (die) => 1000 * die.below(3),
  'every magnitude': (die) => Math.floor(2 ** (50 * die.next())),
};

/** A list that is always in order, to compare with. */
class SortedList {
  readonly #items: { time: number; rank: number; event: number }[] = [];

  get size(): number {
    return this.#items.length;
  }

  schedule(time: number, rank: number, event: number): void {
    let from = 0;
    let to = this.#items.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#items[middle];
      if (other !== undefined && (other.time > time || (other.time === time && other.rank > rank))) from = middle + 1;
      else to = middle;
    }
    this.#items.splice(from, 0, { time, rank, event });
  }

  next(): { time: number; event: number } | undefined {
    return this.#items.pop();
  }

  get nextTime(): number {
    return this.#items.at(-1)?.time ?? Infinity;
  }
}

for (const [shape, horizon] of Object.entries(horizons)) {
  test(`with thousands pending, ${shape}, it agrees with a sorted list, growing, holding and shrinking`, () => {
    for (const seed of [1, 2, 3]) {
      const die = dice(seed, shape);
      const calendar = new Calendar();
      const model = new SortedList();
      let now = 0;
      for (const [count, share] of [
        [4000, 0.9],
        [6000, 0.5],
        [12_000, 0.25],
        [500, 0.9],
        [8000, 0.45],
      ] as const) {
        for (let step = 0; step < count; step++) {
          // A run that stops before the next event has looked at it, and then something earlier is scheduled.
          if (die.next() < 0.1) assert.equal(calendar.nextTime, model.nextTime);
          if (die.next() < share) {
            const time = now + horizon(die);
            const rank = die.below(4);
            const event = die.below(2 ** 31);
            calendar.schedule(time, rank, event);
            model.schedule(time, rank, event);
          } else {
            const expected = model.next();
            assert.equal(calendar.next(), expected !== undefined);
            if (expected === undefined) continue;
            assert.deepEqual([calendar.time, calendar.event], [expected.time, expected.event]);
            now = expected.time;
          }
          assert.equal(calendar.pending, model.size);
        }
      }
    }
  });
}

test('a calendar that is held at a hundred thousand needs no more room for going on', () => {
  const die = dice(1, 'room');
  const calendar = new Calendar();
  for (let event = 0; event < 100_000; event++) calendar.schedule(die.below(2e9), 0, event);
  const hold = (): void => {
    for (let step = 0; step < 400_000; step++) {
      calendar.next();
      calendar.schedule(calendar.time + die.below(2e9), 0, calendar.event);
    }
  };
  hold();
  const room = calendar.room;
  hold();
  assert.equal(calendar.room, room);
});
