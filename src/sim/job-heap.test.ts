import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JobHeap } from './job-heap.ts';
import { Jobs, purposes } from './jobs.ts';

test('whoever comes and whoever is taken out: the first is the smallest, and of equal ones the oldest', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ push: fc.integer({ min: 0, max: 99 }) }) },
    { weight: 1, arbitrary: fc.record({ remove: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.constant({ pop: true }) },
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 120 }), (steps) => {
      const jobs = new Jobs();
      const heap = new JobHeap(jobs);
      /** In the order in which they came. */
      const here: { readonly job: number; readonly key: number }[] = [];
      const first = () =>
        here.reduce<(typeof here)[number] | undefined>(
          (best, one) => (best && best.key <= one.key ? best : one),
          undefined,
        );
      for (const each of steps) {
        if ('push' in each) {
          const job = jobs.allocate(purposes.request, 0);
          heap.push(each.push, job);
          here.push({ job, key: each.push });
        } else {
          const out = 'pop' in each ? first()?.job : here[each.remove]?.job;
          const place = here.findIndex(({ job }) => job === out);
          if (out !== undefined) assert.ok(heap.remove(out) && !heap.remove(out));
          if (place >= 0) here.splice(place, 1);
        }
        assert.equal(heap.size, here.length);
        assert.equal(heap.first, first()?.job ?? -1);
        assert.equal(heap.firstKey, first()?.key ?? Infinity);
      }
    }),
    { numRuns: 300 },
  );
});
