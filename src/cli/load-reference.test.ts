// docs/reference/load.md against the program: no flag and no kind of failure without a word there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Command } from 'commander';
import { failureWords } from '../report.ts';
import { loadCommand } from './load-command.ts';

const page = readFileSync(new URL('../../docs/reference/load.md', import.meta.url), 'utf8');

test('the reference tells of every flag, and of no other', () => {
  const program = new Command();
  loadCommand(program, () => {});
  const flags = (program.commands[0]?.options ?? []).map(({ long }) => long ?? '');
  // What needs no explanation, and what both sides of a load from other machines share.
  const untold = new Set(['--quiet', '--token']);
  for (const flag of flags.filter((each) => !untold.has(each))) {
    assert.ok(
      page.includes(`\`${flag}`) || page.includes(`${flag} `) || page.includes(`${flag}\``),
      `no word of ${flag}`,
    );
  }
  const known = new Set([...flags, '--help']);
  const named = new Set([...page.matchAll(/`(--[a-z][a-z0-9-]*)/g)].map(([, flag = '']) => flag));
  assert.deepEqual(
    [...named].filter((flag) => !known.has(flag)),
    [],
  );
});

test('every kind of failure in the reference is explained in a result too', () => {
  const [, table = ''] = /## What failures are called\n([^]*?)\n## /.exec(page) ?? [];
  const kinds = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([a-z0-9-]+)`/g)].map(([, kind = '']) => kind));
  assert.ok(kinds.length > 12);
  for (const kind of kinds) assert.notEqual(failureWords(kind), undefined, kind);
});
