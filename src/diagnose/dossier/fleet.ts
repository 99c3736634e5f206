// Several like things side by side, with all that was counted of each: the table in which most questions of the kind "why this
// one?" are answered. It is put together from scrapes, statistics pages, tables and logs, whatever they call the columns.
//
//              requests  connections  errors  mean time  zone  healthy
//   backend-a     91800           10       0    21 ms     a       yes
//   backend-b     88200            9       0    21 ms     b       yes
//   backend-c         0            0       0      –       b       yes
//
// A metric's name says what is counted, one of its labels whose it is. Two metrics are of one fleet when the same label has
// the same values. Members stand in the order of the balancer's list where one is known, else in that of the file.

import { type Measure, meaningOf } from './metric-names.ts';
import type { Dossier, Origin, RequestTable, SampleFact, SeriesFact, SettingFact } from '../../record.ts';

export interface Fleet {
  /** The label that tells them apart: `pod`, `target`, `server`; `replica` in a log. */
  readonly by: string;
  /** What they belong to: a proxy, a cluster, a service; empty when nothing says. */
  readonly of: string;
  readonly members: readonly Member[];
  /** Whether their order is that of a balancer's list, and not only of a file. */
  readonly listed: boolean;
  readonly origins: readonly Origin[];
}

/** Numbers are growth between the first and the last reading where they are counters read twice. Absent: not known. */
export interface Member {
  readonly id: string;
  readonly requests?: number;
  readonly connections?: number;
  readonly inFlight?: number;
  readonly errors?: number;
  readonly meanSeconds?: number;
  readonly cpu?: number;
  readonly bytes?: number;
  readonly queue?: number;
  readonly workers?: number;
  readonly busyWorkers?: number;
  readonly weight?: number;
  readonly healthy?: boolean;
  readonly zone?: string;
  readonly version?: string;
}

/** Labels that name one of several replicas, the surest first. */
const replicaLabels =
  'replica endpoint target pod server upstream_host upstream_addr upstream_peer backend_host host backend peer url ip address addr instance node name key id'.split(
    ' ',
  );
/** Labels that name one of several processes or threads which share a socket. */
const processLabels = 'worker worker_id wid pid process thread proc child'.split(' ');
/** Labels that tell apart what is no replica: times, outcomes, kinds of request, parts of a distribution. */
const otherLabels =
  /^(?:row|le|quantile|percentile|stat|statistic|aggregation|code|status\w*|class|state|method|verb|path|route|uri|url_path|operation|op|rpc|grpc_\w+|zone|az|region|availability_zone|version|image|phase|stage|step|test|run|mode|time|at|ts|minute|second|day|bucket|cpu|core|device|interface|reason|type|kind|error\w*|result|outcome|metric|measure|setting|parameter|rule|client|caller|user|connection|conn|socket|cluster|service|namespace|container|job|priority|algo\w*|policy|role|format|level)$/i;
/** Labels that name what replicas belong to. */
const ownerLabels =
  'proxy envoy_cluster_name cluster_name upstream upstream_name backend_name service destination_service app job deployment'.split(
    ' ',
  );

/** One value of one measure of one member. */
interface Fact {
  readonly measure: Measure;
  readonly metric: string;
  readonly value: number;
  readonly origin: Origin;
}

interface Draft {
  readonly by: string;
  readonly of: string;
  readonly members: Map<string, { facts: Fact[]; zone?: string; version?: string; healthy?: boolean; place?: number }>;
  readonly origins: Origin[];
}

/** All fleets with at least two members, those with requests first, then the larger ones. */
export function fleetsOf(dossier: Dossier): Fleet[] {
  return inOrder([
    ...fleetsOfSamples(dossier.samples, dossier),
    ...dossier.requests.flatMap((table) => ofTable(table, dossier)),
  ]);
}

/** The fleets of one reading alone, counters as they stand in it. */
export function fleetsOfReading(dossier: Dossier, reading: number): Fleet[] {
  return inOrder(
    fleetsOfSamples(
      dossier.samples.filter((sample) => sample.reading === reading),
      dossier,
    ),
  );
}

