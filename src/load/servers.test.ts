// `plimsoll load` as a person starts it, before servers that count for themselves: to the request, both sides agree. Foreign servers
// are skipped where they are not installed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { withHaproxy } from './testing/haproxy.ts';
import { withNginx } from './testing/nginx.ts';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');

interface Told {
  readonly ledger: { readonly planned: number; readonly answered: number; readonly never_sent: number };
  readonly errorsByKind: Readonly<Record<string, number>>;
  readonly replicas: readonly { readonly id: string; readonly finished: number }[];
}

/** Half a second of load; what it says as JSON. */
async function load(port: number, ...flags: readonly string[]): Promise<Told> {
  const words = [launcher, 'load', `http://127.0.0.1:${port}/`, '-d', '500ms', '-c', '8', '--json', ...flags];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let talk = '';
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (talk += piece.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0, talk);
  return JSON.parse(out) as Told;
}

const shapes = [
  ['closed', []],
  ['open', ['-R', '600']],
  ['two threads', ['-R', '600', '-t', '2']],
] as const;

for (const [shape, flags] of shapes) {
  test(`before a Node server, ${shape}: as many requests as the ledger has answers, by replica too`, async () => {
    const counts = [0, 0];
    const server = http.createServer((_request, response) => {
      const replica = ((counts[0] ?? 0) + (counts[1] ?? 0)) % 3 === 0 ? 0 : 1;
      counts[replica] = (counts[replica] ?? 0) + 1;
      response.setHeader('x-plimsoll-replica', `api-${replica + 1}`);
      response.end('hello');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const told = await load((server.address() as AddressInfo).port, ...flags);
    server.closeAllConnections();
    server.close();
    assert.ok(told.ledger.answered > 0);
    assert.deepEqual(told.errorsByKind, {});
    assert.deepEqual(
      told.replicas.map(({ finished }) => finished),
      counts,
    );
    assert.equal(
      told.ledger.answered,
      counts.reduce((sum, count) => sum + count, 0),
    );
    assert.equal(told.ledger.planned, told.ledger.answered + told.ledger.never_sent);
  });

  if (shape === 'two threads') continue;

  test(`before nginx, ${shape}: as many lines in its log`, { skip: !withNginx.present() }, async () => {
    await withNginx.use(async (port, requests) => {
      const { ledger, errorsByKind } = await load(port, ...flags);
      assert.ok(ledger.answered > 0);
      assert.deepEqual(errorsByKind, {});
      assert.equal(requests(), ledger.answered);
    });
  });

  test(`before HAProxy, ${shape}: as many in its statistics`, { skip: !withHaproxy.present() }, async () => {
    await withHaproxy.use(async (port, answered) => {
      const { ledger, errorsByKind } = await load(port, ...flags);
      assert.ok(ledger.answered > 0);
      assert.deepEqual(errorsByKind, {});
      assert.equal(await answered(), ledger.answered);
    });
  });
}

test('before HAProxy over HTTP/2: as many in its statistics', { skip: !withHaproxy.present() }, async () => {
  await withHaproxy.use(
    async (port, answered) => {
      const { ledger, errorsByKind } = await load(port, '--http2', '--streams', '4');
      assert.ok(ledger.answered > 0);
      assert.deepEqual(errorsByKind, {});
      assert.equal(await answered(), ledger.answered);
    },
    { http2: true },
  );
});
