// A fleet in imagined time, just true enough to make the ticks that theories are tested on: users or arrivals, one chooser,
// replicas with a FIFO queue and a fixed pool of workers. Everything happens at an event of one heap.
//
//   due ──(generator's own queue)──► sent ──choose──► replica: queue ─ workers ──► answered
//
// What it leaves out on purpose: the network, connections, retries, CPU. The diagnosis is told what a lab would tell.

import { assert, type Dice, dice, Heap } from '../../base.ts';
import type { ClientTick, Quantiles, ReplicaTick, TickLine } from '../../record.ts';

export interface FleetSpec {
  readonly replicas: readonly ReplicaSpec[];
  readonly choice: 'round-robin' | 'random' | 'least-request' | 'pick-first';
  readonly demand:
    | { readonly model: 'closed'; readonly users: number; readonly thinkSeconds: number }
    | { readonly model: 'open'; readonly ratePerSecond: number; readonly arrivals: 'constant' | 'poisson' };
  /** Requests that may wait in one replica; the next is answered 503 at once. Default: no limit. */
  readonly queueLimit?: number;
  /** Client's timeout in seconds. What has timed out is dropped when a worker would take it. */
  readonly timeoutSeconds?: number;
  /** The generator cannot send more than this. */
  readonly sendsPerSecondMax?: number;
}

export interface ReplicaSpec {
  readonly id: string;
  readonly workers: number;
  /** Mean of an exponential, slowness included. */
  readonly serviceSeconds: number;
}

export interface Stretch {
  readonly phase: string;
  readonly fromSecond: number;
  readonly seconds: number;
  /** Frozen between these seconds of the stretch. */
  readonly frozen?: { readonly replica: string; readonly from: number; readonly to: number };
  /** Refuses at once, as a port without a process does. */
  readonly killed?: string;
  /** One closed user at each replica, past the chooser. */
  readonly visitAlone?: boolean;
}

interface Request {
  readonly dueAt: number;
  readonly replica: Replica;
  sentAt: number;
  startedAt: number;
  ended: boolean;
}

type Happening =
  | { readonly kind: 'due'; readonly replica: Replica | undefined }
  | { readonly kind: 'served' | 'timeout'; readonly request: Request }
  | { readonly kind: 'sent'; readonly request: Request }
  | { readonly kind: 'freeze' | 'thaw'; readonly replica: Replica };

class Replica {
  readonly spec: ReplicaSpec;
  readonly times: Dice;
  readonly queue: Request[] = [];
  readonly held: Request[] = [];
  frozen = false;
  busy = 0;
  inside = 0;
  finished = 0;
  started = 0;
  serviceSum = 0;
  serviceCount = 0;
  insideArea = 0;
  busyArea = 0;
  errors: Record<string, number> = {};
  latencies: number[] = [];

  constructor(spec: ReplicaSpec, seed: number, phase: string) {
    this.spec = spec;
    this.times = dice(seed, `service ${spec.id} ${phase}`);
  }
}