function inOrder(fleets: readonly Fleet[]): Fleet[] {
  return fleets.filter((fleet) => fleet.members.length >= 2).toSorted((one, other) => weightOf(other) - weightOf(one));
}

function weightOf(fleet: Fleet): number {
  return (fleet.members.some((member) => member.requests !== undefined) ? 1000 : 0) + fleet.members.length;
}

export function isProcesses(fleet: Fleet): boolean {
  return processLabels.includes(fleet.by);
}

// ── from samples and series ──

interface Measured {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly origin: Origin;
}

function fleetsOfSamples(samples: readonly SampleFact[], dossier: Dossier): Fleet[] {
  const measured = [...grown(samples), ...dossier.series.flatMap(levelOf)].filter((one) => !isTotal(one.labels));
  const drafts = new Map<string, Draft>();
  const families = groupBy(measured, (one) => one.name);
  for (const [name, own] of families) {
    const by = labelThatTellsApart(own);
    if (by === undefined) continue;
    const ids = new Set(own.flatMap((one) => one.labels[by] ?? []));
    for (const one of own) {
      const id = one.labels[by];
      if (id === undefined) continue;
      const of = ownerOf(one.labels, by, id);
      const draft = draftFor(drafts, by, of, ids);
      const member = memberFor(draft, id);
      const { zone, version } = placeOf(one.labels);
      if (zone !== undefined) member.zone = zone;
      if (version !== undefined) member.version = version;
      const healthy = healthOf(one.labels);
      if (healthy !== undefined) member.healthy = healthy;
      const fact = factOf(name, own, one);
      if (fact === undefined) continue;
      if (fact.measure === 'place') member.place = fact.value;
      else member.facts.push(fact);
      if (draft.origins.length < 4) draft.origins.push(one.origin);
    }
  }
  for (const draft of drafts.values()) {
    for (const [id, member] of draft.members) {
      const value = meansOf(measured, draft.by, id);
      const [origin] = draft.origins;
      const open = connectionsOf(measured, draft.by, id);
      if (open > 0 && origin !== undefined && !member.facts.some(({ measure }) => measure === 'connections')) {
        member.facts.push({ measure: 'connections', metric: 'connections listed', value: open, origin });
      }
      if (value !== undefined && origin !== undefined)
        member.facts.unshift({ measure: 'meanSeconds', metric: 'sum by count', value, origin });
    }
  }
  // Who is at the other end of a list of sockets may be anybody: a fleet only where something else was counted of the same.
  return joined([...drafts.values()])
    .filter(
      (draft) =>
        draft.by !== 'peer' ||
        [...draft.members.values()].some(({ facts }) => facts.some(({ metric }) => metric !== 'sockets_to_peer')),
    )
    .map((draft) => finished(draft, dossier));
}

/** `…_sum` and `…_count` are a mean together, and the count alone the number of requests. */
function factOf(name: string, family: readonly Measured[], one: Measured): Fact | undefined {
  const base = { metric: name, value: one.value, origin: one.origin };
  if (/_(?:sum|bucket)$/.test(name)) return undefined;
  if ('quantile' in one.labels && one.labels['quantile'] !== '0.5') return undefined;
  if (/(?:duration|latency|time|handling|seconds)\w*_count$/.test(name)) return { ...base, measure: 'requests' };
  const meaning = meaningOf(name, one.labels);
  if (meaning === undefined || family.length === 0) return undefined;
  return { ...base, measure: meaning.measure, value: one.value * (meaning.scale ?? 1) };
}

