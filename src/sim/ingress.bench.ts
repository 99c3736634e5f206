// The built-in scenario internet-scale, one minute of it, as a process of its own (a part of npm run bench:sim): 300,000 requests a second
// over 50,000 endpoints of 2,000 services, by ten load balancers. Prints processor seconds, the most memory at any time in MiB and the
// size of the record in MB.

import { baselineOf, builtinScenarios } from '../scenario.ts';
import { scenarioFrom } from './measured-run.ts';
import { simulationOf } from './parts.ts';

const builtin = builtinScenarios.find(({ name }) => name === 'internet-scale');
if (builtin === undefined) throw new Error('internet-scale is a built-in scenario');
const scenario = scenarioFrom(builtin.text);
const from = process.cpuUsage();
const player = simulationOf(scenario, { seed: 1 });
let bytes = 0;
for (const line of player.play(baselineOf(scenario))) bytes += JSON.stringify(line).length + 1;
const spent = process.cpuUsage(from);
console.log(`processor ${(spent.user + spent.system) / 1e6}`);
console.log(`memory ${process.resourceUsage().maxRSS / 1024}`);
console.log(`record ${bytes / 1e6}`);
