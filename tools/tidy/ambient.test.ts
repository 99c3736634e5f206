import { suite, test } from 'node:test';
import { checkAmbient } from './ambient.ts';
import { checkAllowed, checkCaught, checkRepository } from './rule.ts';

test('nobody in the repository asks the world where it must not', () => {
  checkRepository(checkAmbient);
});

test('dates made from numbers, words in strings, and the room that owns chance are allowed', () => {
  checkAllowed(checkAmbient, {
    'src/record/a.ts': "new Date(at).toISOString(); const text = 'Date.now() and Math.random()'; // new Date()",
    'src/host/seed.ts': 'Math.random();',
    'src/net/clock.ts': 'Date.now(); new Date();',
    'src/policy/a.test.ts': 'Math.random(); Date.now();',
    'src/policy/own.ts': 'calendar.Date(1);',
  });
});

suite('planted breaches', () => {
  const clock = ['Date.now()', 'new Date()', 'new Date;', 'Date()', 'Temporal.Now.instant()', 'const f = Date.now;'];
  for (const text of clock) {
    test(`${text} in a pure room`, () => {
      checkCaught(checkAmbient, { 'src/policy/a.ts': `\n${text}` }, 'src/policy/a.ts:2', /take `now` as an argument/);
    });
  }

  test('Math.random in any room but host', () => {
    for (const path of ['src/policy/a.ts', 'src/load/a.ts', 'src/cli/a.ts']) {
      checkCaught(checkAmbient, { [path]: 'Math.random()' }, `${path}:1`, /belongs to host/);
    }
  });
});
