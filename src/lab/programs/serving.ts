// A replica's inside: a foreign HTTP server (Node's own, so that our wire code meets a peer that it did not write) in front
// of a fixed pool of workers. A request waits for a worker, holds it for a drawn service time and for the calls to other
// services that follow, and is answered.
//
//   request ──► queue ──► worker: cpu ─ service time ─ call ─ call ──► answer, with who it was
//
// A second server, on a port of its own, tells and takes orders (see control.ts). Both share one event loop: a replica that
// stands still is silent on both.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, between, type Dice, dice, type Duration, type Instant, ms, ns, unreachable } from '../../base.ts';
import { sampler } from '../../scenario.ts';
import { Alarm, clock } from './alarm.ts';
import { type CallOutcome, Caller } from './caller.ts';
import { type Order, parseOrder } from './control.ts';
import { Burner, collectGarbage, spin, standStill } from './disturbance.ts';
import type { ReplicaConfiguration } from './replica-configuration.ts';
import { Tally } from './tally.ts';
import { earlyMax, type Task, WorkerPool } from './worker-pool.ts';

/** Longer than any proxy keeps an idle connection, so that it is never the replica that closes one just in use. */
const keepAlive = ms(75_000);
const healthPath = '/healthz';

/** A request, from its arrival to its answer. */
interface Visit {
  readonly arrivedAt: Instant;
  readonly response: ServerResponse;
  /** A health check waits for a worker like any request, but holds it for no time and is not counted as served. */
  readonly purpose: 'request' | 'health';
  /** When whoever asked will no longer wait, where it says so (`x-plimsoll-remaining-ms`). */
  readonly deadline: Instant | undefined;
  /** Whether the client closed its connection before the answer. */
  clientLeft: boolean;
}

/** Serves until the process ends. Resolves with the two ports when both listen. */
export async function serve(configuration: ReplicaConfiguration): Promise<{ port: number; adminPort: number }> {
  const replica = new Replica(configuration);
  const visitors = createServer({ keepAliveTimeout: keepAlive / 1e6, requestTimeout: 0 }, (request, response) =>
    replica.visit(request, response),
  );
  const operators = createServer((request, response) => replica.operate(request, response));
  const { host, port, admin_port } = configuration;
  const [visitorsPort, operatorsPort] = await Promise.all([
    listen(visitors, host, port),
    listen(operators, host, admin_port),
  ]);
  return { port: visitorsPort, adminPort: operatorsPort };
}

class Replica {
  readonly #configuration: ReplicaConfiguration;
  readonly #draw: () => Duration;
  /** From the same stream, after the service time. */
  readonly #drawWork: () => Duration;
  readonly #callers: readonly Caller[];
  readonly #pool: WorkerPool<Visit>;
  readonly #tally: Tally;
  readonly #alarm: Alarm;
  readonly #burner: Burner;
  #slowness: number;
  #failing = { share: 0, after: ns(0) };
  readonly #failures: Dice;
  readonly #startedAt = clock();

  constructor(configuration: ReplicaConfiguration) {
    const { id, seed, stream } = configuration;
    this.#configuration = configuration;
    const times = dice(seed, stream);
    this.#draw = sampler(configuration.service_time, times);
    this.#drawWork = sampler(configuration.cpu_time, times);
    this.#callers = configuration.calls.map((call) => new Caller(call, seed, `${id}/calls/${call.to}`));
    this.#slowness = configuration.slowness;
    this.#failures = dice(seed, `${id}/failures`);
    this.#tally = new Tally(clock());
    this.#pool = new WorkerPool({
      workers: configuration.workers,
      waitingMax: configuration.queue_limit,
      duties: { begin: (visit, startedAt) => this.#begin(visit, startedAt), due: (task) => this.#due(task) },
      now: clock(),
    });
    this.#alarm = new Alarm(() => this.#settle(earlyMax));
    this.#burner = new Burner((length) => this.#stoodStill(length));
    if (configuration.gc_pauses !== undefined) {
      // A stream for each start, as service times have.
      collectGarbage(configuration.gc_pauses, dice(seed, `${stream}/gc`), (length) => this.#stoodStill(length));
    }
  }

