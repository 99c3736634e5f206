import { suite, test } from 'node:test';
import { checkAssertions } from './assertions.ts';
import { checkAllowed, checkCaught, checkRepository } from './rule.ts';

test('every test of the repository can fail, and none is silenced', () => {
  checkRepository(checkAssertions);
});

test('an assertion, a check of one’s own, and a skip with a reason are allowed', () => {
  checkAllowed(checkAssertions, {
    'src/a.test.ts':
      "test('a', () => assert.equal(1, 1)); test('b', { skip: haveProxy ? false : 'no proxy' }, () => {});",
    'src/b.test.ts': "test('a', () => { checkScript(`1 2 3`); });",
    'src/d.test.ts': "conformance('node', () => nodeEngine());",
    'src/c.test.ts': "it('a', (t) => { t.assert.ok(1); });",
  });
});

suite('planted breaches', () => {
  const caught = (text: string, words: RegExp): void => {
    checkCaught(checkAssertions, { 'src/a.test.ts': text }, 'src/a.test.ts:1', words);
  };
  const asserted = 'assert.ok(x)';

  test('a file without a test', () => caught(asserted, /no test here/));
  test('a test without an assertion', () =>
    caught("import assert from 'node:assert'; test('a', () => run());", /nothing is/));
  test('only', () => {
    caught(`test.only('a', () => ${asserted})`, /silences/);
    caught(`test('a', { only: true }, () => ${asserted})`, /silences/);
  });
  test('a skip without a reason', () => {
    caught(`suite.skip('a', () => ${asserted}); test('b', run);`, /with a reason/);
    caught(`test('a', { skip: true }, () => ${asserted})`, /with a reason/);
    caught(`test.todo('a', () => ${asserted})`, /with a reason/);
  });
});
