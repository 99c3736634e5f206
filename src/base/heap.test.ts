import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Heap } from './heap.ts';

/** Each word of the script is `key:name`, pushed in this order. Returns the names in the order they leave. */
function leaving(script: string): string {
  const heap = new Heap<string>();
  for (const word of script.split(' ')) {
    const [key = '', name = ''] = word.split(':');
    heap.push(Number(key), name);
  }
  const names: string[] = [];
  while (heap.size > 0) names.push(heap.pop() ?? 'nothing');
  return names.join(' ');
}

test('the smallest key leaves first', () => {
  assert.equal(leaving('3:c 1:a 2:b'), 'a b c');
});

test('of equal keys the one that came first leaves first, however many came between', () => {
  assert.equal(leaving('5:first 1:a 5:second 0:b 5:third 9:z 5:fourth'), 'b a first second third fourth z');
});

test('negative keys and both infinities have their places', () => {
  assert.equal(leaving('Infinity:never 0:now -3:before -Infinity:always'), 'always before now never');
});

test('an empty heap gives nothing, and is usable again after clear', () => {
  const heap = new Heap<string>();
  assert.equal(heap.pop(), undefined);
  assert.equal(heap.next, undefined);
  assert.equal(heap.nextKey, undefined);
  heap.push(1, 'gone');
  heap.clear();
  assert.equal(heap.size, 0);
  assert.equal(heap.next, undefined);
  heap.push(2, 'kept');
  assert.equal(heap.nextKey, 2);
  assert.equal(heap.pop(), 'kept');
});

test('looking at the next item does not take it', () => {
  const heap = new Heap<string>();
  heap.push(1, 'only');
  assert.equal(heap.next, 'only');
  assert.equal(heap.next, 'only');
  assert.equal(heap.size, 1);
});

test('a key that cannot be ordered is a mistake of the program', () => {
  assert.throws(() => new Heap<string>().push(Number.NaN, 'lost'), { name: 'AssertionError' });
});

test('any mixture of pushes and pops leaves in the order of a stable sort', () => {
  // A number is a push with that key, undefined a pop. Few different keys, so that ties are common.
  const steps = fc.array(fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined, freq: 3 }), {
    maxLength: 300,
    size: 'max',
  });
  fc.assert(
    fc.property(steps, (script) => {
      const heap = new Heap<number>();
      const model: { key: number; id: number }[] = [];
      let id = 0;
      for (const key of script) {
        if (key !== undefined) {
          heap.push(key, id);
          model.push({ key, id });
          id += 1;
        } else {
          // Array.prototype.sort is stable, so equal keys stay in the order of their coming.
          model.sort((left, right) => left.key - right.key);
          assert.equal(heap.nextKey, model[0]?.key);
          assert.equal(heap.pop(), model.shift()?.id);
        }
        assert.equal(heap.size, model.length);
      }
    }),
  );
});
