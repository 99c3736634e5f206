import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatTraceParent, parseTraceParent, traceStateForwarded } from './trace-context.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

test('a traceparent is read and written', () => {
  assert.deepEqual(parseTraceParent(`00-${trace}-${span}-01`), { traceId: trace, spanId: span, sampled: true });
  assert.equal(parseTraceParent(`00-${trace}-${span}-00`)?.sampled, false);
  assert.equal(parseTraceParent(`00-${trace}-${span}-03`)?.sampled, true, 'other bits do not matter');
  const hex = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: length, maxLength: length });
  fc.assert(
    fc.property(hex(32), hex(16), fc.boolean(), (traceId, spanId, sampled) => {
      fc.pre(!/^0+$/.test(traceId) && !/^0+$/.test(spanId));
      const parent = { traceId, spanId, sampled };
      assert.deepEqual(parseTraceParent(formatTraceParent(parent)), parent);
    }),
  );
});

test('what is not one is as if it were not there', () => {
  for (const text of [
    '',
    `00-${trace}-${span}`,
    `00-${trace}-${span}-1`,
    `00-${trace}-${span}-01-more`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `ff-${trace}-${span}-01`,
    ` 00-${trace}-${span}-01`,
    `00-${trace}-${span}-01, 00-${trace}-${span}-01`,
    `00-${trace.slice(1)}-${span}-01`,
  ]) {
    assert.equal(parseTraceParent(text), undefined, text);
  }
});

test('a later version is read as far as it is like this one', () => {
  assert.equal(parseTraceParent(`01-${trace}-${span}-01`)?.traceId, trace);
  assert.equal(parseTraceParent(`01-${trace}-${span}-01-what.comes`)?.traceId, trace);
  assert.equal(parseTraceParent(`01-${trace}-${span}-01.what`), undefined);
});

test('a state is passed on whole, or in whole entries up to 512 characters', () => {
  assert.equal(traceStateForwarded(undefined), undefined);
  assert.equal(traceStateForwarded(' '), undefined);
  assert.equal(traceStateForwarded('a=1,b=2'), 'a=1,b=2');
  const fits = `a=${'x'.repeat(510)}`;
  assert.equal(traceStateForwarded(fits), fits);
  assert.equal(traceStateForwarded(`a=1,b=${'x'.repeat(600)}`), 'a=1');
  assert.equal(traceStateForwarded(`a=${'x'.repeat(600)}`), undefined);
});
