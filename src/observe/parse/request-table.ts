// Millions of requests as columns. A row costs 72 bytes whatever its texts are: those are interned.
//
// The bound is in sight: at a million rows one of every two is given up, and from there on only one of two (four, eight, …) is
// taken. So what remains is always an even sample of the whole log, in its order, and `skipped` says how many are not in it.
// Which one of a stretch it is, is drawn: every second request of a strict rotation over four would know two replicas only. A reader asks `wants()` before it takes a line apart, and so saves the work for a row nobody keeps.

import { assert } from '../../base.ts';
import type { Origin, RequestTable } from '../../record.ts';
import { Texts } from './texts.ts';

export const rowsMax = 1 << 20;

/** One request as a reader found it. Readers keep one and fill it for every line. */
export interface RequestRow {
  /** Epoch milliseconds when the request began; NaN when the log has no times. */
  startMs: number;
  /** NaN: not in the log. */
  seconds: number;
  upstreamSeconds: number;
  queueSeconds: number;
  connectSeconds: number;
  /** −1: not in the log. */
  status: number;
  upstreamStatus: number;
  attempts: number;
  replica: string | undefined;
  client: string | undefined;
  /** Method and path without query. */
  route: string | undefined;
  flag: string | undefined;
  service: string | undefined;
  worker: string | undefined;
}

/** A row that says nothing yet. */
export function blankRow(): RequestRow {
  return {
    startMs: Number.NaN,
    seconds: Number.NaN,
    upstreamSeconds: Number.NaN,
    queueSeconds: Number.NaN,
    connectSeconds: Number.NaN,
    status: -1,
    upstreamStatus: -1,
    attempts: -1,
    replica: undefined,
    client: undefined,
    route: undefined,
    flag: undefined,
    service: undefined,
    worker: undefined,
  };
}

/** Makes a row blank again. */
export function clearRow(row: RequestRow): void {
  row.startMs = Number.NaN;
  row.seconds = Number.NaN;
  row.upstreamSeconds = Number.NaN;
  row.queueSeconds = Number.NaN;
  row.connectSeconds = Number.NaN;
  row.status = -1;
  row.upstreamStatus = -1;
  row.attempts = -1;
  row.replica = undefined;
  row.client = undefined;
  row.route = undefined;
  row.flag = undefined;
  row.service = undefined;
  row.worker = undefined;
}

/** Where each number of a row stands among the numbers of `addNumbers`. */
export const cells = {
  startMs: 0,
  seconds: 1,
  upstreamSeconds: 2,
  queueSeconds: 3,
  connectSeconds: 4,
  status: 5,
  upstreamStatus: 6,
  attempts: 7,
} as const;
export const cellCount = 8;

export class RequestTableBuilder {
  readonly replicas = new Texts();
  readonly clients = new Texts();
  readonly routes = new Texts();
  readonly flags = new Texts();
  readonly services = new Texts();
  readonly workers = new Texts();
  /** Names of replicas, once `nameServers` has given them. */
  readonly #names = new Texts();
  /** How precise the instants are, in milliseconds; a reader sets it when it knows. */
  stepMs = 1;
  readonly #max: number;
  #count = 0;
  #seen = 0;
  /** Every so many rows are taken: a power of two. */
  #stride = 1;
  /** Where the next row stands in its stretch, and which of it is taken. */
  #at = 0;
  #place = 0;
  /** Rows of a stretch that has had its one. */
  #left = 0;
  #dice = 1;
  #room: number;
  #startMs: Float64Array;
  #seconds: Float64Array;
  #upstreamSeconds: Float64Array;
  #queueSeconds: Float64Array;
  #connectSeconds: Float64Array;
  #status: Int16Array;
  #upstreamStatus: Int16Array;
  #attempts: Int32Array;
  #replica: Int32Array;
  #client: Int32Array;
  #route: Int32Array;
  #flag: Int32Array;
  #service: Int32Array;
  #worker: Int32Array;
  readonly #scratch = new Float64Array(cellCount);

