import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, instantAt, ms, seconds } from '../../base.ts';
import { defaultHopelessSettings, Hopeless } from './hopeless.ts';

const now = instantAt(seconds(10));

function knowing(count: number, settings = defaultHopelessSettings): Hopeless {
  const hopeless = new Hopeless(settings);
  for (let nth = 1; nth <= count; nth++) hopeless.add(ms(nth), now);
  return hopeless;
}

test('what is left must last for the quantile of recent latencies: just enough, and just not', () => {
  const hopeless = knowing(99);
  assert.equal(hopeless.expectedAt(now), ms(50));
  assert.equal(hopeless.cannotFinish(after(now, ms(50)), now), false);
  assert.equal(hopeless.cannotFinish(after(now, ms(49)), now), true);
});

test('nothing is hopeless before enough is known, or when what is known is old', () => {
  assert.equal(knowing(49).cannotFinish(now, now), false);
  assert.equal(knowing(50).cannotFinish(now, now), true);
  const later = after(now, seconds(1));
  assert.equal(knowing(50).cannotFinish(later, later), true);
  const old = after(later, ms(1));
  assert.equal(knowing(50).cannotFinish(old, old), false);
});
