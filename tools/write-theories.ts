// Writes what is made from the theories: `node tools/write-theories.ts`.
//
//   src/diagnose/claims-said.ts      the wording of their claims, read from their source
//   docs/reference/theories.md       the catalogue
//
// The second needs the first, which is why it is imported after it was written.

import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { claimsModule } from './theory-claims.ts';
import { openTree } from './tree.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const module = new URL('../src/diagnose/claims-said.ts', import.meta.url);
const page = new URL('../docs/reference/theories.md', import.meta.url);

await writeFile(module, claimsModule(openTree(root)));
const { catalogueMarkdown } = await import('../src/diagnose.ts');
await writeFile(page, catalogueMarkdown());
execFileSync('npx', ['oxfmt', fileURLToPath(module), fileURLToPath(page)], { cwd: root, stdio: 'ignore' });
console.log('wrote src/diagnose/claims-said.ts and docs/reference/theories.md');
