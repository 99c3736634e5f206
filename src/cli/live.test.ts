// `plimsoll live` on a real gateway of ours that serves users who wait for their answers, one of four servers being slower.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { z } from 'zod';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-live-'));
const children: ChildProcess[] = [];
const stopped = { yes: false };
after(() => {
  stopped.yes = true;
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function plimsoll(...args: readonly string[]): ChildProcess & { readonly said: { out: string; talk: string } } {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.push(child);
  const said = { out: '', talk: '' };
  child.stdout.on('data', (chunk) => (said.out += String(chunk)));
  child.stderr.on('data', (chunk) => (said.talk += String(chunk)));
  return Object.assign(child, { said });
}

/** A server that works on one request after the other, each for so long. */
async function server(milliseconds: number): Promise<number> {
  let free = 0;
  const one = createServer((_, response) => {
    free = Math.max(free, performance.now()) + milliseconds;
    setTimeout(() => response.end('ok'), Math.max(1, free - performance.now()));
  });
  after(() => {
    one.closeAllConnections();
    one.close();
  });
  one.listen(0, '127.0.0.1');
  await once(one, 'listening');
  const address = one.address();
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

const ready = z.object({ port: z.number(), admin_port: z.number() });

async function gateway(): Promise<{ port: number; admin: string }> {
  const ports = [await server(10), await server(10), await server(14), await server(10)];
  const file = join(folder, 'gateway.json');
  const endpoints = ports.map((port, index) => ({ id: `api-${index + 1}`, host: '127.0.0.1', port }));
  writeFileSync(
    file,
    JSON.stringify({
      listen: { host: '127.0.0.1', port: 0 },
      admin: { host: '127.0.0.1', port: 0 },
      policy: 'round-robin',
      retries: 0,
      endpoints,
    }),
  );
  const child = plimsoll('gateway', file);
  while (!child.said.out.includes('\n')) await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')]);
  const { port, admin_port } = ready.parse(JSON.parse(child.said.out.split('\n')[0] ?? ''));
  return { port, admin: `http://127.0.0.1:${admin_port}` };
}

/** Users in a loop, until the test is over. */
function users(count: number, port: number): void {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const ask = (): void => {
    if (stopped.yes) return;
    const request = get({ host: '127.0.0.1', port, agent }, (response) => {
      response.resume();
      response.on('end', ask);
    });
    request.on('error', () => undefined);
  };
  for (let user = 0; user < count; user++) ask();
  after(() => agent.destroy());
}

async function policyOf(admin: string): Promise<string> {
  return (await fetch(`${admin}/policy`)).text();
}

test(
  'asked of nobody it touches nothing; told yes it tries, and Ctrl-C puts everything back',
  { timeout: 120_000 },
  async () => {
    const { port, admin } = await gateway();
    users(32, port);
    const timid = plimsoll('live', admin, '--watch', '5s', '--for', '3s', '--users', '32');
    timid.stdin?.end();
    await once(timid, 'close');
    assert.match(
      timid.said.talk,
      /proposed: balance by least-request instead of round-robin, for 3 s; then balance by round-robin again/,
    );
    assert.match(timid.said.talk, /not done: there is nobody to ask here; --yes would do it/);
    assert.match(await policyOf(admin), /round-robin/);

    const bold = plimsoll('live', admin, '--watch', '5s', '--for', '30s', '--users', '32', '--yes');
    while (!/^balance by least-request/m.test(bold.said.talk))
      await Promise.race([once(bold.stderr ?? bold, 'data'), once(bold, 'exit')]);
    // Sent while the experiment goes on, or just before it does.
    bold.kill('SIGINT');
    const closed: readonly unknown[] = await once(bold, 'close');
    assert.equal(closed[0], 130, bold.said.talk);
    assert.match(bold.said.talk, /undone: balance by round-robin again/);
    assert.match(await policyOf(admin), /round-robin/);
  },
);

test('an address that is no gateway of ours ends in 2', async () => {
  const port = await server(0);
  const child = plimsoll('live', `http://127.0.0.1:${port}`);
  const closed: readonly unknown[] = await once(child, 'close');
  assert.equal(closed[0], 2);
  assert.match(child.said.talk, /expected the admin API of a plimsoll gateway, found ok/);
  const wrong = plimsoll('live', 'http://127.0.0.1:9', '--for', '10m');
  await once(wrong, 'close');
  assert.match(wrong.said.talk, /--for: found "10m", expected a time from 3s to 60s/);
});
