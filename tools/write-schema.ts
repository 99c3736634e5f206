// Writes what is generated from the schemas of files that people write: `node tools/write-schema.ts`.
//
//   schema/scenario.schema.json       from the scenario room
//   schema/notes.schema.json          from the reader of notes
//   docs/reference/notes.md           the table of its vocabulary, between two marks

import { readFile, writeFile } from 'node:fs/promises';
import { notesJsonSchema, notesVocabulary } from '../src/observe.ts';
import { scenarioJsonSchema } from '../src/scenario.ts';

for (const [name, schema] of [
  ['scenario', scenarioJsonSchema()],
  ['notes', notesJsonSchema()],
] as const) {
  const target = new URL(`../schema/${name}.schema.json`, import.meta.url);
  await writeFile(target, `${JSON.stringify(schema, undefined, 2)}\n`);
  console.log(`wrote ${target.pathname}`);
}

const page = new URL('../docs/reference/notes.md', import.meta.url);
const written = await readFile(page, 'utf8');
const marks = /(<!-- vocabulary -->\n)[^]*?(<!-- end of the vocabulary -->)/;
await writeFile(
  page,
  written.replace(marks, (_, begin: string, end: string) => `${begin}\n${notesVocabulary()}\n\n${end}`),
);
console.log(`wrote ${page.pathname}: format it with npm run format`);