/** Means of histograms and summaries: `…_sum` by `…_count`, member by member. */
function meansOf(measured: readonly Measured[], by: string, id: string): number | undefined {
  const own = measured.filter((one) => one.labels[by] === id);
  const sum = own.filter(
    (one) => /(?:duration|latency|time|handling|seconds)\w*_sum$/.test(one.name) && !/cpu/.test(one.name),
  );
  let seconds = 0;
  let count = 0;
  for (const one of sum) {
    const counts = own.filter((other) => other.name === one.name.replace(/_sum$/, '_count') && sameLabels(one, other));
    seconds += one.value * (/_ms_|_milliseconds_|millis/.test(one.name) ? 1e-3 : 1);
    count += counts.reduce((all, other) => all + other.value, 0);
  }
  return count > 0 ? seconds / count : undefined;
}

/** Labels that name one of several connections. */
const connectionLabels = ['connection', 'conn', 'connection_id', 'conn_id', 'socket', 'channel', 'slot'];

/** Where each connection has a row of its own they can be counted. */
function connectionsOf(measured: readonly Measured[], by: string, id: string): number {
  return new Set(
    measured
      .filter((one) => one.labels[by] === id)
      .flatMap((one) => connectionLabels.flatMap((label) => one.labels[label] ?? [])),
  ).size;
}

function sameLabels(one: Measured, other: Measured): boolean {
  return JSON.stringify(one.labels) === JSON.stringify(other.labels);
}

function labelThatTellsApart(own: readonly Measured[]): string | undefined {
  for (const label of [...processLabels, ...replicaLabels]) {
    const values = new Set(own.flatMap((one) => one.labels[label] ?? []));
    if (values.size >= 2) return label;
  }
  return rowsName(own);
}

/** Where no label is known, it is the only one that by itself has another value in every sample, as the first column of a table has. */
function rowsName(own: readonly Measured[]): string | undefined {
  if (own.length < 2) return undefined;
  const candidates = Object.keys(own[0]?.labels ?? {}).filter(
    (label) => !otherLabels.test(label) && new Set(own.map((one) => one.labels[label])).size === own.length,
  );
  return candidates.length === 1 ? candidates[0] : undefined;
}

function ownerOf(labels: Readonly<Record<string, string>>, by: string, id: string): string {
  for (const label of ownerLabels) {
    const value = labels[label];
    if (label !== by && value !== undefined && value !== '') return value;
  }
  return by === 'pod' ? stemOf(id) : '';
}

/** `web-7d9f-x2z` and `web-0` → `web`; addresses and single words → nothing. */
export function stemOf(id: string): string {
  if (/^[\d.:[\]a-f]+$/i.test(id)) return '';
  const withoutHash = id.replace(/-[a-z0-9]{4,10}-[a-z0-9]{5}$/, '');
  const stem = withoutHash === id ? id.replace(/[-_.]?[A-Za-z0-9]{1,10}$/, '') : withoutHash;
  return stem;
}

function placeOf(labels: Readonly<Record<string, string>>): { zone?: string; version?: string } {
  const zone =
    labels['zone'] ?? labels['availability_zone'] ?? labels['az'] ?? labels['topology_zone'] ?? labels['locality'];
  const version = labels['version'] ?? labels['image'] ?? labels['track'];
  return { ...(zone === undefined ? {} : { zone }), ...(version === undefined ? {} : { version }) };
}

function healthOf(labels: Readonly<Record<string, string>>): boolean | undefined {
  const words = labels['health'] ?? labels['state'] ?? labels['health_status'] ?? labels['health_flags'];
  if (words === undefined || words === '') return undefined;
  if (/unhealthy|down|fail|eject|drain|maint|critical|out/i.test(words)) return false;
  return /healthy|up|ok|passing|active|ready|serving/i.test(words) ? true : undefined;
}

/** HAProxy's statistics have rows for whole frontends and backends beside those of servers. */
function isTotal(labels: Readonly<Record<string, string>>): boolean {
  const { type, server } = labels;
  return type === 'frontend' || type === 'backend' || server === 'FRONTEND' || server === 'BACKEND';
}

