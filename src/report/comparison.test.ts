// A comparison on paper: every finding has its place in text, Markdown and JUnit, and nothing breaks the XML.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Comparison, Effect } from '../diagnose.ts';
import { comparisonJunit } from './comparison-junit.ts';
import { comparisonMarkdown } from './comparison-markdown.ts';
import { comparisonText } from './comparison-text.ts';
import { plain } from './paint.ts';

const p99: Effect = {
  name: 'p99',
  unit: 'nanoseconds',
  role: 'gate',
  better: 'less',
  scale: 'ratio',
  smallest: 0.1,
  base: 200e6,
  candidate: 300e6,
  change: 0.5,
  low: 0.4,
  high: 0.6,
  basis: 'runs',
  finding: 'worse',
};

const comparison: Comparison = {
  verdict: 'reject',
  sentence: 'Do not release: p99 +50.0 %.',
  reasons: ['p99 +50.0 %', 'a < b & "c"'],
  conditions: ['the machine is not the same'],
  effects: [
    p99,
    {
      ...p99,
      name: 'failed',
      unit: 'share',
      scale: 'difference',
      base: 0,
      candidate: 0,
      change: 0,
      low: 0,
      high: 0,
      smallest: 0.001,
      finding: 'same',
    },
    { ...p99, name: 'p50', finding: 'unsettled', runsNeeded: 9 },
  ],
  objectives: [
    {
      name: 'http_req_duration p(95)<200',
      base: 'met in 4 of 4 runs',
      candidate: 'met in 0 of 4 runs',
      finding: 'missed',
    },
  ],
  mechanism: {
    base: { pattern: 'healthy', confidence: 0.9 },
    candidate: { pattern: 'convoy', culprit: 'api-2', confidence: 0.9 },
    moved: true,
    sentences: ['the mechanism: convoy at api-2, healthy before'],
  },
  runs: { base: 4, candidate: 4 },
  doubts: [],
};

test('in text the figures stand first and the answer last', () => {
  const lines = comparisonText(comparison, 100, plain);
  assert.ok(
    lines.some((line) => /^p99 +200\.0 ms +300\.0 ms +\+50\.0 % +\+40\.0 % … \+60\.0 % +10\.0 % +worse$/.test(line)),
    lines.join('\n'),
  );
  assert.ok(lines.some((line) => /^failed +0\.0 % +0\.0 % +\+0\.0 pp/.test(line)));
  assert.equal(lines.at(-1), '  - the machine is not the same');
  assert.ok(lines.indexOf('reject') > lines.findIndex((line) => line.includes('missed')));
});

test('in Markdown the answer is the title', () => {
  const text = comparisonMarkdown(comparison).join('\n');
  assert.match(text, /^# reject\n\nDo not release: p99 \+50\.0 %\.\n\n- p99/);
  assert.match(text, /\| p99 \| 200\.0 ms \| 300\.0 ms \| \+50\.0 % \| \+40\.0 % … \+60\.0 % \| worse \|/);
});

test('in JUnit what is worse failed, what is not settled was skipped, and special characters are written as such', () => {
  const xml = comparisonJunit(comparison);
  assert.match(xml, /<testsuites tests="5" failures="3" errors="0" skipped="1">/);
  assert.match(xml, /name="p99 is not worse">\n +<failure message="\+50\.0 % \(95 %:/);
  assert.match(xml, /name="failed is not worse"\/>/);
  assert.match(xml, /name="p50 is not worse">\n +<skipped/);
  assert.match(xml, /name="http_req_duration p\(95\)&lt;200">\n +<failure/);
  assert.match(xml, /name="no new mechanism">\n +<failure message="convoy instead of healthy">/);
  assert.match(xml, /a &lt; b &amp; "c"/);
});
