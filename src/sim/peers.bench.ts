// The same M/M/1 queue, 200,000 customers at 80 % load, in what others use: SimPy (Python), simjs (JavaScript), and a loop around
// `std::priority_queue` in C++, which is what the language itself allows. Whatever is not there is passed over with one line.
//
//   pip install simpy                       found by python3
//   npm install simjs                       found where NODE_PATH or the working directory says
//   g++                                     found in the PATH
//
// A logical event is an arrival or a departure, so that kernels with more or fewer events of their own can be compared.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Millions of logical events a processor second, and which version that was; or why there is no such number. */
export type PeerRate = { readonly version: string; readonly rate: number } | { readonly absent: string };

export interface Peer {
  readonly name: 'SimPy' | 'simjs' | 'C++';
  /** Plays the queue once. */
  play(): PeerRate;
}

const simpyProgram = `
import platform, random, simpy, time
customers = 200000
random.seed(1)
env = simpy.Environment()
server = simpy.Resource(env, 1)
def customer():
    with server.request() as turn:
        yield turn
        yield env.timeout(random.expovariate(1.0))
def arrivals():
    for _ in range(customers):
        yield env.timeout(random.expovariate(0.8))
        env.process(customer())
env.process(arrivals())
began = time.process_time()
env.run()
print(2 * customers / (time.process_time() - began) / 1e6, 'SimPy', simpy.__version__, 'on Python', platform.python_version())
`;

const simjsProgram = `
globalThis.window = globalThis;
require('simjs');
const { Sim, Entity, Facility, Random } = globalThis.Sim;
const customers = 200000;
const random = new Random(1);
const server = new Facility('server');
class Source extends Entity {
  start() { this.left = customers; this.next(); }
  next() {
    if (this.left-- === 0) return;
    this.useFacility(server, random.exponential(1));
    this.setTimer(random.exponential(0.8)).done(this.next);
  }
}
const sim = new Sim();
sim.addEntity(Source);
const from = process.cpuUsage();
sim.simulate(customers * 10);
const spent = process.cpuUsage(from);
console.log(2 * customers / (spent.user + spent.system), 'simjs', require('simjs/package.json').version);
`;

const cppProgram = `
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <queue>
#include <random>
struct Event { double time; uint64_t order; int kind; };
struct Later { bool operator()(const Event& a, const Event& b) const {
  return a.time > b.time || (a.time == b.time && a.order > b.order); } };
int main() {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> arrival(0.8), service(1.0);
  std::priority_queue<Event, std::vector<Event>, Later> calendar;
  uint64_t order = 0, handled = 0, queue = 0;
  double area = 0, before = 0;
  const uint64_t events = 20000000;
  calendar.push({0, order++, 0});
  std::clock_t began = std::clock();
  while (handled < events) {
    Event event = calendar.top();
    calendar.pop();
    handled++;
    area += queue * (event.time - before);
    before = event.time;
    if (event.kind == 0) {
      calendar.push({event.time + arrival(random), order++, 0});
      if (++queue > 1) continue;
    } else if (--queue == 0) continue;
    calendar.push({event.time + service(random), order++, 1});
  }
  double spent = double(std::clock() - began) / CLOCKS_PER_SEC;
  if (area / before < 3.8 || area / before > 4.2) return 1;
  std::printf("%f C++ %s, priority_queue, -O3\\n", events / spent / 1e6, __VERSION__);
}
`;

/** `folder` is where the C++ loop is compiled. */
export const peers = (folder: string): readonly Peer[] => [
  { name: 'SimPy', play: () => played('python3', ['-c', simpyProgram], 'pip install simpy') },
  {
    name: 'simjs',
    play: () => played(process.execPath, ['-e', simjsProgram], 'npm install simjs, and say where in NODE_PATH'),
  },
  compiled(folder),
];

function played(program: string, args: readonly string[], remedy: string): PeerRate {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  if (status !== 0) return { absent: `not here (${remedy})` };
  const [rate = '', ...version] = stdout.trim().split(' ');
  return { version: version.join(' '), rate: Number(rate) };
}

function compiled(folder: string): Peer {
  const source = join(folder, 'queue.cpp');
  const binary = join(folder, 'queue');
  writeFileSync(source, cppProgram);
  const { status } = spawnSync('g++', ['-O3', '-o', binary, source], { stdio: 'ignore' });
  return {
    name: 'C++',
    play: () =>
      status === 0
        ? played(binary, [], 'its queue was not as long as it should be')
        : { absent: 'not here (a g++ that compiles C++17)' },
  };
}
