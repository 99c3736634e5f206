// From the requests of an access log to a record: what a balancer saw, put into the same seconds as our own runs.
//
// A log line tells when a request began and ended, so how many were inside a replica is not sampled but known at every
// instant; a tick's mean is the exact integral. Two things a log cannot know are cut away rather than guessed:
//
//   - at the beginning, requests that began before the log did are missing from "in flight" (until the longest has gone);
//   - at the end, requests that had not ended are in no line at all.
//
// What a log does not say (workers, busy time, who the clients are) stays absent.

import { type Duration, ms, seconds } from '../base.ts';
import {
  type ClientFacts,
  type ClientTick,
  type GatewayFacts,
  quantilesOf,
  type RecordLine,
  type ReplicaTick,
} from '../record.ts';
import { Histogram } from '../stats.ts';
import { type Backlog, backlogs, backlogThreshold, stepsByReplica } from './backlog.ts';
import { countError, type SeenRequest } from './seen.ts';

export interface ForeignFacts {
  readonly id: string;
  readonly sources: readonly string[];
  readonly gateway: GatewayFacts;
  readonly service: string;
  /** Names for the addresses or server names in the log, in the balancer's own order. */
  readonly servers: readonly string[];
  readonly plimsoll: string;
}

const tickLength = 1000;

/** The whole record, in order. `requests` may be in any order; at least one is needed. */
export function recordOfRequests(requests: readonly SeenRequest[], facts: ForeignFacts): RecordLine[] {
  const origin = Math.floor(smallest(requests.map((request) => request.startMs)) / tickLength) * tickLength;
  const span = measuredSpan(requests);
  const replicas = replicaNames(requests, facts.servers);
  const lines: RecordLine[] = [
    {
      kind: 'header',
      format: 'plimsoll-record',
      version: 1,
      id: facts.id,
      started_at: new Date(origin).toISOString(),
      world: 'foreign',
      scenario: facts.gateway.program,
      environment: { plimsoll: facts.plimsoll, sources: facts.sources },
    },
    {
      kind: 'topology',
      at_ns: 0,
      services: [{ name: facts.service, role: 'service', replicas: replicas.map((id) => ({ id })) }],
      gateway: facts.gateway,
      clients: [{ group: 'clients', via: 'gateway', service: facts.service, ...turnarounds(requests) }],
    },
    { kind: 'phase', at_ns: 0, name: 'baseline', measure_from_ns: nsOf(span.fromMs - origin) },
  ];
  const ticks = Math.max(1, Math.floor((span.toMs - origin) / tickLength));
  const buckets = bucketRequests(requests, origin, ticks);
  const steps = stepsByReplica(requests, replicas);
  const threshold = backlogThreshold(steps.values());
  const waiting = new Map(
    [...steps].map(([id, own]) => [id, backlogs(own, threshold, { origin, length: tickLength, count: ticks })]),
  );
  for (let index = 0; index < ticks; index++) {
    const from = origin + index * tickLength;
    const bucket = buckets[index] ?? emptyBucket();
    lines.push({
      kind: 'tick',
      at_ns: nsOf(from - origin),
      span_ns: nsOf(tickLength),
      phase: 'baseline',
      replicas: replicas.map((id) => ({
        ...replicaTick(id, bucket, from),
        ...backlogFields(waiting.get(id)?.[index]),
      })),
      clients: [clientTick(bucket, from)],
    });
  }
  lines.push({ kind: 'end', at_ns: nsOf(ticks * tickLength), reason: 'finished' });
  return lines;
}

interface Bucket {
  readonly ended: SeenRequest[];
  readonly begun: SeenRequest[];
  /** Every request that was in flight for some part of the second. */
  readonly present: SeenRequest[];
}

const emptyBucket = (): Bucket => ({ ended: [], begun: [], present: [] });

function bucketRequests(requests: readonly SeenRequest[], origin: number, ticks: number): Bucket[] {
  const buckets = Array.from({ length: ticks }, emptyBucket);
  for (const request of requests) {
    const first = Math.floor((request.startMs - origin) / tickLength);
    const last = Math.floor((request.endMs - origin) / tickLength);
    buckets[first]?.begun.push(request);
    buckets[last]?.ended.push(request);
    for (let index = Math.max(0, first); index <= Math.min(last, ticks - 1); index++)
      buckets[index]?.present.push(request);
  }
  return buckets;
}

/**
 * How soon each connection asks again after its answer. Only connections that never have two requests at once are users in
 * the sense of a closed loop; where one carries several, nothing is said.
 */
function turnarounds(requests: readonly SeenRequest[]): Partial<ClientFacts> {
  const byClient = new Map<string, SeenRequest[]>();
  for (const request of requests) {
    if (request.client === undefined || request.stepMs > 1) return {};
    const own = byClient.get(request.client);
    if (own === undefined) byClient.set(request.client, [request]);
    else own.push(request);
  }
  const gaps = new Histogram();
  for (const own of byClient.values()) {
    own.sort((one, other) => one.startMs - other.startMs);
    for (let index = 1; index < own.length; index++) {
      const gap = (own[index]?.startMs ?? 0) - (own[index - 1]?.endMs ?? 0);
      // Milliseconds are rounded on both sides: one of them may stand before the other.
      if (gap < -2) return {};
      gaps.record(durationOf(gap));
    }
  }
  const median = gaps.quantile(0.5)?.value;
  const late = gaps.quantile(0.9)?.value;
  if (median === undefined || late === undefined) return {};
  return { connections: byClient.size, turnaround_p50_ns: median, turnaround_p90_ns: late };
}

