// Three million users on 10,000 replicas, as a process of its own, so that its memory is its own (a part of npm run bench:sim):
//
//   node --max-semi-space-size=4 src/sim/crowd.bench.ts 'exponential 10s'         how they think; 10s by default
//
// Closed users who think for ten seconds ask 300,000 times a second; the gateway compares two replicas at each request. Prints
// imagined seconds a processor second, and the most memory at any time in MiB. The young generation is kept small, because what a tick
// tells of 10,000 replicas is garbage at once, and V8 would rather let it lie.

import { baselineOf } from '../scenario.ts';
import { scenarioFrom } from './measured-run.ts';
import { Simulation } from './simulation.ts';

const think = process.argv[2] ?? '10s';
const seconds = 20;
const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 10000, workers: 2, service_time: exponential 40ms } }
gateway: { policy: least-request, timeout: 20s }
clients: { users: { timeout: 30s } }
demand: [{ closed: { users: 3000000, think: ${think} } }]
warm_up: 10s
duration: ${seconds}s
`);
const simulation = new Simulation(scenario, { seed: 1 });
let answered = 0;
const from = process.cpuUsage();
for (const line of simulation.play(baselineOf(scenario))) if (line.kind === 'ledger') answered = line.answered;
const spent = process.cpuUsage(from);
// Three million users at ten seconds and forty milliseconds each: 298,805/s.
if (Math.abs(answered / seconds / 298_805 - 1) > 0.01) throw new Error(`${answered / seconds} answers a second`);
console.log(`speed ${simulation.now / 1e3 / (spent.user + spent.system)}`);
console.log(`memory ${process.resourceUsage().maxRSS / 1024}`);
