import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Ring } from './ring.ts';

test('the oldest leaves first', () => {
  const ring = new Ring<string>(3);
  for (const item of ['a', 'b', 'c']) assert.equal(ring.push(item), true);
  assert.equal(ring.shift(), 'a');
  assert.equal(ring.push('d'), true);
  assert.deepEqual([ring.shift(), ring.shift(), ring.shift(), ring.shift()], ['b', 'c', 'd', undefined]);
});

test('a full ring refuses and keeps what it has', () => {
  const ring = new Ring<string>(1);
  assert.equal(ring.push('kept'), true);
  assert.equal(ring.push('refused'), false);
  assert.equal(ring.size, 1);
  assert.equal(ring.shift(), 'kept');
});

test('ages count from the oldest, also across the seam', () => {
  const ring = new Ring<string>(3);
  for (const item of ['a', 'b', 'c']) ring.push(item);
  ring.shift();
  ring.push('d');
  assert.deepEqual([ring.at(0), ring.at(1), ring.at(2), ring.at(3)], ['b', 'c', 'd', undefined]);
});

test('a ring for nothing, for half an item or for a negative age is a mistake of the program', () => {
  for (const capacity of [0, -1, 1.5, Number.NaN]) {
    assert.throws(() => new Ring(capacity), { name: 'AssertionError' });
  }
  assert.throws(() => new Ring(1).at(-1), { name: 'AssertionError' });
});

test('any mixture of pushes, shifts, removals and clears does what a bounded array would do', () => {
  const step = fc.constantFrom('push', 'push', 'push', 'shift', 'shift', 'remove', 'clear');
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 200, size: 'max' }), (capacity, script) => {
      const ring = new Ring<number>(capacity);
      let model: number[] = [];
      for (const [index, action] of script.entries()) {
        if (action === 'push') {
          const fits = model.length < capacity;
          if (fits) model.push(index);
          assert.equal(ring.push(index), fits);
        } else if (action === 'shift') {
          assert.equal(ring.shift(), model.shift());
        } else if (action === 'remove') {
          // Sometimes from the middle, sometimes what is not there.
          const wanted = index % 3 === 0 ? index : model[index % Math.max(1, model.length)];
          assert.equal(ring.remove(wanted ?? index), wanted !== undefined && model.includes(wanted));
          model = model.filter((item) => item !== wanted);
        } else {
          ring.clear();
          model = [];
        }
        assert.equal(ring.size, model.length);
        assert.deepEqual(
          model.map((_, age) => ring.at(age)),
          model,
        );
      }
    }),
  );
});
