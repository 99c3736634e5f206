import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attendanceOf } from './attendance.ts';
import { type Row, table } from './testing/facts.ts';

/** `a ########----`: a hash for each of twelve seconds in which it was asked ten times. */
function shares(script: string): Record<string, number> {
  const rows: Row[] = script.split('\n').flatMap((line) => {
    const [replica, times] = line.trim().split(/\s+/);
    if (replica === undefined || times === undefined) return [];
    return [...times].flatMap((sign, second) =>
      sign === '#' ? Array.from({ length: 10 }, (_, turn) => ({ replica, at: second + turn / 10 })) : [],
    );
  });
  const found = attendanceOf(table('nginx', rows));
  return Object.fromEntries([...(found ?? [])].map(([id, share]) => [id, Math.round(share)]));
}

test('who was there all the time has an equal share', () => {
  const found = shares(`
    a ############
    b ############`);
  assert.deepEqual(found, { a: 120, b: 120 });
});

test('a successor’s share is of what came since it began, and the predecessor’s of what came before', () => {
  const found = shares(`
    old ######------
    new ------######
    b   ############`);
  // Each shares with one other all the time, give or take the slice in which they change.
  for (const [id, expected] of [
    ['old', 60],
    ['new', 60],
    ['b', 120],
  ] as const) {
    assert.ok(Math.abs((found[id] ?? 0) - expected) <= 6, `${id}: ${found[id]}`);
  }
});

test('who is seldom asked was there all the time', () => {
  const rows: Row[] = [
    ...Array.from({ length: 90 }, (_, index) => ({ replica: 'a', at: index })),
    ...[20, 50, 80].map((at) => ({ replica: 'b', at })),
  ];
  const found = attendanceOf(table('nginx', rows));
  assert.equal(Math.round(found?.get('b') ?? 0), 47, 'half of 93');
});

test('without times nothing is known', () => {
  assert.equal(attendanceOf(table('nginx', [{ replica: 'a' }, { replica: 'b' }])), undefined);
});
