import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Duration, instantAt, minutes, ms, ns, seconds, start, us } from '../base.ts';
import {
  canFinish,
  deadlineOf,
  formatGrpcTimeout,
  formatRemainingMs,
  forwarded,
  leftUntil,
  parseGrpcTimeout,
  parseRemainingMs,
} from './deadline.ts';
import { amplification, type ChainSettings, unsafeSettings, worstCase } from './unsafe-settings.ts';

test('what a caller gives can shorten our own timeout, never lengthen it', () => {
  assert.equal(deadlineOf(start, seconds(15), undefined), seconds(15));
  assert.equal(deadlineOf(start, seconds(15), seconds(3)), seconds(3));
  assert.equal(deadlineOf(start, seconds(15), minutes(5)), seconds(15));
});

test('time left goes down to nothing and not below, and the next hop gets less by the margin', () => {
  const deadline = instantAt(1e9);
  assert.equal(leftUntil(deadline, instantAt(0.4e9)), ms(600));
  assert.equal(leftUntil(deadline, instantAt(2e9)), 0);
  assert.equal(forwarded(deadline, instantAt(0.4e9), ms(10)), ms(590));
  assert.equal(forwarded(deadline, instantAt(0.995e9), ms(10)), 0);
  assert.ok(canFinish(deadline, instantAt(0.9e9), ms(100)));
  assert.ok(!canFinish(deadline, instantAt(0.9e9), ms(101)));
});

test('grpc-timeout is read as its specification says, and nothing else is', () => {
  for (const [text, expected] of [
    ['1H', seconds(3600)],
    ['2M', minutes(2)],
    ['10S', seconds(10)],
    ['100m', ms(100)],
    ['5u', us(5)],
    ['99999999n', ns(99_999_999)],
    ['0S', ns(0)],
    ['100000000n', undefined],
    ['10', undefined],
    ['S', undefined],
    ['-1S', undefined],
    ['1.5S', undefined],
    [' 1S', undefined],
    ['1s', undefined],
  ] as const) {
    assert.equal(parseGrpcTimeout(text), expected, text);
  }
});

test('what is written is what is read again, at most a hundred-millionth less and never more', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e18, noNaN: true }), (length) => {
      const left = ns(length);
      const again = parseGrpcTimeout(formatGrpcTimeout(left)) ?? assert.fail();
      assert.ok(again <= left && again >= left - Math.max(1, left / 1e4), `${left} became ${again}`);
    }),
  );
  assert.equal(formatGrpcTimeout(ms(250)), '250000u');
  assert.equal(formatGrpcTimeout(ns(99_999_999)), '99999999n');
});

test('remaining milliseconds are whole, rounded down', () => {
  assert.equal(formatRemainingMs(ms(12.9)), '12');
  assert.equal(parseRemainingMs('250'), ms(250));
  for (const text of ['', '-1', '1.5', '1e3', '250ms', '9999999999999'])
    assert.equal(parseRemainingMs(text), undefined);
});

const call = (timeout: Duration | undefined, retries = 0, backOffMax = ms(0)) => ({
  name: 'store',
  timeout,
  retries,
  backOffMax,
});
const chain = (own: Partial<ChainSettings>): ChainSettings => ({
  outer: { name: 'gateway', timeout: seconds(30), retries: 0 },
  calls: [],
  ...own,
});
const names = (settings: ChainSettings): readonly string[] => unsafeSettings(settings).map((finding) => finding.name);

test('an inner call must end before the outer deadline, attempts and pauses together', () => {
  assert.deepEqual(names(chain({ calls: [call(seconds(29))] })), []);
  assert.deepEqual(names(chain({ calls: [call(seconds(30))] })), ['inner-timeout']);
  assert.deepEqual(names(chain({ calls: [call(seconds(10), 2, ms(1))] })), ['inner-timeout']);
  assert.deepEqual(names(chain({ calls: [call(undefined)] })), ['inner-timeout']);
  assert.equal(worstCase(call(seconds(10), 2, seconds(1))), seconds(32));
  const [finding] = unsafeSettings(chain({ calls: [call(seconds(10), 2, seconds(1))] }));
  assert.equal(finding?.because, '3 × 10.0 s + 2 × 1.00 s = 32.0 s, and gateway gives up after 30.0 s');
});

test('retries on two levels multiply, and one level alone does not', () => {
  assert.equal(amplification([2, 2, 2]), 27);
  const twice = chain({ outer: { name: 'gateway', timeout: seconds(30), retries: 2 }, calls: [call(seconds(1), 2)] });
  assert.deepEqual(names(twice), ['retry-storm']);
  assert.match(unsafeSettings(twice)[0]?.because ?? '', /^\(2 \+ 1\) × \(2 \+ 1\) = 9 attempts/);
  assert.deepEqual(names(chain({ calls: [call(seconds(1), 2)] })), []);
});

test('calls that hang must leave workers: 200 a second for 20 s are 4,000, not 40', () => {
  const settings = chain({ calls: [call(seconds(20))], workers: 40, ratePerSecond: 200 });
  const [finding] = unsafeSettings(settings);
  assert.equal(finding?.name, 'workers-exhausted');
  assert.match(finding.because, /200\/s × 20\.0 s = 4000 of 40 workers/);
  assert.match(finding.instead, /below 200 ms/);
  assert.deepEqual(names(chain({ calls: [call(ms(200))], workers: 40, ratePerSecond: 200 })), []);
});

test('what is allowed by name is not found', () => {
  const settings = chain({ calls: [call(undefined)], workers: 4, ratePerSecond: 200 });
  assert.deepEqual(names(settings), ['inner-timeout', 'workers-exhausted']);
  assert.deepEqual(
    unsafeSettings(settings, ['inner-timeout']).map((finding) => finding.name),
    ['workers-exhausted'],
  );
});
