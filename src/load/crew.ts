// Several threads or processes, one truth: a plan shared out between workers that begin at one instant of one clock, whose counts are
// merged exactly. The union of the workers' schedules is the plan's schedule, and the sum of their ledgers is its ledger.
//
// Workers cut their counts at the same instants (every tenth of a second). A round counts when all who are alive have sent
// it, so that a snapshot never mixes a second of one with half a second of another; it is a tenth of a second old at most.
//
// A worker that is lost takes its share of the load with it. The run goes on and says so: its numbers up to the last round
// are kept, what its share of a schedule still had is in the ledger as never sent, and the result names the loss among its limits.

import { after, assert, type Duration, formatDuration, type Instant, instantAt, ms, ns } from '../base.ts';
import type { EngineChoice } from '../net.ts';
import type { LoadPlan, LoadResult, LoadRun, LoadSnapshot } from './contract.ts';
import type { DriverCut, DriverEnd } from './driver.ts';
import { type Hand, type HandEvents, type HandKind, newHand } from './hand.ts';
import { leaveLostShare } from './lost-share.ts';
import type { RemoteThread } from './machines/remote-hand.ts';
import { laterCut, mergedCut, mergedEnd } from './merge.ts';
import { ObjectiveWatch } from './objective-watch.ts';
import { ReplicaNames } from './replica-names.ts';
import { demandSeed } from './share.ts';
import { Tally } from './tally.ts';
import { resultOf, secondOf, snapshotOf } from './views.ts';
import { cutOf, endOf } from './wire-data.ts';
import type { FromWorker, ToWorker, WorkerSetting } from './worker.ts';

export interface CrewOptions {
  /** How many, or threads of other machines (see `reachMachines`). */
  readonly workers: number | readonly RemoteThread[];
  /** Of our own: threads of this process (the default), or processes, which have each a limit of open files of their own. */
  readonly as?: HandKind;
  /** Default `auto`. Whoever insists on io_uring where there is none loses its workers, with the reason among the limits. */
  readonly engine?: EngineChoice;
}

const round = ms(100);
/** From "all are ready" to the common beginning: long enough for the message to reach everybody. */
const lead = ms(30);
const leadOfMachines = ms(300);

/** Starts the plan's demand on so many threads of their own; resolves when it has begun. Instants in the snapshots count from
 * when the crew was made. */
export async function startCrew(plan: LoadPlan, options: CrewOptions): Promise<LoadRun> {
  const { workers } = options;
  const count = typeof workers === 'number' ? workers : workers.length;
  assert(Number.isInteger(count) && count > 0, 'a crew has a whole number of workers');
  const crew = new Crew(plan, options);
  await crew.begin();
  return crew;
}

class Crew implements LoadRun {
  readonly #plan: LoadPlan;
  readonly #names = new ReplicaNames();
  readonly #watch: ObjectiveWatch;
  readonly #members: readonly Member[];
  readonly #clockStart = process.hrtime.bigint();
  /** Rounds merged so far, and what they amount to since the last snapshot. */
  #rounds = 0;
  #recent: DriverCut | undefined;
  readonly #lead: Duration;
  #begun: Instant = instantAt(0);
  #lastSnapshot: Instant = instantAt(0);
  #stopping = false;

  constructor(plan: LoadPlan, { workers, as = 'thread', engine = 'auto' }: CrewOptions) {
    this.#plan = plan;
    this.#watch = new ObjectiveWatch(plan.objectives ?? []);
    this.#lead = typeof workers === 'number' ? lead : leadOfMachines;
    const places: readonly Place[] =
      typeof workers === 'number'
        ? Array.from({ length: workers }, () => ({ hand: (setting, events) => newHand(as, setting, events) }))
        : workers;
    this.#members = places.map((place, index) => {
      const share = { index, of: places.length };
      return new Member({ plan, share, clockStart: this.#clockStart, round, engine }, place, this);
    });
  }

  /** When the load begins, by our clock. */
  get begun(): Instant {
    return this.#begun;
  }

  get names(): ReplicaNames {
    return this.#names;
  }

