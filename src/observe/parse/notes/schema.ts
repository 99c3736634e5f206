// The published JSON Schema of the notes file, for editors and other programs: generated from the schema that the reader uses.
// `schema/notes.schema.json` holds its output; a test fails when the file is stale.

import { z } from 'zod';
import { notesSchema, notesVersion } from './surface.ts';

export function notesJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...generated } = z.toJSONSchema(notesSchema, { io: 'input' });
  return { $schema, $id: `urn:plimsoll:notes:${notesVersion}`, title: 'Plimsoll notes', ...generated };
}
