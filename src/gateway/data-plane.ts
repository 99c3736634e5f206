// What all connections of one gateway share: the engine, the fleet, the clock of timeouts, the buffers, the counts. One
// thread owns it; nothing here waits.
//
// Bytes for clients are put together in one buffer that belongs to one client at a time. Each callback from the engine, and
// each round of timeouts, ends with `flush`, so the buffer is empty between callbacks, and an answer's head and body leave in one write.

import { isDeepStrictEqual } from 'node:util';
import { type Dice, dice, type Instant } from '../base.ts';
import type { Engine, Socket, Target, TlsTarget } from '../net.ts';
import { type Endpoint, Hedge, RetryBudget } from '../policy.ts';
import {
  addressBytes,
  type ConnectionEnds,
  defaultLimits,
  encodePreamble,
  type Limits,
  type RequestHead,
} from '../wire.ts';
import type { AccessLog } from './access-log.ts';
import { type Admissions, admissionsOf } from './admission.ts';
import { ClientConnection } from './client-connection.ts';
import { Crowd } from './crowd.ts';
import type { GatewayConfig } from './config.ts';
import { GrowingBytes } from './growing-bytes.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import { LiveFleet } from './live-fleet.ts';
import type { Exchange } from './request.ts';
import { Seat } from './seat.ts';
import { Services } from './services.ts';
import { atOnce } from './slices.ts';
import { type Telling, tellingOf } from './telling.ts';
import { Timeouts } from './timeouts.ts';
import { type Carried, UpstreamConnection } from './upstream-connection.ts';
import type { WayOut } from './ways-out.ts';

export interface Guest {
  /** The gateway stops: finish, and go. */
  drain(now: Instant): void;
  destroy(): void;
}

const borrowedCapacity = 2 * 1024;
/** Larger ones are left to the collector. */
const returnedCapacityMax = 16 * 1024;
/** Buffers and seats kept for the next request: about as many as there are requests inside at a time. */
const returnedMax = 1024;

export class DataPlane {
  readonly engine: Engine;
  config: GatewayConfig;
  /** For what no service is for. */
  readonly fleet: LiveFleet;
  readonly services: Services;
  readonly timeouts: Timeouts;
  /** Undefined: retries are bounded for each request only. */
  budget: RetryBudget | undefined;
  /** Undefined: nothing but `requestsMax` bounds what is let in. */
  admissions: Admissions | undefined;
  hedge: Hedge | undefined;
  readonly dice: Dice;
  requestLimits: Limits;
  readonly answerLimits: Limits;
  fallbackHost: string;
  /** Undefined: nothing is told of requests. */
  telling: Telling | undefined;

  draining = false;
  /** Requests inside. */
  inFlight = 0;
  retries = 0;
  /** Second requests sent, and those that answered first. */
  hedges = 0;
  hedgesWon = 0;
  /** Failed attempts that would have been repeated but for the limit of one request, or the budget of all. */
  readonly retriesRefused: { limit: number; budget: number } = { limit: 0, budget: 0 };
  /** Client connections that were refused because there were too many. */
  refusedConnections = 0;
  /** Answers by status; those that got none are under 0. */
  readonly answers: Float64Array = new Float64Array(600);
  readonly waysOut: Map<string, number> = new Map();
  readonly clients: Set<ClientConnection> = new Set();
  /** Whoever is here without being a client of HTTP/1.1: connections of HTTP/2, and those that have not said what they are. */
  readonly guests: Set<Guest> = new Set();
  readonly crowd: Crowd = new Crowd(() => this.config.limits.connectionsPerAddressMax);
  /** Clients that are streams of HTTP/2. */
  streams = 0;
  /** How endpoints are spoken to in TLS; undefined: not at all. */
  upstreamTls: TlsTarget | undefined;
  /** Configurations and certificates that were put in force, and those that were refused. */
  readonly reloads: { taken: number; refused: number } = { taken: 0, refused: 0 };
  /** Called when the last request or client has gone, while draining. */
  onEmpty: (() => void) | undefined;

  readonly #outgoing = new GrowingBytes(64 * 1024);
  #outgoingTo: ClientConnection | undefined;
  readonly #spare: GrowingBytes[] = [];
  readonly #seats: Seat[] = [];
  #date = '';
  #dateUntil = 0;

