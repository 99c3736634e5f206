import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Thoughts } from './thoughts.ts';

test('each thought ends at its time, whoever thinks again meanwhile, and one event at a time is in the calendar', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 80 }),
      fc.integer({ min: 0, max: 200 }),
      (gaps, again) => {
        const armed: number[] = [];
        const ended: string[] = [];
        const expected: string[] = [];
        let left = again;
        const think = 100;
        const thoughts: Thoughts = new Thoughts(
          1,
          (user, group, now) => {
            assert.equal(group, user % 3);
            ended.push(`${user}@${now}`);
            if (left-- <= 0) return;
            thoughts.begin(user, group, now + think);
            expected.push(`${user}@${now + think}`);
          },
          (at) => armed.push(at),
        );
        let at = 0;
        gaps.forEach((gap, user) => {
          at += gap;
          thoughts.begin(user, user % 3, at);
          expected.push(`${user}@${at}`);
        });
        // What begins anew must not end before what already waits.
        if (at > think) return;
        while (armed.length > 0) {
          assert.equal(armed.length, 1);
          thoughts.pass(armed.pop() ?? 0);
        }
        assert.deepEqual(ended.toSorted(), expected.toSorted());
      },
    ),
  );
});
