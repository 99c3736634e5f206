// What healthy systems do besides standing still: replicas are replaced, added and taken out on purpose, and at night there is little
// to judge by.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Row, table } from './testing/facts.ts';
import { judged } from './testing/judged.ts';

/** `a 0-60`: asked in turn with all others that are there, so many times a second in all. */
function log(script: string, perSecond: number): Row[] {
  const there = script
    .trim()
    .split('\n')
    .map((line) => {
      const [, replica = '', from = '', to = ''] = /(\S+)\s+(\d+)-(\d+)/.exec(line) ?? [];
      return { replica, from: Number(from), to: Number(to) };
    });
  return Array.from({ length: 60 * perSecond }, (_, index) => {
    const at = index / perSecond;
    const now = there.filter(({ from, to }) => from <= at && at < to);
    return { replica: now[index % now.length]?.replica ?? '', at, seconds: 0.02 + 0.001 * (index % 7), status: 200 };
  });
}

test('replicas that are replaced one after the other, or added, have their share of what came while they were there', () => {
  const deploy = log('a1 0-20\nb1 0-40\na2 20-60\nb2 40-60', 50);
  assert.equal(judged({ requests: [table('nginx', deploy)] }).verdict.pattern, 'healthy');
  const scaled = log('a 0-60\nb 0-60\nc 30-60\nd 30-60', 50);
  assert.equal(judged({ requests: [table('nginx', scaled)] }).verdict.pattern, 'healthy');
});

test('a replica that gets a third of the others all the time is not treated fairly', () => {
  const rows = log('a 0-60\nb 0-60\nc 0-60', 50).map((row, index) =>
    row.replica === 'c' && index % 9 > 2 ? { ...row, replica: 'a' } : row,
  );
  assert.notEqual(judged({ requests: [table('nginx', rows)] }).verdict.pattern, 'healthy');
});

test('of a handful of requests it is said that they are too few, not that something is wrong', () => {
  const { verdict } = judged({ requests: [table('nginx', log('a 0-60\nb 0-60', 1))] });
  assert.equal(verdict.pattern, 'undecided');
  assert.match(verdict.sentence, /too little to say that nothing is wrong/);
  assert.match(verdict.missing ?? '', /100 requests or more with their results: there are 60/);
});

test('where nothing is proved and it is not healthy either, the reason is said', () => {
  const rows = log('a 0-60\nb 0-60', 50).map((row, index) => (index % 100 === 7 ? { ...row, status: 500 } : row));
  const { verdict } = judged({ requests: [table('nginx', rows)] });
  assert.equal(verdict.pattern, 'undecided');
  assert.match(verdict.sentence, /not called healthy because .*30 of 3000 failed/);
});
