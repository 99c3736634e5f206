import { suite, test } from 'node:test';
import { checkDocs } from './docs.ts';
import { checkAllowed, checkCaught, checkRepository } from './rule.ts';

test('the documents of the repository are true', () => {
  checkRepository(checkDocs);
});

test('links to files, folders and headings, patterns, and examples in fences are allowed', () => {
  checkAllowed(checkDocs, {
    'README.md': [
      '# Plimsoll',
      '[a](docs/a.md), [b](docs/a.md#the-idea-0-and-why), [c](#plimsoll), [d](docs), [e](https://example.org/x#y)',
      '`src/base.ts`, `src/<room>.ts`, `src/*/x.ts`, `[not](a-link.md)`',
      '```text',
      '[nor](this.md) `src/nothing.ts`',
      '```',
    ].join('\n'),
    'docs/a.md': '## The idea (0), and *why*\n[up](../README.md)',
    'docs/decisions/0001-a.md': '# A\n',
    'docs/decisions/README.md': '[A](0001-a.md)',
    'docs/terminology.md': '# Terminology\n## Load\n### in flight\n### due time\n',
    'src/base.ts': 'const inFlight = 0; // from due time',
  });
});

suite('planted breaches', () => {
  test('a link to nothing, and to a heading that is not there', () => {
    checkCaught(checkDocs, { 'docs/a.md': '\n[b](b.md)' }, 'docs/a.md:2', /leads nowhere/);
    checkCaught(checkDocs, { 'docs/a.md': '# A\n[b](#b)' }, 'docs/a.md:2', /no heading for #b/);
  });

  test('a path that is gone', () => {
    checkCaught(checkDocs, { 'docs/a.md': 'see `src/gone.ts`' }, 'docs/a.md:1', /there is no src\/gone\.ts/);
  });

  test('a decision that the index does not list, and one out of its row', () => {
    const index = { 'docs/decisions/README.md': '[A](0001-a.md)' };
    const first = { ...index, 'docs/decisions/0001-a.md': '' };
    checkCaught(checkDocs, { ...first, 'docs/decisions/0002-b.md': '' }, 'docs/decisions/README.md:1', /list 0002-b/);
    checkCaught(checkDocs, { ...first, 'docs/decisions/0003-b.md': '' }, 'docs/decisions/0003-b.md:1', /this is 0002/);
  });

  test('a word that nothing uses, and a word defined twice', () => {
    const words = (text: string): Record<string, string> => ({ 'docs/terminology.md': text, 'src/base.ts': 'tick' });
    checkCaught(checkDocs, words('### tick\n### tock'), 'docs/terminology.md:2', /nothing uses the word "tock"/);
    checkCaught(checkDocs, words('### tick\n### tick'), 'docs/terminology.md:2', /defined twice/);
  });
});
