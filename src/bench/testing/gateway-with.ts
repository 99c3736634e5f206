// Our gateway with more settings than a scenario has words for: `gateway-with.ts '{"deadline":"forward"}' FILE`. The lab starts it in
// the gateway's place and appends the file.

import { readFileSync, writeFileSync } from 'node:fs';
import { runGatewayProcess } from '../../gateway.ts';

const [settings = '{}', file = ''] = process.argv.slice(2);
const merged: unknown = { ...JSON.parse(readFileSync(file, 'utf8')), ...JSON.parse(settings) };
writeFileSync(file, JSON.stringify(merged, undefined, 2));
process.exitCode = await runGatewayProcess(file);
