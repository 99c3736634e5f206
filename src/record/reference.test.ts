// docs/reference/record.md against the shapes: every field of every kind is there with what it may hold and whether it may be
// absent, and nothing is there that the reader does not know.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { lineShapes } from './line-shapes.ts';
import { checkerOf, type Fields } from './shape.ts';

const page = readFileSync(new URL('../../docs/reference/record.md', import.meta.url), 'utf8');

/** The rows of the table under a heading, without the prose in the last column. */
function rowsOnPage(kind: string): readonly string[] {
  const [, section = ''] = page.split(new RegExp(`^## ${kind}$`, 'm'));
  const [body = ''] = section.split(/^## /m);
  return [...body.matchAll(/^\| (`[^`]+`) +\| (.*?) +\| (always|may be absent) +\| .+ \|$/gm)].map((row) =>
    row.slice(1, 4).join(' | '),
  );
}

function rowsOf(fields: Fields, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const presence = 'optional' in field ? 'may be absent' : 'always';
    const checker = checkerOf(field);
    return [`\`${path}\` | ${checker.expected} | ${presence}`, ...rowsOf(checker.fields, `${path}.`)];
  });
}

for (const [kind, { fields }] of Object.entries(lineShapes)) {
  test(`the reference lists every field of a ${kind} line`, () => {
    assert.deepEqual(rowsOnPage(kind), rowsOf(fields));
  });
}
