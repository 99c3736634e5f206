import { test } from 'node:test';
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { childrenOf, killHungFiles } from './hung-files.ts';

const options = { skip: existsSync(`/proc/${process.pid}/stat`) ? false : 'no /proc here' };

function startSpinning(): ChildProcess {
  return spawn(process.execPath, ['-e', 'for (;;);', 'spins.test.ts'], { stdio: 'ignore' });
}

test('a child that spins for too long is killed and named, and not before', options, async () => {
  const child = startSpinning();
  const told: string[] = [];
  const begun = performance.now();
  const watch = killHungFiles(process.pid, 200, 20, (text) => told.push(text));
  await once(child, 'exit');
  clearInterval(watch);
  assert.equal(child.signalCode, 'SIGKILL');
  assert.ok(performance.now() - begun >= 200);
  assert.deepEqual(told, ['spins.test.ts has not ended after 0.2 s. It spins, and was killed.']);
});

test('children of others, and children that have ended, are nobody’s', options, async () => {
  const child = startSpinning();
  assert.deepEqual(
    childrenOf(process.pid).map(({ pid, file }) => [pid, file]),
    [[child.pid, 'spins.test.ts']],
  );
  assert.deepEqual(childrenOf(child.pid ?? 0), []);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(childrenOf(process.pid), []);
});
