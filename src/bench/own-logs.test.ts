// Our readers understand our own gateway: both forms of its access log, and its metrics page. Its room and theirs never meet; here
// they do.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseGatewayConfig, startGateway } from '../gateway.ts';
import { nodeEngine } from '../net.ts';
import { parsePrometheus, readDossier, sampleOf } from '../observe.ts';

/** Plays five requests through a gateway that writes a log in this form: three answered, one that was refused, one with no answer. */
async function logged(format: 'json' | 'envoy', path: string): Promise<{ api: string; metrics: string }> {
  const server = http.createServer((request, response) => {
    if (request.url === '/break') request.socket.destroy();
    else response.end('fine');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const listen = { host: '127.0.0.1', port: 0 };
  const parsed = parseGatewayConfig(
    JSON.stringify({
      listen,
      retries: 1,
      access_log: { path, format },
      endpoints: [{ id: 'api-1', host: '127.0.0.1', port }],
    }),
    'own-logs.json',
  );
  assert.ok(parsed.ok);
  const engine = nodeEngine();
  const gateway = await startGateway(parsed.config, engine);
  try {
    const ask = async (target: string, headers: Record<string, string> = {}): Promise<void> => {
      const options = {
        host: '127.0.0.1',
        port: gateway.port,
        path: target,
        headers: { host: 'shop.example', ...headers },
      };
      await new Promise((resolve, reject) => {
        http.get(options, (answer) => answer.resume().on('end', resolve)).on('error', reject);
      });
    };
    await ask('/orders?id=1', { 'user-agent': 'one "quoted"', 'x-forwarded-for': '10.0.0.9' });
    await ask('/orders?id=2');
    await ask('/cart');
    await ask('/break');
    gateway.setEndpoints([]);
    await ask('/orders?id=3');
    return { api: `127.0.0.1:${port}`, metrics: gateway.metrics() };
  } finally {
    await gateway.close();
    await engine.close();
    server.closeAllConnections();
    server.close();
  }
}

test('both forms of our access log are understood, every line, with times, replicas, flags and statuses', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-own-logs-'));
  try {
    for (const format of ['json', 'envoy'] as const) {
      const path = join(folder, `${format}.log`);
      const from = Date.now();
      const { api } = await logged(format, path);
      const { dossier, problems } = readDossier([{ name: `${format}.log`, text: readFileSync(path, 'utf8') }]);
      assert.deepEqual(problems, [], format);
      const [source] = dossier.sources;
      assert.equal(source?.understood, 5, format);
      const table = dossier.requests[0] ?? assert.fail('a table of requests');
      assert.equal(table.count, 5);
      const text = (names: readonly string[], index: number | undefined): string =>
        index === undefined || index === -1 ? '-' : (names[index] ?? '?');
      assert.deepEqual(
        Array.from(table.status, (status, row) =>
          [
            text(table.routes, table.route[row]),
            status,
            text(table.flags, table.flag[row]),
            text(table.replicas, table.replica[row]),
          ].join(' '),
        ),
        [
          `GET /orders 200 - ${format === 'json' ? 'api-1' : api}`,
          `GET /orders 200 - ${format === 'json' ? 'api-1' : api}`,
          `GET /cart 200 - ${format === 'json' ? 'api-1' : api}`,
          `GET /break 502 UC,URX ${format === 'json' ? 'api-1' : api}`,
          'GET /orders 503 UH -',
        ],
        format,
      );
      for (let row = 0; row < 5; row++) {
        assert.ok((table.startMs[row] ?? 0) >= from - 1 && (table.startMs[row] ?? 0) <= Date.now(), 'beginnings');
        assert.ok((table.seconds[row] ?? -1) >= 0 && (table.seconds[row] ?? 9) < 5, 'whole requests, in seconds');
      }
      assert.ok(!Number.isNaN(table.upstreamSeconds[0] ?? Number.NaN), `${format}: what the endpoint took`);
      assert.ok(Number.isNaN(table.upstreamSeconds[4] ?? 0), `${format}: nobody was asked`);
      assert.equal(text(table.clients, table.client[1]), '127.0.0.1');
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('our metrics page is read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-own-logs-'));
  try {
    const { metrics } = await logged('json', join(folder, 'a.log'));
    const page = parsePrometheus(metrics);
    assert.equal(sampleOf(page, 'plimsoll_gateway_requests_total', { code: '200' }), 3);
    assert.equal(sampleOf(page, 'plimsoll_gateway_ways_out_total', { way: 'no-healthy-endpoint' }), 1);
  } finally {
    await rm(folder, { recursive: true });
  }
});
