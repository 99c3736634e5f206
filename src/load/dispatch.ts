// One group's requests from coming due to their one end. Whoever makes them come due (users, arrivals) says when and on
// which connection; here each is sent, timed, counted and closed. The three instants of a request:
//
//   due ──────── taken ──────── sent ──────────── answered
//    │   lag       │  connecting  │    service        │
//    └──────────────────── latency ──────────────────┘
//
// `lag` is the generator's own lateness: until it got round to the request and had a connection for it. Opening a connection
// is the world's time, so it is in the latency and not in the lag.
//
// The timeout counts from due time too: a client's patience begins when it wants the answer. When it runs out the connection
// is closed, since the answer could still come and would be taken for another request's.
//
// Clients that ask again do so after any failure of the service's: a status of 500 or more, no answer, the timeout, which then holds
// for each try. The request rests meanwhile and has no connection. However often it is asked it is one request with one end, whose
// latency counts from when it first came due; of its tries only the number is kept.
//
//   asked ──► answered below 500 ─────────────────────────► ended
//     ▲  └──► failed ── tries left, budget ──► rests ──┐
//     │          └───── neither ───────────────────────│──► ended
//     └────────────────────────────────────────────────┘
//
// Hot: `due`, `assign`, `answered`. One clock read a turn; nothing is allocated for a request.

import { after, assert, between, type Duration, type Instant, ns } from '../base.ts';
import type { Alarm, Engine, Target } from '../net.ts';
import { type Balancer, balancerByName, type Endpoint, type RetryPolicy } from '../policy.ts';
import { connectionsFor, connectionsMaxOf } from './capacity.ts';
import type { Carrier, CarrierOwner, Reading } from './carrier.ts';
import { Connection } from './connection.ts';
import type { LoadGroup, LoadTarget } from './contract.ts';
import { Http2Pool } from './http2/pool.ts';
import { InFlight } from './in-flight.ts';
import { KnownAnswers } from './known-answers.ts';
import { type FirstOf, Lives } from './lives.ts';
import { Pending } from './pending.ts';
import { type ReplicaMark, replicaMark } from './replica-mark.ts';
import type { ReplicaNames } from './replica-names.ts';
import { type HttpVersion, type ReadyRequest, readyRequests } from './request-bytes.ts';
import { Stretches } from './stretches.ts';
import { WakeList } from './wake-list.ts';

/** How a request ended, as far as its sender must know: `unreachable` means that its connection never opened. */
export type Ending = 'answered' | 'failed' | 'unreachable';

/** Who makes requests come due. Told what it needs to go on; never called from inside `assign`. */
export interface Source {
  begin(now: Instant): void;
  /** A connection that was opened in advance is ready. */
  opened(connection: Carrier, now: Instant): void;
  /** The request on this connection has ended, or rests. The connection may carry another one if it is still open. */
  freed(connection: Carrier, now: Instant): void;
  /** A request of this user's has ended (of nobody's: −1). Its connection was freed before. */
  ended(user: number, ending: Ending, now: Instant): void;
  /** A request has rested and is to be asked again, on whatever connection is right. */
  again(slot: number, now: Instant): void;
  /** A request that waits for a connection is not to have one any more. Returns the target that it waited for. */
  withdraw(slot: number): number;
  /** A connection that carried nothing is gone. */
  lostIdle(connection: Carrier, now: Instant): void;
  /** Nothing more is to come due after `now`. What waits for a connection is closed by whoever calls. */
  end(now: Instant): void;
}

export interface DispatchSetting {
  readonly engine: Engine;
  readonly group: LoadGroup;
  readonly names: ReplicaNames;
  /** Of the choice among targets. */
  readonly seed: number;
  /** How clients ask again. Undefined: they do not. */
  readonly retry: RetryPolicy | undefined;
  readonly now: Instant;
}

export class Dispatch implements CarrierOwner {
  readonly group: LoadGroup;
  readonly stretches: Stretches;
  readonly inFlight: InFlight;
  readonly pending = new Pending();
  /** Steps in the flow. */
  readonly steps: number;
  readonly version: HttpVersion;
  readonly #engine: Engine;
  readonly #names: ReplicaNames;
  readonly #mark: ReplicaMark;
  readonly #known = new KnownAnswers();
  /** By target, then by step. */
  readonly #requests: readonly (readonly ReadyRequest[])[];
  /** Replica index of each target: who answers where no header says. */
  readonly #targetReplicas: readonly number[];
  /** By target, for HTTP/2. */
  readonly #pools: readonly Http2Pool[];
  /** Undefined where there is nothing to choose. */
  readonly #balancer: Balancer | undefined;
  readonly #retry: RetryPolicy | undefined;
  /** Undefined where connections are kept for good. */
  readonly #lives: Lives | undefined;
  /** Slots of requests that wait for their next try. */
  readonly #resting: WakeList;
  readonly #outcome: { ok: boolean; latency: Duration } = { ok: true, latency: ns(0) };
  /** By slot: the connection that carries the request; undefined while it waits for one. */
  readonly #carriers: (Carrier | undefined)[] = [];
  readonly #connections = new Set<Carrier>();
  #connectionsMost = 0;
  #noFiles = 0;
  #noPorts = 0;
  #source: Source | undefined;
  #alarm: Alarm | undefined;
  #ended = false;
  #latest: Instant;

