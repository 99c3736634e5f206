import { suite, test } from 'node:test';
import { checkAllowed, checkCaught, checkRepository } from './rule.ts';
import { checkProse } from './prose.ts';

test('every file of the repository says its idea first and keeps nothing dead', () => {
  checkRepository(checkProse);
});

const header = '// What this file is about, in a sentence.\n';

test('prose, pictures, quoted code, and a long file that says why are allowed', () => {
  checkAllowed(checkProse, {
    'src/base/a.ts': `${header}\n// Ask \`pick(now);\` first; then the rest.\n//   const a = b + c;\n// for a while (until it ends)\n`,
    'bin/a.js': `#!/usr/bin/env node\n${header}`,
    'src/base/a.test.ts': "import 'node:test';",
    'src/base/table.ts': `${header}// Long because it is a table.\n${'export {};\n'.repeat(700)}`,
    'docs/a.md': 'TODO',
  });
});

suite('planted breaches', () => {
  test('a file that does not say what it is', () => {
    const words = /say the idea first/;
    checkCaught(checkProse, { 'src/base/a.ts': 'export {};' }, 'src/base/a.ts:1', words);
    checkCaught(checkProse, { 'tools/a.ts': '// a.ts\nexport {};' }, 'tools/a.ts:1', words);
    checkCaught(checkProse, { 'src/base/a.ts': "import './b.ts';\n" + header }, 'src/base/a.ts:1', words);
  });

  test('601 lines without a reason, where 600 are allowed', () => {
    const lines = (count: number): string => header + '\n'.repeat(count - 1);
    checkAllowed(checkProse, { 'src/base/a.ts': lines(600) });
    checkCaught(checkProse, { 'src/base/a.ts': lines(601) }, 'src/base/a.ts:600', /more than 600 lines/);
  });

  test('a to-do list', () => {
    for (const word of ['TODO', 'FIXME', 'XXX', 'HACK']) {
      const text = `${header}export {}; // ${word}: later\n`;
      checkCaught(checkProse, { 'src/base/a.ts': text }, 'src/base/a.ts:2', /do it/);
    }
  });

  const dead = [
    "import { a } from './a.ts';",
    'const x = 1;',
    'if (x > 1) {',
    'return x;',
    'this.#x = 2;',
    'run(x);',
    '} else {',
  ];
  for (const text of dead) {
    test(`dead code: ${text}`, () => {
      checkCaught(checkProse, { 'src/base/a.ts': `${header}// ${text}\n` }, 'src/base/a.ts:2', /code in a comment/);
    });
  }
});
