import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LogSlices } from './log-slices.ts';

test('each line lands in the slice that was open when it was written', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-slices-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const whole = join(folder, 'whole.log');
  const slice = (name: string): string => join(folder, `${name}.log`);
  writeFileSync(whole, 'before\n');
  const slices = new LogSlices(whole);
  await slices.complete();
  await slices.cutTo(slice('one'));
  appendFileSync(whole, 'first\n');
  await slices.complete();
  assert.equal(readFileSync(slice('one'), 'utf8'), 'first\n');
  appendFileSync(whole, 'second\n');
  await slices.cutTo(slice('two'));
  await slices.cutTo(slice('three'));
  appendFileSync(whole, 'third\n');
  await slices.complete();
  await slices.complete();
  assert.equal(readFileSync(slice('one'), 'utf8'), 'first\nsecond\n');
  assert.equal(readFileSync(slice('two'), 'utf8'), '');
  assert.equal(readFileSync(slice('three'), 'utf8'), 'third\n');
});