  constructor(setting: DispatchSetting) {
    const { engine, group, names, now } = setting;
    assert(group.targets.length > 0, 'a group has somewhere to send its requests');
    assert(group.demand.flow.length > 0, 'a flow has at least one step');
    assert(group.keepAlive === undefined || group.http2 === undefined, 'connections of HTTP/2 are kept for good');
    this.group = group;
    this.steps = group.demand.flow.length;
    this.stretches = new Stretches(now);
    this.inFlight = new InFlight(now);
    this.#engine = engine;
    this.#names = names;
    this.#mark = replicaMark(group);
    this.version = group.http2 === undefined ? '1.1' : '2';
    this.#requests = group.targets.map((target) =>
      readyRequests(group.demand.flow, target, this.version).map((request) => ({
        ...request,
        bytes: engine.keep(request.bytes),
      })),
    );
    this.#pools = group.http2 === undefined ? [] : http2Pools(group, group.http2.streamsMax, () => engine.now());
    this.#targetReplicas = group.targets.map((target) => names.indexOf(target.id));
    this.#balancer = group.targets.length === 1 ? undefined : registryBalancer(group, setting.seed);
    this.#retry = setting.retry;
    this.#lives = group.keepAlive === undefined ? undefined : new Lives(group.keepAlive);
    this.#resting = new WakeList(engine, (slot, due, at) => this.#askAgain(slot, due, at));
    this.#latest = now;
  }

  /** Lets requests come due from `now` on. */
  begin(source: Source, now: Instant): void {
    this.#source = source;
    source.begin(now);
  }

  /** Streams that a server allows on a connection where those are fewer than were asked for. */
  get streamsAllowed(): number | undefined {
    const allowed = this.#pools.flatMap((pool) => pool.streamsAllowed ?? []);
    return allowed.length === 0 ? undefined : Math.min(...allowed);
  }

  /** Connections open or opening now, and at most so far. */
  get connections(): { readonly now: number; readonly most: number } {
    return { now: this.#connections.size, most: this.#connectionsMost };
  }

  /** Connections that this machine could not open, for want of files or local ports. */
  get shortages(): { readonly noFiles: number; readonly noPorts: number } {
    return { noFiles: this.#noFiles, noPorts: this.#noPorts };
  }

  get targets(): number {
    return this.group.targets.length;
  }

  /** Which target the next request goes to. */
  pick(now: Instant): number {
    return this.#balancer?.pick(noWishes, now) ?? 0;
  }

  /** A request came due at `due` (not later than `now`). Returns its slot. */
  due(due: Instant, now: Instant): number {
    const slot = this.pending.open(due);
    this.#carriers[slot] = undefined;
    this.stretches.planned(due);
    const noticed = this.#noLessThanBefore(now);
    this.inFlight.enter(due, noticed);
    this.#retry?.budget?.deposit(noticed);
    if (this.#alarm === undefined) this.#armAlarm();
    return slot;
  }

  /** Opens a connection, or takes a place on one of HTTP/2. Its owner hears of it in a later turn. `first`: it is one of those that a
   * run begins with. */
  connect(target: number, user: number, first?: FirstOf): Carrier {
    const connection = this.#opened(target, user);
    this.#lives?.begin(connection, first, this.#engine.now());
    this.#connections.add(connection);
    this.#connectionsMost = Math.max(this.#connectionsMost, this.#connections.size);
    return connection;
  }

  /** Whether a connection has been used for as long, or as often, as it may be. */
  isSpent(connection: Carrier, now: Instant): boolean {
    return this.#lives?.isSpent(connection, now) ?? false;
  }

  /** Closes a connection that carries nothing, though it is good. */
  retire(connection: Carrier): void {
    assert(!connection.busy, 'a connection is not closed under a request');
    connection.drop();
    this.#connections.delete(connection);
  }

  #opened(target: number, user: number): Carrier {
    const setting = { names: this.#names, mark: this.#mark, target, user };
    const pool = this.#pools[target];
    if (pool !== undefined) return pool.place({ ...setting, owner: this });
    const at = this.group.targets[target];
    assert(at !== undefined, 'a connection goes to one of the targets');
    const connection = new Connection(this, { ...setting, known: this.#known });
    connection.connect(this.#engine, addressOf(at));
    return connection;
  }

  /** The request of a step for a target, made before the run. */
  ready(target: number, step: number): ReadyRequest {
    const request = this.#requests[target]?.[step];
    assert(request !== undefined, 'a step is one of the flow');
    return request;
  }

  /** Puts a request on a connection: sent at once if that is open, otherwise as soon as it opens. `reading` is shown the
   * answer as it comes. */
  assign(slot: number, connection: Carrier, request: ReadyRequest, now: Instant, reading?: Reading): void {
    connection.take(slot, request, reading);
    this.#lives?.use(connection);
    this.#carriers[slot] = connection;
    if (this.pending.retries(slot) === 0) {
      const due = this.pending.due(slot);
      this.stretches.at(due).lag.record(ns(Math.max(0, now - due)));
    }
    this.#balancer?.started(connection.target, now);
    if (connection.state === 'open') this.#send(connection, now);
  }

  opened(connection: Carrier, at: Instant): void {
    const now = this.#noLessThanBefore(at);
    if (connection.busy) this.#send(connection, now);
    else this.#source?.opened(connection, now);
  }

  answered(connection: Carrier, at: Instant): void {
    const now = this.#noLessThanBefore(at);
    const slot = connection.request;
    const { status, received } = connection;
    const service = ns(now - this.pending.sent(slot));
    this.#release(slot, connection, status < 500, now);
    if (connection.state === 'closed') this.#connections.delete(connection);
    const rests = status >= 500 && this.#rests(slot, now);
    if (!rests) {
      const due = this.pending.due(slot);
      const replica = connection.replica ?? this.#targetReplicas[connection.target] ?? 0;
      this.stretches.at(due).answer(replica, status, between(due, now), service, received);
      this.#close(slot, now);
    }
    this.#goOn(connection, rests ? undefined : 'answered', now);
  }

  lost(connection: Carrier, kind: string, at: Instant): void {
    const now = this.#noLessThanBefore(at);
    this.#connections.delete(connection);
    if (kind === 'no-files') this.#noFiles += 1;
    if (kind === 'no-ports') this.#noPorts += 1;
    if (!connection.busy) {
      this.#source?.lostIdle(connection, now);
      return;
    }
    const slot = connection.request;
    const ending = this.pending.isSent(slot) ? 'failed' : 'unreachable';
    this.#release(slot, connection, false, now);
    const rests = this.#rests(slot, now);
    if (!rests) {
      this.stretches.at(this.pending.due(slot)).failure(this.#targetReplicas[connection.target] ?? 0, kind);
      this.#close(slot, now);
    }
    this.#goOn(connection, rests ? undefined : ending, now);
  }

  /** Closes a request without an end: as in flight, or as never sent where no try of it was. */
  leave(slot: number, now: Instant): void {
    const due = this.pending.due(slot);
    const carrier = this.#carriers[slot];
    const age = ns(Math.max(0, now - due));
    const tally = this.stretches.at(due);
    if (!this.pending.wasSent(slot)) tally.leftUnsent(age);
    else tally.leftInFlight(carrier === undefined ? undefined : this.#targetReplicas[carrier.target], age);
    if (carrier !== undefined) this.#release(slot, carrier, false, now);
    this.#close(slot, now);
    carrier?.drop();
  }

  /** A request that cannot even be put together. `target` is where it would have gone. */
  fail(slot: number, target: number, kind: string, now: Instant): void {
    this.stretches.at(this.pending.due(slot)).failure(this.#targetReplicas[target] ?? 0, kind);
    this.#close(slot, now);
  }

  /** A cap of ours: the request is not even queued. */
  refuse(slot: number, now: Instant): void {
    const due = this.pending.due(slot);
    this.stretches.at(due).refusal(ns(Math.max(0, now - due)));
    this.#close(slot, now);
  }

  /** Nothing more comes due, and what fails from now on is not asked again. What rests is. */
  end(now: Instant): void {
    this.#ended = true;
    this.#source?.end(this.#noLessThanBefore(now));
  }

  /** Closes whatever is pending, and every connection. */
  finish(at: Instant): void {
    const now = this.#noLessThanBefore(at);
    this.#alarm?.cancel();
    for (;;) {
      const slot = this.pending.oldest ?? this.#resting.take();
      if (slot === undefined) break;
      this.leave(slot, now);
    }
    this.#resting.clear();
    for (const connection of this.#connections) connection.drop();
    this.#connections.clear();
    for (const pool of this.#pools) pool.close();
  }

  #send(connection: Carrier, now: Instant): void {
    const slot = connection.request;
    const tally = this.stretches.at(this.pending.due(slot));
    if (!this.pending.wasSent(slot)) tally.sent += 1;
    tally.tries += 1;
    this.pending.markSent(slot, now);
    connection.ask();
  }

  /** The request is not on this connection any more: its try is over. */
  #release(slot: number, connection: Carrier, ok: boolean, now: Instant): void {
    this.#carriers[slot] = undefined;
    connection.letGo();
    if (this.#balancer === undefined) return;
    this.#outcome.ok = ok;
    this.#outcome.latency = ns(Math.max(0, now - this.pending.askedAt(slot)));
    this.#balancer.finished(connection.target, this.#outcome, now);
  }

  /** Whether a request whose try has just failed will be asked again; it rests until then. */
  #rests(slot: number, now: Instant): boolean {
    const retry = this.#retry;
    if (retry === undefined || this.#ended) return false;
    const attempt = this.pending.retries(slot) + 1;
    if (attempt > retry.retries || retry.budget?.withdraw(now) === false) return false;
    this.stretches.at(this.pending.due(slot)).retries += 1;
    this.pending.rest(slot);
    this.#resting.add(after(now, retry.wait(attempt)), slot);
    return true;
  }

  /** A try is over: its connection is free, and the request has ended or, where `ending` is undefined, rests. */
  #goOn(connection: Carrier, ending: Ending | undefined, now: Instant): void {
    if (connection.state !== 'closed' && this.isSpent(connection, now)) this.retire(connection);
    this.#source?.freed(connection, now);
    if (ending !== undefined) this.#source?.ended(connection.user, ending, now);
    // Who does not wait is asked again in the same turn.
    else this.#resting.wakeUntil(now);
  }

  /** `due`: when it was to be asked. */
  #askAgain(slot: number, due: Instant, at: Instant): void {
    const now = this.#noLessThanBefore(at);
    this.pending.again(slot, due);
    if (this.#alarm === undefined) this.#armAlarm();
    this.#source?.again(slot, now);
  }

  #close(slot: number, now: Instant): void {
    this.pending.close(slot);
    this.inFlight.leave(now);
  }

  #armAlarm(): void {
    const oldest = this.pending.oldest;
    if (oldest === undefined) return;
    this.#alarm = this.#engine.alarm(after(this.pending.askedAt(oldest), this.group.timeout), this.#expire);
  }

  /** Ends every try whose time has run out. Whoever was to be asked first is first in the list, so the first one that still has
   * time ends the walk. */
  readonly #expire = (at: Instant): void => {
    const now = this.#noLessThanBefore(at);
    this.#alarm = undefined;
    for (;;) {
      const slot = this.pending.oldest;
      if (slot === undefined || this.pending.askedAt(slot) + this.group.timeout > now) break;
      this.#timeOut(slot, now);
    }
    if (this.#alarm === undefined) this.#armAlarm();
  };

  #timeOut(slot: number, now: Instant): void {
    const connection = this.#carriers[slot];
    const target = connection?.target ?? this.#source?.withdraw(slot) ?? 0;
    const ending = this.pending.isSent(slot) ? 'failed' : 'unreachable';
    if (connection !== undefined) {
      connection.drop();
      this.#connections.delete(connection);
      this.#release(slot, connection, false, now);
    }
    const rests = this.#rests(slot, now);
    if (!rests) {
      const due = this.pending.due(slot);
      this.stretches.at(due).timeout(this.#targetReplicas[target] ?? 0, between(due, now));
      this.#close(slot, now);
    }
    if (connection !== undefined) this.#goOn(connection, rests ? undefined : ending, now);
  }

  /** Two callbacks of one turn may disagree by some microseconds about when it began; time must not run backwards here. */
  #noLessThanBefore(now: Instant): Instant {
    if (now > this.#latest) this.#latest = now;
    return this.#latest;
  }
}

/** A load target as the engine knows it. */
export const addressOf = ({ host, port, tls }: LoadTarget): Target => ({
  host,
  port,
  ...(tls === undefined ? {} : { tls: { alpn: ['http/1.1'], ...tls } }),
});

/** One for each target. Open demand may hold so many connections in all; closed users need as many as they share. */
function http2Pools(group: LoadGroup, streamsMax: number, now: () => Instant): readonly Http2Pool[] {
  const { demand, targets } = group;
  const needed =
    demand.kind === 'closed'
      ? connectionsFor(demand.users, group)
      : Math.floor(connectionsMaxOf(group) / targets.length);
  const connectionsMax = Math.max(1, needed);
  return targets.map((target) => new Http2Pool({ now, target: addressOf(target), streamsMax, connectionsMax }));
}

const noWishes = {};

function registryBalancer(group: LoadGroup, seed: number): Balancer {
  const balancer = balancerByName(group.choice, { seed });
  const endpoints = group.targets.map((target): Endpoint => ({
    id: target.id,
    host: target.host,
    port: target.port,
    weight: 1,
    zone: undefined,
  }));
  balancer.rebuild({ version: 1, endpoints, healthy: endpoints.map(() => true) });
  return balancer;
}
