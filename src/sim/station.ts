// One replica or dependency: a fixed pool of workers with a queue in front, first come first served.
//
//            ┌─► refused (killed)      ┌─► full: 503
//   arrive ──┼─► unread ─(wakes)──► accept ─► waiting ─► serving ──► calling ──► ended
//            └──────────────────────►─┘  └──────────────►─┘  └───────────────►─┘
//
//   waiting ─► dropped     its client left, and this station notices such things
//   serving ─► overdue     its time was over while the station stood still; it ends when that does
//   serving ─► dead        the station was killed
//   accept  ─► failing     it answers an error in a worker's stead
//
// Processor time is a queue of its own, one for the whole process: a request first gets `cpuTime` of it, then its worker
// holds it for the service time, then for its calls. A quota below one core lets the process run for a part of each 100 ms.
//
// The areas under `inFlight`, `busy` and `waiting` are exact, so any span's mean is a difference. They also audit the run:
// what was in flight, added up over time, is what the sojourns add up to (Little's law without the division).
//
// Hot: `arrive`, `due` and what they call. They allocate nothing.

import { assert } from '../base.ts';
import { CpuQuota } from './cpu-quota.ts';
import { type Jobs, outcomes, purposes, states } from './jobs.ts';

export interface StationSettings {
  readonly id: string;
  readonly index: number;
  /** Its place among the stations of its service, from 0. */
  readonly place: number;
  readonly workers: number;
  readonly queueLimit: number;
  readonly abandoned: 'served' | 'dropped';
  readonly healthSharesPool: boolean;
  /** Draws a service time. */
  readonly draw: () => number;
  readonly cpuTime: number;
  /** Cores; undefined: one. */
  readonly cpuQuota: number | undefined;
  /** How many calls each request makes. */
  readonly calls: number;
  /** How slow it is after a start; undefined: warm at once. */
  readonly coldStart: { readonly factor: number; readonly length: number } | undefined;
  /** When it was started. One that stands from the beginning is warm. */
  readonly startedAt: number;
  /** Draws a number from 0 to 1, for requests that fail on purpose. */
  readonly drawFailure: () => number;
}

/** What a station needs of the world around it. */
export interface StationDuties {
  readonly jobs: Jobs;
  /** `due` wants to be called for this job then. */
  scheduleDue(at: number, job: number): void;
  /** The job is over. It belongs to whoever is told. */
  ended(job: number, outcome: number): void;
  /** The job makes its next call, holding its worker; `called` must be told when that is over. */
  makeCall(job: number, station: Station): void;
}

/** Places in a station's sums. */
const sums = {
  settledAt: 0,
  inFlightArea: 1,
  busyArea: 2,
  waitingArea: 3,
  service: 4,
  sojourns: 5,
  arrivals: 6,
} as const;

export class Station {
  readonly id: string;
  readonly index: number;
  readonly place: number;
  readonly #duties: StationDuties;
  readonly #settings: StationSettings;

  /** Multiplies service and processor time. */
  slowness = 1;
  workers: number;
  inFlight = 0;
  busy = 0;
  waiting = 0;

  // Totals since the beginning; whoever reads takes differences. Times in nanoseconds.
  started = 0;
  serviceCount = 0;
  cpuSum = 0;
  readonly cpu: CpuQuota;

  /** See `sums`: one cache line instead of seven numbers all over the heap, which is what a large fleet waits for. */
  readonly #sums = new Float64Array(8);
  #coldFrom: number;
  /** A share of the requests is answered with an error after so long. */
  #failing: { readonly share: number; readonly after: number } | undefined;
  /** From outside (SIGSTOP): one resume ends it, however many stops came before. */
  #stopped = false;
  /** By itself: each pause ends by its own length. */
  #pauses = 0;
  #down = false;
  readonly #queue = new JobList();
  readonly #unread = new JobList();
  readonly #overdue = new JobList();

  constructor(settings: StationSettings, duties: StationDuties) {
    assert(settings.workers > 0, 'a station has at least one worker');
    this.id = settings.id;
    this.index = settings.index;
    this.place = settings.place;
    this.workers = settings.workers;
    this.#settings = settings;
    this.#duties = duties;
    this.#coldFrom = settings.startedAt;
    this.cpu = new CpuQuota(settings.cpuQuota);
  }

  get inFlightArea(): number {
    return this.#sums[sums.inFlightArea] ?? 0;
  }

  get busyArea(): number {
    return this.#sums[sums.busyArea] ?? 0;
  }

  get waitingArea(): number {
    return this.#sums[sums.waitingArea] ?? 0;
  }

  get serviceSum(): number {
    return this.#sums[sums.service] ?? 0;
  }