  constructor(engine: Engine, config: GatewayConfig, log: AccessLog | undefined) {
    const now = engine.now();
    this.engine = engine;
    this.config = config;
    this.telling = tellingOf(config.observe, log, config.seed, now);
    this.dice = dice(config.seed, 'gateway');
    this.timeouts = new Timeouts(engine, () => this.flush());
    const { retryBudget, hedge } = config.admit;
    this.budget = retryBudget === undefined ? undefined : new RetryBudget(retryBudget);
    this.hedge = hedge === undefined ? undefined : new Hedge(hedge);
    this.admissions = admissionsOf(engine, this.timeouts, config.admit, config.seed);
    this.fleet = new LiveFleet(engine, config);
    this.fleet.replace(config.endpoints, now);
    this.services = new Services(engine);
    atOnce(this.services.reconfigure(config));
    this.requestLimits = requestLimitsOf(config);
    // Endpoints are ours: their heads may be larger than what strangers may send.
    this.answerLimits = { ...defaultLimits, maxHeadBytes: 256 * 1024, maxHeaders: 1000 };
    this.fallbackHost = config.listen[0]?.host ?? '';
  }

  /** Another configuration, in force from the next request on, for each service when it has been gone through; requests under way
   * are not touched. What has not changed keeps what it has learnt. `telling` and `upstreamTls` were made from it by whoever could wait for files. */
  *reconfigure(
    config: GatewayConfig,
    telling: Telling | undefined,
    upstreamTls: TlsTarget | undefined,
  ): Generator<void, void, void> {
    const now = this.engine.now();
    const before = this.config;
    this.config = config;
    this.telling = telling;
    this.fallbackHost = config.listen[0]?.host ?? '';
    if (!isDeepStrictEqual(before.admit, config.admit)) {
      const { retryBudget, hedge } = config.admit;
      this.budget = retryBudget === undefined ? undefined : new RetryBudget(retryBudget);
      this.hedge = hedge === undefined ? undefined : new Hedge(hedge);
      this.admissions = admissionsOf(this.engine, this.timeouts, config.admit, config.seed);
    }
    // Seats that are taken are not returned with the old limits.
    if (!isDeepStrictEqual(before.limits, config.limits)) {
      this.requestLimits = requestLimitsOf(config);
      for (const seat of this.#seats.splice(0)) seat.exchange.forget();
    }
    const elsewhere =
      !isDeepStrictEqual(this.upstreamTls, upstreamTls) || !isDeepStrictEqual(before.upstream, config.upstream);
    this.upstreamTls = upstreamTls;
    this.fleet.reconfigure(config, config.endpoints, now);
    yield* this.services.reconfigure(config);
    const present = new Set([this.fleet, ...this.services.fleets()]);
    this.admissions?.keep((fleet) => present.has(fleet));
    if (elsewhere) this.closeIdleConnections();
  }

  /** Hot. Who answers this request; undefined when nobody is meant to. */
  fleetFor(head: RequestHead): LiveFleet | undefined {
    if (this.services.size === 0) return this.fleet;
    return this.services.fleetFor(head) ?? (this.fleet.endpoints.length === 0 ? undefined : this.fleet);
  }

  /** That of the endpoints beside the services, and that of each service. */
  fleets(): readonly LiveFleet[] {
    return [this.fleet, ...this.services.fleets()];
  }

  closeIdleConnections(): void {
    this.fleet.closeIdleConnections();
    this.services.closeIdleConnections();
  }

  /** `ends`: the client's and ours, where they are not the socket's. */
  accept(socket: Socket, ends?: ConnectionEnds): ClientConnection {
    const client = new ClientConnection(this, socket, this.engine.now(), ends, socket.tls !== undefined);
    this.clients.add(client);
    if (this.clients.size > this.config.limits.connectionsMax) {
      this.refusedConnections += 1;
      client.destroy();
    }
    return client;
  }

  /** A stream of HTTP/2 is a client with one request. */
  acceptStream(socket: Socket, ends: ConnectionEnds, secure: boolean): ClientConnection {
    const client = new ClientConnection(this, socket, this.engine.now(), ends, secure, true);
    this.clients.add(client);
    this.streams += 1;
    return client;
  }

  /** Who is connected to whom. Our own address may be of no interface in particular. */
  endsOf(socket: Socket): ConnectionEnds {
    const address = socket.remoteAddress;
    const ours =
      addressBytes(this.fallbackHost) === undefined ? (address.includes(':') ? '::' : '0.0.0.0') : this.fallbackHost;
    return { source: { address, port: socket.remotePort }, destination: { address: ours, port: socket.localPort } };
  }

  /** What a connection to an endpoint begins with, on behalf of a client or of ourselves; undefined: nothing. */
  preambleFor(client: ClientConnection | undefined): Uint8Array | undefined {
    const version = this.config.upstream.proxyProtocol;
    return version === undefined ? undefined : encodePreamble(version, client?.ends);
  }

  guestLeft(guest: Guest): void {
    if (this.guests.delete(guest)) this.#whenEmpty();
  }

  /** Connections of clients. */
  get connections(): number {
    return this.clients.size - this.streams + this.guests.size;
  }

  clientLeft(client: ClientConnection): void {
    if (client.isStream) this.streams -= 1;
    this.clients.delete(client);
    if (this.#outgoingTo === client) {
      this.#outgoing.length = 0;
      this.#outgoingTo = undefined;
    }
    this.#whenEmpty();
  }

  #whenEmpty(): void {
    if (this.draining && this.clients.size + this.guests.size === 0) this.onEmpty?.();
  }