/** One value a series of samples: the growth of a counter read several times, else its last value. */
function grown(samples: readonly SampleFact[]): Measured[] {
  const runs = groupBy(samples, (sample) => `${sample.name} ${JSON.stringify(sample.labels)}`);
  // Two runs of one counter that both began at nothing are no two readings of it: then the last stands for itself.
  const restarted = new Set(
    [...runs.values()].filter((own) => own.some((one) => isCounter(one)) && fell(own)).map((own) => own[0]?.name),
  );
  return [...runs.values()].flatMap((own) => {
    const sorted = own.toSorted((one, other) => one.reading - other.reading);
    const first = sorted[0];
    const last = sorted.at(-1);
    if (first === undefined || last === undefined) return [];
    const rises = first !== last && isCounter(last) && !restarted.has(last.name);
    return [
      {
        name: last.name,
        labels: last.labels,
        value: rises ? last.value - first.value : last.value,
        origin: last.origin,
      },
    ];
  });
}

function isCounter(sample: SampleFact): boolean {
  return sample.type === 'counter' || (sample.type === 'unknown' && /_(?:total|count|sum)$/.test(sample.name));
}

function fell(own: readonly SampleFact[]): boolean {
  const sorted = own.toSorted((one, other) => one.reading - other.reading);
  return sorted.some((one, index) => index > 0 && one.value < (sorted[index - 1]?.value ?? 0));
}

/** A series over time as one number: how much a counter grew, the mean of anything else. */
function levelOf(series: SeriesFact): Measured[] {
  const { name, labels, values, origin } = series;
  const first = values[0];
  const last = values.at(-1);
  if (first === undefined || last === undefined) return [];
  const counts =
    /_(?:total|count|sum)$/.test(name) && values.every((value, at) => at === 0 || value >= (values[at - 1] ?? 0));
  const value = counts ? last - first : values.reduce((sum, one) => sum + one, 0) / values.length;
  return [{ name, labels, value, origin }];
}

// ── from logs ──

/** Counted by number first: a log may have millions of rows. */
function ofTable(table: RequestTable, dossier: Dossier): Fleet[] {
  const replicas = table.replicas.length;
  const services = Math.max(1, table.services.length);
  const requests = new Float64Array(replicas * services);
  const errors = new Float64Array(replicas * services);
  const seconds = new Float64Array(replicas * services);
  const timed = new Float64Array(replicas * services);
  for (let row = 0; row < table.count; row++) {
    const replica = table.replica[row] ?? -1;
    if (replica < 0) continue;
    const place = Math.max(0, table.service[row] ?? 0) * replicas + replica;
    requests[place] = (requests[place] ?? 0) + 1;
    const status = table.upstreamStatus[row] ?? -1;
    if ((status >= 0 ? status : (table.status[row] ?? 0)) >= 500) errors[place] = (errors[place] ?? 0) + 1;
    const upstream = table.upstreamSeconds[row] ?? Number.NaN;
    const taken = Number.isNaN(upstream) ? (table.seconds[row] ?? Number.NaN) : upstream;
    if (Number.isNaN(taken)) continue;
    seconds[place] = (seconds[place] ?? 0) + taken;
    timed[place] = (timed[place] ?? 0) + 1;
  }
  const drafts = new Map<string, Draft>();
  for (let place = 0; place < requests.length; place++) {
    const value = requests[place] ?? 0;
    if (value === 0) continue;
    const of = table.services[Math.floor(place / replicas)] ?? '';
    const draft = draftFor(drafts, 'replica', of);
    if (draft.origins.length === 0) draft.origins.push(table.origin);
    const fact = { metric: 'log', origin: table.origin };
    const { facts } = memberFor(draft, table.replicas[place % replicas] ?? '');
    facts.push({ ...fact, measure: 'requests', value }, { ...fact, measure: 'errors', value: errors[place] ?? 0 });
    const count = timed[place] ?? 0;
    if (count > 0) facts.push({ ...fact, measure: 'meanSeconds', value: (seconds[place] ?? 0) / count });
  }
  // A replica's own log mentions nobody else either.
  const ownLog = replicas === 1 && table.upstreamSeconds.every(Number.isNaN);
  return [...drafts.values()].map((draft) => finished(draft, dossier, ownLog));
}

