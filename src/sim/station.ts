// One replica or dependency: a fixed pool of workers with a queue in front, first come first served.
//
//            ┌─► refused (killed)      ┌─► full: 503
//   arrive ──┼─► unread ─(wakes)──► accept ─► waiting ─► serving ──► calling ──► ended
//            └──────────────────────►─┘  └──────────────►─┘  └───────────────►─┘
//
//   waiting ─► dropped     its client left, and this station notices such things
//   serving ─► overdue     its time was over while the station stood still; it ends when that does
//   serving ─► dead        the station was killed
//   serving    begins with computing where processor time is shared: then its end is known only when it comes
//   accept  ─► failing     it answers an error in a worker's stead
//
// A request first gets its processor time, by whatever the process shares out (see processor.ts), then its worker holds it for the
// service time, then for its calls.
//
// A station's own clock stands still while it pauses by itself, and times of service are kept by that clock: so a pause costs the
// same however many are being served. (A stopped process is another thing: its timers go on.)
//
// The areas under `inFlight`, `busy` and `waiting` are exact, so any span's mean is a difference. They also audit the run:
// what was in flight, added up over time, is what the sojourns add up to (Little's law without the division).
//
// Hot: `arrive`, `due` and what they call. They allocate nothing.

import { assert, type Dice, type DiceBank } from '../base.ts';
import { cell, type Cells } from './cells.ts';
import { FifoProcessor } from './fifo-processor.ts';
import { JobList } from './job-list.ts';
import { type Jobs, outcomes, purposes, states } from './jobs.ts';
import type { Processor, ProcessorKind } from './processor.ts';
import { SharedProcessor } from './shared-processor.ts';

/** What all stations of a service have in common. */
export interface StationKind {
  readonly queueLimit: number;
  readonly abandoned: 'served' | 'dropped';
  readonly order: 'fifo' | 'lifo' | 'codel';
  readonly healthSharesPool: boolean;
  /** Draws a service time, from the stream that `streams` stands at. */
  readonly draw: () => number;
  readonly streams: DiceBank;
  /** Draws the processor time of a request, from the same stream after the service time; undefined: it needs none. */
  readonly drawWork: (() => number) | undefined;
  readonly processor: ProcessorKind;
  /** How many calls each request makes. */
  readonly calls: number;
  /** How slow a station is after a start; undefined: warm at once. */
  readonly coldStart: { readonly factor: number; readonly length: number } | undefined;
}

export interface StationSettings {
  readonly id: string;
  readonly index: number;
  /** Its place among the stations of its service, from 0. */
  readonly place: number;
  readonly workers: number;
  readonly kind: StationKind;
  readonly cells: Cells;
  /** Its own stream of service times. */
  readonly stream: number;
  /** When it was started. One that stands from the beginning is warm. */
  readonly startedAt: number;
}

/** What a station needs of the world around it. */
export interface StationDuties {
  readonly jobs: Jobs;
  /** `due` wants to be called for this job then. */
  scheduleDue(at: number, job: number): void;
  /** `wakeProcessor` wants to be called for this station then. */
  scheduleProcessor(at: number, station: Station): void;
  /** The job is over. It belongs to whoever is told. */
  ended(job: number, outcome: number): void;
  /** The job makes its next call, holding its worker; `called` must be told when that is over. */
  makeCall(job: number, station: Station): void;
}

const codelTarget = 5e6;
const codelInterval = 100e6;

/** Answers a share of the requests with an error after so long. */
interface Failing {
  readonly share: number;
  readonly after: number;
  readonly dice: Dice;
}