/** The ticks of one stretch, from an empty fleet, one a second. Equal seed and stretch give equal ticks. */
export function playStretch(spec: FleetSpec, stretch: Stretch, seed: number): TickLine[] {
  const arrivals = dice(seed, `arrivals ${stretch.phase}`);
  const chooser = dice(seed, `chooser ${stretch.phase}`);
  const replicas = spec.replicas.map((replica) => new Replica(replica, seed, stretch.phase));
  const heap = new Heap<Happening>();
  const ticks: TickLine[] = [];
  const { demand } = spec;
  const thinking = demand.model === 'closed' ? demand.thinkSeconds : 0;
  const looping = demand.model === 'closed' || stretch.visitAlone === true;

  let now = 0;
  let tickFrom = 0;
  let cursor = 0;
  let senderFreeAt = 0;
  let client = emptyClient();
  let inFlight = 0;

  begin();
  while (tickFrom < stretch.seconds) {
    const at = heap.nextKey ?? Number.POSITIVE_INFINITY;
    const boundary = tickFrom + 1;
    advance(Math.min(at, boundary));
    // What happens at the very boundary belongs to the next second.
    if (boundary <= at) closeTick();
    else happen(heap.pop());
  }
  return ticks;

  function begin(): void {
    const { frozen } = stretch;
    if (frozen !== undefined) {
      const replica = replicas.find((one) => one.spec.id === frozen.replica);
      assert(replica !== undefined, 'only a replica of the fleet can be frozen');
      heap.push(frozen.from, { kind: 'freeze', replica });
      heap.push(frozen.to, { kind: 'thaw', replica });
    }
    if (stretch.visitAlone === true) for (const replica of replicas) heap.push(0, { kind: 'due', replica });
    else if (demand.model === 'open') heap.push(0, { kind: 'due', replica: undefined });
    else {
      for (let user = 0; user < demand.users; user++) {
        heap.push(arrivals.next() * (thinking + 0.02), { kind: 'due', replica: undefined });
      }
    }
  }

  function advance(to: number): void {
    const span = to - now;
    for (const replica of replicas) {
      replica.insideArea += replica.inside * span;
      replica.busyArea += replica.busy * span;
    }
    client.area += inFlight * span;
    now = to;
  }

  function happen(happening: Happening | undefined): void {
    assert(happening !== undefined, 'something is due when the heap says so');
    switch (happening.kind) {
      case 'due':
        return due(happening.replica);
      case 'sent':
        return arrive(happening.request);
      case 'served':
        return served(happening.request);
      case 'timeout':
        return timeout(happening.request);
      case 'freeze':
        happening.replica.frozen = true;
        return;
      case 'thaw': {
        const { replica } = happening;
        replica.frozen = false;
        for (const request of replica.held.splice(0)) served(request);
        while (replica.queue.length > 0 && replica.busy < replica.spec.workers) startNext(replica);
        return;
      }
    }
  }

  function due(fixed: Replica | undefined): void {
    if (!looping && demand.model === 'open') {
      const gap =
        demand.arrivals === 'poisson' ? arrivals.exponential(1 / demand.ratePerSecond) : 1 / demand.ratePerSecond;
      heap.push(now + gap, { kind: 'due', replica: undefined });
    }
    const request: Request = { dueAt: now, replica: fixed ?? choose(), sentAt: now, startedAt: now, ended: false };
    client.planned += 1;
    count(1);
    if (spec.timeoutSeconds !== undefined) heap.push(now + spec.timeoutSeconds, { kind: 'timeout', request });
    if (spec.sendsPerSecondMax === undefined) return arrive(request);
    const at = Math.max(now, senderFreeAt);
    senderFreeAt = at + 1 / spec.sendsPerSecondMax;
    heap.push(at, { kind: 'sent', request });
  }

  function choose(): Replica {
    let index = 0;
    if (spec.choice === 'round-robin') index = cursor++ % replicas.length;
    else if (spec.choice === 'random') index = chooser.below(replicas.length);
    else if (spec.choice === 'least-request') {
      const least = Math.min(...replicas.map((replica) => replica.inside));
      const candidates = replicas.flatMap((replica, at) => (replica.inside === least ? [at] : []));
      index = candidates[chooser.below(candidates.length)] ?? 0;
    }
    const replica = replicas[index];
    assert(replica !== undefined, 'the choice is within the fleet');
    return replica;
  }

  function arrive(request: Request): void {
    const { replica } = request;
    request.sentAt = now;
    client.sent += 1;
    client.lags.push(now - request.dueAt);
    if (replica.spec.id === stretch.killed) return reject(request, 'refused');
    replica.started += 1;
    if (replica.queue.length >= (spec.queueLimit ?? Number.POSITIVE_INFINITY) && !replica.frozen) {
      replica.finished += 1;
      replica.latencies.push(now - request.dueAt);
      client.latencies.push(now - request.dueAt);
      return reject(request, 'status-5xx');
    }
    replica.inside += 1;
    replica.queue.push(request);
    if (!replica.frozen && replica.busy < replica.spec.workers) startNext(replica);
  }

  function startNext(replica: Replica): void {
    for (;;) {
      const request = replica.queue.shift();
      if (request === undefined) return;
      if (request.ended) {
        replica.inside -= 1;
        continue;
      }
      request.startedAt = now;
      replica.busy += 1;
      heap.push(now + replica.times.exponential(replica.spec.serviceSeconds), { kind: 'served', request });
      return;
    }
  }

  function served(request: Request): void {
    const { replica } = request;
    if (replica.frozen) {
      replica.held.push(request);
      return;
    }
    replica.busy -= 1;
    replica.inside -= 1;
    replica.serviceSum += now - request.startedAt;
    replica.serviceCount += 1;
    startNext(replica);
    if (request.ended) return;
    replica.finished += 1;
    replica.latencies.push(now - request.dueAt);
    client.answered += 1;
    client.latencies.push(now - request.dueAt);
    client.answeredBy[replica.spec.id] = (client.answeredBy[replica.spec.id] ?? 0) + 1;
    end(request, false);
  }

  function timeout(request: Request): void {
    if (request.ended) return;
    request.replica.latencies.push(now - request.dueAt);
    client.latencies.push(now - request.dueAt);
    reject(request, 'timeout');
  }

  function reject(request: Request, kind: string): void {
    client.errors[kind] = (client.errors[kind] ?? 0) + 1;
    const { errors } = request.replica;
    errors[kind] = (errors[kind] ?? 0) + 1;
    end(request, true);
  }

  function end(request: Request, refused: boolean): void {
    request.ended = true;
    count(-1);
    if (!looping) return;
    const replica = stretch.visitAlone === true ? request.replica : undefined;
    // A user who was refused at once takes a moment before the next try: without it time would stand still.
    heap.push(now + (refused ? Math.max(thinking, 1e-3) : thinking), { kind: 'due', replica });
  }

  function count(step: 1 | -1): void {
    inFlight += step;
    client.min = Math.min(client.min, inFlight);
    client.max = Math.max(client.max, inFlight);
  }

  function closeTick(): void {
    const cpu = spec.sendsPerSecondMax === undefined ? client.sent * 2e-5 : client.sent / spec.sendsPerSecondMax;
    ticks.push({
      kind: 'tick',
      at_ns: Math.round((stretch.fromSecond + tickFrom) * 1e9),
      span_ns: 1e9,
      phase: stretch.phase,
      replicas: replicas.map((replica) => replicaTick(replica, replica.spec.id === stretch.killed)),
      clients: [clientTick(client, cpu)],
    });
    for (const replica of replicas) clear(replica);
    client = emptyClient();
    client.min = inFlight;
    client.max = inFlight;
    tickFrom += 1;
  }
}

