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

test('the second type check covers every pure room and nothing else', () => {
  checkRepository(checkPureTypes);
});

test('no library lets ambient types of Node into the second type check', () => {
  const files = compile(root, 'tsconfig.pure.json', '--listFilesOnly');
  assert.match(files, /src\/base\/time\.ts/);
  assert.doesNotMatch(files, /node_modules\/@types\/node\//);
});

suite('a planted breach does not compile, though it would with ambient types', () => {
  const breaches: Readonly<Record<string, readonly [text: string, message: string]>> = {
    process: ['process.exit(1); export {};', "Cannot find name 'process'"],
    timer: ['export const timer: unknown = setTimeout(() => {}, 1);', "Cannot find name 'setTimeout'"],
    module: ["import 'node:fs'; export {};", "'node:fs'"],
    name: ["export { readFileSync } from 'node:fs';", "'node:fs'"],
    clock: ['export const now = performance.now();', "Cannot find name 'performance'"],
    network: ["export const answer = fetch('');", "Cannot find name 'fetch'"],
    buffer: ["export const bytes = Buffer.from('');", "Cannot find name 'Buffer'"],
    console: ["console.log(''); export {};", "Cannot find name 'console'"],
  };
  const folder = plant({
    ...configs,
    'package.json': '{ "type": "module" }',
    'src/policy.ts': 'export const half = (count: number): number => count / 2;',
    ...Object.fromEntries(Object.entries(breaches).map(([name, [text]]) => [`src/policy/${name}.ts`, text] as const)),
  });
  lendPackages(folder, root);
  const told = compile(folder, 'tsconfig.pure.json').split('\n');

  for (const [name, [, message]] of Object.entries(breaches)) {
    test(name, () => {
      const complaints = told.filter((line) => line.startsWith(`src/policy/${name}.ts(`));
      assert.ok(
        complaints.some((line) => line.includes(message)),
        told.join('\n'),
      );
    });
  }

  test('what is pure compiles, and with ambient types everything does', () => {
    assert.deepEqual(
      told.filter((line) => line.startsWith('src/policy.ts')),
      [],
    );
    assert.equal(compile(folder, 'tsconfig.json'), '');
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
