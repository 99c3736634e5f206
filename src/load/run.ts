// A stretch of load: one machine for each client group, counted by second and by replica, and at the end a ledger in which
// every planned request has exactly one place.
//
//   startLoad ─► warm-up ─ measure() ─► measured ─ stop(grace) ─► drain ─► result
//                  snapshot()   snapshot()   snapshot()

import { after, assert, between, type Duration, type Instant, ns } from '../base.ts';
import type { Engine } from '../net.ts';
import { pacerOf } from '../scenario.ts';
import { histogramFields, type Histogram } from '../stats.ts';
import { Arrivals } from './arrivals.ts';
import type {
  GroupSnapshot,
  LoadGroup,
  LoadPlan,
  LoadResult,
  LoadRun,
  LoadSnapshot,
  ReplicaSnapshot,
} from './contract.ts';
import { Dispatch } from './dispatch.ts';
import { type GroupLimits, limitsReached } from './limits.ts';
import { Holder } from './holder.ts';
import { LoopWatch } from './loop-watch.ts';
import { evaluate } from './objectives.ts';
import { quantilesOf } from './quantiles.ts';
import { ReplicaNames } from './replica-names.ts';
import { Tally } from './tally.ts';
import { threadCpu } from './thread-cpu.ts';
import { Users } from './users.ts';

export interface LoadOptions {
  /** CPU time of the generating thread so far. Default: this thread's. */
  readonly cpu?: () => Duration;
}

const defaultConnectionsMax = 10_000;
const defaultWaitingMax = 65_536;
const noWaits = { waited: 0, waitingMost: 0, refused: 0 };
/** How often the drain looks whether everything has been answered. */
const drainLook = ns(1e6);

/** Starts the plan's demand at once. The engine stays the caller's to close, after `stop`. */
export function startLoad(plan: LoadPlan, engine: Engine, options: LoadOptions = {}): LoadRun {
  return new Run(plan, engine, options.cpu ?? threadCpu);
}

interface Lane {
  readonly dispatch: Dispatch;
  readonly arrivals: Arrivals | undefined;
}

class Run implements LoadRun {
  readonly #plan: LoadPlan;
  readonly #engine: Engine;
  readonly #cpu: () => Duration;
  readonly #names = new ReplicaNames();
  readonly #lanes: readonly Lane[];
  readonly #holders: readonly Holder[];
  readonly #loop: LoopWatch;
  #lastCut: Instant;
  #cpuAtCut: Duration;
  #measuredFrom: Instant;
  #cpuAtMeasure: Duration;
  #stopping = false;

  constructor(plan: LoadPlan, engine: Engine, cpu: () => Duration) {
    const now = engine.now();
    this.#plan = plan;
    this.#engine = engine;
    this.#cpu = cpu;
    this.#lastCut = now;
    this.#measuredFrom = now;
    this.#cpuAtCut = cpu();
    this.#cpuAtMeasure = this.#cpuAtCut;
    this.#loop = new LoopWatch(engine, now);
    this.#lanes = plan.groups.map((group) => this.#begin(group, now));
    this.#holders = (plan.held ?? []).map((group) => new Holder(group, engine, now));
  }

