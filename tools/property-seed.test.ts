import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

test('property tests draw the same each time, another seed another time', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'property-seed-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'drawn.test.ts');
  writeFileSync(
    file,
    "import fc from 'fast-check'; console.log(String(fc.sample(fc.nat(), fc.readConfigureGlobal())));",
  );
  const drawn = (seed: string | undefined): string => {
    const preload = join(root, 'tools', 'property-seed.ts');
    const env = { ...process.env, ...(seed === undefined ? {} : { PLIMSOLL_PROPERTY_SEED: seed }) };
    const ran = spawnSync(process.execPath, ['--import', preload, file], { encoding: 'utf8', env });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stdout;
  };
  assert.equal(drawn(undefined), drawn(undefined));
  assert.equal(drawn('7'), drawn('7'));
  assert.notEqual(drawn('7'), drawn('8'));
  assert.notEqual(drawn('random'), drawn('random'));
});
