import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from './chance.ts';
import { DiceBank } from './dice-bank.ts';

test('a bank draws for each of its streams what dice of that name would, however they are mixed', () => {
  const bank = new DiceBank();
  const names = Array.from({ length: 100 }, (_, index) => `service/api-${index}`);
  const alone = names.map((name) => dice(7, name));
  const streams = names.map((name) => bank.add(7, name));
  const order = dice(1, 'order');
  for (let draw = 0; draw < 20_000; draw++) {
    const index = order.below(names.length);
    const expected = alone[index];
    const found = bank.at(streams[index] ?? -1);
    assert.ok(expected !== undefined);
    if (draw % 3 === 0) assert.equal(found.next(), expected.next());
    else if (draw % 3 === 1) assert.equal(found.exponential(40), expected.exponential(40));
    else assert.equal(found.below(1000), expected.below(1000));
  }
});

test('a stream that was not opened cannot be drawn from', () => {
  assert.throws(() => new DiceBank().at(0), /opened before/);
});
