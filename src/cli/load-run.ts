// A planned load from its first request to its last answer: warm-up, a snapshot a second, the end by time, by an objective or by
// whoever interrupts.

import { type Duration, seconds } from '../base.ts';
import {
  type GroupSnapshot,
  type HeldSnapshot,
  type LoadResult,
  type LoadRun,
  type LoadSnapshot,
  type Outputs,
  startCrew,
  startLoad,
} from '../load.ts';
import { chooseEngine, type Engine, type EngineChoice } from '../net.ts';
import type { Borrowed } from './machines.ts';
import { exit, UsageError } from './exit.ts';
import type { PlannedLoad } from './load-plan.ts';

export interface Begun {
  readonly running: LoadRun;
  /** Ours to close; undefined where workers have their own. */
  readonly engine: Engine | undefined;
  readonly why: string;
}

export interface Where {
  /** This thread has other things to do each second, so that even a single generator gets a thread of its own. */
  readonly apart: boolean;
  /** Threads of other machines, instead of ours. */
  readonly borrowed: Borrowed | undefined;
}

export async function begin(
  { plan, workers, open }: PlannedLoad,
  wanted: EngineChoice,
  { apart, borrowed }: Where,
): Promise<Begun> {
  // HTTP/2 is Node's own implementation, on Node's own sockets.
  const isHttp2 = plan.groups.some(({ http2 }) => http2 !== undefined);
  if (isHttp2 && wanted === 'uring') {
    throw new UsageError(
      '--engine uring: HTTP/2 is spoken by Node, on its own sockets; leave the flag out, or --http2',
    );
  }
  const choice = isHttp2 ? 'node' : wanted;
  if (borrowed !== undefined) {
    const running = await startCrew(plan, { workers: borrowed.threads, engine: choice });
    return { running, engine: undefined, why: `on ${borrowed.told}` };
  }
  const chosen = chooseEngine(choice, { waitsInRing: true, fineAlarms: open });
  if ('impossible' in chosen) throw new UsageError(`--engine ${choice}: ${chosen.impossible}`);
  const why = isHttp2 ? "Node's own sockets, which HTTP/2 needs" : chosen.why;
  if (workers === 1 && !apart) return { running: startLoad(plan, chosen.engine), engine: chosen.engine, why };
  await chosen.engine.close();
  return { running: await startCrew(plan, { workers, engine: choice }), engine: undefined, why };
}

/** One second, with every group in it. */
export interface Cut {
  readonly span: Duration;
  readonly groups: readonly GroupSnapshot[];
}

export interface Times {
  readonly warmUp: Duration;
  readonly duration: Duration;
  readonly grace: Duration;
}

export interface Measured {
  readonly result: LoadResult;
  readonly cuts: readonly Cut[];
  readonly interrupted: boolean;
  /** An objective has ended it before its time. */
  readonly broken: boolean;
}

/** Warm-up, then one snapshot a second until the time is over or somebody interrupts. */
export async function measure(
  { running, engine }: Begun,
  times: Times,
  outputs: Outputs,
  talk: (text: string) => void,
): Promise<Measured> {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(exit.interrupted);
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const cuts: Cut[] = [];
  let broken = false;
  const detail = outputs.wantsSeconds ? 'histograms' : undefined;
  try {
    // Without a warm-up everything counts from the first request on, and both sides count the same.
    if (times.warmUp > 0) {
      await pause(times.warmUp / 1e6, controller.signal);
      running.measure();
      running.snapshot();
    }
    outputs.begin();
    const end = performance.now() + times.duration / 1e6;
    while (performance.now() < end - 1 && !controller.signal.aborted) {
      await pause(Math.min(1000, end - performance.now()), controller.signal);
      const snapshot = running.snapshot(detail);
      outputs.second(snapshot);
      cuts.push({ span: snapshot.span, groups: snapshot.groups });
      if (snapshot.broken !== undefined) {
        broken = true;
        for (const { metric, expression, observed } of snapshot.broken) {
          talk(
            `ended: ${metric} ${expression} does not hold (${observed === undefined ? 'not observed' : observed.toPrecision(4)})`,
          );
        }
        break;
      }
      if (cuts.length % 5 === 0) talk(progressOf(snapshot));
    }
    const result = await running.stop(controller.signal.aborted ? seconds(0) : times.grace);
    outputs.second(running.snapshot(detail));
    return { result, cuts, interrupted: controller.signal.aborted, broken };
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await engine?.close();
  }
}

function progressOf({ span, groups, held = [] }: LoadSnapshot): string {
  const told = groups.map(({ group, answered, inFlightMean, errors }) => {
    const wrong = Object.entries(errors).map(([kind, times]) => `, ${times} ${kind}`);
    const who = groups.length === 1 ? '' : `${group}: `;
    return `${who}${(answered / (span / 1e9)).toFixed(0)} answers/s, ${inFlightMean.toFixed(0)} in flight${wrong.join('')}`;
  });
  const kept = held.map((each: HeldSnapshot) => `${each.held} of ${each.asked} connections held`);
  return `  ${[...told, ...kept].join('; ')}`;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, milliseconds));
    signal.addEventListener('abort', done);
  });
}
