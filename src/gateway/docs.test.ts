// docs/life-of-a-request.md and docs/reference/gateway.md are about this code: what they list is what there is.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { balancerNames } from '../policy.ts';
import { describeProblem, type GatewayConfig, parseGatewayConfig } from './config.ts';
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

test('the reference names every policy, and its examples are good configurations', () => {
  const text = readFileSync(new URL('../../docs/reference/gateway.md', import.meta.url), 'utf8');
  for (const name of balancerNames) assert.ok(text.includes(`\`${name}\``), name);
  const examples = [...text.matchAll(/```json\n([^]*?)```/g)].map(([, example = '']) => example);
  assert.ok(examples.length > 0);
  for (const example of examples) {
    const read = parseGatewayConfig(example, 'example');
    assert.ok(read.ok, read.ok ? '' : `${example}\n${read.problems.map(describeProblem).join('\n')}`);
  }
});

test('the reference states the limits that there are, with their defaults', () => {
  const text = readFileSync(new URL('../../docs/reference/gateway.md', import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('## Limits'), text.indexOf('Fixed:'));
  const stated = new Map(
    [...section.matchAll(/^\| `(\w+)` +\| ([^|]+?) +\|/gm)].map(([, key = '', value = '']) => [key, value]),
  );
  const unknown = parseGatewayConfig('{"listen":{"host":"x","port":1},"endpoints":[],"limits":{"no":1}}', 'test');
  assert.ok(!unknown.ok);
  const known = /keys here are (.*)/.exec(unknown.problems[0]?.message ?? '')?.[1]?.split(', ') ?? [];
  assert.deepEqual([...stated.keys()].toSorted(), known.toSorted());
  const { limits } = parsed('{"listen":{"host":"x","port":1},"endpoints":[]}');
  const values = new Map<string, unknown>(Object.entries(limits).map(([name, value]) => [name.toLowerCase(), value]));
  for (const [key, value] of stated) {
    const actual = values.get(key.replace(/_ns$/, '').replaceAll('_', ''));
    assert.equal(written(key, typeof actual === 'number' ? actual : undefined), value, key);
  }
});

/** A default as the reference writes it. */
function written(key: string, value: number | undefined): string {
  if (value === undefined) return 'none';
  if (key.includes('bytes')) return `${value / 1024} KiB`;
  if (!key.endsWith('_ns')) return value.toLocaleString('en-US');
  const inSeconds = value / 1e9;
  if (inSeconds >= 3600) return `${inSeconds / 3600} h`;
  return inSeconds > 60 ? `${inSeconds / 60} min` : `${inSeconds} s`;
}

function parsed(text: string): GatewayConfig {
  const result = parseGatewayConfig(text, 'test');
  assert.ok(result.ok);
  return result.config;
}