function replicaTick(replica: Replica, killed: boolean): ReplicaTick {
  const { id } = replica.spec;
  const errors = Object.keys(replica.errors).length === 0 ? {} : { errors: replica.errors };
  const latency = quantilesOf(replica.latencies);
  const seen = { id, finished: replica.finished, ...errors, ...(latency === undefined ? {} : { latency }) };
  if (killed || replica.frozen) return { ...seen, state: 'silent' };
  return {
    ...seen,
    started: replica.started,
    in_flight_mean: replica.insideArea,
    busy_workers_mean: replica.busyArea,
    queue_mean: replica.insideArea - replica.busyArea,
    service_sum_ns: Math.round(replica.serviceSum * 1e9),
    service_count: replica.serviceCount,
    state: 'up',
  };
}

function clear(replica: Replica): void {
  replica.finished = 0;
  replica.started = 0;
  replica.serviceSum = 0;
  replica.serviceCount = 0;
  replica.insideArea = 0;
  replica.busyArea = 0;
  replica.errors = {};
  replica.latencies = [];
}

interface ClientCounts {
  planned: number;
  sent: number;
  answered: number;
  errors: Record<string, number>;
  area: number;
  min: number;
  max: number;
  latencies: number[];
  lags: number[];
  answeredBy: Record<string, number>;
}

function emptyClient(): ClientCounts {
  return {
    planned: 0,
    sent: 0,
    answered: 0,
    errors: {},
    area: 0,
    min: 0,
    max: 0,
    latencies: [],
    lags: [],
    answeredBy: {},
  };
}

function clientTick(client: ClientCounts, cpuSeconds: number): ClientTick {
  const latency = quantilesOf(client.latencies);
  const lag = quantilesOf(client.lags);
  return {
    group: 'users',
    planned: client.planned,
    sent: client.sent,
    answered: client.answered,
    ...(Object.keys(client.errors).length === 0 ? {} : { errors: client.errors }),
    in_flight_mean: client.area,
    in_flight_min: client.min,
    in_flight_max: client.max,
    ...(latency === undefined ? {} : { latency }),
    ...(lag === undefined ? {} : { lag }),
    cpu_ns: Math.round(cpuSeconds * 1e9),
    answered_by: client.answeredBy,
  };
}

function quantilesOf(seconds: number[]): Quantiles | undefined {
  if (seconds.length === 0) return undefined;
  const sorted = Float64Array.from(seconds).sort();
  const at = (q: number): number => Math.round((sorted[Math.ceil(q * sorted.length) - 1] ?? 0) * 1e9);
  const sum = sorted.reduce((total, one) => total + one, 0);
  return {
    count: sorted.length,
    mean_ns: Math.round((sum / sorted.length) * 1e9),
    p50_ns: at(0.5),
    p90_ns: at(0.9),
    p99_ns: at(0.99),
    max_ns: at(1),
  };
}
