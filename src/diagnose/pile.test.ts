import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { recordOf } from '../record.ts';
import { evidenceOf } from './evidence.ts';
import { pileBound, pileLuck, pileOf } from './pile.ts';
import { linesOf, replicas } from './testing/run.ts';

test('the bound is the share whose luck is the given chance', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 40 }),
      fc.double({ min: 1, max: 50, noNaN: true }),
      fc.double({ min: 0.001, max: 0.2, noNaN: true }),
      (count, looks, luck) => {
        const pile = { replicas: count, looks };
        const bound = pileBound(pile, luck);
        assert.ok(bound > 0 && bound < 1);
        assert.ok(Math.abs(pileLuck(pile, bound) - luck) < 1e-9);
      },
    ),
  );
});

test('a pile among equal replicas seldom holds as much as the bound, for as long', () => {
  // Nominally 1 % a fleet; of 60 fleets more than 3 would be a bad fit (chance 0.3 %).
  let beyond = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const evidence = evidenceOf(
      recordOf(
        linesOf({
          fleet: {
            replicas: replicas(4),
            choice: 'round-robin',
            demand: { model: 'closed', users: 64, thinkSeconds: 0 },
          },
          seed,
        }),
      ),
    );
    assert.ok(evidence !== undefined);
    const pile = pileOf(evidence);
    assert.ok(pile !== undefined);
    const fullest = Math.max(...evidence.baseline.replicas.map((replica) => replica.held?.value ?? 0));
    if (fullest > pileBound(pile, 0.01)) beyond += 1;
  }
  assert.ok(beyond <= 3, `${beyond} of 60`);
});
