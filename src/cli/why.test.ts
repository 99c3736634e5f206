// `plimsoll why` before a gateway that runs.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { z } from 'zod';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-why-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const readyShape = z.object({ port: z.number(), admin_port: z.number() });

async function plimsoll(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [launcher, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  const [code] = z.tuple([z.number().nullable(), z.unknown()]).parse(await once(child, 'close'));
  return { code, stdout, stderr };
}

test('why a request was not served, in words and as JSON; an unknown id and a wrong address are errors', async () => {
  const file = join(folder, 'gateway.json');
  const listen = { host: '127.0.0.1', port: 0 };
  writeFileSync(file, JSON.stringify({ listen, admin: listen, explain: {}, endpoints: [] }));
  const gateway = spawn(process.execPath, [launcher, 'gateway', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = z.tuple([z.string()]).parse(await once(createInterface(gateway.stdout), 'line'));
    const ready = readyShape.parse(JSON.parse(line));
    const admin = `127.0.0.1:${ready.admin_port}`;
    const answer = await fetch(`http://127.0.0.1:${ready.port}/orders`);
    const id = answer.headers.get('x-request-id') ?? '';

    const told = await plimsoll('why', id, '--admin', admin);
    assert.equal(told.code, 0, told.stderr);
    assert.match(told.stdout, new RegExp(`^request ${id}: GET /orders .*\nwritten down because it was not served`));
    assert.match(told.stdout, /\n503, no-healthy-endpoint \(UH\) after /);

    const json = await plimsoll('why', id, '--admin', `http://${admin}`, '--json');
    assert.equal(z.object({ id: z.string() }).parse(JSON.parse(json.stdout)).id, id);

    const unknown = await plimsoll('why', 'nobody', '--admin', admin);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /^plimsoll why: no story of nobody is kept: not drawn, not asked for, or too old\n$/);

    const nowhere = await plimsoll('why', id, '--admin', '127.0.0.1:1');
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.stderr, /^plimsoll why: nobody answers at http:\/\/127\.0\.0\.1:1; --admin tells/);
  } finally {
    gateway.kill();
    await once(gateway, 'exit');
  }
});
