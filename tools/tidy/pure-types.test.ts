import { after, suite, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lendPackages, plant, uproot } from '../plant.ts';
import { pureParts, rooms } from '../rooms.ts';
import { checkPureTypes } from './pure-types.ts';
import { checkCaught, checkRepository, root } from './rule.ts';

after(uproot);

const configs = Object.fromEntries(
  ['tsconfig.json', 'tsconfig.pure.json'].map((name) => [name, readFileSync(join(root, name), 'utf8')]),
);

/** Compiles a folder with one of the repository's two configurations. Returns what the compiler prints. */
function compile(folder: string, config: string, ...words: string[]): string {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return spawnSync(process.execPath, [compiler, '--noEmit', '-p', config, ...words], { cwd: folder, encoding: 'utf8' })
    .stdout;
}

/** A folder with the repository's configurations and packages, and one pure file with this text. */
function plantPure(text: string): string {
  const folder = plant({
    ...configs,
    'package.json': '{ "type": "module" }',
    'src/policy/planted.ts': text,
    'src/policy.ts': "export * from './policy/planted.ts';",
  });
  lendPackages(folder, root);
  return folder;
}

test('the second type check covers every pure room and nothing else', () => {
  checkRepository(checkPureTypes);
});

test('no library lets ambient types of Node into the second type check', () => {
  const files = compile(root, 'tsconfig.pure.json', '--listFilesOnly');
  assert.match(files, /src\/base\/time\.ts/);
  assert.doesNotMatch(files, /node_modules\/@types\/node\//);
});

suite('a planted breach does not compile, though it would with ambient types', () => {
  const breaches: Readonly<Record<string, [text: string, message: RegExp]>> = {
    'the process': ['process.exit(1); export {};', /planted\.ts.*Cannot find name 'process'/],
    'a timer': ['export const timer: unknown = setTimeout(() => {}, 1);', /Cannot find name 'setTimeout'/],
    'a module of Node': ["import 'node:fs'; export {};", /'node:fs'/],
    'a name from a module of Node': ["export { readFileSync } from 'node:fs';", /Cannot find .*'node:fs'/],
    'the clock': ['export const now = performance.now();', /Cannot find name 'performance'/],
    'the network': ["export const answer = fetch('');", /Cannot find name 'fetch'/],
    'a buffer': ["export const bytes = Buffer.from('');", /Cannot find name 'Buffer'/],
    'the console': ["console.log(''); export {};", /Cannot find name 'console'/],
  };
  for (const [name, [text, message]] of Object.entries(breaches)) {
    test(name, () => {
      const folder = plantPure(text);
      assert.match(compile(folder, 'tsconfig.pure.json'), message);
      assert.equal(compile(folder, 'tsconfig.json'), '');
    });
  }

  test('and what is pure compiles with both', () => {
    const folder = plantPure('export const half = (count: number): number => count / 2;');
    assert.equal(compile(folder, 'tsconfig.pure.json') + compile(folder, 'tsconfig.json'), '');
  });
});

suite('a planted configuration that has lost step is caught', () => {
  const include = [
    ...rooms.filter(({ kind }) => kind === 'pure').flatMap(({ name }) => [`src/${name}`, `src/${name}.ts`]),
    ...pureParts.map((part) => part.replace(/\/$/, '')),
  ];
  const whole = { compilerOptions: { types: [] }, include, exclude: ['**/*.test.ts'] };
  const check = (change: object, words: RegExp): void => {
    checkCaught(
      checkPureTypes,
      { 'tsconfig.pure.json': JSON.stringify({ ...whole, ...change }) },
      'tsconfig.pure.json:1',
      words,
    );
  };

  test('a pure room left out', () => check({ include: include.slice(1) }, /include "src\/base"/));
  test('a room that acts', () => check({ include: [...include, 'src/host'] }, /"src\/host" is no pure room/));
  test('product code hidden', () => check({ exclude: ['src/sim/kernel.ts'] }, /hides product code/));
  test('ambient types', () => check({ compilerOptions: { types: ['node'] } }, /must be empty/));
});
