// Prequal against weighted round robin, in direction and size (Wydrowski and others, NSDI 2024: half the tail latency, a fifth to a tenth of
// the tail of requests in flight). A hundred clients, each with a balancer of its own; forty servers of eight workers with 40 ms of work, a
// third of which at any time share their machine with somebody else and are half as fast. Weights follow what servers report (requests ÷
// utilisation over ten seconds), as they do in gRPC; probes are answered by the servers themselves.
//
//   npm run bench:published -- prequal

import { assert, dice, instantAt, ms, ns } from '../base.ts';
import { type Balancer, prequal, type ProbingBalancer, weightedRoundRobin } from '../policy.ts';
import { Histogram } from '../stats.ts';
import { Kernel } from './kernel.ts';

const clients = 100;
const servers = 40;
const workers = 8;
const work = 40e6;
/** Mean length of a spell with a neighbour, and of one without is twice as long. */
const spell = 5e9;
const warmUp = 20e9;
const length = 80e9;
const deadline = ms(5000);
/** Two thirds of the time at full speed, one third at half. */
const capacity = ((servers * workers) / (work / 1e9)) * (2 / 3 + 1 / 6);

const kinds = { arrival: 0, departure: 1, neighbour: 2, weights: 3, sample: 4 } as const;

interface Outcome {
  readonly latency: Histogram;
  readonly inFlight: number[];
  readonly late: number;
  readonly all: number;
}

export function prequalTable(): void {
  console.log('| load | policy | p50 | p99 | p99.9 | in flight at a server, p50 | p99 | later than 5 s |');
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const load of [0.7, 0.85, 0.95, 1.03]) {
    for (const policy of ['weighted round robin', 'prequal'] as const) {
      const { latency, inFlight, late, all } = play(policy, load);
      const at = (share: number): string => `${((latency.quantile(share)?.value ?? 0) / 1e6).toFixed(0)} ms`;
      const sorted = inFlight.toSorted((one, other) => one - other);
      const of = (share: number): string => String(sorted[Math.floor(share * sorted.length)] ?? 0);
      console.log(
        `| ${(load * 100).toFixed(0)} % | ${policy} | ${at(0.5)} | ${at(0.99)} | ${at(0.999)} | ${of(0.5)} | ${of(0.99)} | ${((100 * late) / all).toFixed(2)} % |`,
      );
    }
  }
}

