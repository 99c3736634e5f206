// One thread's share of a plan on sockets: one machine for each client group. It deals in tallies, which add up; what a
// reader sees is made of them in `views.ts`, whether they come from one driver or from many.
//
//   begin ─► warm-up ─ measure() ─► measured ─ end() ─► drain ─► finish()
//               cut()  cut()   cut()   cut()

import { after, between, dice, type Duration, type Instant, ms, ns } from '../base.ts';
import type { Engine } from '../net.ts';
import { retryPolicyOf } from '../policy.ts';
import { Arrivals } from './arrivals.ts';
import { connectionsMaxOf, streamsOf } from './capacity.ts';
import type { LoadGroup, LoadPlan } from './contract.ts';
import { Dispatch } from './dispatch.ts';
import type { HeldCut } from './hold-counts.ts';
import { Holder } from './holder.ts';
import type { InFlightSpan } from './in-flight.ts';
import { type GroupLimits, limitsReached } from './limits.ts';
import { LoopWatch } from './loop-watch.ts';
import type { ReplicaNames } from './replica-names.ts';
import { demandSeed, type Share, sharedPacer } from './share.ts';
import type { Tally } from './tally.ts';
import { Users } from './users.ts';

/** What happened since the cut before. */
export interface DriverCut {
  readonly at: Instant;
  readonly span: Duration;
  readonly cpu: Duration;
  readonly groups: readonly { readonly tally: Tally; readonly inFlight: InFlightSpan }[];
  readonly held: readonly HeldCut[];
}

/** What the measured stretch came to. */
export interface DriverEnd {
  readonly span: Duration;
  readonly groups: readonly Tally[];
  readonly held: readonly HeldCut[];
  readonly limits: readonly string[];
}

export interface DriverSetting {
  readonly engine: Engine;
  /** CPU time of this thread so far. */
  readonly cpu: () => Duration;
  /** Names of replicas, by the index that tallies use. */
  readonly names: ReplicaNames;
  /** Which part of the plan's requests is ours. The plan's other numbers are for us already. */
  readonly share: Share;
  /** When the load begins: due times count from here. Not later than now. */
  readonly begin: Instant;
}

const defaultWaitingMax = 65_536;
const noWaits = { waited: 0, waitingMost: 0, refused: 0 };
/** How often the drain looks whether everything has been answered. */
const drainLook = ms(1);

interface Lane {
  readonly dispatch: Dispatch;
  readonly arrivals: Arrivals | undefined;
}

export class Driver {
  readonly #setting: DriverSetting;
  readonly #engine: Engine;
  readonly #lanes: readonly Lane[];
  readonly #holders: readonly Holder[];
  readonly #loop: LoopWatch;
  #lastCut: Instant;
  #cpuAtCut: Duration;
  #measuredFrom: Instant;
  #cpuAtMeasure: Duration;
  #span: Duration = ns(0);
  #limits: readonly string[] = [];

  constructor(plan: LoadPlan, setting: DriverSetting) {
    const { engine, begin } = setting;
    this.#setting = setting;
    this.#engine = engine;
    this.#lastCut = begin;
    this.#measuredFrom = begin;
    this.#cpuAtCut = setting.cpu();
    this.#cpuAtMeasure = this.#cpuAtCut;
    this.#loop = new LoopWatch(engine, engine.now());
    this.#lanes = plan.groups.map((group, index) => this.#begin(group, demandSeed(plan.seed, index)));
    this.#holders = (plan.held ?? []).map((group) => new Holder(group, engine, begin));
  }

  cut(): DriverCut {
    const now = this.#engine.now();
    const cpu = this.#setting.cpu();
    const cut = {
      at: now,
      span: between(this.#lastCut, now),
      cpu: ns(cpu - this.#cpuAtCut),
      groups: this.#lanes.map(({ dispatch }) => ({
        tally: dispatch.stretches.cut(),
        inFlight: dispatch.inFlight.cut(now),
      })),
      held: this.#holders.map((holder) => holder.cut(now)),
    };
    this.#lastCut = now;
    this.#cpuAtCut = cpu;
    return cut;
  }

  measure(): void {
    const now = this.#engine.now();
    for (const { dispatch } of this.#lanes) dispatch.stretches.begin(now);
    for (const holder of this.#holders) holder.measure();
    this.#loop.restart();
    this.#measuredFrom = now;
    this.#cpuAtMeasure = this.#setting.cpu();
  }

  /** Nothing more comes due. Resolves when everything is answered, or after `grace`. */
  end(grace: Duration): Promise<void> {
    const now = this.#engine.now();
    this.#span = between(this.#measuredFrom, now);
    const cpu = ns(this.#setting.cpu() - this.#cpuAtMeasure);
    this.#loop.stop();
    for (const { dispatch } of this.#lanes) dispatch.end(now);
    for (const holder of this.#holders) holder.end();
    const groups = [...this.#lanes.map(groupLimits), ...this.#holders.map(holderLimits)];
    this.#limits = limitsReached({ span: this.#span, cpu, loopLatenessP99: this.#loop.p99, groups });
    return this.#drained(after(now, grace));
  }

  /** Closes whatever is left, requests and connections. */
  finish(): DriverEnd {
    const now = this.#engine.now();
    for (const { dispatch } of this.#lanes) dispatch.finish(now);
    return {
      span: this.#span,
      groups: this.#lanes.map(({ dispatch }) => dispatch.stretches.whole()),
      held: this.#holders.map((holder) => holder.finish(now)),
      limits: this.#limits,
    };
  }

  /** `seed` is the demand's own. Its schedule is one for all drivers; what each of them draws for itself is not. */
  #begin(group: LoadGroup, seed: number): Lane {
    const { engine, names, share, begin } = this.#setting;
    const retry =
      group.retry === undefined
        ? undefined
        : retryPolicyOf(group.retry, dice(seed, `retries/${share.index}`), share.of);
    const choice = dice(seed, `choice/${share.index}`).below(2 ** 31);
    const dispatch = new Dispatch({ engine, group, names, seed: choice, retry, now: begin });
    if (group.demand.kind === 'closed') {
      dispatch.begin(new Users(group.demand, dispatch, engine, share, seed), begin);
      return { dispatch, arrivals: undefined };
    }
    const limits = {
      connectionsMin: (group.connectionsMin ?? 0) * streamsOf(group),
      connectionsMax: connectionsMaxOf(group) * streamsOf(group),
      waitingMax: group.waitingMax ?? defaultWaitingMax,
    };
    const arrivals = new Arrivals(sharedPacer(group.demand, seed, share), limits, dispatch, engine);
    dispatch.begin(arrivals, begin);
    return { dispatch, arrivals };
  }

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
}

const groupLimits = ({ dispatch, arrivals }: Lane): GroupLimits => ({
  group: dispatch.group.group,
  connectionsMax: connectionsMaxOf(dispatch.group),
  streamsMax: dispatch.group.http2?.streamsMax,
  streamsAllowed: dispatch.streamsAllowed,
  ...(arrivals?.waits ?? noWaits),
  ...dispatch.shortages,
});

const holderLimits = (holder: Holder): GroupLimits => ({
  group: holder.group,
  connectionsMax: Infinity,
  ...noWaits,
  ...holder.shortages,
});