  visit(request: IncomingMessage, response: ServerResponse): void {
    const now = clock();
    request.resume();
    response.setHeader('x-plimsoll-replica', this.#configuration.id);
    const isHealth = request.url === healthPath;
    if (isHealth && !this.#configuration.health_shares_pool) {
      response.end('ok\n');
      return;
    }
    const purpose = isHealth ? 'health' : 'request';
    const visit: Visit = { arrivedAt: now, response, purpose, deadline: deadlineOf(request, now), clientLeft: false };
    response.on('close', () => this.#closed(visit));
    if (!isHealth) this.#tally.arrived(now);
    if (!isHealth && this.#failing.share > 0 && this.#failures.next() < this.#failing.share) {
      setTimeout(() => this.#answer(visit, 500, 'failed on purpose\n'), this.#failing.after / 1e6);
      return;
    }
    if (this.#pool.arrive(visit, now)) this.#settle(ns(0));
    else this.#answer(visit, 503, 'no worker is free and the queue is full\n');
  }

  operate(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'GET' && request.url === '/metrics') {
      request.resume();
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end(this.#metrics());
    } else if (request.method === 'POST' && request.url === '/control') {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text: string) => (body += text));
      request.on('end', () => {
        const order = parseOrder(body);
        response.statusCode = typeof order === 'string' ? 400 : 200;
        response.end(typeof order === 'string' ? `${order}\n` : 'done\n');
        if (typeof order !== 'string') this.#obey(order);
      });
    } else {
      request.resume();
      response.statusCode = 404;
      response.end('GET /metrics or POST /control\n');
    }
  }

  /** A worker takes the visit up: its processor time is spent at once, its service time is waited for. */
  #begin(visit: Visit, startedAt: Instant): Duration {
    if (visit.purpose === 'health' || isTooLate(visit, startedAt)) return ns(0);
    const slowness = this.#slowness * this.#coldness(startedAt);
    const service = this.#draw() * slowness;
    const cpu = ns(this.#drawWork() * slowness);
    if (cpu <= 0) return ns(service);
    const begun = clock();
    spin(cpu);
    return ns(between(begun, clock()) + service);
  }

  /** What a process that was just started is slower by. */
  #coldness(now: Instant): number {
    const cold = this.#configuration.cold_start;
    if (cold === undefined) return 1;
    return 1 + (cold.factor - 1) * Math.max(0, 1 - between(this.#startedAt, now) / cold.length_ns);
  }

  #due(task: Task<Visit>): void {
    if (isTooLate(task.work, task.startedAt)) this.#finish(task, 'timed-out');
    else if (task.work.purpose === 'health' || this.#callers.length === 0) this.#finish(task, 'answered');
    else void this.#callOthers(task);
  }

  async #callOthers(task: Task<Visit>): Promise<void> {
    let outcome: CallOutcome = 'answered';
    for (const caller of this.#callers) {
      outcome = await caller.call(task.work.deadline);
      if (outcome !== 'answered') break;
    }
    this.#finish(task, outcome);
    this.#settle(ns(0));
  }

  #finish(task: Task<Visit>, outcome: CallOutcome): void {
    const held = this.#pool.release(task, clock());
    if (task.work.purpose === 'request') this.#tally.worked(held);
    switch (outcome) {
      case 'answered':
        this.#answer(task.work, 200, `${this.#configuration.id}\n`);
        break;
      case 'failed':
        this.#answer(task.work, 502, 'a call to another service failed\n');
        break;
      case 'timed-out':
        this.#answer(task.work, 504, 'a call to another service timed out\n');
        break;
      default:
        unreachable(outcome, 'a call with another end');
    }
  }

  #answer(visit: Visit, code: number, text: string): void {
    const now = clock();
    if (visit.purpose === 'request') {
      this.#tally.left(visit.clientLeft ? 499 : code, between(visit.arrivedAt, now), now);
    }
    if (visit.clientLeft) return;
    visit.response.statusCode = code;
    visit.response.setHeader('content-length', text.length);
    visit.response.end(text);
  }

  /** The response is over: sent, or its client has gone. */
  #closed(visit: Visit): void {
    if (visit.response.writableEnded) return;
    visit.clientLeft = true;
    if (this.#configuration.abandoned !== 'dropped') return;
    if (this.#pool.withdraw(visit, clock())) this.#answer(visit, 499, '');
  }

  /** Ends what is due and sets the alarm for what comes next. */
  #settle(early: Duration): void {
    this.#pool.advance(clock(), early);
    this.#alarm.set(this.#pool.nextDue);
  }

  #stoodStill(length: Duration): void {
    this.#pool.standStill(length);
    this.#settle(ns(0));
  }

  #obey(order: Order): void {
    switch (order.kind) {
      case 'slow':
        this.#slowness = order.factor;
        break;
      case 'workers':
        this.#pool.setWorkers(order.workers, clock());
        this.#settle(ns(0));
        break;
      case 'burn':
        this.#burner.set(order.share, order.forMs === undefined ? undefined : ms(order.forMs));
        break;
      case 'pause':
        // After this turn, so that the answer to the order leaves first.
        setTimeout(() => this.#stoodStill(standStill(ms(order.ms))), 1);
        break;
      case 'fail':
        this.#failing = { share: order.share, after: ms(order.afterMs) };
        break;
      case 'targets':
        for (const caller of this.#callers) if (caller.to === order.of) caller.setTargets(order.targets);
        break;
      default:
        unreachable(order, 'an order that nobody obeys');
    }
  }

  #metrics(): string {
    const now = clock();
    const pool = this.#pool;
    return this.#tally.text(
      {
        workers: pool.workers,
        busy: pool.busy,
        waiting: pool.waiting,
        heldNs: pool.heldNsAt(now),
        waitedNs: pool.waitedNsAt(now),
      },
      now,
    );
  }
}

function deadlineOf(request: IncomingMessage, now: Instant): Instant | undefined {
  const left = request.headers['x-plimsoll-remaining-ms'];
  return typeof left === 'string' && /^\d{1,12}$/.test(left) ? after(now, ms(Number(left))) : undefined;
}

/** Work for somebody who has left by then is not begun. */
function isTooLate(visit: Visit, startedAt: Instant): boolean {
  return visit.deadline !== undefined && startedAt >= visit.deadline;
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 4096 }, () => {
      const address: AddressInfo | string | null = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