export class Station {
  readonly #cells: Cells;
  readonly #at: number;
  readonly #duties: StationDuties;
  readonly #kind: StationKind;
  #down = false;
  /** From outside (SIGSTOP): one resume ends it, however many stops came before. */
  #stopped = false;
  /** By itself: each pause ends by its own length. */
  #pauses = 0;
  /** Whether it collects its garbage: a pause that nobody outside hears of. */
  #collects = false;
  /** How often it was started again: a pause ends with the life that it began in. */
  life = 0;
  /** How far its own clock is behind, now and when it last came to a stand. */
  #behind = 0;
  #behindBefore = 0;
  #failing: Failing | undefined;
  workers: number;
  /** Multiplies service and processor time. */
  slowness = 1;
  readonly #stream: number;
  readonly index: number;
  readonly id: string;
  readonly place: number;
  /** Undefined where requests need no processor time. */
  readonly #processor: Processor | undefined;
  #coldFrom: number;
  /** Since when somebody has been waiting without a break. */
  #queuedSince = 0;
  /** Made when it first stands still: most stations of a large fleet never do. */
  #unread: JobList | undefined;
  #overdue: JobList | undefined;

  constructor(settings: StationSettings, duties: StationDuties) {
    assert(settings.workers > 0, 'a station has at least one worker');
    const { kind } = settings;
    this.id = settings.id;
    this.index = settings.index;
    this.place = settings.place;
    this.workers = settings.workers;
    this.#cells = settings.cells;
    this.#at = settings.cells.add();
    this.#stream = settings.stream;
    this.#kind = kind;
    this.#duties = duties;
    this.#coldFrom = settings.startedAt;
    this.#processor = kind.drawWork === undefined ? undefined : this.#newProcessor(kind.processor);
  }