  /** Sum of the sojourns of what has left. */
  get sojournSum(): number {
    return this.#sums[sums.sojourns] ?? 0;
  }

  /** Sum of the arrival times of what is here. */
  get arrivalSum(): number {
    return this.#sums[sums.arrivals] ?? 0;
  }

  #add(place: number, amount: number): void {
    this.#sums[place] = (this.#sums[place] ?? 0) + amount;
  }

  get frozen(): boolean {
    return this.#stopped || this.#pauses > 0;
  }

  get down(): boolean {
    return this.#down;
  }

  /** Brings the areas up to `now`. */
  settle(now: number): void {
    const all = this.#sums;
    const span = now - (all[sums.settledAt] ?? 0);
    all[sums.inFlightArea] = (all[sums.inFlightArea] ?? 0) + this.inFlight * span;
    all[sums.busyArea] = (all[sums.busyArea] ?? 0) + this.busy * span;
    all[sums.waitingArea] = (all[sums.waitingArea] ?? 0) + this.waiting * span;
    all[sums.settledAt] = now;
  }

  arrive(job: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.station[job] = this.index;
    if (this.#down) {
      this.#duties.ended(job, outcomes.refused);
    } else if (this.frozen) {
      jobs.state[job] = states.unread;
      this.#unread.push(job, jobs);
    } else this.#accept(job, now);
  }

  #accept(job: number, now: number): void {
    const { jobs } = this.#duties;
    if (jobs.purpose[job] === purposes.check && !this.#settings.healthSharesPool) {
      this.#duties.ended(job, outcomes.ok);
      return;
    }
    this.settle(now);
    this.started += 1;
    jobs.arrivedAt[job] = now;
    if (this.#failing !== undefined && this.#fails(job)) {
      this.#enter(now);
      jobs.state[job] = states.failing;
      jobs.timed[job] = 1;
      this.#duties.scheduleDue(now + this.#failing.after, job);
    } else if (this.busy < this.workers) {
      this.#enter(now);
      this.#begin(job, now);
    } else if (this.waiting < this.#settings.queueLimit) {
      this.#enter(now);
      this.waiting += 1;
      jobs.state[job] = states.waiting;
      this.#queue.push(job, jobs);
    } else this.#duties.ended(job, outcomes.full);
  }

  #fails(job: number): boolean {
    if (this.#duties.jobs.purpose[job] === purposes.check) return false;
    return this.#settings.drawFailure() < (this.#failing?.share ?? 0);
  }

  /** From now on a share of the requests is answered with an error after so long; a share of 0 ends that. */
  fail(share: number, after: number): void {
    this.#failing = share === 0 ? undefined : { share, after };
  }

  #enter(now: number): void {
    this.inFlight += 1;
    this.#add(sums.arrivals, now);
  }

  #leave(job: number, now: number): void {
    const arrivedAt = this.#duties.jobs.arrivedAt[job] ?? 0;
    this.inFlight -= 1;
    this.#add(sums.arrivals, -arrivedAt);
    this.#add(sums.sojourns, now - arrivedAt);
  }

  #begin(job: number, now: number): void {
    const { jobs } = this.#duties;
    this.busy += 1;
    jobs.state[job] = states.serving;
    jobs.startedAt[job] = now;
    const dueAt = jobs.purpose[job] === purposes.check ? now : this.#worksUntil(now);
    jobs.dueAt[job] = dueAt;
    jobs.timed[job] = 1;
    this.#duties.scheduleDue(dueAt, job);
  }

  #worksUntil(now: number): number {
    const { cpuTime, draw } = this.#settings;
    const slowness = this.slowness * this.#coldness(now);
    const service = Math.round(draw() * slowness);
    if (cpuTime === 0) return now + service;
    const cpu = cpuTime * slowness;
    this.cpuSum += cpu;
    return this.cpu.use(cpu, now) + service;
  }

  #coldness(now: number): number {
    const { coldStart } = this.#settings;
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
        this.settle(now);
        this.#leave(job, now);
        this.#duties.ended(job, outcomes.failed);
        return;
      default:
        assert(jobs.state[job] === states.serving, 'whoever is due is being served');
        this.#goOn(job, now);
    }
  }

  /** One of the calls of a job is over, well (and `jobs.call` counts it) or badly. */
  called(job: number, outcome: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.outcome[job] = outcome;
    jobs.dueAt[job] = now;
    this.#goOn(job, now);
  }

  /** What a job does next when its own time, or one of its calls, is over. */
  #goOn(job: number, now: number): void {
    const { jobs } = this.#duties;
    const dueAt = jobs.dueAt[job] ?? 0;
    if (this.frozen) {
      jobs.state[job] = states.overdue;
      this.#overdue.push(job, jobs);
    } else if (dueAt > now) {
      // A pause has moved its end.
      jobs.state[job] = states.serving;
      jobs.timed[job] = 1;
      this.#duties.scheduleDue(dueAt, job);
    } else if (jobs.outcome[job] === outcomes.ok && this.#callsLeft(job)) {
      jobs.state[job] = states.calling;
      this.#duties.makeCall(job, this);
    } else this.#finish(job, jobs.outcome[job] ?? 0, now);
  }

  #callsLeft(job: number): boolean {
    const { jobs } = this.#duties;
    return (jobs.call[job] ?? 0) < this.#settings.calls && jobs.purpose[job] !== purposes.check;
  }

  /** Lets the job go, and its worker takes up the next: released before anybody can seize it. */
  #finish(job: number, outcome: number, now: number): void {
    const { jobs } = this.#duties;
    this.settle(now);
    this.busy -= 1;
    this.#leave(job, now);
    if (jobs.purpose[job] !== purposes.check) {
      this.#add(sums.service, now - (jobs.startedAt[job] ?? 0));
      this.serviceCount += 1;
    }
    this.#takeNext(now);
    this.#duties.ended(job, outcome);
  }

  #takeNext(now: number): void {
    const { jobs } = this.#duties;
    while (this.busy < this.workers) {
      const job = this.#queue.shift(jobs);
      if (job < 0) return;
      if (jobs.state[job] === states.dropped) {
        jobs.free(job);
        continue;
      }
      this.waiting -= 1;
      this.#begin(job, now);
    }
  }

  /** Nobody waits for this job any more. */
  abandon(job: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.parent[job] = -1;
    if (this.#settings.abandoned === 'served') return;
    if (jobs.state[job] === states.unread) jobs.state[job] = states.dropped;
    if (jobs.state[job] !== states.waiting) return;
    this.settle(now);
    jobs.state[job] = states.dropped;
    this.waiting -= 1;
    this.#leave(job, now);
  }

  setWorkers(workers: number, now: number): void {
    assert(workers > 0, 'a station has at least one worker');
    this.settle(now);
    this.workers = workers;
    this.#takeNext(now);
  }

  /** It stands still: reads nothing, ends nothing. */
  stop(): void {
    this.#stopped = true;
  }

  /** It goes on. The clock has not stood still, so what would have been over is over. */
  resume(now: number): void {
    this.#stopped = false;
    this.#wake(now);
  }

  /** It stands still by itself, as in a garbage collection. */
  pause(): void {
    this.#pauses += 1;
  }

  /** The pause is over. No work was done in it, so every service takes `length` longer. */
  endPause(length: number, now: number): void {
    if (this.#pauses === 0) return;
    const { jobs } = this.#duties;
    this.#pauses -= 1;
    for (let job = 0; job < jobs.end; job++) {
      const state = jobs.state[job];
      if (jobs.station[job] !== this.index || (state !== states.serving && state !== states.overdue)) continue;
      jobs.dueAt[job] = (jobs.dueAt[job] ?? 0) + length;
    }
    this.#wake(now);
  }

  /** Ends what was over meanwhile, then reads what has arrived. */
  #wake(now: number): void {
    if (this.frozen || this.#down) return;
    const { jobs } = this.#duties;
    for (let job = this.#overdue.shift(jobs); job >= 0; job = this.#overdue.shift(jobs)) this.#goOn(job, now);
    for (let job = this.#unread.shift(jobs); job >= 0; job = this.#unread.shift(jobs)) {
      if (jobs.state[job] === states.dropped) jobs.free(job);
      else this.#accept(job, now);
    }
  }

  /** It ends at once, with all that it held; nobody listens any more. */
  kill(now: number): void {
    if (this.#down) return;
    const { jobs } = this.#duties;
    this.settle(now);
    this.#down = true;
    this.#queue.clear();
    this.#unread.clear();
    this.#overdue.clear();
    this.busy = 0;
    this.waiting = 0;
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
    this.settle(now);
    this.#down = false;
    this.#stopped = false;
    this.#pauses = 0;
    this.#coldFrom = now;
    this.cpu.clear(now);
  }
}

/** A list of jobs, linked through the pool's `next`. */
class JobList {
  #head = -1;
  #tail = -1;

  push(job: number, jobs: Jobs): void {
    jobs.next[job] = -1;
    if (this.#tail < 0) this.#head = job;
    else jobs.next[this.#tail] = job;
    this.#tail = job;
  }

  /** The first one; −1 when there is none. */
  shift(jobs: Jobs): number {
    const job = this.#head;
    if (job < 0) return -1;
    this.#head = jobs.next[job] ?? -1;
    if (this.#head < 0) this.#tail = -1;
    return job;
  }

  clear(): void {
    this.#head = -1;
    this.#tail = -1;
  }
}