  snapshot(): LoadSnapshot {
    const now = this.#engine.now();
    const cpu = this.#cpu();
    const replicas = new Tally();
    const groups = this.#lanes.map((lane) => this.#cutGroup(lane.dispatch, replicas, now));
    const snapshot = {
      at: now,
      span: between(this.#lastCut, now),
      groups,
      replicas: this.#replicaSnapshots(replicas),
      cpu: ns(cpu - this.#cpuAtCut),
      ...(this.#holders.length === 0 ? {} : { held: this.#holders.map((holder) => holder.snapshot(now)) }),
    };
    this.#lastCut = now;
    this.#cpuAtCut = cpu;
    return snapshot;
  }

  measure(): void {
    const now = this.#engine.now();
    for (const { dispatch } of this.#lanes) dispatch.stretches.begin(now);
    for (const holder of this.#holders) holder.measure();
    this.#loop.restart();
    this.#measuredFrom = now;
    this.#cpuAtMeasure = this.#cpu();
  }

  async stop(grace: Duration): Promise<LoadResult> {
    assert(!this.#stopping, 'a run is stopped once');
    this.#stopping = true;
    const now = this.#engine.now();
    const span = between(this.#measuredFrom, now);
    const cpu = ns(this.#cpu() - this.#cpuAtMeasure);
    const loopLatenessP99 = this.#loop.p99;
    this.#loop.stop();
    for (const { dispatch } of this.#lanes) dispatch.end(now);
    for (const holder of this.#holders) holder.end();
    await this.#drained(after(now, grace));
    for (const { dispatch } of this.#lanes) dispatch.finish(this.#engine.now());
    const groups = [...this.#lanes.map(groupLimits), ...this.#holders.map(holderLimits)];
    const limits = limitsReached({ span, cpu, loopLatenessP99, groups });
    return this.#result(span, limits);
  }

  #begin(group: LoadGroup, now: Instant): Lane {
    const dispatch = new Dispatch({ engine: this.#engine, group, names: this.#names, seed: this.#plan.seed, now });
    if (group.demand.kind === 'closed') {
      dispatch.begin(new Users(group.demand, dispatch, this.#engine), now);
      return { dispatch, arrivals: undefined };
    }
    const limits = {
      connectionsMin: group.connectionsMin ?? 0,
      connectionsMax: group.connectionsMax ?? defaultConnectionsMax,
      waitingMax: group.waitingMax ?? defaultWaitingMax,
    };
    const arrivals = new Arrivals(pacerOf(group.demand, this.#plan.seed), limits, dispatch, this.#engine);
    dispatch.begin(arrivals, now);
    return { dispatch, arrivals };
  }

  #cutGroup(dispatch: Dispatch, replicas: Tally, now: Instant): GroupSnapshot {
    const recent = dispatch.stretches.cut();
    const inFlight = dispatch.inFlight.cut(now);
    recent.replicas.forEach((tally, index) => tally !== undefined && replicas.replica(index).add(tally));
    return {
      group: dispatch.group.group,
      planned: recent.planned,
      sent: recent.sent,
      answered: recent.answered,
      errors: Object.fromEntries(recent.errors),
      inFlightMean: inFlight.mean,
      inFlightMin: inFlight.min,
      inFlightMax: inFlight.max,
      latency: quantilesOf(recent.latency),
      lag: quantilesOf(recent.lag),
      refused: recent.refused,
      answeredBy: this.#answeredBy(recent),
    };
  }

  #answeredBy(tally: Tally): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    tally.replicas.forEach((replica, index) => {
      if (replica !== undefined && replica.finished > 0) counts[this.#names.nameOf(index)] = replica.finished;
    });
    return counts;
  }

  #replicaSnapshots(tally: Tally): readonly ReplicaSnapshot[] {
    const snapshots: ReplicaSnapshot[] = [];
    tally.replicas.forEach((replica, index) => {
      if (replica === undefined || replica.isEmpty) return;
      snapshots.push({
        id: this.#names.nameOf(index),
        finished: replica.finished,
        errors: Object.fromEntries(replica.errors),
        latency: quantilesOf(replica.latency),
      });
    });
    return snapshots;
  }

  /** When nothing is pending any more, or at `until`. */
  #drained(until: Instant): Promise<void> {
    return new Promise((resolve) => {
      const look = (now: Instant): void => {
        const pending = this.#lanes.reduce((sum, { dispatch }) => sum + dispatch.pending.size, 0);
        if (pending === 0 || now >= until) resolve();
        else this.#engine.alarm(after(now, drainLook), look);
      };
      look(this.#engine.now());
    });
  }

  #result(span: Duration, limits: readonly string[]): LoadResult {
    const all = new Tally();
    const ledgers: LoadResult['ledgers'][number][] = [];
    const histograms: LoadResult['histograms'][number][] = [];
    for (const { dispatch } of this.#lanes) {
      const whole = dispatch.stretches.whole();
      const group = dispatch.group.group;
      assert(whole.ended === whole.planned, 'every planned request has exactly one end');
      ledgers.push({
        group,
        planned: whole.planned,
        answered: whole.answered,
        failed: whole.failed,
        timed_out: whole.timedOut,
        refused: whole.refused,
        in_flight_at_end: whole.inFlightAtEnd,
        never_sent: whole.neverSent,
      });
      for (const what of ['latency', 'service', 'lag'] as const) {
        if (isUsed(whole[what])) histograms.push({ of: { group, what }, ...histogramFields(whole[what]) });
      }
      all.add(whole);
    }
    all.replicas.forEach((replica, index) => {
      if (replica === undefined) return;
      for (const what of ['latency', 'service'] as const) {
        const of = { replica: this.#names.nameOf(index), what };
        if (isUsed(replica[what])) histograms.push({ of, ...histogramFields(replica[what]) });
      }
    });
    const held = this.#holders.map((holder) => holder.finish());
    return {
      ledgers,
      histograms,
      objectives: evaluate(this.#plan.objectives ?? [], all, span),
      limits,
      ...(held.length === 0 ? {} : { held }),
    };
  }
}

const isUsed = (histogram: Histogram): boolean => histogram.count > 0 || histogram.unfinishedCount > 0;

function groupLimits({ dispatch, arrivals }: Lane): GroupLimits {
  return {
    group: dispatch.group.group,
    connectionsMax: dispatch.group.connectionsMax ?? defaultConnectionsMax,
    ...(arrivals?.waits ?? noWaits),
    ...dispatch.shortages,
  };
}

const holderLimits = (holder: Holder): GroupLimits => ({
  group: holder.group,
  connectionsMax: Infinity,
  ...noWaits,
  ...holder.shortages,
});