  #newProcessor(kind: ProcessorKind): Processor {
    if (kind.scheduling === 'fifo') return new FifoProcessor(kind.quota);
    return new SharedProcessor(kind, {
      jobs: this.#duties.jobs,
      computed: (job, now) => this.#computed(job, now),
      wake: (at) => this.#duties.scheduleProcessor(at, this),
    });
  }

  #cell(place: number): number {
    return this.#cells.values[this.#at + place] ?? 0;
  }

  #add(place: number, amount: number): void {
    const { values } = this.#cells;
    values[this.#at + place] = (values[this.#at + place] ?? 0) + amount;
  }

  #set(place: number, value: number): void {
    this.#cells.values[this.#at + place] = value;
  }

  get inFlight(): number {
    return this.#cell(cell.inFlight);
  }

  get busy(): number {
    return this.#cell(cell.busy);
  }

  get waiting(): number {
    return this.#cell(cell.waiting);
  }

  get inFlightArea(): number {
    return this.#cell(cell.inFlightArea);
  }

  get sojournSum(): number {
    return this.#cell(cell.sojournSum);
  }

  get arrivalSum(): number {
    return this.#cell(cell.arrivalSum);
  }

  get frozen(): boolean {
    return this.#stopped || this.#pauses > 0 || this.#collects;
  }

  /** Whether whoever looks at it in vain gives up: it is dead or stands still for long. */
  get silent(): boolean {
    return this.#down || this.#stopped || this.#pauses > 0;
  }

  get down(): boolean {
    return this.#down;
  }

  /** Brings everything that is counted up to `now`. */
  settle(now: number): void {
    this.#settle(now);
    if (this.#processor === undefined) return;
    this.#processor.settle(now);
    this.#set(cell.cpuSum, this.#processor.usedNs);
    this.#set(cell.throttledNs, this.#processor.throttledNs);
    this.#set(cell.throttledPeriods, this.#processor.throttledPeriods);
  }

  /** Brings the areas up to `now`. */
  #settle(now: number): void {
    const { values } = this.#cells;
    const at = this.#at;
    const span = now - (values[at] ?? 0);
    values[at + cell.inFlightArea] = (values[at + cell.inFlightArea] ?? 0) + (values[at + cell.inFlight] ?? 0) * span;
    values[at + cell.busyArea] = (values[at + cell.busyArea] ?? 0) + (values[at + cell.busy] ?? 0) * span;
    values[at + cell.waitingArea] = (values[at + cell.waitingArea] ?? 0) + (values[at + cell.waiting] ?? 0) * span;
    values[at] = now;
  }

  arrive(job: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.station[job] = this.index;
    if (this.#down) {
      this.#duties.ended(job, outcomes.refused);
    } else if (this.frozen) {
      jobs.state[job] = states.unread;
      (this.#unread ??= new JobList()).push(job, jobs);
    } else this.#accept(job, now);
  }

  #accept(job: number, now: number): void {
    const { jobs } = this.#duties;
    if (jobs.purpose[job] === purposes.check && !this.#kind.healthSharesPool) {
      this.#duties.ended(job, outcomes.ok);
      return;
    }
    this.#settle(now);
    this.#add(cell.started, 1);
    jobs.arrivedAt[job] = now;
    if (this.#failing !== undefined && this.#fails(job)) {
      this.#enter(now);
      jobs.state[job] = states.failing;
      jobs.timed[job] = 1;
      this.#duties.scheduleDue(now + this.#failing.after, job);
    } else if (this.busy < this.workers) {
      this.#enter(now);
      this.#begin(job, now);
    } else if (this.waiting < this.#kind.queueLimit) {
      this.#enter(now);
      this.#add(cell.waiting, 1);
      jobs.state[job] = states.waiting;
      if (this.#cell(cell.queue) < 0) this.#queuedSince = now;
      this.#queueUp(job);
    } else this.#duties.ended(job, outcomes.full);
  }

  #fails(job: number): boolean {
    if (this.#duties.jobs.purpose[job] === purposes.check) return false;
    return this.#failing !== undefined && this.#failing.dice.next() < this.#failing.share;
  }

  /** From now on a share of the requests is answered with an error after so long; a share of 0 ends that. */
  fail(share: number, after: number, dice: Dice): void {
    this.#failing = share === 0 ? undefined : { share, after, dice };
  }

  #enter(now: number): void {
    this.#add(cell.inFlight, 1);
    this.#add(cell.arrivalSum, now);
  }

  #leave(job: number, now: number): void {
    const arrivedAt = this.#duties.jobs.arrivedAt[job] ?? 0;
    this.#add(cell.inFlight, -1);
    this.#add(cell.arrivalSum, -arrivedAt);
    this.#add(cell.sojournSum, now - arrivedAt);
  }

  #begin(job: number, now: number): void {
    const { jobs } = this.#duties;
    this.#add(cell.busy, 1);
    jobs.startedAt[job] = now;
    if (jobs.purpose[job] === purposes.check) {
      this.#serve(job, now);
      return;
    }
    const { draw, drawWork, streams } = this.#kind;
    const slowness = this.slowness * this.#coldness(now);
    streams.at(this.#stream);
    const service = Math.round(draw() * slowness);
    const computed =
      drawWork === undefined || this.#processor === undefined
        ? now
        : this.#processor.begin(job, drawWork() * slowness, now);
    if (computed !== undefined) {
      this.#serve(job, computed + service);
      return;
    }
    jobs.state[job] = states.computing;
    jobs.dueAt[job] = service;
  }

  #serve(job: number, until: number): void {
    const { jobs } = this.#duties;
    jobs.state[job] = states.serving;
    jobs.dueAt[job] = until - this.#behind;
    jobs.timed[job] = 1;
    this.#duties.scheduleDue(until, job);
  }

  /** The instant has come that the processor asked for. */
  wakeProcessor(now: number): void {
    this.#processor?.pass(now);
  }

  #computed(job: number, now: number): void {
    const { jobs } = this.#duties;
    const service = jobs.dueAt[job] ?? 0;
    jobs.dueAt[job] = now + service - this.#behind;
    this.#goOn(job, now);
  }

  #coldness(now: number): number {
    const { coldStart } = this.#kind;
    if (coldStart === undefined) return 1;
    return 1 + (coldStart.factor - 1) * Math.max(0, 1 - (now - this.#coldFrom) / coldStart.length);
  }

  /** The event of a job's end has come. */
  due(job: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.timed[job] = 0;
    switch (jobs.state[job]) {
      case states.dead:
        jobs.free(job);
        return;
      case states.telling:
        return;
      case states.failing:
        if (this.frozen) this.#hold(job);
        else this.#answerWithError(job, now);
        return;
      default:
        assert(jobs.state[job] === states.serving, 'whoever is due is being served');
        this.#goOn(job, now);
    }
  }

  /** It goes on when the process does. */
  #hold(job: number): void {
    (this.#overdue ??= new JobList()).push(job, this.#duties.jobs);
  }

  #answerWithError(job: number, now: number): void {
    this.#settle(now);
    this.#leave(job, now);
    this.#duties.ended(job, outcomes.failed);
  }

  /** One of the calls of a job is over, well (and `jobs.call` counts it) or badly. */
  called(job: number, outcome: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.outcome[job] = outcome;
    // Nothing is left of its own time.
    jobs.dueAt[job] = 0;
    this.#goOn(job, now);
  }

  /** What a job does next when its own time, or one of its calls, is over. */
  #goOn(job: number, now: number): void {
    const { jobs } = this.#duties;
    const dueAt = (jobs.dueAt[job] ?? 0) + this.#behind;
    if (this.frozen) {
      jobs.state[job] = states.overdue;
      this.#hold(job);
    } else if (dueAt > now) {
      this.#serve(job, dueAt);
    } else if (jobs.outcome[job] === outcomes.ok && this.#callsLeft(job)) {
      jobs.state[job] = states.calling;
      this.#duties.makeCall(job, this);
    } else this.#finish(job, jobs.outcome[job] ?? 0, now);
  }

  #callsLeft(job: number): boolean {
    const { jobs } = this.#duties;
    return (jobs.call[job] ?? 0) < this.#kind.calls && jobs.purpose[job] !== purposes.check;
  }

  /** Lets the job go, and its worker takes up the next: released before anybody can seize it. */
  #finish(job: number, outcome: number, now: number): void {
    const { jobs } = this.#duties;
    this.#settle(now);
    this.#add(cell.busy, -1);
    this.#leave(job, now);
    if (jobs.purpose[job] !== purposes.check) {
      this.#add(cell.serviceSum, now - (jobs.startedAt[job] ?? 0));
      this.#add(cell.serviceCount, 1);
    }
    this.#takeNext(now);
    this.#duties.ended(job, outcome);
  }

  /** The queue is a ring through the pool's `next`: the last points to the first, and only the last is kept. */
  #queueUp(job: number): void {
    const { next } = this.#duties.jobs;
    const last = this.#cell(cell.queue);
    if (last < 0) next[job] = job;
    else {
      next[job] = next[last] ?? -1;
      next[last] = job;
    }
    // The newest goes first where it is made the first and not the last.
    if (last < 0 || this.#kind.order !== 'lifo') this.#set(cell.queue, job);
  }

  /** Takes out who has waited longest; −1 when nobody waits. */
  #nextInQueue(): number {
    const last = this.#cell(cell.queue);
    if (last < 0) return -1;
    const { next } = this.#duties.jobs;
    const first = next[last] ?? -1;
    if (first === last) this.#set(cell.queue, -1);
    else next[last] = next[first] ?? -1;
    return first;
  }

  /** Controlled delay (Nichols and Jacobson, ACM Queue 2012, as requests wait in Maurer, "Fail at Scale", 2015): a queue that was
   * empty lately takes in a burst; one that stands holds nobody for long. */
  #waitedTooLong(job: number, now: number): boolean {
    const stands = now - this.#queuedSince >= codelInterval;
    return now - (this.#duties.jobs.arrivedAt[job] ?? now) > (stands ? codelTarget : codelInterval);
  }

  #takeNext(now: number): void {
    const { jobs } = this.#duties;
    while (this.busy < this.workers) {
      const job = this.#nextInQueue();
      if (job < 0) return;
      if (jobs.state[job] === states.dropped) {
        jobs.free(job);
        continue;
      }
      this.#add(cell.waiting, -1);
      if (this.#kind.order === 'codel' && this.#waitedTooLong(job, now)) {
        this.#leave(job, now);
        this.#duties.ended(job, outcomes.full);
      } else this.#begin(job, now);
    }
  }

  /** Nobody waits for this job any more. */
  abandon(job: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.parent[job] = -1;
    if (this.#kind.abandoned === 'served') return;
    if (jobs.state[job] === states.unread) jobs.state[job] = states.dropped;
    if (jobs.state[job] === states.computing) this.#giveUp(job, now);
    if (jobs.state[job] !== states.waiting) return;
    this.#settle(now);
    jobs.state[job] = states.dropped;
    this.#add(cell.waiting, -1);
    this.#leave(job, now);
  }

  /** Whoever computes notices that nobody waits, and gives processor and worker back; not while the process stands still. */
  #giveUp(job: number, now: number): void {
    if (this.frozen || this.#processor?.leave(job, now) !== true) return;
    this.#settle(now);
    this.#add(cell.busy, -1);
    this.#leave(job, now);
    this.#duties.jobs.free(job);
    this.#takeNext(now);
  }

  setWorkers(workers: number, now: number): void {
    assert(workers > 0, 'a station has at least one worker');
    this.#settle(now);
    this.workers = workers;
    this.#takeNext(now);
  }

  /** It stands still: reads nothing, ends nothing. */
  stop(now: number): void {
    this.#freeze(now);
    this.#stopped = true;
  }

  /** It goes on. The clock has not stood still, so what would have been over is over. */
  resume(now: number): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#wake(now);
  }

  /** It stands still by itself, for so long that it looks dead. */
  pause(now: number): void {
    this.#freeze(now);
    this.#pauses += 1;
  }

  /** The pause is over. No work was done in it, so every service takes `length` longer. */
  endPause(length: number, now: number): void {
    if (this.#pauses === 0) return;
    this.#pauses -= 1;
    this.#behind += length;
    this.#wake(now);
  }

  /** As a pause, but short: whoever looks at it waits for it. */
  collect(now: number): void {
    this.#freeze(now);
    this.#collects = true;
  }

  /** Unless the process was started again meanwhile: then that has ended it. */
  endCollection(length: number, now: number): void {
    if (!this.#collects) return;
    this.#collects = false;
    this.#behind += length;
    this.#wake(now);
  }

  #freeze(now: number): void {
    if (this.frozen || this.#down) return;
    this.#behindBefore = this.#behind;
    this.#processor?.stand(now);
  }

  /** Ends what was over meanwhile, then reads what has arrived. */
  #wake(now: number): void {
    if (this.frozen || this.#down) return;
    this.#processor?.goOn(now, this.#behind - this.#behindBefore);
    const { jobs } = this.#duties;
    const overdue = this.#overdue ?? new JobList();
    for (let job = overdue.shift(jobs); job >= 0; job = overdue.shift(jobs)) {
      if (jobs.state[job] === states.failing) this.#answerWithError(job, now);
      else this.#goOn(job, now);
    }
    const unread = this.#unread ?? new JobList();
    for (let job = unread.shift(jobs); job >= 0; job = unread.shift(jobs)) {
      if (jobs.state[job] === states.dropped) jobs.free(job);
      else this.#accept(job, now);
    }
  }

  /** It ends at once, with all that it held; nobody listens any more. */
  kill(now: number): void {
    if (this.#down) return;
    const { jobs } = this.#duties;
    this.#settle(now);
    this.#down = true;
    this.#processor?.clear(now);
    this.#set(cell.queue, -1);
    this.#unread = undefined;
    this.#overdue = undefined;
    this.#set(cell.busy, 0);
    this.#set(cell.waiting, 0);
    for (let job = 0; job < jobs.end; job++) {
      if (jobs.station[job] === this.index && jobs.state[job] !== states.free) this.#lose(job, now);
    }
    assert(this.inFlight === 0, 'a killed station holds nothing');
  }

  #lose(job: number, now: number): void {
    const { jobs } = this.#duties;
    switch (jobs.state[job]) {
      case states.dead:
      case states.telling:
      case states.travelling:
      case states.recalled:
        return;
      case states.dropped:
        jobs.free(job);
        return;
      case states.unread:
        break;
      default:
        this.#leave(job, now);
    }
    this.#duties.ended(job, outcomes.reset);
  }

  /** It is started again, empty. */
  restart(now: number): void {
    if (!this.#down) return;
    this.#settle(now);
    this.#down = false;
    this.#stopped = false;
    this.#pauses = 0;
    this.#collects = false;
    this.life += 1;
    this.#coldFrom = now;
  }
}
