import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { builtinScenarios, parseScenario } from '../scenario.ts';

/** A built-in scenario with a few places cut out, doubled or overwritten: what an editor in mid-stroke would save. */
const damaged = fc
  .record({
    text: fc.constantFrom(...builtinScenarios.map((builtin) => builtin.text)),
    cuts: fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat(12),
        insert: fc.oneof(
          fc.string({ maxLength: 6 }),
          fc.constantFrom(
            '{',
            ']',
            ': ',
            '&a ',
            '*a',
            '- ',
            '\n',
            '\t',
            '?',
            '!!int',
            '<<: ',
            '0',
            '-1',
            '1e999',
            'null',
          ),
        ),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ text, cuts }) =>
    cuts.reduce((result, { at, length, insert }) => {
      const from = Math.floor(at * result.length);
      return result.slice(0, from) + insert + result.slice(from + length);
    }, text),
  );

test('a damaged scenario is read or told wrong at a place that exists, and never throws', () => {
  fc.assert(
    fc.property(damaged, (text) => {
      const parsed = parseScenario(text, 'my.yaml');
      const lines = text.split('\n');
      for (const { line, column, message } of 'problems' in parsed ? parsed.problems : parsed.warnings) {
        assert.ok(line >= 1 && line <= lines.length, `line ${line} of ${lines.length}: ${message}`);
        assert.ok(column >= 1 && column <= (lines[line - 1] ?? '').length + 1, `column ${column}: ${message}`);
        assert.doesNotMatch(message, /undefined|\[object|Invalid input/);
      }
      if ('problems' in parsed) assert.notEqual(parsed.problems.length, 0);
    }),
    { numRuns: 1500 },
  );
});

test('a damaged setting is taken or told wrong, and never throws', () => {
  const path = fc.array(fc.constantFrom('services', 'api', 'faults', '0', '1', 'slow', 'factor', '', '<<', 'x'), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...builtinScenarios),
      path,
      fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('1', '{}', '[]', '*a', '&a b')),
      ({ text }, keys, value) => {
        const parsed = parseScenario(text, 'my.yaml', [`${keys.join('.')}=${value}`]);
        assert.ok('scenario' in parsed || parsed.problems.length > 0);
      },
    ),
    { numRuns: 500 },
  );
});
