import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clockOffset, type Exchange } from './clock-offset.ts';

/** An exchange begun at `sent` with a clock that is `ahead`: so long there, so long thinking, so long back. */
const exchange = (sent: number, ahead: bigint, there: number, thinking: number, back: number): Exchange => ({
  sent: BigInt(sent),
  heard: BigInt(sent + there) + ahead,
  told: BigInt(sent + there + thinking) + ahead,
  back: BigInt(sent + there + thinking + back),
});

test('where both ways take equally long the offset is exact, whatever time the answer took', () => {
  assert.deepEqual(clockOffset([exchange(0, 86_400_000_000_000n, 250, 9_000, 250)]), {
    offset: 86_400_000_000_000n,
    bound: 250,
  });
});

test('the exchange with the shortest round trip counts', () => {
  const slow = exchange(0, -500n, 90_000, 0, 10_000);
  const quick = exchange(200_000, -500n, 40, 0, 60);
  assert.deepEqual(clockOffset([slow, quick]), { offset: -510n, bound: 50 });
  assert.deepEqual(clockOffset([quick, slow]), clockOffset([slow, quick]));
});

test('the true offset is never further away than the bound', () => {
  const delay = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
      fc.array(fc.tuple(delay, delay, delay, delay), { minLength: 1, maxLength: 20 }),
      (ahead, delays) => {
        const found = clockOffset(delays.map((each) => exchange(each[0], ahead, each[1], each[2], each[3])));
        const wrong = found.offset > ahead ? found.offset - ahead : ahead - found.offset;
        // Half a nanosecond is lost in whole ones.
        assert.ok(wrong <= BigInt(found.bound), `${wrong} beyond ${found.bound}`);
      },
    ),
  );
});
