import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePrometheus, sampleOf } from './prometheus.ts';

test('samples, labels with escapes, special numbers and timestamps', () => {
  const text = [
    '# HELP up whether it is up',
    '# TYPE up gauge',
    'up 1',
    'requests_total{code="200",path="/a\\"b\\\\c\\nd"} 12 1700000000000',
    'odd{le="+Inf"} +Inf',
    'nothing NaN',
    'spaced { a = "b" , c="d" } 3',
    '# EOF',
  ].join('\n');
  const { samples, types, foreign } = parsePrometheus(text);
  assert.equal(foreign.length, 0);
  assert.equal(types.get('up'), 'gauge');
  assert.deepEqual(
    samples.map((sample) => sample.name),
    ['up', 'requests_total', 'odd', 'nothing', 'spaced'],
  );
  assert.equal(samples[1]?.labels['path'], '/a"b\\c\nd');
  assert.equal(samples[2]?.value, Number.POSITIVE_INFINITY);
  assert.ok(Number.isNaN(samples[3]?.value));
  assert.deepEqual(samples[4]?.labels, { a: 'b', c: 'd' });
});

test('a value is found by name and by the labels that were asked for', () => {
  const exposition = parsePrometheus('x{a="1"} 5\nx{a="2",b="3"} 7\n');
  assert.equal(sampleOf(exposition, 'x', { a: '2' }), 7);
  assert.equal(sampleOf(exposition, 'x'), 5);
  assert.equal(sampleOf(exposition, 'x', { a: '9' }), undefined);
});

test('what is not understood is counted, not guessed', () => {
  const { samples, foreign } = parsePrometheus('x{a="1} 5\ny twelve\n1x 3\nx{a=b} 1\nz\ngood 1\n');
  assert.equal(foreign.length, 5);
  assert.deepEqual(samples, [{ name: 'good', labels: {}, value: 1, line: 6, timestamp: undefined }]);
});
