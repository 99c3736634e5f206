import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Deadlines } from './deadlines.ts';

/** A ring under test, with a clock that passes it whenever it is armed. */
class Bench {
  readonly expired: string[] = [];
  readonly alive = new Map<number, number>();
  readonly ring: Deadlines;
  #armedAt: number | undefined;

  constructor(length: number) {
    this.ring = new Deadlines(
      length,
      {
        isAlive: (id, generation) => this.alive.get(id) === generation,
        expire: (id, now) => {
          this.alive.delete(id);
          this.expired.push(`${id} at ${now}`);
        },
      },
      (at) => {
        assert.equal(this.#armedAt, undefined, 'one event at a time');
        this.#armedAt = at;
      },
    );
  }

  get armed(): boolean {
    return this.#armedAt !== undefined;
  }

  set(id: number, generation: number, now: number): void {
    this.alive.set(id, generation);
    this.ring.set(id, generation, now);
  }

  runTo(now: number): void {
    while (this.#armedAt !== undefined && this.#armedAt <= now) {
      const at = this.#armedAt;
      this.#armedAt = undefined;
      this.ring.pass(at);
    }
  }
}

test('each runs out its length after it was set, and not before', () => {
  const bench = new Bench(10);
  bench.set(1, 0, 0);
  bench.set(2, 0, 3);
  bench.runTo(9);
  assert.deepEqual(bench.expired, []);
  bench.runTo(10);
  assert.deepEqual(bench.expired, ['1 at 10']);
  bench.runTo(13);
  assert.deepEqual(bench.expired, ['1 at 10', '2 at 13']);
  assert.equal(bench.armed, false);
});

test('what has ended meanwhile does not run out, nor does its number in a second life', () => {
  const bench = new Bench(10);
  bench.set(1, 0, 0);
  bench.set(2, 0, 0);
  bench.alive.set(1, 1);
  bench.alive.delete(2);
  bench.runTo(100);
  assert.deepEqual(bench.expired, []);
});

test('any mixture of setting, ending and waiting agrees with a list of expiries', () => {
  const script = fc.array(fc.record({ wait: fc.nat(4), end: fc.boolean() }), { maxLength: 500 });
  fc.assert(
    fc.property(script, fc.integer({ min: 1, max: 40 }), (steps, length) => {
      const bench = new Bench(length);
      const expected: string[] = [];
      const pending: { id: number; at: number }[] = [];
      let now = 0;
      const passTo = (until: number): void => {
        while (pending[0] !== undefined && pending[0].at <= until) {
          expected.push(`${pending[0].id} at ${pending[0].at}`);
          pending.shift();
        }
      };
      steps.forEach(({ wait, end }, id) => {
        now += wait;
        passTo(now);
        bench.runTo(now);
        if (end && pending.length > 0) {
          const [gone] = pending.splice(id % pending.length, 1);
          if (gone !== undefined) bench.alive.delete(gone.id);
        }
        pending.push({ id, at: now + length });
        bench.set(id, 0, now);
      });
      passTo(now + length);
      bench.runTo(now + length);
      assert.deepEqual(bench.expired, expected);
      assert.equal(bench.armed, false);
    }),
  );
});
