// Writes schema/scenario.schema.json from the scenario room's schema: `node tools/write-schema.ts`.

import { writeFile } from 'node:fs/promises';
import { scenarioJsonSchema } from '../src/scenario.ts';

const target = new URL('../schema/scenario.schema.json', import.meta.url);
await writeFile(target, `${JSON.stringify(scenarioJsonSchema(), undefined, 2)}\n`);
console.log(`wrote ${target.pathname}`);
