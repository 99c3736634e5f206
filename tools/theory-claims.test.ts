import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { catalogue, catalogueMarkdown } from '../src/diagnose.ts';
import { claimsSaid } from '../src/diagnose/claims-said.ts';
import { phraseOf, theoryClaims } from './theory-claims.ts';
import { openTree, treeOf } from './tree.ts';

const root = new URL('..', import.meta.url);
const how = 'run node tools/write-theories.ts';

test('a wording: quoted, joined, chosen, with its holes named', () => {
  const wordings = [
    ["'at least one'", 'at least one'],
    ["'one part ' +\n 'and another'", 'one part and another'],
    ['`below ${sayTime(Number(window.value))}`', 'below ‹window›'],
    ["size === undefined ? 'as many as there are' : `${digits(size)} of ${digits(size)}`", 'as many as there are'],
    ["'missing' in found ? `a ${x}` : `b ${perTry}`", 'a ‹x›'],
    ["`at ${at}, after ${n === 1 ? 'one try' : `${n} tries`}`", 'at ‹at›, after one try'],
    ['{ low: 1 }', undefined],
  ] as const;
  for (const [expression, said] of wordings) assert.equal(phraseOf(expression), said, expression);
});

test('claims are found in either kind of theory', () => {
  const tree = treeOf({
    'src/diagnose/dossier/theories/a.ts': `claim('It is so.', {\n bearing: 'necessary',\n predicted: 'two',\n refutes: 'one',\n seen,\n})`,
    'src/diagnose/theories/b.ts': `{ says: 'It is thus.',\n predicted: { low: 1 },\n measure,\n refutes: 'none',\n bearing: 'sufficient',\n}`,
  });
  assert.deepEqual(theoryClaims(tree), {
    dossier: { a: [{ says: 'It is so.', bearing: 'necessary', predicted: 'two', refutes: 'one' }] },
    record: { b: [{ says: 'It is thus.', bearing: 'sufficient', refutes: 'none' }] },
  });
});

test('every theory has claims that could be found', () => {
  for (const { slug, of, claims } of catalogue()) assert.ok(claims.length > 0, `${of} ${slug}: ${how}`);
});

test('what was made from the theories is up to date', () => {
  assert.deepEqual(claimsSaid, theoryClaims(openTree(fileURLToPath(root))), how);
  const written = readFileSync(new URL('docs/reference/theories.md', root), 'utf8');
  assert.equal(unspaced(written), unspaced(catalogueMarkdown()), how);
});

/** The formatter lays tables out and breaks lines; it changes no word. */
function unspaced(text: string): string {
  return text.replaceAll(/-{3,}/g, '---').replaceAll(/[\s_*]+/g, '');
}
