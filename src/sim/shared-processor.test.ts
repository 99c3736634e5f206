import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FifoProcessor } from './fifo-processor.ts';
import { dice } from '../base.ts';
import { Jobs, purposes } from './jobs.ts';
import { Kernel } from './kernel.ts';
import { replicated } from './measured-run.ts';
import type { ProcessorKind } from './processor.ts';
import { SharedProcessor } from './shared-processor.ts';

const ms = 1e6;

/** A processor on a calendar of its own. Times and work in milliseconds. */
class Bench {
  readonly #jobs = new Jobs();
  readonly #acts: ((now: number) => void)[] = [];
  readonly #kernel: Kernel;
  readonly processor: SharedProcessor;
  /** By job: when it had had all. */
  readonly ends = new Map<number, number>();

  constructor(kind: Partial<ProcessorKind>) {
    this.#kernel = new Kernel([0, 1], (what, subject, now) => {
      if (what === 0) this.processor.pass(now);
      else this.#acts[subject]?.(now);
    });
    this.processor = new SharedProcessor(
      { scheduling: 'shared', cores: 1, quota: undefined, ...kind },
      {
        jobs: this.#jobs,
        computed: (job, now) => this.ends.set(job, now / ms),
        wake: (at) => this.#kernel.schedule(at, 0, 0),
      },
    );
  }

  at(time: number, act: (now: number) => void): void {
    this.#acts.push(act);
    this.#kernel.schedule(Math.round(time * ms), 1, this.#acts.length - 1);
  }

  begin(time: number, work: number): number {
    const job = this.#jobs.allocate(purposes.request, 0);
    this.at(time, (now) => this.processor.begin(job, work * ms, now));
    return job;
  }

  run(until: number): this {
    this.#kernel.run(until * ms);
    this.processor.settle(this.#kernel.now);
    return this;
  }
}

test('two share a core, and who comes later slows the other down', () => {
  const bench = new Bench({});
  const [one, two, three] = [bench.begin(0, 10), bench.begin(0, 10), bench.begin(100, 30)];
  const short = bench.begin(110, 5);
  bench.run(1000);
  assert.deepEqual(
    [one, two, short, three].map((job) => bench.ends.get(job)),
    [20, 20, 120, 135],
  );
  assert.equal(bench.processor.usedNs, 55 * ms);
});

test('as long as there are cores enough everybody has one, and nobody has two', () => {
  const bench = new Bench({ cores: 4 });
  const jobs = [10, 10, 10, 10].map((work) => bench.begin(0, work));
  const crowd = Array.from({ length: 8 }, () => bench.begin(100, 10));
  bench.run(1000);
  for (const job of jobs) assert.equal(bench.ends.get(job), 10);
  for (const job of crowd) assert.equal(bench.ends.get(job), 120);
});

test('eight threads use a quota of two cores up in 25 ms of each period, four in 50, two never', () => {
  for (const { threads, cores, runs } of [
    { threads: 8, cores: 8, runs: 25 },
    { threads: 8, cores: 4, runs: 50 },
    { threads: 4, cores: 8, runs: 50 },
    { threads: 2, cores: 8, runs: 100 },
  ]) {
    const { processor } = (() => {
      const bench = new Bench({ cores, quota: 2 });
      for (let count = 0; count < threads; count++) bench.begin(0, 1e6);
      return bench.run(1000);
    })();
    assert.equal(processor.throttledPeriods, runs === 100 ? 0 : 10);
    assert.equal(processor.throttledNs, 10 * (100 - runs) * ms);
    assert.equal(processor.usedNs, 2000 * ms);
  }
});

test('an end beyond several periods is foreseen, and what is left of a period is lost with it', () => {
  const bench = new Bench({ cores: 2, quota: 0.5 });
  const [one, two] = [bench.begin(0, 90), bench.begin(0, 90)];
  // 50 ms of processor time a period, used by two threads in 25 ms: 25, 25, 25 and 15 ms of each.
  bench.run(1000);
  assert.equal(bench.ends.get(one), 315);
  assert.equal(bench.ends.get(two), 315);
  assert.equal(bench.processor.throttledPeriods, 3);
  const late = bench.begin(1090, 30);
  bench.run(2000);
  assert.equal(bench.ends.get(late), 1120);
});

test('one request at a time has the same from both processors, throttled or not', () => {
  const request = fc.record({ gap: fc.integer({ min: 0, max: 400 }), work: fc.integer({ min: 1, max: 300 }) });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 20 }), fc.constantFrom(undefined, 0.1, 0.35, 0.8), (requests, quota) => {
      const fifo = new FifoProcessor(quota);
      const bench = new Bench({ quota });
      let at = 0;
      const pairs = requests.map(({ gap, work }) => {
        const from = at + gap;
        at = fifo.begin(0, work * ms, from * ms) / ms;
        return [bench.begin(from, work), at] as const;
      });
      bench.run(at + 1);
      for (const [job, end] of pairs) assert.ok(Math.abs((bench.ends.get(job) ?? 0) - end) < 1e-5, `${end}`);
      assert.equal(bench.processor.throttledPeriods, fifo.throttledPeriods);
      assert.ok(Math.abs(bench.processor.throttledNs - fifo.throttledNs) < 1);
    }),
  );
});

