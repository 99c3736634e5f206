import { suite, test } from 'node:test';
import { checkDependencies } from './dependencies.ts';
import { checkAllowed, checkCaught, checkRepository } from './rule.ts';

test('every dependency of the repository is explained, and is used only where it says', () => {
  checkRepository(checkDependencies);
});

const house = {
  'package.json': JSON.stringify({
    dependencies: { yaml: '2.9.1', hono: '4.0.0' },
    devDependencies: { 'fast-check': '4.11.0' },
  }),
  'package-lock.json': JSON.stringify({
    packages: {
      'node_modules/yaml': { license: 'ISC' },
      'node_modules/hono': { license: 'MIT' },
      'node_modules/fast-check': { license: 'MIT' },
    },
  }),
  'DEPENDENCIES.md': [
    '| package | why | licence | used by |',
    '| `yaml` | reads scenarios | ISC | `src/scenario/`, `src/gateway/config.ts` |',
    '| `fast-check` | random tests | MIT | `*.test.ts` |',
    '| `hono` | the page | MIT | not yet, for `src/web/` |',
  ].join('\n'),
  'src/scenario/a.ts': "import { parse } from 'yaml';",
  'src/base/a.test.ts': "import fc from 'fast-check'; import 'node:test';",
};

test('a small house in order is allowed', () => {
  checkAllowed(checkDependencies, house);
});

suite('planted breaches', () => {
  const caught = (change: Readonly<Record<string, string>>, where: string, words: RegExp): void => {
    checkCaught(checkDependencies, { ...house, ...change }, where, words);
  };
  const row = (text: string): Record<string, string> => ({ 'DEPENDENCIES.md': `${house['DEPENDENCIES.md']}\n${text}` });

  test('a package without a line', () => {
    const rows = house['DEPENDENCIES.md'].split('\n').slice(0, 3).join('\n');
    caught({ 'DEPENDENCIES.md': rows }, 'DEPENDENCIES.md:1', /say why hono is here/);
  });

  test('a line without a package', () => {
    caught(row('| `left-pad` | pads | MIT | `src/base/` |'), 'DEPENDENCIES.md:5', /left-pad is not in package.json/);
  });

  test('another licence than the package has', () => {
    const rows = house['DEPENDENCIES.md'].replace('ISC', 'MIT');
    caught({ 'DEPENDENCIES.md': rows }, 'DEPENDENCIES.md:2', /the licence of yaml is ISC/);
  });

  test('a range of versions', () => {
    const ranged = house['package.json'].replace('2.9.1', '^2.9.1');
    caught({ 'package.json': ranged }, 'package.json:1', /pin one exact version/);
  });

  test('a package that runs a script when it is installed', () => {
    const lock = house['package-lock.json'].replace('"ISC"', '"ISC","hasInstallScript":true');
    caught({ 'package-lock.json': lock }, 'package-lock.json:1', /node_modules\/yaml runs a script/);
    const allowed = house['package.json'].replace('{', '{"allowScripts":{"yaml":true},');
    checkAllowed(checkDependencies, { ...house, 'package.json': allowed, 'package-lock.json': lock });
  });

  test('a use that the table does not know', () => {
    caught(
      { 'src/load/a.ts': "\nimport 'yaml';" },
      'src/load/a.ts:2',
      /used by src\/scenario\/, src\/gateway\/config\.ts only/,
    );
    caught({ 'src/load/a.ts': "import 'left-pad';" }, 'src/load/a.ts:1', /left-pad is not in DEPENDENCIES/);
  });

  test('a development dependency in the product', () => {
    caught({ 'src/base/a.ts': "import fc from 'fast-check';" }, 'src/base/a.ts:1', /not there when/);
  });

  test('a package that is used although the table says not yet', () => {
    caught({ 'src/web/a.ts': "import { Hono } from 'hono';" }, 'DEPENDENCIES.md:4', /hono is used now/);
  });
});
