// The connections of closed users who keep them. Each is placed once, by whoever gives replicas out, and carries the requests of its
// user (or of several, as streams) until it breaks, or has lived as long as `keepAlive` lets it; the next request opens another.
//
//   user ─► connection ─► replica        placed when it is opened, and nowhere else: a replica that comes later gets none of those
//                                        that are open
//
// Behind a balancer of connections the balancer counts what is open; what is asked it does not see.
//
// A connection that is closed while others' requests are on it carries them to their end.
//
// Hot: `endpointFor`.

import { firstKeepAlive, type KeepAlive } from '../scenario.ts';
import type { Gate } from './gate.ts';

const none = -1;

export interface PinsSettings {
  readonly users: number;
  readonly usersPerConnection: number;
  /** Undefined: a connection lives until it breaks. */
  readonly keepAlive: KeepAlive | undefined;
}

export class Pins {
  readonly #gate: Gate;
  readonly #usersEach: number;
  readonly #keepAlive: KeepAlive | undefined;
  /** By connection: the endpoint that it leads to; −1 while there is none. */
  readonly #endpoints: Int32Array;
  /** Which of that replica's lives it was made to: it ends with it. */
  readonly #lives: Int32Array;
  /** Of connections that do not live for ever: requests that they may still carry, and until when. */
  readonly #requestsLeft: Float64Array;
  readonly #until: Float64Array;
  /** 1 where there has been one. */
  readonly #opened: Uint8Array;

  constructor({ users, usersPerConnection, keepAlive }: PinsSettings, gate: Gate) {
    this.#gate = gate;
    this.#usersEach = usersPerConnection;
    this.#keepAlive = keepAlive;
    const connections = Math.ceil(users / usersPerConnection);
    this.#endpoints = new Int32Array(connections).fill(none);
    this.#lives = new Int32Array(connections);
    const limited = keepAlive === undefined ? 0 : connections;
    this.#requestsLeft = new Float64Array(limited);
    this.#until = new Float64Array(limited);
    this.#opened = new Uint8Array(limited);
  }

  /** Where the next request of a user (from 0) goes; undefined when nobody is fit. */
  endpointFor(user: number, now: number): number | undefined {
    const connection = this.#connectionOf(user);
    if (this.#isGone(connection) || this.#isSpent(connection, now)) this.#close(connection, true, now);
    const kept = this.#endpoints[connection] ?? none;
    const endpoint = kept === none ? this.#open(connection, now) : kept;
    if (this.#keepAlive !== undefined) this.#requestsLeft[connection] = (this.#requestsLeft[connection] ?? 0) - 1;
    return endpoint;
  }

  /** The user's connection to this endpoint broke, or could not be made. Others may have opened another since. */
  broke(user: number, endpoint: number, now: number): void {
    const connection = this.#connectionOf(user);
    if (this.#endpoints[connection] === endpoint) this.#close(connection, false, now);
  }

  /** The user waits no longer for an answer: its connection is of no more use, unless it is one stream of several. */
  gaveUp(user: number, endpoint: number, now: number): void {
    if (this.#usersEach === 1) this.broke(user, endpoint, now);
  }

  /** Everybody goes. */
  closeAll(now: number): void {
    for (let connection = 0; connection < this.#endpoints.length; connection++) this.#close(connection, true, now);
  }

  #connectionOf(user: number): number {
    return Math.floor(user / this.#usersEach);
  }

  /** Whether its replica was killed meanwhile: an idle connection is told of that. Users of a list whose connections live for ever keep
   * the address instead, and notice when they ask. */
  #isGone(connection: number): boolean {
    const endpoint = this.#endpoints[connection] ?? none;
    if (endpoint === none || (this.#keepAlive === undefined && this.#gate.kind === 'registry')) return false;
    const station = this.#gate.station(endpoint);
    return station.down || station.life !== this.#lives[connection];
  }

  #isSpent(connection: number, now: number): boolean {
    if (this.#keepAlive === undefined) return false;
    return (this.#requestsLeft[connection] ?? 0) <= 0 || now >= (this.#until[connection] ?? 0);
  }

  #open(connection: number, now: number): number | undefined {
    const view = connection % this.#gate.views;
    const endpoint = this.#gate.pick(view, undefined, now);
    if (endpoint === undefined) return undefined;
    this.#endpoints[connection] = endpoint;
    this.#lives[connection] = this.#gate.station(endpoint).life;
    this.#gate.connected(view, endpoint, now);
    if (this.#keepAlive !== undefined) this.#begin(connection, this.#keepAlive, now);
    return endpoint;
  }

  #begin(connection: number, usual: KeepAlive, now: number): void {
    const isFirst = this.#opened[connection] === 0;
    this.#opened[connection] = 1;
    const { requests, lifetime } = isFirst ? firstKeepAlive(usual, connection, this.#endpoints.length) : usual;
    this.#requestsLeft[connection] = requests ?? Infinity;
    this.#until[connection] = lifetime === undefined ? Infinity : now + lifetime;
  }

  #close(connection: number, ok: boolean, now: number): void {
    const endpoint = this.#endpoints[connection] ?? none;
    if (endpoint === none) return;
    this.#endpoints[connection] = none;
    this.#gate.disconnected(connection % this.#gate.views, endpoint, ok, now);
  }
}