function replicaTick(id: string, bucket: Bucket, from: number): ReplicaTick {
  const ended = bucket.ended.filter((request) => request.replica === id);
  const errors: Record<string, number> = {};
  const latency = new Histogram();
  for (const request of ended) {
    if (request.error !== undefined) countError(errors, request.error);
    latency.record(durationOf(request.endMs - request.handedMs));
  }
  const quantiles = quantilesOf(latency);
  return {
    id,
    finished: ended.length,
    started: bucket.begun.filter((request) => request.replica === id).length,
    in_flight_mean: overlap(bucket.present, from, (request) => (request.replica === id ? request.handedMs : undefined)),
    ...(Object.keys(errors).length === 0 ? {} : { errors }),
    ...(quantiles === undefined ? {} : { latency: quantiles }),
  };
}

function backlogFields(backlog: Backlog | undefined): Partial<ReplicaTick> {
  if (backlog === undefined || backlog.milliseconds === 0) return {};
  return { backlogged_ns: nsOf(backlog.milliseconds), backlogged_finished: backlog.finished };
}

function clientTick(bucket: Bucket, from: number): ClientTick {
  const errors: Record<string, number> = {};
  const answeredBy: Record<string, number> = {};
  const latency = new Histogram();
  for (const request of bucket.ended) {
    if (request.error !== undefined) countError(errors, request.error);
    if (request.replica !== undefined) answeredBy[request.replica] = (answeredBy[request.replica] ?? 0) + 1;
    latency.record(durationOf(request.endMs - request.startMs));
  }
  const extremes = inFlightExtremes(bucket.present, from);
  const quantiles = quantilesOf(latency);
  return {
    group: 'clients',
    planned: bucket.begun.length,
    sent: bucket.begun.length,
    answered: bucket.ended.length,
    in_flight_mean: overlap(bucket.present, from, (request) => request.startMs),
    in_flight_min: extremes.min,
    in_flight_max: extremes.max,
    answered_by: answeredBy,
    ...(Object.keys(errors).length === 0 ? {} : { errors }),
    ...(quantiles === undefined ? {} : { latency: quantiles }),
  };
}

/** Mean number in flight over the second that begins at `from`, by integrating what each request covers of it. */
function overlap(
  present: readonly SeenRequest[],
  from: number,
  begins: (request: SeenRequest) => number | undefined,
): number {
  const to = from + tickLength;
  let covered = 0;
  for (const request of present) {
    const begin = begins(request);
    if (begin === undefined) continue;
    covered += Math.max(0, Math.min(request.endMs, to) - Math.max(begin, from));
  }
  return covered / tickLength;
}

/** Least and greatest number in flight within the second, by walking its beginnings and ends. */
function inFlightExtremes(present: readonly SeenRequest[], from: number): { min: number; max: number } {
  const to = from + tickLength;
  const steps: { at: number; by: number }[] = [];
  let level = 0;
  for (const request of present) {
    if (request.startMs < from) level += 1;
    else steps.push({ at: request.startMs, by: 1 });
    if (request.endMs < to) steps.push({ at: request.endMs, by: -1 });
  }
  // An end and the beginning that follows it at the same millisecond are one change of hands, not a dip and a peak.
  steps.sort((one, other) => one.at - other.at || other.by - one.by);
  let min = level;
  let max = level;
  for (let index = 0; index < steps.length; index++) {
    level += steps[index]?.by ?? 0;
    if (steps[index + 1]?.at === steps[index]?.at) continue;
    min = Math.min(min, level);
    max = Math.max(max, level);
  }
  return { min, max };
}

/** Where the log tells the whole story: after the requests that were there before it, before those that outlive it. */
function measuredSpan(requests: readonly SeenRequest[]): { fromMs: number; toMs: number } {
  const took = Float64Array.from(requests, (request) => request.endMs - request.startMs).sort();
  const longish = took[Math.ceil(took.length * 0.999) - 1] ?? 0;
  const first = smallest(requests.map((request) => request.startMs));
  const lastStart = -smallest(requests.map((request) => -request.startMs));
  const margin = Math.min(longish, (lastStart - first) / 4);
  const fromMs = first + Math.max(margin, Math.min(2000, (lastStart - first) / 10));
  return { fromMs, toMs: Math.max(fromMs + tickLength, lastStart - margin) };
}

/** The balancer's own list first (a server without a single request is a finding), then whoever else answered. */
function replicaNames(requests: readonly SeenRequest[], servers: readonly string[]): string[] {
  const names = new Set(servers);
  const others = new Set<string>();
  for (const request of requests) {
    if (request.replica !== undefined && !names.has(request.replica)) others.add(request.replica);
  }
  return [...names, ...[...others].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))];
}

function durationOf(milliseconds: number): Duration {
  return ms(Math.max(0, milliseconds));
}

function nsOf(milliseconds: number): number {
  return seconds(milliseconds / 1000);
}

function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}
