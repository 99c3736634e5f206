import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantAt } from '../base.ts';
import { Stretches } from './stretches.ts';

test('a request due at the instant at which measuring begins stays where it was planned', () => {
  const now = instantAt(1000);
  const stretches = new Stretches(now);
  stretches.planned(now);
  stretches.begin(now);
  stretches.at(now).answered += 1;
  stretches.planned(instantAt(1001));
  stretches.at(instantAt(1001)).answered += 1;
  const { planned, answered } = stretches.whole();
  assert.deepEqual({ planned, answered }, { planned: 1, answered: 1 });
});

test('what is due at the instant at which measuring begins and comes to be planned after it is measured', () => {
  const now = instantAt(1000);
  const stretches = new Stretches(now);
  stretches.begin(now);
  stretches.planned(now);
  assert.equal(stretches.whole().planned, 1);
});

test('what was planned for a moment after the beginning, by another reading of the clock, stays where it was planned', () => {
  const now = instantAt(1000);
  const stretches = new Stretches(now);
  stretches.planned(instantAt(1005));
  stretches.planned(instantAt(1002));
  stretches.begin(now);
  for (const due of [1005, 1002]) stretches.at(instantAt(due)).answered += 1;
  const { planned, answered } = stretches.whole();
  assert.deepEqual({ planned, answered }, { planned: 0, answered: 0 });
});

test('measuring may begin again while requests of the stretch before the last are still open', () => {
  const stretches = new Stretches(instantAt(0));
  stretches.planned(instantAt(1));
  stretches.begin(instantAt(10));
  stretches.at(instantAt(1)).answered += 1;
  stretches.planned(instantAt(11));
  stretches.begin(instantAt(20));
  stretches.at(instantAt(11)).answered += 1;
  // Nothing of either belongs to the third stretch, and nothing is lost from what happened.
  assert.equal(stretches.whole().ended, 0);
  const { planned, answered } = stretches.cut();
  assert.deepEqual({ planned, answered }, { planned: 2, answered: 2 });
});
