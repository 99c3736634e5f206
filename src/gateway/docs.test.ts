// docs/life-of-a-request.md is about this code: what it lists is what there is.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { waysOut } from './ways-out.ts';

test('the document lists every way out, with its status, flag and side, and no other', () => {
  const text = readFileSync(new URL('../../docs/life-of-a-request.md', import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('## Every way out'), text.indexOf('So a status says'));
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| way out') && !line.startsWith('| ---'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  assert.deepEqual(
    rows.map((cells) => cells[1]),
    Object.values(waysOut).map((way) => way.name),
  );
  for (const [index, way] of Object.values(waysOut).entries()) {
    const [, , status = '', flag, side] = rows[index] ?? [];
    assert.equal(flag, way.flag === '-' ? '–' : way.flag, way.name);
    assert.equal(side, way.side, way.name);
    if (way.status !== undefined) assert.ok(status.split(', ').includes(String(way.status)), way.name);
  }
});
