import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { UsageError } from './exit.ts';
import { prometheusQuery } from './prometheus-flags.ts';

const noon = Date.UTC(2026, 2, 4, 12);

test('times as people write them', () => {
  const query = (from: string, to: string): readonly [number, number] => {
    const found = prometheusQuery({ prometheus: 'http://p:9090', from, to }, noon);
    return [found?.fromMs ?? 0, found?.toMs ?? 0];
  };
  assert.deepEqual(query('-90m', 'now'), [noon - 5_400_000, noon]);
  assert.deepEqual(query('2026-03-04T10:00:00Z', '-1h'), [noon - 7_200_000, noon - 3_600_000]);
  assert.deepEqual(query('1772600000', '1772600600000'), [1_772_600_000_000, 1_772_600_600_000]);
  const usual = prometheusQuery({ prometheus: 'http://p:9090' }, noon);
  assert.deepEqual([usual?.fromMs, usual?.toMs], [noon - 3_600_000, noon]);
});

test('every mistake is told at once', () => {
  assert.throws(
    () => prometheusQuery({ prometheus: 'p:9090', from: 'yesterday', step: 'often' }, noon),
    (error) =>
      error instanceof UsageError &&
      /--prometheus: .*\n--from: found "yesterday", expected a time such as .*\n--step: found "often"/.test(
        error.message,
      ),
  );
  assert.throws(() => prometheusQuery({ from: '-1h' }, noon), /--from is a time for --prometheus, which is missing/);
  assert.throws(() => prometheusQuery({ prometheus: 'http://p', from: 'now', to: '-1h' }, noon), /is not before --to/);
});

test('plimsoll diagnose --prometheus gives a verdict on what a server has, and says what it asked for', async () => {
  const counts: Readonly<Record<string, readonly number[]>> = {
    'orders-0': [0, 9000, 18_000],
    'orders-1': [0, 0, 0],
    'orders-2': [0, 0, 0],
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    const start = Number(url.searchParams.get('start'));
    const name = /__name__="(\w+)"/.exec(url.searchParams.get('query') ?? '')?.[1] ?? '';
    const result = Object.entries(counts).map(([pod, values]) => ({
      metric: { __name__: name, pod },
      values: values.map((value, at) => [
        start + 15 * at,
        String(name === 'open_connections' ? Math.sign(values[2] ?? 0) : value),
      ]),
    }));
    const names = ['http_requests_total', 'open_connections', 'http_requests_bucket'];
    const data = url.pathname.endsWith('/values') ? names : { resultType: 'matrix', result };
    response.end(JSON.stringify({ status: 'success', data }));
  });
  after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const { code, stdout, stderr } = await plimsoll(
    'diagnose',
    '--prometheus',
    `http://127.0.0.1:${address.port}`,
    '--from',
    '-1h',
  );
  assert.match(stdout, /^pick-first:/m, stderr);
  assert.equal(code, 10);
  assert.match(stderr, /2 of 3 metrics asked for, every 15 s: 6 series/);
});

test('a Prometheus that is not there ends in 2', async () => {
  const { code, stderr } = await plimsoll('diagnose', '--prometheus', 'http://127.0.0.1:9');
  assert.equal(code, 2);
  assert.match(stderr, /^--prometheus: http:\/\/127\.0\.0\.1:9\/ /);
});

test('nothing at all ends in 2', async () => {
  const { code, stderr } = await plimsoll('diagnose');
  assert.equal(code, 2);
  assert.match(stderr, /nothing to read; give files, or --prometheus URL/);
});

async function plimsoll(...args: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js'), ...args], {
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const closed: readonly unknown[] = await once(child, 'close');
  return { code: closed[0], stdout, stderr };
}
