import { suite, test } from 'node:test';
import assert from 'node:assert/strict';
import { checkImports, importsOf } from './imports.ts';
import { checkAllowed, checkCaught, checkRepository } from './rule.ts';

test('the repository keeps its rooms apart', () => {
  checkRepository(checkImports);
});

/** A small house in which every room of the planted files has a door. */
const doors = Object.fromEntries(
  ['base', 'stats', 'wire', 'host', 'net', 'policy', 'scenario', 'record', 'sim', 'gateway', 'load', 'lab', 'observe']
    .concat(['diagnose', 'report', 'bench', 'cli', 'web'])
    .map((name) => [`src/${name}.ts`, 'export {};']),
);

/** Asserts that one file with this text at this path is caught. */
function checkBreach(path: string, text: string, words: RegExp, others: Readonly<Record<string, string>> = {}): void {
  checkCaught(checkImports, { ...doors, ...others, [path]: text }, `${path}:1`, words);
}

test('lower rows, base from the ground, neighbours, Node in acting rooms and in tests are allowed', () => {
  checkAllowed(checkImports, {
    ...doors,
    'src/record/truth.ts': 'export interface Truth {}',
    'src/record.ts': "export type { Truth } from './record/truth.ts';",
    'src/report/text.ts': "import type { Diagnosis } from '../diagnose.ts';",
    'src/stats/mean.ts': "import { assert } from '../base.ts';",
    'src/policy/pick.ts': "import { dice } from '../base.ts'; import { mean } from '../stats.ts';",
    'src/policy/balance/deep.ts': "import type { Pick } from '../pick.ts'; import { ms } from '../../base.ts';",
    'src/policy/pick.test.ts': "import { test } from 'node:test'; import fc from 'fast-check';",
    'src/policy/door.test.ts': "import { pick } from '../policy.ts'; import { peer } from './testing/peer.ts';",
    'src/policy/testing/peer.ts': "import net from 'node:net';",
    'src/net/engine.ts': "import { connect } from 'node:net';",
    'src/cli/main.ts': "const bench = await import('../bench.ts'); import { Lab } from '../lab.ts';",
    'src/bench/score.ts': "import { type Truth } from '../record.ts';",
    'src/scenario/parse.ts': "import { parseDocument } from 'yaml';",
  });
});

