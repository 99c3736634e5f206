// The reference, the JSON Schema and the parser are three views of one thing; these tests hold them together.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { builtinScenarios, formatProblem, parseScenario, scenarioJsonSchema } from '../scenario.ts';

const root = new URL('../../', import.meta.url);
const reference = readFileSync(new URL('docs/reference/scenario.md', root), 'utf8');

test('the published JSON Schema is the one that the parser uses', () => {
  const published: unknown = JSON.parse(readFileSync(new URL('schema/scenario.schema.json', root), 'utf8'));
  const now: unknown = JSON.parse(JSON.stringify(scenarioJsonSchema()));
  assert.deepEqual(published, now, 'stale: run node tools/write-schema.ts');
});

test('another validator than ours accepts the built-in scenarios by the JSON Schema, and refuses a misspelt key', () => {
  const validate = new Ajv2020({ strict: false }).compile(scenarioJsonSchema());
  for (const { name, text } of builtinScenarios) {
    assert.ok(validate(parse(text)), `${name}: ${JSON.stringify(validate.errors)}`);
  }
  assert.ok(validate({ plimsoll: 1, services: { api: {} }, demand: [{ closed: { users: 1 } }], 'x-mine': 3 }));
  assert.ok(!validate({ plimsoll: 1, services: { api: {} }, demand: [{ closed: { user: 1 } }] }));
  assert.ok(!validate({ plimsoll: 1, services: { api: {} }, demand: [{}] }), 'neither closed nor open');
});

test('the reference has a row for every key of the schema, with its default and its meaning', () => {
  const rows = reference.split('\n').filter((line) => line.startsWith('| '));
  for (const { key, fallback, meaning } of keysOf(scenarioJsonSchema())) {
    const found = rows.filter((row) => (row.split('|')[1] ?? '').includes(`\`${key}\``));
    assert.ok(found.length > 0, `no row for ${key}`);
    const right = found.filter(
      (row) => (meaning === undefined || row.includes(meaning)) && (fallback === undefined || row.includes(fallback)),
    );
    assert.ok(right.length > 0, `no row for ${key} says default ${fallback} and meaning ${meaning}`);
  }
});

test('every scenario in the reference can be run', () => {
  const examples = [...reference.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1] ?? '');
  assert.equal(examples.length, 3);
  for (const example of examples) {
    const parsed = parseScenario(example, 'example.yaml');
    assert.deepEqual('problems' in parsed ? parsed.problems.map(formatProblem) : [], []);
  }
});

interface Key {
  readonly key: string;
  readonly fallback: string | undefined;
  readonly meaning: string | undefined;
}

/** Every property of a JSON Schema, at any depth. */
function keysOf(schema: unknown): readonly Key[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([word, inside]: [string, unknown]): readonly Key[] => {
    if (word !== 'properties' || typeof inside !== 'object' || inside === null) return keysOf(inside);
    return Object.entries(inside).flatMap(([key, value]: [string, unknown]) => [
      { key, fallback: defaultOf(value), meaning: textOf(value, 'description') },
      ...keysOf(value),
    ]);
  });
}

function defaultOf(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || !('default' in schema)) return undefined;
  const value = schema.default;
  if (value === '') return 'empty';
  return typeof value === 'string' ? `\`${value}\`` : `\`${JSON.stringify(value)}\``;
}

function textOf(schema: unknown, word: string): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const value: unknown = Object.entries(schema).find(([key]) => key === word)?.[1];
  return typeof value === 'string' ? value : undefined;
}