function play(policy: 'weighted round robin' | 'prequal', load: number): Outcome {
  const rate = load * capacity;
  const balancers = Array.from({ length: clients }, (_, seed): Balancer =>
    policy === 'prequal' ? prequal({ seed, probing: 'endpoints' }) : weightedRoundRobin({ seed }),
  );
  const weights = new Float64Array(servers).fill(1);
  let version = 0;
  const rebuild = (): void => {
    version += 1;
    const endpoints = Array.from({ length: servers }, (_, index) => ({
      id: `s-${index}`,
      host: '',
      port: 0,
      weight: weights[index] ?? 1,
      zone: undefined,
    }));
    const fleet = { version, endpoints, healthy: endpoints.map(() => true) };
    for (const balancer of balancers) balancer.rebuild(fleet);
  };
  rebuild();
  const arrivals = dice(1, 'arrivals');
  const services = dice(1, 'services');
  const neighbours = dice(1, 'neighbours');
  const who = dice(1, 'clients');
  const slowness = new Float64Array(servers).fill(1);
  const busy = new Int32Array(servers);
  const recent = new Float64Array(servers).fill(work);
  const queues = Array.from({ length: servers }, (): number[] => []);
  const heads = new Int32Array(servers);
  const served = new Float64Array(servers);
  const busyArea = new Float64Array(servers);
  const busySince = new Float64Array(servers);
  // A job's number holds its client; the rest stands beside it.
  const arrivedAt: number[] = [];
  const begunAt: number[] = [];
  const serverOf: number[] = [];
  const clientOf: number[] = [];
  const latency = new Histogram();
  const inFlight: number[] = [];
  let late = 0;
  let all = 0;
  const into = new Int32Array(64);
  const inside = (server: number): number => (busy[server] ?? 0) + (queues[server]?.length ?? 0) - (heads[server] ?? 0);
  const settle = (server: number, now: number): void => {
    busyArea[server] = (busyArea[server] ?? 0) + (busy[server] ?? 0) * (now - (busySince[server] ?? 0));
    busySince[server] = now;
  };
  const begin = (server: number, job: number, now: number): void => {
    settle(server, now);
    busy[server] = (busy[server] ?? 0) + 1;
    begunAt[job] = now;
    kernel.schedule(now + Math.round(services.exponential(work) * (slowness[server] ?? 1)), kinds.departure, job);
  };
  const arrive = (now: number): void => {
    kernel.schedule(now + Math.round(arrivals.exponential(1e9 / rate)), kinds.arrival, 0);
    const client = who.below(clients);
    const balancer = balancers[client];
    const server = balancer?.pick({}, instantAt(now));
    assert(balancer !== undefined && server !== undefined, 'somebody is always fit');
    const job = arrivedAt.length;
    arrivedAt.push(now);
    serverOf.push(server);
    clientOf.push(client);
    balancer.started(server, instantAt(now));
    if ('probes' in balancer) probe(balancer as ProbingBalancer, now);
    if ((busy[server] ?? 0) < workers) begin(server, job, now);
    else queues[server]?.push(job);
  };
  const probe = (balancer: ProbingBalancer, now: number): void => {
    const count = balancer.probes(into);
    for (let index = 0; index < count; index++) {
      const server = into[index] ?? 0;
      // What a request would take with as many inside as there are now: recent work, and the turns before its own.
      const turns = 1 + Math.max(0, inside(server) + 1 - workers) / workers;
      const reading = { inFlight: inside(server), latency: ns((recent[server] ?? 0) * turns) };
      balancer.probed(server, reading, instantAt(now));
    }
  };
  const depart = (job: number, now: number): void => {
    const server = serverOf[job] ?? 0;
    settle(server, now);
    busy[server] = (busy[server] ?? 0) - 1;
    served[server] = (served[server] ?? 0) + 1;
    const took = now - (arrivedAt[job] ?? 0);
    recent[server] = 0.9 * (recent[server] ?? 0) + 0.1 * (now - (begunAt[job] ?? 0));
    balancers[clientOf[job] ?? 0]?.finished(server, { ok: true, latency: ns(took) }, instantAt(now));
    if ((arrivedAt[job] ?? 0) >= warmUp) {
      latency.record(ns(took));
      all += 1;
      if (took > deadline) late += 1;
    }
    const queue = queues[server] ?? [];
    const head = heads[server] ?? 0;
    const next = queue[head];
    if (next === undefined) return;
    heads[server] = head + 1;
    if (head > 1000) heads[server] = queue.splice(0, head + 1).length - (head + 1);
    begin(server, next, now);
  };
  const handle = (kind: number, subject: number, now: number): void => {
    switch (kind) {
      case kinds.arrival:
        arrive(now);
        return;
      case kinds.departure:
        depart(subject, now);
        return;
      case kinds.neighbour: {
        const comes = slowness[subject] === 1;
        slowness[subject] = comes ? 2 : 1;
        kernel.schedule(now + Math.round(neighbours.exponential(comes ? spell : 2 * spell)), kinds.neighbour, subject);
        return;
      }
      case kinds.weights:
        for (let server = 0; server < servers; server++) {
          settle(server, now);
          const used = (busyArea[server] ?? 0) / (10e9 * workers);
          weights[server] = Math.max(0.01, (served[server] ?? 0) / Math.max(0.05, used));
          served[server] = 0;
          busyArea[server] = 0;
        }
        rebuild();
        kernel.schedule(now + 10e9, kinds.weights, 0);
        return;
      case kinds.sample:
        if (now >= warmUp) for (let server = 0; server < servers; server++) inFlight.push(inside(server));
        kernel.schedule(now + 100e6, kinds.sample, 0);
        return;
    }
  };
  const kernel: Kernel = new Kernel([2, 0, 1, 1, 3], handle);
  kernel.schedule(0, kinds.arrival, 0);
  for (let server = 0; server < servers; server++) {
    if (server % 3 === 0) slowness[server] = 2;
    kernel.schedule(Math.round(neighbours.exponential(spell)), kinds.neighbour, server);
  }
  if (policy !== 'prequal') kernel.schedule(10e9, kinds.weights, 0);
  kernel.schedule(0, kinds.sample, 0);
  kernel.run(length);
  return { latency, inFlight, late, all };
}
