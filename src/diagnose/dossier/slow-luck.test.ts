import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../../base.ts';
import { slownessLuck } from './slow-luck.ts';
import { dossierOf, type Row, table } from './testing/facts.ts';
import { View } from './view.ts';

const ids = ['a', 'b', 'c'];

function luckOf(rows: readonly Row[]): number {
  const luck = slownessLuck(new View(dossierOf({ requests: [table('nginx', rows)] })), ids, 'a');
  assert.ok(luck !== undefined);
  return luck;
}

/** Requests one after another, all of one mean but for those of a. */
function steady(seed: number, factor: number): Row[] {
  const chance = dice(seed, 'steady');
  return Array.from({ length: 600 }, (_, index) => {
    const replica = ids[index % 3] ?? 'a';
    const seconds = -0.02 * Math.log(1 - chance.next()) * (replica === 'a' ? factor : 1);
    return { replica, at: index / 20, seconds };
  });
}

/** Forty at once, every five seconds: whoever has more of a burst lets all of its part of it wait. */
function bursts(seed: number, count: number): Row[] {
  const chance = dice(seed, 'bursts');
  return Array.from({ length: count }, (_, burst) => {
    const waiting = new Map<string, number>();
    return Array.from({ length: 40 }, (): Row => {
      const replica = ids[chance.below(3)] ?? 'a';
      const place = waiting.get(replica) ?? 0;
      waiting.set(replica, place + 1);
      return { replica, at: burst * 5, seconds: 0.005 * (1 + place) };
    });
  }).flat();
}

test('one that takes twice as long all the time is no luck', () => {
  for (let seed = 1; seed <= 20; seed++) assert.ok(luckOf(steady(seed, 2)) < 0.01, `seed ${seed}`);
});

test('of a few bursts nothing can be said, however many requests they were', () => {
  for (let seed = 1; seed <= 20; seed++) assert.ok(luckOf(bursts(seed, 3)) >= 1 / 9, `seed ${seed}`);
});

test('among equals a chosen one looks slow beyond one per cent about once in a hundred, in bursts too', () => {
  const unlucky = (make: (seed: number) => Row[]): number =>
    Array.from({ length: 200 }, (_, seed) => luckOf(make(seed))).filter((luck) => luck < 0.01).length;
  // Of 200 at 1 % more than 7 would come once in a thousand times (binomial).
  assert.ok(unlucky((seed) => steady(seed, 1)) <= 7);
  assert.ok(unlucky((seed) => bursts(seed, 12)) <= 7);
});