suite('planted breaches', () => {
  test('a room in a higher row', () => {
    checkBreach('src/stats/a.ts', "import { Scenario } from '../scenario.ts';", /only lower rows/);
    checkBreach('src/scenario/a.ts', "export * from '../record.ts';", /only lower rows/);
  });

  test('a room in the same row', () => {
    checkBreach('src/wire/a.ts', "import { mean } from '../stats.ts';", /only lower rows/);
    checkBreach('src/net/a.ts', "import { clock } from '../host.ts';", /only lower rows/);
    checkBreach('src/diagnose/a.ts', "import { page } from '../report.ts';", /only lower rows/);
  });

  test('past the door', () => {
    const inside = { 'src/stats/mean.ts': 'export const mean = 0;' };
    checkBreach('src/policy/a.ts', "import { mean } from '../stats/mean.ts';", /by its door, src\/stats\.ts/, inside);
  });

  test('by one’s own door', () => {
    checkBreach('src/stats/a.ts', "import { mean } from '../stats.ts';", /not its own door/);
  });

  test('rooms that must never meet', () => {
    const pairs = [
      ['policy', 'sim'],
      ['policy', 'gateway'],
      ['policy', 'record'],
      ['gateway', 'sim'],
      ['gateway', 'load'],
      ['sim', 'gateway'],
      ['load', 'lab'],
      ['lab', 'gateway'],
      ['lab', 'load'],
      ['lab', 'observe'],
      ['report', 'stats'],
      ['web', 'stats'],
      ['cli', 'stats'],
      ['bench', 'cli'],
      ['web', 'cli'],
    ];
    for (const [room, other] of pairs) {
      checkBreach(
        `src/${room}/a.ts`,
        `import { x } from '../${other}.ts';`,
        new RegExp(`${room} must not know ${other}: `),
      );
    }
  });

  test('a pure room that acts: by Node, by an acting room, by a library that is not pure', () => {
    checkBreach('src/policy/a.ts', "import { now } from 'node:perf_hooks';", /policy is pure and node:perf_hooks acts/);
    checkBreach('src/policy/a.ts', "import fs from 'fs';", /pure and fs acts/);
    checkBreach('src/policy/a.ts', "import { clock } from '../host.ts';", /policy is pure and host acts/);
    checkBreach('src/diagnose/a.ts', "import { read } from '../observe.ts';", /diagnose is pure and observe acts/);
    checkBreach('src/policy/a.ts', "import { fetch } from 'undici';", /undici is not among the pure libraries/);
  });

  test('a pure folder of an acting room that acts', () => {
    const reader = 'src/observe/parse/csv.ts';
    checkBreach(reader, "import { readFile } from 'node:fs/promises';", /src\/observe\/parse is pure/);
    const fetching = { 'src/observe/fetch.ts': 'export {};' };
    checkBreach(reader, "import { get } from '../fetch.ts';", /acts and .* is pure/, fetching);
  });

  test('product code that imports a test', () => {
    const other = { 'src/policy/a.test.ts': 'export const planted = 1;' };
    checkBreach('src/policy/b.ts', "import { planted } from './a.test.ts';", /does not import it/, other);
    const support = { 'src/load/testing/server.ts': "import 'node:net';" };
    checkBreach('src/load/b.ts', "import { planted } from './testing/server.ts';", /does not import it/, support);
  });

  test('the truth, opened by anybody but the scorer, by file or by name', () => {
    const record = {
      'src/record/truth.ts': 'export interface Truth {}',
      'src/record.ts': "export * from './record/truth.ts';",
    };
    checkBreach('src/diagnose/a.ts', "import type { Truth } from '../record.ts';", /diagnosis is blind/, record);
    checkBreach('src/report/a.ts', "import { type Truth as Known } from '../record.ts';", /diagnosis is blind/, record);
    const text = "import type { Truth } from '../record/truth.ts';";
    const messages = checkImports({
      files: ['src/diagnose/a.ts', 'src/record.ts', 'src/record/truth.ts'],
      has: (path) => path in record,
      read: (path) => (path === 'src/diagnose/a.ts' ? text : 'export interface Truth {}'),
    }).map((problem) => problem.message);
    assert.equal(messages.length, 2, 'past the door, and blind');
  });

  test('no ending, nobody there, out of the rooms, a name without node:', () => {
    checkBreach('src/net/a.ts', "import { x } from './b';", /needs its ending/);
    checkBreach('src/net/a.ts', "import { x } from './b.ts';", /not in the tree/);
    const outside = { 'tools/rooms.ts': 'export {};' };
    checkBreach('src/net/a.ts', "import { x } from '../../tools/rooms.ts';", /leaves the rooms/, outside);
    checkBreach('src/net/a.ts', "import { x } from 'net';", /write "node:net"/);
  });

  test('a module whose name is computed', () => {
    checkBreach('src/cli/a.ts', 'await import(`../${name}.ts`);', /names its module in quotes/);
    checkBreach('src/cli/a.ts', "await import('../' + name);", /names its module in quotes/);
  });

  test('a room that is in no table', () => {
    checkBreach('src/util/a.ts', "import { x } from '../base.ts';", /belongs to none/);
  });

  test('rooms in a circle', () => {
    const problems = checkImports({
      files: ['src/base/a.ts', 'src/stats/b.ts'],
      has: () => true,
      read: (path) => (path === 'src/base/a.ts' ? "import '../stats.ts';" : "import '../base.ts';"),
    });
    assert.ok(problems.some(({ message }) => message === 'rooms in a circle: base → stats → base'));
  });
});

test('every way of importing is seen, and nothing else', () => {
  const source = `
    // import './comment.ts';
    import './effect.ts';
    import fallback, { type One, two as renamed } from "./names.ts";
    import type { Three } from './types.ts';
    import * as all from './all.ts';
    export { four } from './four.ts';
    export type { Five } from './five.ts';
    export * from './star.ts';
    const later = await import('./later.ts');
    type Six = import('./six.ts').Six;
    const text = "import './string.ts'";
    const template = \`import './template.ts' \${import.meta.url}\`;
    export const own = { import: 1, from: 'nobody' };
    export { own as other };
    stream.import('./member.ts');
    if (/import '\\/pattern.ts'/.test(text)) export default own;
  `;
  assert.deepEqual(
    importsOf(source).map(({ specifier, names }) => [specifier, names.join(' ')]),
    [
      ['./effect.ts', ''],
      ['./names.ts', 'fallback One two'],
      ['./types.ts', 'Three'],
      ['./all.ts', '*'],
      ['./four.ts', 'four'],
      ['./five.ts', 'Five'],
      ['./star.ts', '*'],
      ['./later.ts', '*'],
      ['./six.ts', '*'],
    ],
  );
});
