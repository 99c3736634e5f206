import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Kernel, subjectMax } from './kernel.ts';

test('the handler gets kind, subject and instant; the clock stands where the run ends', () => {
  const seen: string[] = [];
  const kernel = new Kernel([0, 1], (kind, subject, now) => seen.push(`${kind} ${subject} ${now}`));
  kernel.schedule(20, 1, 7);
  kernel.schedule(10, 0, subjectMax - 1);
  kernel.schedule(21, 0, 1);
  kernel.run(20);
  assert.deepEqual(seen, [`0 ${subjectMax - 1} 10`, '1 7 20']);
  assert.equal(kernel.now, 20);
  assert.equal(kernel.pending, 1);
  kernel.run(1000);
  assert.equal(kernel.now, 1000);
  assert.equal(kernel.handled, 3);
});

test('an event scheduled for now, by a handler, is handled in the same run', () => {
  let count = 0;
  const kernel: Kernel = new Kernel([0], (_, subject, now) => {
    count += 1;
    if (subject > 0) kernel.schedule(now, 0, subject - 1);
  });
  kernel.schedule(5, 0, 3);
  kernel.run(5);
  assert.equal(count, 4);
});

test('nothing can be scheduled in the past, and no subject is larger than fits', () => {
  const kernel = new Kernel([0], () => {});
  kernel.run(10);
  kernel.schedule(10, 0, 1);
  assert.throws(() => kernel.schedule(9, 0, 1), /past/);
  assert.throws(() => kernel.schedule(11, 0, subjectMax), /fits/);
});

test('the digest tells apart what happened, when, and in which order', () => {
  const digestOf = (events: readonly (readonly [at: number, kind: number, subject: number])[]): string => {
    const kernel = new Kernel([0, 0], () => {});
    for (const [at, kind, subject] of events) kernel.schedule(at, kind, subject);
    kernel.run(2 ** 50);
    return kernel.digest;
  };
  const plain = digestOf([
    [1, 0, 1],
    [2, 1, 2],
  ]);
  assert.equal(
    plain,
    digestOf([
      [2, 1, 2],
      [1, 0, 1],
    ]),
  );
  assert.match(plain, /^[0-9a-f]{8}$/);
  for (const other of [
    [[1, 0, 1]],
    [
      [1, 0, 1],
      [2, 1, 3],
    ],
    [
      [1, 0, 1],
      [3, 1, 2],
    ],
    [
      [1, 1, 2],
      [2, 0, 1],
    ],
    [
      [1, 0, 1],
      [2 + 2 ** 32, 1, 2],
    ],
  ] as const) {
    assert.notEqual(digestOf(other), plain);
  }
});

test('a trace hears of each event before it is handled', () => {
  const heard: string[] = [];
  const kernel = new Kernel([0], () => heard.push('handled'));
  kernel.trace = (kind, subject, now) => heard.push(`${kind} ${subject} ${now}`);
  kernel.schedule(4, 0, 2);
  assert.equal(kernel.step(), true);
  assert.equal(kernel.step(), false);
  assert.deepEqual(heard, ['0 2 4', 'handled']);
});
