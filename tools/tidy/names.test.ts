import { suite, test } from 'node:test';
import { checkNames } from './names.ts';
import { checkAllowed, checkCaught, checkRepository } from './rule.ts';

test('everything in the repository is called as it should be and stands in a room', () => {
  checkRepository(checkNames);
});

test('kebab-case, names by convention and foreign files are allowed', () => {
  checkAllowed(checkNames, {
    'README.md': '',
    'docs/decisions/README.md': '',
    'docs/decisions/0001-one-door.md': '',
    '.oxlintrc.json': '',
    '.ci/run': '',
    'src/base.ts': '',
    'src/base/time.test.ts': '',
    'src/observe.ts': '',
    'src/observe/parse/fixtures/HAProxy_stats.csv': '',
  });
});

suite('planted breaches', () => {
  for (const name of ['retryBudget.ts', 'Retry.ts', 'retry_budget.ts', '-retry.ts', 'retry--budget.ts', 'a b.ts']) {
    test(`a file called ${name}`, () => {
      const path = `src/base/${name}`;
      checkCaught(checkNames, { 'src/base.ts': '', [path]: '' }, `${path}:1`, /kebab-case/);
    });
  }

  test('a room without a door', () => {
    checkCaught(checkNames, { 'src/base/time.ts': '' }, 'src/base:1', /no door/);
  });

  test('a folder in src/ that is no room, and a file', () => {
    checkCaught(checkNames, { 'src/util/strings.ts': '' }, 'src/util/strings.ts:1', /no room/);
    checkCaught(checkNames, { 'src/helpers.ts': '' }, 'src/helpers.ts:1', /no room/);
  });
});
