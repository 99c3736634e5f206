import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { plant, uproot } from './plant.ts';

const deadline = fileURLToPath(new URL('file-deadline.ts', import.meta.url));

after(uproot);

/** Runs one planted test file with a file limit of 300 ms. */
function run(body: string): { status: number | null; printed: string } {
  const text = `import { test } from 'node:test'; import net from 'node:net'; test('planted', () => { ${body} });`;
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--test', '--test-reporter=spec', '--import', deadline, 'leak.test.ts'],
    {
      cwd: plant({ 'leak.test.ts': text }),
      env: { ...environment, PLIMSOLL_TEST_FILE_LIMIT_MS: '300' },
      encoding: 'utf8',
      timeout: 30_000,
    },
  );
  return { status, printed: stdout + stderr };
}

test('a file that leaves a listening socket is ended, and told what it left', () => {
  const { status, printed } = run("net.createServer().listen(0, '127.0.0.1');");
  assert.equal(status, 1);
  assert.match(printed, /leak\.test\.ts has not ended after 0\.3 s\. Still open: TCPServerWrap/);
});

test('a file that leaves nothing ends by itself', () => {
  const { status, printed } = run('');
  assert.equal(status, 0, printed);
});
