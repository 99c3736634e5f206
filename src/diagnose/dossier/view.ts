// The questions a theory asks of a dossier, whatever formats it was read from.
//
// Metrics have names of a thousand kinds, but few meanings. What is counted of a replica is found by what its name says
// (`…requests_total`, `…rq_total`, `…started_total`: requests; `…connections…`, `…cx_active`: connections) and by a label that
// names one of several like things (`pod`, `target`, `host`, `worker`, …). Where a counter was read several times it is the
// difference that counts; read once, its value since the start.

import { attendanceOf } from './attendance.ts';
import { withEndsOfSeries } from './ends-of-series.ts';
import { type Fleet, fleetsOf, fleetsOfReading, isProcesses } from './fleet.ts';
import type {
  Dossier,
  EventFact,
  LoadResultFact,
  MessageFact,
  Origin,
  RequestTable,
  SampleFact,
  SeriesFact,
  SettingFact,
  SettingKey,
} from '../../record.ts';

/** One number for each of several like things, in the order in which they were listed. */
export interface Vector {
  /** What was counted: the metric's name, or `requests in the log`. */
  readonly name: string;
  /** The label that tells them apart. */
  readonly by: string;
  readonly ids: readonly string[];
  readonly values: readonly number[];
  readonly origins: readonly Origin[];
}

export type Quantity =
  | 'requests'
  | 'connections'
  | 'in-flight'
  | 'errors'
  | 'time-sum'
  | 'time-count'
  | 'cpu'
  | 'mean-time';

const replicaLabels = [
  'pod',
  'replica',
  'target',
  'endpoint',
  'server',
  'host',
  'backend',
  'upstream',
  'node',
  'instance',
  'worker',
  'pid',
  'name',
  'addr',
  'address',
];

/** What a metric's name must say, and what it must not. */
const meanings: Readonly<Record<Quantity, { readonly yes: RegExp; readonly no: RegExp }>> = {
  requests: {
    yes: /(^|_)(requests?|rqs?|reqs?|rpcs?|calls?|started|handled|served|hits|rq_total|stot|lbtot|req_tot)(_total|_count|_per_s|s)?$|requests?_total$|^requests?$/,
    no: /error|fail|5xx|4xx|duration|second|latency|bytes|time|in_flight|active|pending|retry|limit|connection|max/,
  },
  connections: {
    yes: /connections?|(^|_)(cx|scur|conns?|established|sockets?)(_|$)/,
    no: /max|limit|error|fail|total_time|pool|usage|timeout|idle|duration/,
  },
  'in-flight': {
    yes: /in_?flight|rq_active|active_requests|inflight|concurren|busy/,
    no: /max|limit|ratio|connection|cpu/,
  },
  errors: { yes: /errors?|fail|5xx|_500|eresp/, no: /duration|second|check|health|retr/ },
  'time-sum': { yes: /(duration|latency|response_time|handling|request_time)\w*_sum$/, no: /cpu/ },
  'time-count': { yes: /(duration|latency|response_time|handling|request_time)\w*_count$/, no: /cpu/ },
  cpu: { yes: /cpu/, no: /throttl|period|limit|request|quota|count$/ },
  'mean-time': {
    yes: /(mean|avg|average)_?(ms|seconds|time)?$|(duration|latency|response_time|rt)\w*_(mean|avg)$|avg_rt|mean_ms|rtime/,
    no: /cpu|throttl/,
  },
};

export class View {
  /** With the ends of every series among its samples: whoever asks for a number need not know in which form it was kept. */
  readonly dossier: Dossier;
  readonly #left: Dossier;
  #fleets: readonly Fleet[] | undefined;
  #fairShares: ReadonlyMap<string, number> | undefined;

  constructor(dossier: Dossier) {
    this.#left = dossier;
    this.dossier = withEndsOfSeries(dossier);
  }

  // ── replicas side by side ──

  /** Replicas of one service, those with requests first. */
  get fleets(): readonly Fleet[] {
    this.#fleets ??= fleetsOf(this.#left);
    return this.#fleets.filter((fleet) => !isProcesses(fleet));
  }

  /** What each replica's fair part of the requests is, by when it was there; of those that a log with times tells of. */
  get fairShares(): ReadonlyMap<string, number> {
    this.#fairShares ??= new Map(this.tables.flatMap((table) => [...(attendanceOf(table) ?? [])]));
    return this.#fairShares;
  }