  /** `max`: the most rows that are kept; even, for tests smaller than the default. */
  constructor(max: number = rowsMax) {
    assert(max >= 2 && max % 2 === 0, 'a table keeps an even number of rows');
    this.#max = max;
    this.#room = Math.min(1024, max);
    this.#startMs = new Float64Array(this.#room);
    this.#seconds = new Float64Array(this.#room);
    this.#upstreamSeconds = new Float64Array(this.#room);
    this.#queueSeconds = new Float64Array(this.#room);
    this.#connectSeconds = new Float64Array(this.#room);
    this.#status = new Int16Array(this.#room);
    this.#upstreamStatus = new Int16Array(this.#room);
    this.#attempts = new Int32Array(this.#room);
    this.#replica = new Int32Array(this.#room);
    this.#client = new Int32Array(this.#room);
    this.#route = new Int32Array(this.#room);
    this.#flag = new Int32Array(this.#room);
    this.#service = new Int32Array(this.#room);
    this.#worker = new Int32Array(this.#room);
  }

  get count(): number {
    return this.#count;
  }

  /** Counts one request of the log; whether it is one of those that are kept. Then `add` must follow. Hot. */
  wants(): boolean {
    this.#seen += 1;
    if (this.#left > 0) {
      this.#left -= 1;
      return false;
    }
    // One of every stretch, wherever in it: a fixed step would beat against strict rotation.
    if (this.#at === 0 && this.#stride > 1) this.#place = this.#chance() % this.#stride;
    const wanted = this.#at === this.#place;
    this.#at = this.#at + 1 === this.#stride ? 0 : this.#at + 1;
    return wanted;
  }

  /** Takes the request for which `wants` said yes. Hot. */
  add(row: RequestRow): void {
    const numbers = this.#scratch;
    numbers[cells.startMs] = row.startMs;
    numbers[cells.seconds] = row.seconds;
    numbers[cells.upstreamSeconds] = row.upstreamSeconds;
    numbers[cells.queueSeconds] = row.queueSeconds;
    numbers[cells.connectSeconds] = row.connectSeconds;
    numbers[cells.status] = row.status;
    numbers[cells.upstreamStatus] = row.upstreamStatus;
    numbers[cells.attempts] = row.attempts;
    this.addNumbers(
      numbers,
      this.replicas.intern(row.replica),
      this.clients.intern(row.client),
      this.routes.intern(row.route),
      this.flags.intern(row.flag),
      this.services.intern(row.service),
      this.workers.intern(row.worker),
    );
  }

  /** The same for readers that intern by themselves: numbers by `cells`, texts by their numbers. Hot. */
  addNumbers(
    numbers: Float64Array,
    replica: number,
    client: number,
    route: number,
    flag: number,
    service: number,
    worker: number,
  ): void {
    if (this.#count === this.#room) this.#makeRoom();
    const at = this.#count;
    this.#startMs[at] = numbers[cells.startMs] ?? 0;
    this.#seconds[at] = numbers[cells.seconds] ?? 0;
    this.#upstreamSeconds[at] = numbers[cells.upstreamSeconds] ?? 0;
    this.#queueSeconds[at] = numbers[cells.queueSeconds] ?? 0;
    this.#connectSeconds[at] = numbers[cells.connectSeconds] ?? 0;
    this.#status[at] = numbers[cells.status] ?? 0;
    this.#upstreamStatus[at] = numbers[cells.upstreamStatus] ?? 0;
    this.#attempts[at] = numbers[cells.attempts] ?? 0;
    this.#replica[at] = replica;
    this.#client[at] = client;
    this.#route[at] = route;
    this.#flag[at] = flag;
    this.#service[at] = service;
    this.#worker[at] = worker;
    this.#count = at + 1;
    if (this.#count === this.#max) this.#halve();
  }

  /** Gives replicas the names, and requests without a service the groups, that a configuration has for addresses. */
  nameServers(servers: ReadonlyMap<string, { readonly service: string; readonly label: string | undefined }>): void {
    const known = this.replicas.all.map((replica) => servers.get(replica));
    if (known.every((server) => server === undefined)) return;
    const names = this.replicas.all.map((replica, index) => this.#names.intern(known[index]?.label ?? replica));
    const groups = known.map((server) => this.services.intern(server?.service));
    for (let row = 0; row < this.#count; row++) {
      const replica = this.#replica[row] ?? -1;
      if (replica === -1) continue;
      this.#replica[row] = names[replica] ?? -1;
      if (this.#service[row] === -1) this.#service[row] = groups[replica] ?? -1;
    }
  }

  /** What was given as the beginning of each request was its end: moves it back by how long the request took. */
  timesWereEnds(): void {
    for (let row = 0; row < this.#count; row++) {
      const seconds = this.#seconds[row] ?? Number.NaN;
      if (!Number.isNaN(seconds)) this.#startMs[row] = (this.#startMs[row] ?? Number.NaN) - seconds * 1000;
    }
  }

  /** The columns, cut to length. The builder is not used afterwards. */
  finish(program: string, origin: Origin): RequestTable {
    const count = this.#count;
    return {
      program,
      origin,
      count,
      skipped: this.#seen - count,
      startMs: cut(this.#startMs, count),
      seconds: cut(this.#seconds, count),
      upstreamSeconds: cut(this.#upstreamSeconds, count),
      queueSeconds: cut(this.#queueSeconds, count),
      connectSeconds: cut(this.#connectSeconds, count),
      status: cut(this.#status, count),
      upstreamStatus: cut(this.#upstreamStatus, count),
      attempts: cut(this.#attempts, count),
      replica: cut(this.#replica, count),
      client: cut(this.#client, count),
      route: cut(this.#route, count),
      flag: cut(this.#flag, count),
      service: cut(this.#service, count),
      worker: cut(this.#worker, count),
      replicas: this.#names.all.length > 0 ? this.#names.all : this.replicas.all,
      clients: this.clients.all,
      routes: this.routes.all,
      flags: this.flags.all,
      services: this.services.all,
      workers: this.workers.all,
      stepMs: this.stepMs,
    };
  }

  /** Of every two rows one goes, whichever. */
  #halve(): void {
    const half = this.#count / 2;
    const kept = Int32Array.from({ length: half }, (_, row) => 2 * row + (this.#chance() & 1));
    for (const column of this.#columns()) keepOnly(column, kept);
    this.#count = half;
    this.#left = this.#at === 0 ? 0 : this.#stride - this.#at;
    this.#at = 0;
    this.#stride *= 2;
  }

  /** The same numbers every time, and none that a log could follow (xorshift; Marsaglia, 2003). */
  #chance(): number {
    this.#dice ^= this.#dice << 13;
    this.#dice ^= this.#dice >>> 17;
    this.#dice ^= this.#dice << 5;
    return (this.#dice >>> 3) & 0xffffff;
  }

  #makeRoom(): void {
    this.#room = Math.min(this.#room * 4, this.#max);
    this.#startMs = grown(new Float64Array(this.#room), this.#startMs);
    this.#seconds = grown(new Float64Array(this.#room), this.#seconds);
    this.#upstreamSeconds = grown(new Float64Array(this.#room), this.#upstreamSeconds);
    this.#queueSeconds = grown(new Float64Array(this.#room), this.#queueSeconds);
    this.#connectSeconds = grown(new Float64Array(this.#room), this.#connectSeconds);
    this.#status = grown(new Int16Array(this.#room), this.#status);
    this.#upstreamStatus = grown(new Int16Array(this.#room), this.#upstreamStatus);
    this.#attempts = grown(new Int32Array(this.#room), this.#attempts);
    this.#replica = grown(new Int32Array(this.#room), this.#replica);
    this.#client = grown(new Int32Array(this.#room), this.#client);
    this.#route = grown(new Int32Array(this.#room), this.#route);
    this.#flag = grown(new Int32Array(this.#room), this.#flag);
    this.#service = grown(new Int32Array(this.#room), this.#service);
    this.#worker = grown(new Int32Array(this.#room), this.#worker);
  }

  #columns(): (Float64Array | Int16Array | Int32Array)[] {
    return [
      this.#startMs,
      this.#seconds,
      this.#upstreamSeconds,
      this.#queueSeconds,
      this.#connectSeconds,
      this.#status,
      this.#upstreamStatus,
      this.#attempts,
      this.#replica,
      this.#client,
      this.#route,
      this.#flag,
      this.#service,
      this.#worker,
    ];
  }
}

/** Without a copy where little is left over. */
function cut(column: Float64Array, count: number): Float64Array;
function cut(column: Int16Array, count: number): Int16Array;
function cut(column: Int32Array, count: number): Int32Array;
function cut(column: Float64Array | Int16Array | Int32Array, count: number): Float64Array | Int16Array | Int32Array {
  return count * 2 > column.length ? column.subarray(0, count) : column.slice(0, count);
}

/** Moves the rows that are kept to the front. */
function keepOnly(column: Float64Array | Int16Array | Int32Array, kept: Int32Array): void {
  for (let row = 0; row < kept.length; row++) column[row] = column[kept[row] ?? 0] ?? 0;
}

function grown<Column extends Float64Array | Int16Array | Int32Array>(larger: Column, full: Column): Column {
  larger.set(full);
  return larger;
}
