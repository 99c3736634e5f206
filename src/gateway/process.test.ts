// The gateway as an operator meets it: a process with a file, a ready line, signals and an exit code.

import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { gate, get, httpEndpoint } from './stand/stand.ts';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const code = `
  import { runGatewayProcess } from ${JSON.stringify(new URL('./process.ts', import.meta.url).href)};
  process.exitCode = await runGatewayProcess(process.argv[1]);
`;
const readyShape = z.object({ ready: z.literal(true), port: z.number(), admin_port: z.number() });

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-gateway-'));
});
after(() => rm(folder, { recursive: true }));

async function start(config: unknown): Promise<Child> {
  const file = join(folder, 'gateway.json');
  await writeFile(file, typeof config === 'string' ? config : JSON.stringify(config));
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code, file], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function ready(child: Child): Promise<z.infer<typeof readyShape>> {
  const [line] = z.tuple([z.string()]).parse(await once(createInterface(child.stdout), 'line'));
  return readyShape.parse(JSON.parse(line));
}

/** Its exit code; undefined when a signal ended it. */
async function exit(child: Child): Promise<number | undefined> {
  await once(child, 'exit');
  return child.exitCode ?? undefined;
}

const listen = { host: '127.0.0.1', port: 0 };

test('a gateway says where it is, serves, and on SIGTERM finishes what is under way and exits with 0', async () => {
  const arrived = gate();
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (_request, response) => {
    arrived.open();
    await finish.opened;
    response.end('finished');
  });
  const { id, host, port } = api;
  const child = await start({ listen, admin: listen, endpoints: [{ id, host, port }] });
  const place = await ready(child);
  assert.equal((await get(place.admin_port, '/readyz')).status, 200);
  const slow = get(place.port, '/', { agent: false });
  await arrived.opened;
  child.kill('SIGTERM');
  while ((await get(place.admin_port, '/readyz').catch(() => ({ status: 503 }))).status !== 503);
  finish.open();
  assert.equal((await slow).body, 'finished');
  assert.equal(await exit(child), 0);
});

test('a gateway ends when whoever started it has gone', async () => {
  const child = await start({ listen, admin: listen, endpoints: [] });
  await ready(child);
  child.stdin.end();
  assert.equal(await exit(child), 0);
});

test('a wrong configuration is exit code 2 with every problem on stderr', async () => {
  const child = await start({ listen: { host: '127.0.0.1', port: -1 }, endpoints: 3 });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  assert.equal(await exit(child), 2);
  assert.match(said, /listen\.port: found -1[^]*endpoints: found 3/);
});

test('an address that is taken is exit code 1 and says so', async () => {
  await using taken = await httpEndpoint('other');
  const child = await start({ listen: { host: '127.0.0.1', port: taken.port }, endpoints: [] });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  assert.equal(await exit(child), 1);
  assert.match(said, /cannot start: .*EADDRINUSE/);
});