  /** Processes or threads of one program that accept from one socket. */
  get processes(): readonly Fleet[] {
    this.#fleets ??= fleetsOf(this.#left);
    return this.#fleets.filter(isProcesses);
  }

  /** Replicas as one of several readings alone saw them. */
  fleetsAt(reading: number): readonly Fleet[] {
    return fleetsOfReading(this.#read, reading).filter((fleet) => !isProcesses(fleet));
  }

  /** How many readings of samples there are. */
  get readings(): number {
    return 1 + this.#read.samples.reduce((most, { reading }) => Math.max(most, reading), 0);
  }

  /** Where there are samples, it is they that were read; where there are only series, their ends are two readings. */
  get #read(): Dossier {
    return this.#left.samples.length > 0 ? this.#left : this.dossier;
  }

  // ── settings ──

  settings(...keys: readonly SettingKey[]): SettingFact[] {
    return this.dossier.settings.filter((setting) => keys.includes(setting.key));
  }

  /** Written ones before those that only a default implies. */
  setting(key: SettingKey, where?: (setting: SettingFact) => boolean): SettingFact | undefined {
    const found = this.settings(key).filter((setting) => where?.(setting) ?? true);
    return found.find((setting) => !setting.implied) ?? found[0];
  }

  number(key: SettingKey, where?: (setting: SettingFact) => boolean): number | undefined {
    const value = this.setting(key, where)?.value;
    return typeof value === 'number' ? value : undefined;
  }

  text(key: SettingKey): string | undefined {
    const value = this.setting(key)?.value;
    return value === undefined ? undefined : String(value);
  }

  // ── samples ──

  /** All vectors of this meaning with at least `least` members, the longest first. */
  vectors(quantity: Quantity, least = 2): Vector[] {
    const { yes, no } = meanings[quantity];
    return this.vectorsOf((name) => yes.test(name) && !no.test(name), least);
  }

  vector(quantity: Quantity, least = 2): Vector | undefined {
    return this.vectors(quantity, least)[0];
  }

  /** Samples whose metric the test accepts, as vectors over whichever label tells several things apart. */
  vectorsOf(accepts: (name: string) => boolean, least = 2): Vector[] {
    const families = new Map<string, SampleFact[]>();
    for (const sample of this.dossier.samples) {
      if (!accepts(sample.name.toLowerCase())) continue;
      const own = families.get(sample.name);
      if (own === undefined) families.set(sample.name, [sample]);
      else own.push(sample);
    }
    return [...families]
      .flatMap(([name, samples]) => vectorOf(name, samples, least) ?? [])
      .toSorted((one, other) => other.ids.length - one.ids.length);
  }

  /** Sum over all labels of the metrics that the test accepts: growth between the first and last reading, or the value. */
  total(accepts: (name: string, labels: Readonly<Record<string, string>>) => boolean): Reading | undefined {
    const found = this.dossier.samples.filter((sample) => accepts(sample.name.toLowerCase(), sample.labels));
    if (found.length === 0) return undefined;
    let value = 0;
    for (const samples of groupBy(found, (sample) => `${sample.name}${JSON.stringify(sample.labels)}`).values()) {
      value += growthOf(samples);
    }
    return { value, origins: found.map((sample) => sample.origin).slice(0, 4), name: found[0]?.name ?? '' };
  }

  /** The last value of the first metric that the test accepts. */
  gauge(accepts: (name: string, labels: Readonly<Record<string, string>>) => boolean): Reading | undefined {
    const found = this.dossier.samples.filter((sample) => accepts(sample.name.toLowerCase(), sample.labels));
    const last = found.toSorted((one, other) => one.reading - other.reading).at(-1);
    return last === undefined ? undefined : { value: last.value, origins: [last.origin], name: last.name };
  }

  /** The greatest value of any metric that the test accepts. */
  greatest(accepts: (name: string, labels: Readonly<Record<string, string>>) => boolean): Reading | undefined {
    const found = this.dossier.samples.filter((sample) => accepts(sample.name.toLowerCase(), sample.labels));
    const [first] = found.toSorted((one, other) => other.value - one.value);
    return first === undefined ? undefined : { value: first.value, origins: [first.origin], name: first.name };
  }

  // ── series, events, messages, results ──

  series(accepts: (name: string, labels: Readonly<Record<string, string>>) => boolean): SeriesFact[] {
    return this.dossier.series.filter((one) => accepts(one.name.toLowerCase(), one.labels));
  }

