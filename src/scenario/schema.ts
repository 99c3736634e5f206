// The published JSON Schema of the YAML surface, for editors and other programs: generated from the schema that the parser
// uses. `schema/scenario.schema.json` holds its output; a test fails when the file is stale.

import { z } from 'zod';
import { scenarioSchema, scenarioVersion } from './surface.ts';

export function scenarioJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...generated } = z.toJSONSchema(scenarioSchema, { io: 'input' });
  return {
    $schema,
    $id: `urn:plimsoll:scenario:${scenarioVersion}`,
    title: 'Plimsoll scenario',
    ...generated,
    // A person's own place for anchors; the parser passes over them.
    patternProperties: { '^x-': {} },
  };
}
