// `plimsoll theories` and `plimsoll explain` as a person meets them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');

function plimsoll(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...args], {
    env: { ...process.env, NO_COLOR: '1' },
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

test('the list has theories of runs and of incidents', () => {
  const { code, stdout } = plimsoll('theories');
  assert.equal(code, 0);
  assert.match(stdout, /^convoy {2,}Convoy/m);
  assert.match(stdout, /^keepalive-race {2,}Keep-alive race/m);
});

test('as JSON every page is there, with its claims', () => {
  const { stdout } = plimsoll('theories', '--json');
  const page = z.looseObject({
    slug: z.string(),
    claims: z.array(z.looseObject({ says: z.string() })),
    fix: z.string(),
  });
  const { theories } = z.object({ theories: z.array(page) }).parse(JSON.parse(stdout));
  assert.ok(theories.length > 50);
  assert.ok(theories.every(({ claims }) => claims.length > 0));
});

test('a page says what is predicted, what refutes and proves it, and what to do', () => {
  const { code, stdout } = plimsoll('explain', 'retry-window-too-short');
  assert.equal(code, 0);
  for (const part of [
    'a window below 2 × ‹per try›',
    'refuted by:',
    'proved by:',
    'looks like:',
    'fix:',
    'decided by:',
  ]) {
    assert.ok(stdout.includes(part), `${part} in\n${stdout}`);
  }
});

test('a pattern that runs and incidents share has both pages', () => {
  const { stdout } = plimsoll('explain', 'pick-first');
  assert.match(stdout, /a theory of a run/);
  assert.match(stdout, /a theory of whatever an incident left behind/);
});

test('a slug that is nearly one is answered with the one it is nearly', () => {
  const { code, stdout, stderr } = plimsoll('explain', 'keepalive-rase');
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /^no theory is called "keepalive-rase"\. Did you mean keepalive-race\?/);
});
