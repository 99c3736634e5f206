// The drawing of a load line, in characters and as a picture.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadLinePicture } from './load-line-picture.ts';
import { hullLines, loadLineText, type LoadLineView, safeLoadLines, safeLoadSentence } from './load-line-text.ts';
import { plain } from './paint.ts';

const edge = (safe: number, half: number) => ({ safe, half, low: half - 2, high: half + 2 });

const storm: LoadLineView = {
  scenario: 'storm',
  against: ['3 of 4 replicas of api', 'callers ask up to 4 times'],
  unbounded: [],
  fail: edge(540, 590),
  recover: edge(100, 124),
  now: 560,
  runs: 170,
  certain: 20,
};

test('a hull has its line, where it sinks, and how deep it lies', () => {
  assert.deepEqual(hullLines({ line: 32, sinks: 48, now: 51.2 }, plain), [
    `  ${'█'.repeat(32)}${'▒'.repeat(16)}${'░'.repeat(16)}`,
    `  ${' '.repeat(32)}▲ line 32/s`,
    `  ${' '.repeat(48)}▲ sinks 48/s`,
    `  ${' '.repeat(51)}▲ now 51/s`,
  ]);
});

test('words that would not fit to the right of their mark stand to its left', () => {
  const last = hullLines({ line: 10, sinks: 20, now: 1_234_567 }, plain).at(-1) ?? '';
  assert.match(last, /^ +▲ now 1,234,567\/s$/);
  assert.ok(last.length <= 2 + 64 + 12, `${last.length}`);
});

test('a search that came to its end tells both edges with their intervals, and where the load stands', () => {
  const text = loadLineText(storm, plain).join('\n');
  assert.match(text, /^load line of storm: 100\/s$/m);
  assert.match(text, /^Up to 100\/s it is back .*; half of the runs at 124\/s \(122\/s … 126\/s\)\.$/m);
  assert.match(text, /^Up to 540\/s it works as long as nothing happens; half of the runs at 590\/s/m);
  assert.match(text, /with one replica less it sinks/);
});

test('a search that was stopped tells what is known, and no line that is not', () => {
  const stopped = { ...storm, recover: undefined, fail: { ...edge(0, 590), safe: undefined } };
  const text = loadLineText(stopped, plain).join('\n');
  assert.match(text, /not found yet/);
  assert.match(text, /^Stopped on the way: .* somewhere between 588\/s and 592\/s\.$/m);
  assert.doesNotMatch(text, /above water|▲|safe:/);
});

test('what one run comes to by arithmetic is drawn in the same way, and a reason is given where there is no line', () => {
  const facts = {
    kind: 'line',
    safe_per_s: 107,
    serves_per_s: 527,
    now_per_s: 559,
    share: 5.2,
    against: '3 of 4 replicas, retries on',
    arithmetic: [],
  } as const;
  const [hull = '', ...rest] = safeLoadLines(facts, plain);
  assert.match(hull, /^ {2}█+▒+░+$/);
  assert.equal(rest.at(-1), safeLoadSentence(facts));
  assert.match(
    safeLoadSentence(facts),
    /^safe load: 107\/s, and 527\/s as long as nothing happens; at 559\/s this run is at 520 %/,
  );
  assert.match(safeLoadSentence({ kind: 'none', because: 'nobody looked' }), /none to be told, for nobody looked/);
});

test('the picture has three waters, the mark at the line, and the load; two where it comes back whenever it floats', () => {
  const whole = loadLinePicture('a < b', { line: 100, sinks: 540, now: 560 });
  assert.match(whole, /<title>a &lt; b<\/title>/);
  for (const words of ['load line 100/s', '540/s', 'now 560/s', 'floats until something happens', 'sinks']) {
    assert.ok(whole.includes(`>${words}</text>`), words);
  }
  assert.equal(whole.match(/<rect /g)?.length, 4);
  const two = loadLinePicture('two', { line: 540, sinks: 540, now: undefined });
  assert.equal(two.match(/<rect /g)?.length, 3);
  assert.doesNotMatch(two, /now/);
});
