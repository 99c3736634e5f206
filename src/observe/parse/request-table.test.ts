import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blankRow, clearRow, RequestTableBuilder } from './request-table.ts';

/** A table of `rows` requests, one a millisecond, that keeps at most `max`. */
function filled(rows: number, max: number, replicas = 3) {
  const builder = new RequestTableBuilder(max);
  const row = blankRow();
  for (let index = 0; index < rows; index++) {
    if (!builder.wants()) continue;
    clearRow(row);
    row.startMs = index;
    row.replica = `r${index % replicas}`;
    row.status = 200;
    builder.add(row);
  }
  return builder.finish('test', { file: 'test' });
}

test('rows are columns, texts are kept once', () => {
  const table = filled(6, 100);
  assert.equal(table.count, 6);
  assert.equal(table.skipped, 0);
  assert.deepEqual([...table.startMs], [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...table.replica], [0, 1, 2, 0, 1, 2]);
  assert.deepEqual(table.replicas, ['r0', 'r1', 'r2']);
  assert.deepEqual([...table.client], [-1, -1, -1, -1, -1, -1]);
  assert.equal(table.status.length, 6);
  assert.ok(Number.isNaN(table.seconds[0]));
});

test('beyond the bound the rows are an even sample of all, in order', () => {
  for (const rows of [7, 8, 9, 16, 17, 100, 1000]) {
    const table = filled(rows, 8);
    assert.equal(table.count + table.skipped, rows);
    assert.ok(table.count <= 8 && (rows < 8 || table.count >= 4), `${table.count} of ${rows}`);
    // One of every stretch: none is empty, and none has two.
    const stride = Math.max(1, 2 ** Math.ceil(Math.log2((rows + 1) / 8)));
    const stretches = [...table.startMs].map((at) => Math.floor(at / stride));
    assert.deepEqual(stretches, [...new Set(stretches)], `${rows}: two of one stretch of ${stride}`);
    assert.ok(
      stretches.every((stretch, index) => stretch === index),
      `${rows}: ${stretches.join()}`,
    );
  }
});

test('a sample does not beat against strict rotation: each of four keeps a fourth', () => {
  const table = filled(400_000, 20_000, 4);
  assert.ok(table.count >= 10_000);
  for (const own of [0, 1, 2, 3]) {
    const share = table.replica.filter((replica) => replica === own).length / table.count;
    // Five standard deviations of a fair die.
    assert.ok(Math.abs(share - 1 / 4) < 5 * Math.sqrt(3 / 16 / table.count), `${share}`);
  }
});

test('more different texts than a column has places become one', () => {
  const builder = new RequestTableBuilder(200_000);
  const row = blankRow();
  for (let index = 0; index < 100_000; index++) {
    if (!builder.wants()) continue;
    row.route = `GET /item/${index}`;
    builder.add(row);
  }
  const table = builder.finish('test', { file: 'test' });
  assert.equal(table.routes.length, 65_536);
  assert.equal(table.routes.at(-1), '(others)');
  assert.equal(table.route[99_999], 65_535);
  assert.equal(table.routes[table.route[5] ?? -1], 'GET /item/5');
});
