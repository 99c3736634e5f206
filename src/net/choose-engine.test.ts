import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { chooseEngine } from './choose-engine.ts';
import { uringEngine } from './uring/uring-engine.ts';

test('the node engine is there for whoever asks for it', async () => {
  const chosen = chooseEngine('node');
  assert.ok('engine' in chosen);
  assert.equal(chosen.engine.name, 'node');
  await chosen.engine.close();
});

test('auto takes io_uring exactly where it works, and says which', async () => {
  const possible = uringEngine();
  if (!('why' in possible)) await possible.close();
  const chosen = chooseEngine('auto');
  assert.ok('engine' in chosen);
  assert.equal(chosen.engine.name, 'why' in possible ? 'node' : 'uring');
  assert.match(chosen.why, /io_uring/);
  await chosen.engine.close();
});

test('without node:ffi auto falls back and insisting gets the reason', () => {
  // `--no-experimental-ffi` is how an operator forbids it.
  const program = `
    const { chooseEngine } = await import('${new URL('./choose-engine.ts', import.meta.url).href}');
    const insisted = chooseEngine('uring');
    const chosen = chooseEngine('auto');
    console.log(JSON.stringify([insisted.impossible, chosen.engine.name, chosen.why]));
    await chosen.engine.close();`;
  const flags = ['--no-experimental-ffi', '--input-type=module', '--eval', program];
  const answer: unknown = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
  const reason =
    process.platform === 'linux' ? `this Node (${process.version}) has no node:ffi, or it is switched off` : '';
  assert.deepEqual(answer, [`no io_uring here: ${reason}`, 'node', `Node's own sockets; no io_uring here: ${reason}`]);
});
