// The story of no healthy upstream on our gateway, in the lab, both ways at once: a datastore stands still for four seconds. Without
// budgets its stall takes the fleet with it; with the deadline passed on nobody is taken out, and all is well when it goes on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playThroughGateway } from './gateway-plays.ts';
import { budgets, scenarioWith, stallFigures, stallSettings } from './gateway-stories.ts';

const short = ['warm_up=1s', 'duration=8s', 'faults.0.at=1s', 'faults.0.for=4s'];

test('with deadline budgets a stalled datastore does not evict the fleet; without, it does', async () => {
  const scenario = scenarioWith('no-healthy-upstream', [...stallSettings, ...short]);
  const play = async (which: 'on' | 'off') => {
    const { phase, page } = await playThroughGateway(scenario, budgets[which], 1);
    return stallFigures(phase, page, 5);
  };
  const [on, off] = await Promise.all([play('on'), play('off')]);
  const seen = JSON.stringify({ on, off });
  assert.ok(off.falls >= 3, seen);
  assert.ok(off.nobodyHealthy >= 50, seen);
  // 50 requests a second × 250 ms hold 12.5 of 16 workers; without a bound, whatever comes in.
  assert.ok(on.inFlightMost < 20 && off.inFlightMost > 40, seen);
  assert.ok(on.falls <= 1, seen);
  assert.equal(on.nobodyHealthy, 0, seen);
  assert.ok(on.answered > off.answered, seen);
});