  /** Where an endpoint is connected to, and how. */
  targetOf(endpoint: Endpoint): Target {
    const { connectTimeout } = this.config;
    const { host, port } = endpoint;
    const tls = this.upstreamTls;
    return tls === undefined ? { host, port, connectTimeout } : { host, port, connectTimeout, tls };
  }

  connect(endpoint: LiveEndpoint, exchange: Carried, now: Instant): UpstreamConnection {
    return new UpstreamConnection(this, endpoint, exchange, now);
  }

  requestBegan(_now: Instant): void {
    this.inFlight += 1;
  }

  requestLeft(exchange: Exchange, way: WayOut, now: Instant): void {
    this.inFlight -= 1;
    this.answers[exchange.status] = (this.answers[exchange.status] ?? 0) + 1;
    if (way.flag !== '-') this.waysOut.set(way.name, (this.waysOut.get(way.name) ?? 0) + 1);
    this.telling?.left(exchange, way, exchange.fleet, this.budget, now);
  }

  /** The buffer, for this client. What was meant for another one is sent first. */
  outgoingFor(client: ClientConnection): GrowingBytes {
    if (this.#outgoingTo !== client) {
      this.#outgoingTo?.flush();
      this.#outgoingTo = client;
    }
    return this.#outgoing;
  }

  /** The buffer, if it holds something of this client's. */
  outgoingOf(client: ClientConnection): GrowingBytes | undefined {
    return this.#outgoingTo === client ? this.#outgoing : undefined;
  }

  /** Sends what was put together in this callback. */
  flush(): void {
    this.#outgoingTo?.flush();
    this.#outgoingTo = undefined;
  }

  takeSeat(client: ClientConnection): Seat {
    const seat = this.#seats.pop();
    if (seat === undefined) return new Seat(this, client);
    seat.exchange.client = client;
    return seat;
  }

  returnSeat(seat: Seat): void {
    if (this.#seats.length < returnedMax && seat.limits === this.requestLimits) {
      seat.reader.reset();
      this.#seats.push(seat);
    } else seat.exchange.forget();
  }

  borrowBytes(): GrowingBytes {
    return this.#spare.pop() ?? new GrowingBytes(borrowedCapacity);
  }

  returnBytes(bytes: GrowingBytes): void {
    bytes.length = 0;
    if (this.#spare.length < returnedMax && bytes.array.length <= returnedCapacityMax) this.#spare.push(bytes);
  }

  /** The date for answers, as RFC 9110 section 5.6.7 writes it; made once a second. */
  date(now: Instant): string {
    if (now >= this.#dateUntil) {
      const wall = new Date();
      this.#date = wall.toUTCString();
      this.#dateUntil = now + (1000 - wall.getMilliseconds()) * 1e6;
    }
    return this.#date;
  }
}

function requestLimitsOf(config: GatewayConfig): Limits {
  const { headBytesMax, fieldsMax } = config.limits;
  return { ...defaultLimits, maxHeadBytes: headBytesMax, maxHeaders: fieldsMax };
}
