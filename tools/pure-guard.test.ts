import { after, suite, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { plant, uproot } from './plant.ts';

const guardPath = fileURLToPath(new URL('pure-guard.ts', import.meta.url));

after(uproot);

/** What the planted pure file does in each of these ways of asking the world. Each is called by a test beside it. */
const breaches: Readonly<Record<string, string>> = {
  'Date.now()': 'Date.now()',
  'new Date()': 'new Date()',
  'Date()': 'Date()',
  'performance.now()': 'performance.now()',
  'setTimeout()': 'clearTimeout(setTimeout(() => {}, 1))',
  'setInterval()': 'clearInterval(setInterval(() => {}, 1))',
  'setImmediate()': 'clearImmediate(setImmediate(() => {}))',
  'Math.random()': 'Math.random()',
  'crypto.randomUUID()': 'crypto.randomUUID()',
  'process.hrtime()': 'process.hrtime()',
  'process.hrtime.bigint()': 'process.hrtime.bigint()',
  'Temporal.Now.instant()': 'Temporal.Now.instant()',
  'fetch()': "fetch('http://127.0.0.1:1/').catch(() => {})",
};

/** Runs a planted test file under the guard as check.ts would. Returns what was printed, and whether the run failed. */
function run(files: Readonly<Record<string, string>>, testPath: string): { failed: boolean; printed: string } {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const words = ['--test', '--test-reporter=spec', '--import', guardPath, testPath];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: plant(files), env, encoding: 'utf8' });
  return { failed: status !== 0, printed: stdout + stderr };
}

const callsAsk = `
  import { test } from 'node:test';
  import { ask } from './ask.ts';
  test('asks', () => void ask());
`;

suite('a planted breach is caught', () => {
  test('in each way of asking, and each is named with the file and line that asks', () => {
    const names = Object.keys(breaches);
    const lines = Object.values(breaches).map((code, index) => `export const ask${index} = () => ${code};`);
    const tests = names.map((name, index) => `test(${JSON.stringify(name)}, () => void ask.ask${index}());`);
    const { failed, printed } = run(
      {
        'src/policy/ask.ts': lines.join('\n'),
        'src/policy/ask.test.ts': [
          "import { test } from 'node:test';",
          "import * as ask from './ask.ts';",
          ...tests,
        ].join('\n'),
      },
      'src/policy/ask.test.ts',
    );
    assert.equal(failed, true);
    assert.match(printed, /ℹ pass 0\n/);
    for (const [index, name] of names.entries()) {
      assert.ok(
        printed.includes(`src/policy/ask.ts:${index + 1} is pure and asks the world: ${name}.`),
        `${name}\n${printed}`,
      );
    }
  });

  test('when the clock is read while the module loads', () => {
    const files = { 'src/stats/ask.ts': 'const begun = Date.now(); export const ask = () => begun;' };
    const { failed, printed } = run({ ...files, 'src/stats/ask.test.ts': callsAsk }, 'src/stats/ask.test.ts');
    assert.equal(failed, true);
    assert.match(printed, /src\/stats\/ask\.ts:1 is pure/);
  });

  test('when a library asks on behalf of a pure room', () => {
    const { failed, printed } = run(
      {
        'node_modules/lucky/package.json': '{"name":"lucky","type":"module","exports":"./index.js"}',
        'node_modules/lucky/index.js': 'export const luck = () => Math.random();',
        'src/base/ask.ts': "import { luck } from 'lucky'; export const ask = () => luck();",
        'src/base/ask.test.ts': callsAsk,
      },
      'src/base/ask.test.ts',
    );
    assert.equal(failed, true);
    assert.match(printed, /src\/base\/ask\.ts:1 is pure and asks the world: Math\.random/);
  });

  test('in the pure part of a room that acts', () => {
    const files = { 'src/observe/parse/ask.ts': 'export const ask = () => Date.now();' };
    const { failed } = run({ ...files, 'src/observe/parse/ask.test.ts': callsAsk }, 'src/observe/parse/ask.test.ts');
    assert.equal(failed, true);
  });
});

suite('what is allowed goes through', () => {
  test('a pure room that is handed its time, and dates made from numbers', () => {
    const files = { 'src/record/ask.ts': 'export const ask = () => new Date(0).toISOString();' };
    const { failed, printed } = run({ ...files, 'src/record/ask.test.ts': callsAsk }, 'src/record/ask.test.ts');
    assert.equal(failed, false, printed);
  });

  test('the test itself, the random tests and the runner', () => {
    const text = `
      import { test } from 'node:test';
      import assert from 'node:assert/strict';
      test('asks', { timeout: 5000 }, async () => {
        assert.ok(Date.now() > 0 && new Date() instanceof Date && new Date().getTime() > 0);
        assert.ok(Math.random() < 1 && performance.now() > 0);
        await new Promise((resolve) => setTimeout(resolve, 1));
      });
    `;
    const { failed, printed } = run({ 'src/policy/ask.test.ts': text }, 'src/policy/ask.test.ts');
    assert.equal(failed, false, printed);
  });

  test('a room that acts', () => {
    const files = { 'src/host/ask.ts': 'export const ask = () => Date.now() + Math.random();' };
    const { failed, printed } = run({ ...files, 'src/host/ask.test.ts': callsAsk }, 'src/host/ask.test.ts');
    assert.equal(failed, false, printed);
  });
});