  now(): Instant {
    return instantAt(Number(process.hrtime.bigint() - this.#clockStart));
  }

  async begin(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.ready));
    const at = after(this.now(), this.#lead);
    this.#begun = at;
    this.#lastSnapshot = at;
    for (const member of this.#members) member.tell({ kind: 'begin', at });
    await new Promise((resolve) => setTimeout(resolve, this.#lead / 1e6));
  }

  /** A worker has sent a round, or is lost: merges whatever is complete now. */
  advance(): void {
    for (;;) {
      const cuts: DriverCut[] = [];
      for (const member of this.#members) {
        const cut = member.rounds[this.#rounds];
        if (cut === undefined && member.state === 'working') return;
        if (cut !== undefined) cuts.push(cut);
      }
      if (cuts.length === 0) return;
      for (const member of this.#members) member.rounds[this.#rounds] = undefined;
      this.#rounds += 1;
      const merged = mergedCut(cuts, this.#plan.groups.length, (this.#plan.held ?? []).length);
      this.#recent = this.#recent === undefined ? merged : laterCut(this.#recent, merged);
    }
  }

  snapshot(detail?: 'histograms'): LoadSnapshot {
    const cut = this.#recent ?? mergedCut([], this.#plan.groups.length, (this.#plan.held ?? []).length);
    this.#recent = undefined;
    const at = instantAt(Math.max(this.#lastSnapshot, cut.at));
    this.#lastSnapshot = at;
    // No round since the last look is no second.
    if (cut.span > 0 && !this.#stopping) this.#watch.add(secondOf(this.#plan, cut, this.#names));
    return snapshotOf(this.#plan, { ...cut, at }, this.#names, { broken: this.#watch.broken, detail });
  }

  measure(): void {
    for (const member of this.#members) member.measure();
    this.#watch.restart();
  }

  async stop(grace: Duration): Promise<LoadResult> {
    assert(!this.#stopping, 'a run is stopped once');
    this.#stopping = true;
    const ends = await Promise.all(this.#members.map((member) => member.stop(grace)));
    const lost = this.#members.flatMap((member) => member.loss);
    const end = mergedEnd(ends, this.#plan.groups.length, (this.#plan.held ?? []).length);
    return resultOf(this.#plan, { ...end, limits: [...lost, ...end.limits] }, this.#names, this.#watch);
  }
}

/** Where a worker can live: here, or on another machine. */
interface Place {
  readonly machine?: string;
  hand(setting: WorkerSetting, events: HandEvents): Hand;
}

/** One worker as the crew sees it. */
class Member {
  readonly ready: Promise<void>;
  state: 'working' | 'ended' | 'lost' = 'working';
  /** By number of the round, from 0; let go of when merged. */
  readonly rounds: (DriverCut | undefined)[] = [];
  readonly #hand: Hand;
  readonly #crew: Crew;
  readonly #setting: WorkerSetting;
  readonly #machine: string | undefined;
  #measuredAt: Instant = instantAt(0);
  /** Since `measure`, of what has been heard: all that is left of a worker that is lost. */
  #heard: DriverCut | undefined;
  #end: DriverEnd | undefined;
  #why = '';
  #lostAt: Instant = instantAt(0);
  #isReady: () => void = () => {};
  #isOver: () => void = () => {};
  readonly #over: Promise<void>;

  constructor(setting: WorkerSetting, place: Place, crew: Crew) {
    this.#crew = crew;
    this.#setting = setting;
    this.#machine = place.machine;
    this.ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#over = new Promise((resolve) => (this.#isOver = resolve));
    this.#hand = place.hand(setting, {
      onMessage: (message) => this.#hear(message),
      onLoss: (why) => this.#lose(why),
    });
  }

  tell(message: ToWorker): void {
    if (this.state === 'working') this.#hand.tell(message);
  }

  measure(): void {
    this.#heard = undefined;
    this.#measuredAt = this.#crew.now();
    this.tell({ kind: 'measure' });
  }

  /** What it came to, or what was heard of it if it is lost. */
  async stop(grace: Duration): Promise<DriverEnd> {
    const stopped = this.#crew.now();
    this.tell({ kind: 'stop', grace });
    await this.#over;
    await this.#hand.end();
    return this.#end ?? this.#remains(stopped);
  }

  /** That it was lost, in words; nothing when it was not. */
  get loss(): readonly string[] {
    if (this.state !== 'lost') return [];
    const when = formatDuration(ns(Math.max(0, this.#lostAt - this.#crew.begun)));
    return [`${this.#name} was lost after ${when} (${this.#why}): its share of the load ended there`];
  }

  get #name(): string {
    const { index, of } = this.#setting.share;
    return `worker ${index + 1} of ${of}${this.#machine === undefined ? '' : ` (${this.#machine})`}`;
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady();
        return;
      case 'cut': {
        const cut = cutOf(message.cut, this.#crew.names);
        this.rounds[message.round - 1] = cut;
        this.#heard = this.#heard === undefined ? cut : laterCut(this.#heard, cut);
        this.#crew.advance();
        return;
      }
      case 'end': {
        const { limits, ...end } = endOf(message.end, this.#crew.names);
        const isAlone = this.#setting.share.of === 1;
        this.#end = { ...end, limits: limits.map((limit) => (isAlone ? limit : `${this.#name}: ${limit}`)) };
        this.state = 'ended';
        this.#isOver();
        this.#crew.advance();
      }
    }
  }

  #lose(why: string): void {
    if (this.state !== 'working') return;
    this.state = 'lost';
    this.#why = why;
    this.#lostAt = this.#crew.now();
    this.#isReady();
    this.#isOver();
    this.#crew.advance();
  }

  /** A ledger out of the last rounds: what had not ended then was in flight, and what its schedules still had until `stopped` was
   * never sent. Requests of the warm-up that ended after it are in there too, so that this can be off by some; the loss is told
   * beside it. */
  #remains(stopped: Instant): DriverEnd {
    const heard = this.#heard;
    const { plan, share } = this.#setting;
    const { begun } = this.#crew;
    const limits: string[] = [];
    const from = instantAt(Math.max(heard?.at ?? begun, this.#measuredAt));
    const groups = plan.groups.map(({ demand }, index) => {
      const tally = new Tally();
      const last = heard?.groups[index]?.tally;
      if (last !== undefined) tally.add(last);
      tally.planned = Math.max(tally.planned, tally.ended);
      tally.inFlightAtEnd += tally.planned - tally.ended;
      const isWhole = leaveLostShare(tally, {
        demand,
        seed: demandSeed(plan.seed, index),
        share,
        begun,
        from,
        to: stopped,
      });
      if (!isWhole) limits.push(`${this.#name}: its schedule went on for longer than could be counted`);
      return tally;
    });
    return { span: heard?.span ?? ns(0), groups, held: heard?.held ?? [], limits };
  }
}