// ── together ──

/** The draft of the same label and owner that has one of these members already: whom no other metric knows belongs elsewhere, as
 * hosts of a batch job beside those of a service. */
function draftFor(drafts: Map<string, Draft>, by: string, of: string, ids?: ReadonlySet<string>): Draft {
  for (let other = 0; ; other++) {
    const key = `${by} ${of} ${other}`;
    const known = drafts.get(key);
    if (known !== undefined && (ids === undefined || known.members.keys().some((id) => ids.has(id)))) return known;
    if (known !== undefined) continue;
    const draft: Draft = { by, of, members: new Map(), origins: [] };
    drafts.set(key, draft);
    return draft;
  }
}

function memberFor(draft: Draft, id: string): NonNullable<ReturnType<Draft['members']['get']>> {
  const known = draft.members.get(id);
  if (known !== undefined) return known;
  const member = { facts: [] };
  draft.members.set(id, member);
  return member;
}

/** Drafts whose members are called the same are one fleet, though their metrics name different owners. */
function joined(drafts: readonly Draft[]): Draft[] {
  const whole: Draft[] = [];
  for (const draft of drafts.toSorted((one, other) => other.members.size - one.members.size)) {
    const host = whole.find(
      (one) =>
        one !== draft &&
        (one.of === '' || draft.of === '' || one.of === draft.of || (one.by === 'pod' && draft.by === 'pod')) &&
        [...draft.members.keys()].every((id) => one.members.has(id)),
    );
    if (host === undefined) {
      whole.push(draft);
      continue;
    }
    for (const [id, member] of draft.members) {
      const own = memberFor(host, id);
      own.facts.push(...member.facts);
      if (member.zone !== undefined) own.zone = member.zone;
      if (member.version !== undefined) own.version = member.version;
      if (member.healthy !== undefined) own.healthy = member.healthy;
      if (member.place !== undefined) own.place = member.place;
    }
  }
  return whole;
}

function finished(draft: Draft, dossier: Dossier, ownLog = false): Fleet {
  const list = listFor([...draft.members.keys()], draft.of, dossier);
  const tcp = isTcp(draft.of, dossier);
  const chosen = bestMetrics(draft);
  const known = [...draft.members].map(([id, own]) => ({
    place: own.place ?? list?.places.get(list.nameOf(id)) ?? Number.POSITIVE_INFINITY,
    member: memberOf(id, own, chosen, tcp),
  }));
  // A log does not mention who got nothing; a list does.
  const present = new Set(known.map(({ member }) => list?.nameOf(member.id)));
  const absent =
    draft.by === 'replica' && list !== undefined && !ownLog ? [...list.places].filter(([id]) => !present.has(id)) : [];
  const all = [...known, ...absent.map(([id, place]) => ({ place, member: { id, requests: 0, errors: 0 } }))];
  const listed = all.every(({ place }) => Number.isFinite(place));
  const ordered = listed
    ? all.toSorted((one, other) => one.place - other.place)
    : draft.by === 'replica'
      ? all.toSorted((one, other) => one.member.id.localeCompare(other.member.id, 'en', { numeric: true }))
      : all;
  return { by: draft.by, of: draft.of, members: ordered.map(({ member }) => member), listed, origins: draft.origins };
}

/**
 * One metric for each measure: the one that most members have, and of those the first that was met. Errors come in kinds (refused,
 * broken off, answered with 5xx), so of those it is the one that counts most.
 */
function bestMetrics(draft: Draft): ReadonlyMap<Measure, string> {
  const counts = new Map<Measure, Map<string, { members: number; sum: number }>>();
  for (const { facts } of draft.members.values()) {
    const seen = new Set<string>();
    for (const { measure, metric, value } of facts) {
      const own = counts.get(measure) ?? new Map<string, { members: number; sum: number }>();
      counts.set(measure, own);
      const count = own.get(metric) ?? { members: 0, sum: 0 };
      own.set(metric, count);
      count.sum += value;
      if (!seen.has(`${measure} ${metric}`)) count.members += 1;
      seen.add(`${measure} ${metric}`);
    }
  }
  return new Map(
    [...counts].map(([measure, own]) => [
      measure,
      [...own].toSorted(
        ([a, one], [b, other]) =>
          (measure === 'errors' ? other.sum - one.sum : 0) || other.members - one.members || oddity(a) - oddity(b),
      )[0]?.[0] ?? '',
    ]),
  );
}

