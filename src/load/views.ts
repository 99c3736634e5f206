// Tallies as what a reader sees: the snapshot of a second, the result of a run.

import { assert } from '../base.ts';
import { quantilesOf } from '../record.ts';
import { type Histogram, histogramFields } from '../stats.ts';
import type {
  GroupSnapshot,
  GroupTotals,
  HeldResult,
  HeldSnapshot,
  LoadGroup,
  LoadPlan,
  LoadResult,
  LoadSnapshot,
  ObjectiveResult,
  ReplicaSnapshot,
  ReplicaTotals,
  Tries,
} from './contract.ts';
import type { DriverCut, DriverEnd } from './driver.ts';
import type { HeldCut } from './hold-counts.ts';
import type { InFlightSpan } from './in-flight.ts';
import { ObjectiveWatch } from './objective-watch.ts';
import type { Measured } from './objectives.ts';
import type { ReplicaNames } from './replica-names.ts';
import { Tally } from './tally.ts';

/** The seconds of a cut, as objectives see them. */
export const secondOf = (plan: LoadPlan, cut: DriverCut, names: ReplicaNames): Measured => ({
  span: cut.span,
  tallies: cut.groups.map(({ tally }) => tally),
  groupNames: plan.groups.map(({ group }) => group),
  replicaName: (index) => names.nameOf(index),
});

export function snapshotOf(
  plan: LoadPlan,
  cut: DriverCut,
  names: ReplicaNames,
  { broken, detail }: { readonly broken: readonly ObjectiveResult[]; readonly detail: 'histograms' | undefined },
): LoadSnapshot {
  const replicas = new Tally();
  const groups = plan.groups.map((group, index): GroupSnapshot => {
    const { tally, inFlight } = cut.groups[index] ?? { tally: new Tally(), inFlight: nobody };
    addReplicas(replicas, tally);
    return groupSnapshot(group, tally, inFlight, names);
  });
  const held = (plan.held ?? []).flatMap(({ group }, index) => {
    const one = cut.held[index];
    return one === undefined ? [] : [heldSnapshot(group, one)];
  });
  return {
    at: cut.at,
    span: cut.span,
    groups,
    replicas: replicaSnapshots(replicas, names),
    cpu: cut.cpu,
    ...(held.length === 0 ? {} : { held }),
    ...(broken.length === 0 ? {} : { broken }),
    ...(detail === undefined ? {} : { histograms: cutHistograms(plan, cut, replicas, names) }),
  };
}

const nobody: InFlightSpan = { mean: 0, min: 0, max: 0 };

function groupSnapshot(group: LoadGroup, tally: Tally, inFlight: InFlightSpan, names: ReplicaNames): GroupSnapshot {
  return {
    group: group.group,
    planned: tally.planned,
    sent: tally.sent,
    ...triesOf(group, tally),
    answered: tally.answered,
    errors: Object.fromEntries(tally.errors),
    inFlightMean: inFlight.mean,
    inFlightMin: inFlight.min,
    inFlightMax: inFlight.max,
    latency: quantilesOf(tally.latency),
    lag: quantilesOf(tally.lag),
    refused: tally.refused,
    inFlightAtEnd: tally.inFlightAtEnd,
    neverSent: tally.neverSent,
    bytes: tally.bytes,
    answeredBy: answeredBy(tally, names),
  };
}

const triesOf = ({ retry }: LoadGroup, { tries, retries }: Tally): { readonly tries?: Tries } =>
  retry === undefined ? {} : { tries: { sent: tries, retries } };

function answeredBy(tally: Tally, names: ReplicaNames): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  tally.replicas.forEach((replica, index) => {
    if (replica !== undefined && replica.finished > 0) counts[names.nameOf(index)] = replica.finished;
  });
  return counts;
}

function replicaSnapshots(tally: Tally, names: ReplicaNames): readonly ReplicaSnapshot[] {
  const snapshots: ReplicaSnapshot[] = [];
  tally.replicas.forEach((replica, index) => {
    if (replica === undefined || replica.isEmpty) return;
    snapshots.push({
      id: names.nameOf(index),
      finished: replica.finished,
      errors: Object.fromEntries(replica.errors),
      latency: quantilesOf(replica.latency),
    });
  });
  return snapshots;
}

function addReplicas(into: Tally, from: Tally): void {
  from.replicas.forEach((replica, index) => {
    if (replica !== undefined) into.replica(index).add(replica);
  });
}

