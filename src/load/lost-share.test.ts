import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantAt, ms } from '../base.ts';
import { leaveLostShare } from './lost-share.ts';
import { Tally } from './tally.ts';
import { constant } from '../scenario.ts';

const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
const at = (milliseconds: number) => instantAt(milliseconds * 1e6);

test('of a schedule, what came due after the loss and until the end was never sent', () => {
  const tally = new Tally();
  // 100 a second for everybody: the second of four has 10, 50, 90, … ms after the beginning.
  const demand = { kind: 'open', clients: 'shop', ratePerSecond: 100, arrivals: 'constant', flow } as const;
  const lost = { demand, seed: 1, share: { index: 1, of: 4 }, begun: at(1000), from: at(1050), to: at(1210) };
  assert.equal(leaveLostShare(tally, lost), true);
  // 90, 130, 170 and 210: that of 50 had been heard of.
  assert.deepEqual([tally.planned, tally.neverSent, tally.ended], [4, 4, 4]);
  const oldest = tally.latency.quantile(1);
  assert.deepEqual([oldest?.value, oldest?.atLeast], [ms(120), true]);
});

test('closed users leave nothing undone: they would have asked when they had been answered', () => {
  const tally = new Tally();
  const demand = { kind: 'closed', clients: 'shop', users: 5, think: constant(ms(1)), flow } as const;
  const lost = { demand, seed: 1, share: { index: 0, of: 2 }, begun: at(0), from: at(0), to: at(1000) };
  assert.equal(leaveLostShare(tally, lost), true);
  assert.equal(tally.planned, 0);
});
