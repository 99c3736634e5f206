// Tallies as plain data, to cross to another thread or another machine, and back without loss. Replicas go by name: each
// driver has met them in an order of its own.

import { assert } from '../base.ts';
import { Histogram, type HistogramFields, histogramFields, histogramOfFields } from '../stats.ts';
import type { DriverCut, DriverEnd } from './driver.ts';
import { HoldCounts, type HeldCut } from './hold-counts.ts';
import type { ReplicaNames } from './replica-names.ts';
import { type ReplicaTally, Tally } from './tally.ts';

type Errors = readonly (readonly [kind: string, count: number])[];

export interface TallyData {
  readonly planned: number;
  readonly sent: number;
  readonly tries: number;
  readonly retries: number;
  readonly answered: number;
  readonly failed: number;
  readonly timedOut: number;
  readonly refused: number;
  readonly inFlightAtEnd: number;
  readonly neverSent: number;
  readonly bytes: number;
  readonly errors: Errors;
  readonly latency: HistogramFields;
  readonly service: HistogramFields;
  readonly lag: HistogramFields;
  readonly replicas: readonly ReplicaData[];
}

export interface ReplicaData {
  readonly name: string;
  readonly finished: number;
  readonly errors: Errors;
  readonly latency: HistogramFields;
  readonly service: HistogramFields;
}

export interface HeldData {
  readonly asked: number;
  readonly held: number;
  readonly connecting: number;
  readonly newAsked: number;
  readonly opened: number;
  readonly lost: number;
  readonly heldMost: number;
  readonly errors: Errors;
  readonly connect: HistogramFields;
}

export interface CutData extends Omit<DriverCut, 'groups' | 'held'> {
  readonly groups: readonly { readonly tally: TallyData; readonly inFlight: DriverCut['groups'][number]['inFlight'] }[];
  readonly held: readonly HeldData[];
}

export interface EndData extends Omit<DriverEnd, 'groups' | 'held'> {
  readonly groups: readonly TallyData[];
  readonly held: readonly HeldData[];
}

export const cutData = (cut: DriverCut, names: ReplicaNames): CutData => ({
  ...cut,
  groups: cut.groups.map(({ tally, inFlight }) => ({ tally: tallyData(tally, names), inFlight })),
  held: cut.held.map(heldData),
});

export const cutOf = (data: CutData, names: ReplicaNames): DriverCut => ({
  ...data,
  groups: data.groups.map(({ tally, inFlight }) => ({ tally: tallyOf(tally, names), inFlight })),
  held: data.held.map(heldOf),
});

export const endData = (end: DriverEnd, names: ReplicaNames): EndData => ({
  ...end,
  groups: end.groups.map((tally) => tallyData(tally, names)),
  held: end.held.map(heldData),
});

export const endOf = (data: EndData, names: ReplicaNames): DriverEnd => ({
  ...data,
  groups: data.groups.map((tally) => tallyOf(tally, names)),
  held: data.held.map(heldOf),
});

export function tallyData(tally: Tally, names: ReplicaNames): TallyData {
  const { planned, sent, tries, retries, answered, failed, timedOut, refused, inFlightAtEnd, neverSent, bytes } = tally;
  return {
    planned,
    sent,
    tries,
    retries,
    answered,
    failed,
    timedOut,
    refused,
    inFlightAtEnd,
    neverSent,
    bytes,
    errors: [...tally.errors],
    latency: histogramFields(tally.latency),
    service: histogramFields(tally.service),
    lag: histogramFields(tally.lag),
    replicas: tally.replicas.flatMap((replica, index) =>
      replica === undefined || replica.isEmpty ? [] : [replicaData(replica, names.nameOf(index))],
    ),
  };
}

const replicaData = (replica: ReplicaTally, name: string): ReplicaData => ({
  name,
  finished: replica.finished,
  errors: [...replica.errors],
  latency: histogramFields(replica.latency),
  service: histogramFields(replica.service),
});

export function tallyOf(data: TallyData, names: ReplicaNames): Tally {
  const tally = new Tally();
  tally.planned = data.planned;
  tally.sent = data.sent;
  tally.tries = data.tries;
  tally.retries = data.retries;
  tally.answered = data.answered;
  tally.failed = data.failed;
  tally.timedOut = data.timedOut;
  tally.refused = data.refused;
  tally.inFlightAtEnd = data.inFlightAtEnd;
  tally.neverSent = data.neverSent;
  tally.bytes = data.bytes;
  for (const [kind, count] of data.errors) tally.errors.set(kind, count);
  tally.latency.add(histogramOf(data.latency));
  tally.service.add(histogramOf(data.service));
  tally.lag.add(histogramOf(data.lag));
  for (const each of data.replicas) {
    const replica = tally.replica(names.indexOf(each.name));
    replica.finished = each.finished;
    for (const [kind, count] of each.errors) replica.errors.set(kind, count);
    replica.latency.add(histogramOf(each.latency));
    replica.service.add(histogramOf(each.service));
  }
  return tally;
}

const heldData = ({ asked, held, connecting, counts }: HeldCut): HeldData => ({
  asked,
  held,
  connecting,
  newAsked: counts.asked,
  opened: counts.opened,
  lost: counts.lost,
  heldMost: counts.heldMost,
  errors: [...counts.errors],
  connect: histogramFields(counts.connect),
});

function heldOf(data: HeldData): HeldCut {
  const counts = new HoldCounts();
  counts.asked = data.newAsked;
  counts.opened = data.opened;
  counts.lost = data.lost;
  counts.heldMost = data.heldMost;
  for (const [kind, count] of data.errors) counts.errors.set(kind, count);
  counts.connect.add(histogramOf(data.connect));
  return { asked: data.asked, held: data.held, connecting: data.connecting, counts };
}

/** The sender is a driver of ours: a histogram that is none is our mistake. */
function histogramOf(fields: HistogramFields): Histogram {
  const histogram = histogramOfFields(fields);
  assert(histogram instanceof Histogram, 'a driver sends whole histograms');
  return histogram;
}