/** Counters of requests that are one only by the way: a histogram's count, sessions. */
function oddity(metric: string): number {
  if (metric.endsWith('_count')) return 2;
  return /stot|lbtot|cx_total|session/.test(metric) ? 1 : 0;
}

function memberOf(
  id: string,
  own: NonNullable<ReturnType<Draft['members']['get']>>,
  chosen: ReadonlyMap<Measure, string>,
  tcp: boolean,
): Member {
  const sum = (measure: Measure): number | undefined => {
    const facts = own.facts.filter((one) => one.measure === measure && one.metric === chosen.get(measure));
    return facts.length === 0 ? undefined : facts.reduce((all, one) => all + one.value, 0);
  };
  const first = (measure: Measure): number | undefined =>
    own.facts.find((one) => one.measure === measure && one.metric === chosen.get(measure))?.value;
  const requestMetric = chosen.get('requests');
  const sessions = requestMetric !== undefined && /haproxy_(?:stot|lbtot)$/.test(requestMetric) && tcp;
  const failedOfThem = own.facts
    .filter((one) => one.measure === 'errors' && one.metric === requestMetric && requestMetric !== 'log')
    .reduce((all, one) => all + one.value, 0);
  const counted = sum('requests');
  const requests = counted === undefined && failedOfThem === 0 ? undefined : (counted ?? 0) + failedOfThem;
  const healthy = own.healthy ?? booleanOf(first('healthy'));
  const numbers = {
    requests: sessions ? undefined : requests,
    connections: sessions ? requests : sum('connections'),
    inFlight: sum('inFlight'),
    errors: sum('errors'),
    meanSeconds: first('meanSeconds'),
    cpu: sum('cpu'),
    bytes: sum('bytes'),
    queue: sum('queue'),
    workers: sum('workers'),
    busyWorkers: sum('busyWorkers'),
    weight: first('weight'),
  };
  return {
    id,
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined)),
    ...(healthy === undefined ? {} : { healthy }),
    ...(own.zone === undefined ? {} : { zone: own.zone }),
    ...(own.version === undefined ? {} : { version: own.version }),
  };
}

function booleanOf(value: number | undefined): boolean | undefined {
  return value === undefined ? undefined : value > 0;
}

function isTcp(of: string, dossier: Dossier): boolean {
  return dossier.settings.some(
    ({ key, value, scope }) => key === 'balance.layer' && value === 'tcp' && (of === '' || scope.endsWith(of)),
  );
}

/** The balancer's list that has all of these: places by name. Names may lack their port where that leaves them different. */
interface List {
  readonly places: ReadonlyMap<string, number>;
  readonly nameOf: (id: string) => string;
}

function listFor(ids: readonly string[], of: string, dossier: Dossier): List | undefined {
  const lists = dossier.settings.filter(({ key }) => key === 'upstream.endpoint-list');
  const own = (setting: SettingFact): number => (of !== '' && setting.scope.includes(of) ? 1 : 0);
  for (const { value } of lists.toSorted((one, other) => own(other) - own(one))) {
    const names = String(value)
      .split(',')
      .map((id) => id.trim());
    if (names.length < 2) continue;
    for (const nameOf of [(id: string) => id, bare]) {
      const places = new Map(names.map((id, place) => [nameOf(id), place]));
      if (places.size === names.length && ids.every((id) => places.has(nameOf(id)))) return { places, nameOf };
    }
  }
  return undefined;
}

/** Without scheme and port. */
function bare(id: string): string {
  return id.replace(/^\w+:\/\//, '').replace(/:\d+$/, '');
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