// A request that wants x stays x/(1 − ρ) on average, so that the smallest wait least (Kleinrock, "Queueing Systems" II, 4.4).
test('conditional sojourn: who wants five times as much stays five times as long', () => {
  const sojourn = (seed: number, wanted: number): number => {
    const chance = dice(seed, 'arrivals');
    const bench = new Bench({});
    const come: { readonly job: number; readonly at: number }[] = [];
    // Half want 1 ms and half 5 ms, 0.2 of them a millisecond: ρ = 0.6.
    for (let at = 0; at < 100_000; at += chance.exponential(5)) {
      const work = chance.next() < 0.5 ? 1 : 5;
      const job = bench.begin(at, work);
      if (work === wanted) come.push({ job, at });
    }
    bench.run(101_000);
    return come.reduce((sum, { job, at }) => sum + (bench.ends.get(job) ?? Number.NaN) - at, 0) / come.length;
  };
  for (const work of [1, 5]) {
    const { low, high } = replicated(8, (seed) => sojourn(seed, work));
    const truth = work / (1 - 0.6);
    assert.ok(high - low < 0.1 * truth && low <= truth && truth <= high, `${low} to ${high}, theory ${truth}`);
  }
});

// A slow, obvious model: everybody's remaining work, ten microseconds at a time.

const step = 0.01;

interface Told {
  readonly from: number;
  readonly work: number;
  readonly leavesAt: number | undefined;
}

function slowly(kind: ProcessorKind, told: readonly Told[], still: { from: number; to: number }, until: number) {
  const left = told.map(({ work }) => work);
  const ends = told.map((): number | undefined => undefined);
  let used = 0;
  let allUsed = 0;
  let throttled = 0;
  for (let tick = 0; tick * step < until; tick++) {
    const now = tick * step;
    if (tick % (100 / step) === 0) used = 0;
    const isHere = ({ from, leavesAt = Infinity }: Told, index: number): boolean =>
      from <= now + step / 2 && leavesAt > now + step / 2 && ends[index] === undefined;
    const here = told.flatMap((each, index) => (isHere(each, index) ? [index] : []));
    if (here.length === 0 || (now + step / 2 >= still.from && now + step / 2 < still.to)) continue;
    if (used >= (kind.quota ?? Infinity) * 100 - step / 2) {
      throttled += step;
      continue;
    }
    const cores = Math.min(here.length, kind.cores);
    used += cores * step;
    allUsed += cores * step;
    for (const index of here) {
      left[index] = (left[index] ?? 0) - (cores * step) / here.length;
      if ((left[index] ?? 0) <= step / 100) ends[index] = now + step;
    }
  }
  return { ends, used: allUsed, throttled };
}

test('whoever comes, leaves or stands still: it is what a slow model says, and no work is lost or made', () => {
  const some = fc.record({
    from: fc.integer({ min: 0, max: 150 }),
    work: fc.integer({ min: 1, max: 60 }),
    leavesAt: fc.option(fc.integer({ min: 1, max: 250 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(
      fc.array(some, { maxLength: 12 }),
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(undefined, 0.3, 0.8, 1.5),
      fc.integer({ min: 0, max: 200 }),
      fc.integer({ min: 0, max: 60 }),
      (told, cores, quota, from, length) => {
        const kind = { scheduling: 'shared', cores, quota } as const;
        const still = { from, to: from + length };
        const until = 400;
        const bench = new Bench(kind);
        bench.at(still.from, (now) => bench.processor.stand(now));
        bench.at(still.to, (now) => bench.processor.goOn(now));
        const jobs = told.map(({ from: begins, work, leavesAt }) => {
          const job = bench.begin(begins, work);
          if (leavesAt !== undefined && leavesAt > begins) bench.at(leavesAt, (now) => bench.processor.leave(job, now));
          return job;
        });
        bench.run(until);
        const model = slowly(
          kind,
          told.map((each) => ({
            ...each,
            leavesAt: (each.leavesAt ?? Infinity) > each.from ? each.leavesAt : undefined,
          })),
          still,
          until,
        );
        // A step too many for each who comes or goes, and each period.
        const tolerance = step * (2 * told.length + 5);
        for (const [place, job] of jobs.entries()) {
          const end = bench.ends.get(job);
          const expected = model.ends[place];
          const leaves = told[place]?.leavesAt ?? Infinity;
          if (end === undefined || expected === undefined) {
            const only = end ?? expected ?? until;
            assert.ok(Math.min(Math.abs(only - leaves), Math.abs(only - until)) <= tolerance, `${end}, ${expected}`);
          } else assert.ok(Math.abs(end - expected) <= tolerance, `job ${place}: ${end}, ${expected}`);
        }
        assert.ok(Math.abs(bench.processor.usedNs / ms - model.used) <= cores * tolerance);
        assert.ok(Math.abs(bench.processor.throttledNs / ms - model.throttled) <= tolerance + 5 * step);
      },
    ),
    { numRuns: 40 },
  );
});
