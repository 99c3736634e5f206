// docs/life-of-a-request.md and docs/reference/gateway.md are about this code: what they list is what there is.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { balancerNames } from '../policy.ts';
import { type GatewayConfig, parseGatewayConfig } from './config.ts';
import { waysOut } from './ways-out.ts';

test('the document lists every way out, with its status, flag and side, and no other', () => {
  const text = readFileSync(new URL('../../docs/life-of-a-request.md', import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('## Every way out'), text.indexOf('So a status says'));
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| way out') && !line.startsWith('| ---'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  assert.deepEqual(
    rows.map((cells) => cells[1]),
    Object.values(waysOut).map((way) => way.name),
  );
  for (const [index, way] of Object.values(waysOut).entries()) {
    const [, , status = '', flag, side] = rows[index] ?? [];
    assert.equal(flag, way.flag === '-' ? '–' : way.flag, way.name);
    assert.equal(side, way.side, way.name);
    if (way.status !== undefined) assert.ok(status.split(', ').includes(String(way.status)), way.name);
  }
});

test('the reference names every policy, and its example is a good configuration', () => {
  const text = readFileSync(new URL('../../docs/reference/gateway.md', import.meta.url), 'utf8');
  for (const name of balancerNames) assert.ok(text.includes(`\`${name}\``), name);
  const example = /```json\n([^]*?)```/.exec(text)?.[1] ?? '';
  assert.ok(parseGatewayConfig(example, 'example').ok);
});

test('the reference states the defaults that there are', () => {
  const text = readFileSync(new URL('../../docs/reference/gateway.md', import.meta.url), 'utf8');
  const defaults = {
    connections_max: '20,000',
    requests_max: '10,000',
    connections_per_endpoint_max: '10,000',
    idle_per_endpoint_max: '512',
    head_bytes_max: '32 KiB',
    fields_max: '100',
    replay_bytes_max: '64 KiB',
    head_timeout_ns: '10 s',
    idle_timeout_ns: '60 s',
    tunnel_timeout_ns: '1 h',
    upstream_idle_timeout_ns: '4 s',
    upstream_age_max_ns: '5 min',
    drain_timeout_ns: '10 s',
  };
  for (const [key, value] of Object.entries(defaults)) assert.ok(text.includes(`\`${key}\` (${value})`), key);
  const { limits } = parsed('{"listen":{"host":"x","port":1},"endpoints":[]}');
  assert.deepEqual(
    [limits.connectionsMax, limits.requestsMax, limits.headBytesMax, limits.replayBytesMax, limits.fieldsMax],
    [20_000, 10_000, 32 * 1024, 64 * 1024, 100],
  );
  assert.deepEqual(
    [limits.headTimeout, limits.idleTimeout, limits.upstreamIdleTimeout, limits.upstreamAgeMax, limits.drainTimeout],
    [10e9, 60e9, 4e9, 300e9, 10e9],
  );
});

function parsed(text: string): GatewayConfig {
  const result = parseGatewayConfig(text, 'test');
  assert.ok(result.ok);
  return result.config;
}
