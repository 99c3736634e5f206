import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { instantAt, ms } from '../base.ts';
import { Pending } from './pending.ts';

const at = (milliseconds: number) => instantAt(ms(milliseconds));

test('the oldest is whoever came due first, even when it was noticed later', () => {
  const pending = new Pending();
  const second = pending.open(at(5));
  const first = pending.open(at(4));
  const third = pending.open(at(5));
  assert.equal(pending.oldest, first);
  pending.close(first);
  assert.equal(pending.oldest, second);
  pending.close(second);
  assert.equal(pending.oldest, third);
  pending.close(third);
  assert.equal(pending.oldest, undefined);
});

test('a slot is used again after its request has ended, and starts unsent', () => {
  const pending = new Pending();
  const slot = pending.open(at(1));
  pending.markSent(slot, at(2));
  assert.equal(pending.isSent(slot), true);
  pending.close(slot);
  assert.equal(pending.open(at(3)), slot);
  assert.equal(pending.isSent(slot), false);
});

test('a request cannot end twice, nor be sent twice', () => {
  const pending = new Pending();
  const slot = pending.open(at(1));
  pending.markSent(slot, at(1));
  assert.throws(() => pending.markSent(slot, at(2)), /sent once/);
  pending.close(slot);
  assert.throws(() => pending.close(slot), /was pending/);
});

test('it agrees with a sorted list, whatever comes and goes', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('open' as const), due: fc.nat(1000) }),
    fc.record({ kind: fc.constant('close' as const), which: fc.nat(1000) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const pending = new Pending();
      const model: { slot: number; due: number }[] = [];
      for (const move of steps) {
        if (move.kind === 'open') {
          const slot = pending.open(instantAt(move.due));
          const place = model.findIndex((other) => other.due > move.due);
          model.splice(place === -1 ? model.length : place, 0, { slot, due: move.due });
        } else if (model.length > 0) {
          const [gone] = model.splice(move.which % model.length, 1);
          pending.close(gone?.slot ?? -1);
        }
        assert.equal(pending.size, model.length);
        assert.equal(pending.oldest, model[0]?.slot);
      }
    }),
  );
});
