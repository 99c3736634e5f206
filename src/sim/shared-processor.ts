// Processor sharing: the processor of a process with a thread for each request. Of `cores` cores each of n requests has
// min(1, cores/n), at every instant, and all together use the quota up as fast as they run: eight of them a quota of two cores in
// 25 ms of each 100.
//
// By virtual time: `attained` is what a request has had that has been here since the beginning. It grows at the same rate for
// everybody, so who comes now and wants `work` has had it when `attained` has grown by `work`, whoever comes or leaves meanwhile. A heap of
// those ends says who is next, and one event for it waits in the calendar.
//
//   attained │        ╱‾‾      slope min(1, cores/n), and level while the process is throttled or stands still
//            │   __╱╱          a job that wants w and comes at a ends at a + w, on this axis
//            └────────────► time
//
// The instants in between are real numbers; whoever is told of an end is told at the next whole nanosecond. (Attained service, as in
// Yashkov, "Processor-sharing queues: some progress in analysis", Queueing Systems 2, 1987.)
//
// Hot: `begin`, `pass` and what they call. O(log n) for who comes and for who goes.

import { JobHeap } from './job-heap.ts';
import { JobList } from './job-list.ts';
import { type Processor, type ProcessorDuties, type ProcessorKind, quotaPeriod } from './processor.ts';

export class SharedProcessor implements Processor {
  usedNs = 0;
  throttledNs = 0;
  throttledPeriods = 0;
  readonly #duties: ProcessorDuties;
  readonly #cores: number;
  /** Processor time for each period. */
  readonly #allowance: number;
  /** Those who compute, by what `#attained` will be when each has had all. */
  readonly #running: JobHeap;
  /** Those who have had all and have not been told: that is due at this very instant. */
  readonly #done = new JobList();
  #attained = 0;
  /** Up to when everything here is right. */
  #at = 0;
  #stands = false;
  #periodBegan = 0;
  /** In that period. */
  #used = 0;
  #wasThrottled = false;
  /** When the next event is due that means anything; others in the calendar are from before plans changed. */
  #wakesAt = Infinity;

  constructor({ cores, quota = cores }: ProcessorKind, duties: ProcessorDuties) {
    this.#duties = duties;
    this.#cores = cores;
    this.#allowance = quota >= cores ? Infinity : quota * quotaPeriod;
    this.#running = new JobHeap(duties.jobs);
  }

  begin(job: number, work: number, now: number): undefined {
    this.settle(now);
    this.#running.push(this.#attained + work, job);
    this.#plan();
  }

  leave(job: number, now: number): boolean {
    this.settle(now);
    const isHere = this.#running.remove(job);
    if (isHere) this.#plan();
    return isHere;
  }

  pass(now: number): void {
    if (now !== this.#wakesAt) return;
    this.#wakesAt = Infinity;
    this.settle(now);
    const { jobs } = this.#duties;
    for (let job = this.#done.shift(jobs); job >= 0; job = this.#done.shift(jobs)) this.#duties.computed(job, now);
    this.#plan();
  }

  stand(now: number): void {
    this.settle(now);
    this.#stands = true;
  }

  goOn(now: number): void {
    this.settle(now);
    this.#stands = false;
    this.#plan();
  }

  clear(now: number): void {
    this.settle(now);
    this.#running.clear();
    this.#done.clear();
    this.#stands = false;
  }

  settle(now: number): void {
    for (let end = this.#nextEnd(); end <= now; end = this.#nextEnd()) {
      const job = this.#running.first;
      this.#run(end);
      this.#attained = this.#running.firstKey;
      this.#running.remove(job);
      this.#done.push(job, this.#duties.jobs);
      // Small numbers are exact.
      if (this.#running.size === 0) this.#attained = 0;
    }
    this.#run(now);
  }

  /** Asks to be woken for the next end, unless an earlier event is on its way: that will ask again. */
  #plan(): void {
    const at = Math.ceil(this.#nextEnd());
    if (at >= this.#wakesAt) return;
    this.#wakesAt = at;
    this.#duties.wake(at);
  }

  /** When the next job will have had all that it wants, if nobody comes or leaves before. */
  #nextEnd(): number {
    const count = this.#running.size;
    if (count === 0 || this.#stands) return Infinity;
    const cores = Math.min(count, this.#cores);
    const left = Math.max(0, ((this.#running.firstKey - this.#attained) * count) / cores);
    if (this.#allowance === Infinity) return this.#at + left;
    this.#enterPeriod();
    const periodEnds = this.#periodBegan + quotaPeriod;
    const now = Math.min(periodEnds - this.#at, (this.#allowance - this.#used) / cores);
    if (left <= now) return this.#at + left;
    const each = Math.min(quotaPeriod, this.#allowance / cores);
    const whole = Math.max(0, Math.ceil((left - now) / each) - 1);
    return periodEnds + whole * quotaPeriod + (left - now - whole * each);
  }

  /** Time passes in which nobody comes, ends or leaves. */
  #run(until: number): void {
    const count = this.#running.size;
    if (count === 0 || this.#stands) {
      this.#at = until;
      return;
    }
    const cores = Math.min(count, this.#cores);
    if (this.#allowance === Infinity) {
      this.#use(until - this.#at, count, cores);
      this.#at = until;
      return;
    }
    while (this.#at < until) {
      this.#enterPeriod();
      const end = Math.min(until, this.#periodBegan + quotaPeriod);
      const left = (this.#allowance - this.#used) / cores;
      if (left >= end - this.#at) this.#use(end - this.#at, count, cores);
      else {
        this.#use(left, count, cores);
        this.#used = this.#allowance;
        this.#throttle(end);
      }
      this.#at = end;
    }
  }

  #use(length: number, count: number, cores: number): void {
    this.#at += length;
    this.#attained += (length * cores) / count;
    this.#used += length * cores;
    this.usedNs += length * cores;
  }

  #throttle(until: number): void {
    this.throttledNs += until - this.#at;
    if (!this.#wasThrottled) this.throttledPeriods += 1;
    this.#wasThrottled = true;
  }

  #enterPeriod(): void {
    const began = Math.floor(this.#at / quotaPeriod) * quotaPeriod;
    if (began === this.#periodBegan) return;
    this.#periodBegan = began;
    this.#used = 0;
    this.#wasThrottled = false;
  }
}