const heldSnapshot = (group: string, { asked, held, connecting, counts }: HeldCut): HeldSnapshot => ({
  group,
  asked,
  held,
  connecting,
  opened: counts.opened,
  newAsked: counts.asked,
  errors: Object.fromEntries(counts.errors),
  lost: counts.lost,
  connect: quantilesOf(counts.connect),
});

export function resultOf(
  plan: LoadPlan,
  end: DriverEnd,
  names: ReplicaNames,
  watch: ObjectiveWatch = new ObjectiveWatch(plan.objectives ?? []),
): LoadResult {
  const all = new Tally();
  const ledgers: LoadResult['ledgers'][number][] = [];
  const histograms: Histograms = [];
  plan.groups.forEach(({ group }, index) => {
    const tally = end.groups[index] ?? new Tally();
    assert(tally.ended === tally.planned, 'every planned request has exactly one end');
    ledgers.push(ledgerOf(group, tally));
    addGroupHistograms(histograms, group, tally);
    all.add(tally);
  });
  addReplicaHistograms(histograms, all, names);
  const held = (plan.held ?? []).flatMap(({ group }, index) => {
    const one = end.held[index];
    return one === undefined ? [] : [heldResult(group, one)];
  });
  return {
    span: end.span,
    totals: plan.groups.map((group, index) => totalsOf(group, end.groups[index] ?? new Tally())),
    replicas: replicaTotals(all, names),
    ledgers,
    histograms,
    objectives: watch.results({
      span: end.span,
      tallies: end.groups,
      groupNames: plan.groups.map(({ group }) => group),
      replicaName: (index) => names.nameOf(index),
    }),
    limits: end.limits,
    ...(held.length === 0 ? {} : { held }),
  };
}

type Histograms = LoadResult['histograms'][number][];

function cutHistograms(plan: LoadPlan, cut: DriverCut, replicas: Tally, names: ReplicaNames): Histograms {
  const histograms: Histograms = [];
  plan.groups.forEach(({ group }, index) => {
    const tally = cut.groups[index]?.tally;
    if (tally !== undefined) addGroupHistograms(histograms, group, tally);
  });
  addReplicaHistograms(histograms, replicas, names);
  return histograms;
}

function addGroupHistograms(histograms: Histograms, group: string, tally: Tally): void {
  for (const what of ['latency', 'service', 'lag'] as const) {
    if (isUsed(tally[what])) histograms.push({ of: { group, what }, ...histogramFields(tally[what]) });
  }
}

function addReplicaHistograms(histograms: Histograms, tally: Tally, names: ReplicaNames): void {
  tally.replicas.forEach((replica, index) => {
    if (replica === undefined) return;
    for (const what of ['latency', 'service'] as const) {
      const of = { replica: names.nameOf(index), what };
      if (isUsed(replica[what])) histograms.push({ of, ...histogramFields(replica[what]) });
    }
  });
}

const totalsOf = (group: LoadGroup, tally: Tally): GroupTotals => ({
  group: group.group,
  sent: tally.sent,
  ...triesOf(group, tally),
  bytes: tally.bytes,
  errors: Object.fromEntries(tally.errors),
});

function replicaTotals(tally: Tally, names: ReplicaNames): readonly ReplicaTotals[] {
  return tally.replicas.flatMap((replica, index) =>
    replica === undefined || replica.isEmpty
      ? []
      : [{ id: names.nameOf(index), finished: replica.finished, errors: Object.fromEntries(replica.errors) }],
  );
}

const ledgerOf = (group: string, tally: Tally): LoadResult['ledgers'][number] => ({
  group,
  planned: tally.planned,
  answered: tally.answered,
  failed: tally.failed,
  timed_out: tally.timedOut,
  refused: tally.refused,
  in_flight_at_end: tally.inFlightAtEnd,
  never_sent: tally.neverSent,
});

const heldResult = (group: string, { held, counts }: HeldCut): HeldResult => ({
  group,
  heldMost: counts.heldMost,
  heldAtEnd: held,
  opened: counts.opened,
  lost: counts.lost,
  errors: Object.fromEntries(counts.errors),
  connect: quantilesOf(counts.connect),
});

const isUsed = (histogram: Histogram): boolean => histogram.count > 0 || histogram.unfinishedCount > 0;
