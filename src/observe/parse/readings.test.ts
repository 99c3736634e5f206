import assert from 'node:assert/strict';
import { test } from 'node:test';
import { familyOf, firstReadings } from './readings.ts';

/** The numbers of these files, in the order in which they are given. */
function check(names: readonly string[], numbers: readonly number[]): void {
  const files = names.map((name) => ({ name, format: 'x', readings: 1, firstMs: undefined, counters: new Map() }));
  assert.deepEqual(firstReadings(files), numbers);
}

test('files of one family are numbered in the natural order of their names', () => {
  check(['scrape-t300.prom', 'scrape-t0.prom', 'scrape-t60.prom'], [2, 0, 1]);
  check(['top-10.txt', 'top-9.txt'], [1, 0]);
});

test('before comes before after, whatever the alphabet says and whatever follows', () => {
  check(['top-after-client-rollout.txt', 'top-before.txt'], [1, 0]);
  check(['after.json', 'before.json'], [1, 0]);
  check(['stats-up.csv', 'stats-down.csv'], [1, 0]);
});

test('files of different families, folders or endings do not count each other', () => {
  check(['a.prom', 'b.prom', 'run1/t0.prom', 'run2/t0.prom', 't0.csv'], [0, 0, 0, 0, 0]);
});

test('instants in the content overrule the names, when every file has them', () => {
  const at = (name: string, firstMs: number | undefined) => ({
    name,
    format: 'x',
    readings: 1,
    firstMs,
    counters: new Map(),
  });
  assert.deepEqual(firstReadings([at('t0', 2000), at('t1', 1000)]), [1, 0]);
  assert.deepEqual(firstReadings([at('t0', 2000), at('t1', undefined)]), [0, 1]);
});

test('counters, which only rise, order names that do not say', () => {
  const counting = (name: string, value: number) => ({
    name,
    format: 'x',
    readings: 1,
    firstMs: undefined,
    counters: new Map([['total', value]]),
  });
  assert.deepEqual(firstReadings([counting('stats-down', 900), counting('stats-up', 100)]), [1, 0]);
  assert.deepEqual(firstReadings([counting('stats-before', 900), counting('stats-after', 100)]), [0, 1]);
  assert.deepEqual(firstReadings([counting('t1', 900), counting('t2', 100)]), [0, 1]);
});

test('a file that holds several readings moves those after it', () => {
  const holding = (name: string, readings: number) => ({
    name,
    format: 'x',
    readings,
    firstMs: undefined,
    counters: new Map(),
  });
  assert.deepEqual(firstReadings([holding('t0', 3), holding('t1', 1)]), [0, 3]);
});

test('a family is what remains of a name without numbers and words of order', () => {
  assert.equal(familyOf('logs/scrape-t300.prom').family, familyOf('scrape-t0.prom').family);
  assert.notEqual(familyOf('scrape-t0.prom').family, familyOf('scrape-t0.txt').family);
});
