// How fast imagined time goes, in events a second of processor time, from the bare calendar to a million users. A logical
// event is an arrival or a departure; the whole stack has more of them in the calendar (thoughts, timeouts, checks).
//
//   npm run bench:sim
//
// Each line is the median of several rounds, in processor seconds, so that a busy machine spoils it less. Right after the
// bare queue the same is played by other simulators, where they are installed (peers.bench.ts).

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { dice, seconds } from '../base.ts';
import { baselineOf } from '../scenario.ts';
import { Calendar } from './calendar.ts';
import { Kernel } from './kernel.ts';
import { scenarioFrom } from './measured-run.ts';
import { peerRates } from './peers.bench.ts';
import { Simulation } from './simulation.ts';

const rounds = 5;

/** Runs `work`, which returns how many events it handled, and prints the median rate in millions a second. */
function report(name: string, work: () => number): number {
  const rates = Array.from({ length: rounds }, () => {
    const from = process.cpuUsage();
    const events = work();
    const spent = process.cpuUsage(from);
    return events / (spent.user + spent.system);
  }).toSorted((one, other) => one - other);
  const median = rates[Math.floor(rounds / 2)] ?? Number.NaN;
  const best = rates.at(-1) ?? Number.NaN;
  console.log(`${name.padEnd(64)} ${median.toFixed(2).padStart(6)} M/s   best ${best.toFixed(2)}`);
  return median;
}

/** Pop and push, with so many events pending. */
function hold(pending: number): number {
  const calendar = new Calendar();
  const die = dice(1, 'hold');
  for (let event = 0; event < pending; event++) calendar.schedule(die.next() * 2 * pending, 0, event);
  const count = 2_000_000;
  for (let index = 0; index < count; index++) {
    calendar.next();
    calendar.schedule(calendar.time + die.next() * 2 * pending, 0, calendar.event);
  }
  return count;
}

/** M/M/1 at 80 % on the kernel alone, with the area under the queue. */
function bareQueue(): number {
  const arrivals = dice(1, 'arrivals');
  const services = dice(1, 'services');
  let queue = 0;
  let area = 0;
  let settledAt = 0;
  const kernel: Kernel = new Kernel([1, 0], (kind, _, now) => {
    area += queue * (now - settledAt);
    settledAt = now;
    if (kind === 0) {
      kernel.schedule(now + Math.round(arrivals.exponential(1.25e6)), 0, 0);
      queue += 1;
      if (queue > 1) return;
    } else {
      queue -= 1;
      if (queue === 0) return;
    }
    kernel.schedule(now + Math.round(services.exponential(1e6)), 1, 0);
  });
  kernel.schedule(0, 0, 0);
  const count = 4_000_000;
  while (kernel.handled < count) kernel.step();
  if (Math.abs(area / kernel.now - 4) > 0.2) throw new Error(`L is ${area / kernel.now}, not 4`);
  return count;
}

/** Plays a scenario's baseline in one-second ticks, as a run does. */
function play(text: string): number {
  const scenario = scenarioFrom(text);
  const simulation = new Simulation(scenario, { seed: 1, tick: seconds(1) });
  for (const line of simulation.play(baselineOf(scenario))) void line;
  return simulation.events;
}

const queue = `plimsoll: 1
services: { q: { replicas: 1, workers: 1, service_time: exponential 1ms, queue: { limit: 1000000 } } }
clients: { users: { timeout: 1h } }
demand: [{ open: { rate: 800/s } }]
warm_up: 1s
duration: 600s
`;

const gateway = `plimsoll: 1
services: { api: { replicas: 10, workers: 8, service_time: exponential 40ms } }
gateway: { policy: least-request, timeout: 20s, retries: 2, health: {} }
clients: { users: { timeout: 30s } }
demand: [{ closed: { users: 400, think: 100ms } }]
warm_up: 1s
duration: 200s
`;

const crowd = (users: number, replicas: number, workers: number): string => `plimsoll: 1
services: { api: { replicas: ${replicas}, workers: ${workers}, service_time: exponential 40ms } }
gateway: { policy: least-request, timeout: 20s }
clients: { users: { timeout: 30s } }
demand: [{ closed: { users: ${users}, think: 10s } }]
warm_up: 1s
duration: 14s
`;

/** Prints what others do with the same queue, and how ours compares. */
function besidePeers(ours: number): void {
  for (const each of peerRates()) {
    if ('absent' in each) {
      console.log(`  the same in ${each.name}: ${each.absent}`);
      continue;
    }
    const ratio = (ours / each.rate).toPrecision(2);
    console.log(
      `  the same in ${each.name}`.padEnd(64) +
        ` ${each.rate.toFixed(2).padStart(6)} M/s   ours is ${ratio} times that`,
    );
  }
}

/** What an event costs against what is pending: the cost may grow as fast as its logarithm. */
function growth(): void {
  const few = 1_000;
  const many = 1_000_000;
  const costs = [few, many].map(
    (pending) => 1 / report(`calendar, hold model, ${pending} pending`, () => hold(pending)),
  );
  const ratio = (costs[1] ?? Number.NaN) / (costs[0] ?? Number.NaN);
  const allowed = Math.log(many) / Math.log(few);
  console.log(
    `  an event costs ${ratio.toFixed(1)} times as much among a thousand times as many; logarithms say ${allowed.toFixed(1)}`,
  );
}

function crowdOfItsOwn(): void {
  const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=4'];
  const { stdout } = spawnSync(
    process.execPath,
    [...flags, fileURLToPath(new URL('crowd.bench.ts', import.meta.url))],
    {
      encoding: 'utf8',
    },
  );
  console.log(stdout.trim());
}

growth();
for (const pending of [1, 100, 10_000]) {
  report(`calendar, hold model, ${pending} pending`, () => hold(pending));
}
besidePeers(report('M/M/1, kernel alone: logical events', bareQueue));
report('M/M/1, whole stack', () => play(queue));
report('gateway: two choices, health checks, retries, statistics', () => play(gateway));
report('300,000 users, 10 replicas', () => play(crowd(300_000, 10, 150)));
report('1,000,000 users, 1,000 replicas', () => play(crowd(1_000_000, 1000, 5)));
crowdOfItsOwn();
