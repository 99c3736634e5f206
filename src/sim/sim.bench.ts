// How fast imagined time goes, in events a second of processor time, from the bare calendar to three million users, each beside its
// goal. A logical event is an arrival or a departure; the whole stack has more of them in the calendar (thoughts, timeouts, checks).
//
//   npm run bench:sim                  everything, some minutes
//   npm run bench:sim -- calendar      one part: calendar, queue, gateway, crowd, ingress
//
// Each figure is the median of several rounds in processor seconds, so that a busy machine spoils it less; what is compared takes turns
// within a round, and a ratio is one of medians. The queue is played by other simulators too, where they are installed
// (peers.bench.ts). The results of a quiet machine are in docs/background/simulator-speed.md.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Dice, dice, seconds } from '../base.ts';
import { baselineOf } from '../scenario.ts';
import { Calendar } from './calendar.ts';
import { Kernel } from './kernel.ts';
import { scenarioFrom } from './measured-run.ts';
import { peers } from './peers.bench.ts';
import { Simulation } from './simulation.ts';

const rounds = 5;

interface Goal {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** Prints a figure beside its goal, if it has one: how many times as good it is as it has to be. */
function tell(what: string, value: number, unit: string, { atLeast, atMost }: Goal = {}): void {
  const margin = atLeast !== undefined ? value / atLeast : atMost !== undefined ? atMost / value : undefined;
  const goal = atLeast !== undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
  const judged =
    margin === undefined ? '' : `   goal ${goal.padEnd(6)} ${margin.toFixed(2)}   ${margin >= 1 ? 'pass' : 'FAIL'}`;
  console.log(`${what.padEnd(66)} ${value.toPrecision(3).padStart(7)} ${unit.padEnd(14)}${judged}`);
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Millions of events a second of processor time: `work` returns how many it handled. */
function rateOf(work: () => number): number {
  const from = process.cpuUsage();
  const events = work();
  const spent = process.cpuUsage(from);
  return events / (spent.user + spent.system);
}

/** Medians of several rounds, in each of which everything has its turn. */
function inTurns(works: readonly (() => number)[]): readonly number[] {
  const found = Array.from({ length: rounds }, () => works.map((work) => work()));
  return works.map((_, index) => median(found.map((round) => round[index] ?? Number.NaN)));
}

/** From an event to the one that it schedules, by name, where so many are pending. */
const increments: Readonly<Record<string, (die: Dice, pending: number) => number>> = {
  uniform: (die, pending) => Math.round(die.next() * 2000 * pending),
  exponential: (die, pending) => Math.round(die.exponential(1000 * pending)),
  'bimodal (30 s or up to 2 ms)': (die) => (die.next() < 0.1 ? 30e9 : Math.round(die.next() * 2e6)),
};

/** Pop and push, with so many events pending, when every event that was there at first has had its turn. */
function hold(pending: number, increment: (die: Dice, pending: number) => number): number {
  const calendar = new Calendar();
  const die = dice(1, 'hold');
  const go = (count: number): void => {
    for (let index = 0; index < count; index++) {
      calendar.next();
      calendar.schedule(calendar.time + increment(die, pending), 0, calendar.event);
    }
  };
  for (let event = 0; event < pending; event++) calendar.schedule(increment(die, pending), 0, event);
  go(pending);
  return rateOf(() => {
    go(2_000_000);
    return 2_000_000;
  });
}

/** What an event costs against what is pending: the cost may grow as fast as the logarithm. */
function calendars(): void {
  const few = 1_000;
  const many = 1_000_000;
  const atMost = Math.log(many) / Math.log(few);
  for (const [shape, increment] of Object.entries(increments)) {
    const sizes = [few, 10_000, many];
    const rates = inTurns(sizes.map((pending) => () => hold(pending, increment)));
    sizes.forEach((pending, index) => {
      tell(`calendar, ${shape}, ${pending} pending`, rates[index] ?? Number.NaN, 'M holds/s');
    });
    tell('  cost of an event, a million pending : a thousand', (rates[0] ?? 0) / (rates[2] ?? 0), 'times', { atMost });
  }
}

/** M/M/1 at 80 % on the kernel alone, with the area under the queue. */
class BareQueue {
  readonly #arrivals = dice(1, 'arrivals');
  readonly #services = dice(1, 'services');
  readonly #kernel = new Kernel([1, 0], (kind, _, now) => this.#handle(kind, now));
  #queue = 0;
  #area = 0;
  #settledAt = 0;

  play(events: number): number {
    this.#kernel.schedule(0, 0, 0);
    while (this.#kernel.handled < events) this.#kernel.step();
    const inside = this.#area / this.#kernel.now;
    if (Math.abs(inside - 4) > 0.2) throw new Error(`L is ${inside}, not 4`);
    return events;
  }

  #handle(kind: number, now: number): void {
    this.#area += this.#queue * (now - this.#settledAt);
    this.#settledAt = now;
    if (kind === 0) {
      this.#kernel.schedule(now + Math.round(this.#arrivals.exponential(1.25e6)), 0, 0);
      this.#queue += 1;
      if (this.#queue > 1) return;
    } else {
      this.#queue -= 1;
      if (this.#queue === 0) return;
    }
    this.#kernel.schedule(now + Math.round(this.#services.exponential(1e6)), 1, 0);
  }
}

/** How many times as fast as each peer the kernel has to be. */
const besides = { SimPy: 50, simjs: 10, 'C++': 0.4 } as const;

function queues(): void {
  const ours = (): number => rateOf(() => new BareQueue().play(8_000_000));
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-peers-'));
  try {
    const others = peers(folder);
    const versions = others.map((peer) => peer.play());
    const works = others.map((peer) => () => {
      const played = peer.play();
      return 'rate' in played ? played.rate : Number.NaN;
    });
    const [own = Number.NaN, ...rates] = inTurns([ours, ...works]);
    tell('M/M/1, kernel alone: logical events', own, 'M/s', { atLeast: 10 });
    others.forEach(({ name }, index) => {
      const first = versions[index];
      const rate = rates[index] ?? Number.NaN;
      if (first === undefined || 'absent' in first) {
        console.log(`  the same in ${name}: ${first?.absent}`);
        return;
      }
      tell(`  the same in ${first.version}`, rate, 'M/s');
      tell(`  ours : ${name}`, own / rate, 'times', { atLeast: besides[name] });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Plays a scenario's baseline in one-second ticks, as a run does. */
function play(text: string): number {
  const scenario = scenarioFrom(text);
  const simulation = new Simulation(scenario, { seed: 1, tick: seconds(1) });
  return rateOf(() => {
    for (const line of simulation.play(baselineOf(scenario))) void line;
    return simulation.events;
  });
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

function gateways(): void {
  const [bare = Number.NaN, whole = Number.NaN] = inTurns([() => play(queue), () => play(gateway)]);
  tell('M/M/1, whole stack', bare, 'M events/s');
  tell('gateway: two choices, health checks, retries, statistics', whole, 'M events/s', { atLeast: 2 });
}

/** What a program of this folder says of itself, as a process of its own: the median of some runs of each number. */
function apart(file: string, args: readonly string[], runs: number): (name: string) => number {
  const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=4'];
  const program = fileURLToPath(new URL(file, import.meta.url));
  const found = Array.from({ length: runs }, (): Record<string, number> => {
    const { stdout } = spawnSync(process.execPath, [...flags, program, ...args], { encoding: 'utf8' });
    return Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
        .map(([name = '', value]) => [name, Number(value)]),
    );
  });
  return (name) => median(found.map((run) => run[name] ?? Number.NaN));
}

function crowds(): void {
  for (const think of ['10s', 'exponential 10s']) {
    const of = apart('crowd.bench.ts', [think], 3);
    tell(`3,000,000 users on 10,000 replicas, think ${think}`, of('speed'), 'imagined s/s', { atLeast: 3 });
    tell('  memory at most', of('memory'), 'MiB', { atMost: 200 });
  }
}

function ingress(): void {
  const of = apart('ingress.bench.ts', [], 1);
  tell('a minute of 300,000/s over 50,000 endpoints: processor time', of('processor'), 's', { atMost: 60 });
  tell('  memory at most', of('memory'), 'MiB', { atMost: 2048 });
  tell('  record', of('record'), 'MB', { atMost: 50 });
}

const parts: Readonly<Record<string, () => void>> = {
  calendar: calendars,
  queue: queues,
  gateway: gateways,
  crowd: crowds,
  ingress,
};
const chosen = process.argv.slice(2);
for (const [name, part] of Object.entries(parts)) if (chosen.length === 0 || chosen.includes(name)) part();
