// Three million users on 10,000 replicas, as a process of its own, so that its memory is its own:
//
//   node --max-semi-space-size=4 src/sim/crowd.bench.ts          (a part of npm run bench:sim)
//
// Closed users who think for ten seconds ask 300,000 times a second; the gateway compares two replicas at each request. Prints
// imagined seconds a processor second, and the most memory at any time. The young generation is kept small, because what a tick tells of
// 10,000 replicas is garbage at once, and V8 would rather let it lie.

import { baselineOf } from '../scenario.ts';
import { scenarioFrom } from './measured-run.ts';
import { Simulation } from './simulation.ts';

const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 10000, workers: 2, service_time: exponential 40ms } }
gateway: { policy: least-request, timeout: 20s }
clients: { users: { timeout: 30s } }
demand: [{ closed: { users: 3000000, think: 10s } }]
warm_up: 10s
duration: 20s
`);
const simulation = new Simulation(scenario, { seed: 1 });
let answered = 0;
const from = process.cpuUsage();
for (const line of simulation.play(baselineOf(scenario))) if (line.kind === 'ledger') answered = line.answered;
const spent = process.cpuUsage(from);
const processor = (spent.user + spent.system) / 1e6;
const memory = process.resourceUsage().maxRSS / 1024;
console.log(
  `3,000,000 users, 10,000 replicas: ${(simulation.now / 1e9 / processor).toFixed(2)} imagined seconds a processor second, ` +
    `${(simulation.events / processor / 1e6).toFixed(2)} M events/s, ${(answered / 20).toFixed(0)} answers a second, ` +
    `${memory.toFixed(0)} MiB at most`,
);
