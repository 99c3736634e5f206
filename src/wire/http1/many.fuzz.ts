// The fuzzer of http1.fuzz.ts in great quantities: the inputs shared out between threads, each with a seed of its own, counted up
// from the one that is given and told. One that stops at an input names it, and that thread's seed runs it again alone.
//
//   npm run fuzz:wire -- --inputs 10000000 --workers 2 --seed 1
//   npm run fuzz:wire -- --inputs 10000000 --minutes 30      whatever is done by then

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { parseArgs } from 'node:util';
import { fuzz, type FuzzReport } from './http1.fuzz.ts';

interface Share {
  readonly inputs: number;
  readonly seed: number;
}

type Told = { readonly more: number } | { readonly report: FuzzReport };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      inputs: { type: 'string', default: '100000' },
      workers: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      minutes: { type: 'string', default: '60' },
    },
  });
  const [inputs = 0, workers = 0, seed = 0, minutes = 0] = [
    values.inputs,
    values.workers,
    values.seed,
    values.minutes,
  ].map(wholeNumber);
  console.error(`${inputs} inputs in ${workers} threads, seeds ${seed} to ${seed + workers - 1}`);
  const begun = performance.now();
  let done = 0;
  let shown = 0;
  const progress = (more: number): void => {
    done += more;
    if (Math.floor((done * 20) / inputs) === shown) return;
    shown = Math.floor((done * 20) / inputs);
    console.error(`${done} inputs after ${Math.round((performance.now() - begun) / 1000)} s`);
  };
  const late = setTimeout(() => {
    console.error(`stopped after ${minutes} minutes at ${done} inputs, none of them a failure`);
    process.exit(3);
  }, minutes * 60_000);
  const shares = Array.from({ length: workers }, (_, index): Share => {
    const first = Math.floor((inputs * index) / workers);
    return { inputs: Math.floor((inputs * (index + 1)) / workers) - first, seed: seed + index };
  });
  const reports = await Promise.all(shares.map((share) => runOf(share, progress)));
  clearTimeout(late);
  console.log(JSON.stringify({ seed, workers, ...sumOf(reports) }, undefined, 2));
}

/** One thread's share. Rejects with what the fuzzer threw. */
function runOf(share: Share, progress: (more: number) => void): Promise<FuzzReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share });
    worker.on('message', (told: Told) => {
      if ('more' in told) progress(told.more);
      else resolve(told.report);
    });
    worker.on('error', reject);
  });
}

function sumOf(reports: readonly FuzzReport[]): FuzzReport {
  const sum = (of: (report: FuzzReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const sums = (of: (report: FuzzReport) => Readonly<Record<string, number>>): Readonly<Record<string, number>> => {
    const total: Record<string, number> = {};
    for (const report of reports) {
      for (const [reason, count] of Object.entries(of(report))) total[reason] = (total[reason] ?? 0) + count;
    }
    return total;
  };
  return {
    inputs: sum(({ inputs }) => inputs),
    accepted: sum(({ accepted }) => accepted),
    agreed: sum(({ agreed }) => agreed),
    stricter: sums(({ stricter }) => stricter),
    looser: sums(({ looser }) => looser),
  };
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 1e12) {
    console.error(`${text}: a whole number is wanted, such as 100000`);
    process.exit(2);
  }
  return Number(text);
}

const isShare = (given: unknown): given is Share => typeof given === 'object' && given !== null && 'seed' in given;

if (isMainThread) await main();
else {
  const share: unknown = workerData;
  if (!isShare(share)) throw new Error('a thread of the fuzzer is started with its share');
  const { inputs, seed } = share;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const tell = (told: Told): void => parentPort?.postMessage(told);
  tell({ report: fuzz(inputs, seed, { progress: (more) => tell({ more }) }) });
}