  messages(...codes: readonly string[]): MessageFact[] {
    return this.dossier.messages.filter((message) => codes.includes(message.code));
  }

  messagesLike(pattern: RegExp): MessageFact[] {
    return this.dossier.messages.filter((message) => pattern.test(message.text));
  }

  events(accepts: (event: EventFact) => boolean): EventFact[] {
    return this.dossier.events.filter(accepts).toSorted((one, other) => (one.atMs ?? 0) - (other.atMs ?? 0));
  }

  get results(): readonly LoadResultFact[] {
    return this.dossier.results;
  }

  // ── requests ──

  get tables(): readonly RequestTable[] {
    return this.dossier.requests;
  }

  /** Requests by replica in each log, in the order in which the replicas are listed (sorted by name where nothing lists them). */
  requestVectors(): Vector[] {
    return this.tables.flatMap((table) => {
      if (table.replicas.length === 0) return [];
      const counts = table.replicas.map(() => 0);
      for (const index of table.replica) if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
      const order = table.replicas
        .map((_, index) => index)
        .toSorted((one, other) => byName(table.replicas[one] ?? '', table.replicas[other] ?? ''));
      return [
        {
          name: 'requests in the log',
          by: 'replica',
          ids: order.map((index) => table.replicas[index] ?? ''),
          values: order.map((index) => counts[index] ?? 0),
          origins: [table.origin],
        },
      ];
    });
  }
}

export interface Reading {
  readonly value: number;
  readonly name: string;
  readonly origins: readonly Origin[];
}

/** Row numbers of a table that the test accepts. */
export function rowsWhere(table: RequestTable, accepts: (row: number) => boolean): number[] {
  const rows: number[] = [];
  for (let row = 0; row < table.count; row++) if (accepts(row)) rows.push(row);
  return rows;
}

export function flagOf(table: RequestTable, row: number): string {
  return table.flags[table.flag[row] ?? -1] ?? '';
}

export function routeOf(table: RequestTable, row: number): string {
  return table.routes[table.route[row] ?? -1] ?? '';
}

export function medianOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Values that crowd within 1 % (at least 20 ms) of one another: a plateau at a timeout. The largest crowd with its centre. */
export function plateauOf(seconds: readonly number[]): { readonly at: number; readonly count: number } | undefined {
  const sorted = seconds.filter((value) => Number.isFinite(value)).toSorted((one, other) => one - other);
  let best: { at: number; count: number } | undefined;
  let from = 0;
  for (let to = 0; to < sorted.length; to++) {
    while ((sorted[to] ?? 0) - (sorted[from] ?? 0) > Math.max(0.02, 0.01 * (sorted[from] ?? 0))) from += 1;
    if (best === undefined || to - from + 1 > best.count)
      best = { at: sorted[Math.floor((from + to) / 2)] ?? 0, count: to - from + 1 };
  }
  return best;
}

export function byName(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

function vectorOf(name: string, samples: readonly SampleFact[], least: number): Vector | undefined {
  for (const by of replicaLabels) {
    const groups = groupBy(
      samples.filter((sample) => sample.labels[by] !== undefined && !isTotal(sample)),
      (sample) => sample.labels[by] ?? '',
    );
    if (groups.size < least) continue;
    const ids = [...groups.keys()];
    return {
      name,
      by,
      ids,
      values: ids.map((id) => {
        const series = groupBy(groups.get(id) ?? [], (sample) => JSON.stringify(sample.labels));
        return sumOf([...series.values()].map(growthOf));
      }),
      origins: ids
        .flatMap(
          (id) =>
            groups
              .get(id)
              ?.slice(0, 1)
              .map((sample) => sample.origin) ?? [],
        )
        .slice(0, 4),
    };
  }
  return undefined;
}

/** HAProxy's statistics have rows for whole frontends and backends beside those of servers. */
function isTotal(sample: SampleFact): boolean {
  const { type, server } = sample.labels;
  return type === 'frontend' || type === 'backend' || server === 'FRONTEND' || server === 'BACKEND';
}

/** Between the first and the last reading for a counter, the last value for anything else. */
function growthOf(samples: readonly SampleFact[]): number {
  const sorted = samples.toSorted((one, other) => one.reading - other.reading);
  const first = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return 0;
  if (first === last || last.type !== 'counter' || last.value < first.value) return last.value;
  return last.value - first.value;
}

function groupBy<Value>(values: readonly Value[], keyOf: (value: Value) => string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [value]);
    else own.push(value);
  }
  return groups;
}
