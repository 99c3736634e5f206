// A thread or a process that drives its share of a plan. It says when it is ready, begins at the instant that it is told, sends what it
// counted at every tenth of a second on the common clock, and its end when it is stopped.
//
//   crew ── begin, measure, stop ──►  worker  ── ready, cut (round 1, 2, 3, …), end ──► crew

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { after, assert, type Duration, type Instant, instantAt } from '../base.ts';
import { chooseEngine, type EngineChoice } from '../net.ts';
import type { LoadPlan } from './contract.ts';
import { Driver } from './driver.ts';
import { ReplicaNames } from './replica-names.ts';
import { type Share, shareOf } from './share.ts';
import { threadCpu } from './thread-cpu.ts';
import { type CutData, cutData, type EndData, endData } from './wire-data.ts';

/** What a worker is started with. */
export interface WorkerSetting {
  readonly plan: LoadPlan;
  readonly share: Share;
  /** The monotonic clock's reading, in nanoseconds, that is instant 0 for the whole crew. */
  readonly clockStart: bigint;
  readonly engine: EngineChoice;
  /** Between two cuts. */
  readonly round: Duration;
}

export type ToWorker =
  | { readonly kind: 'begin'; readonly at: Instant }
  | { readonly kind: 'measure' }
  | { readonly kind: 'stop'; readonly grace: Duration };

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'cut'; readonly round: number; readonly cut: CutData }
  | { readonly kind: 'end'; readonly end: EndData };

function work(
  setting: WorkerSetting,
  tell: (message: FromWorker) => void,
  hear: (on: (told: ToWorker) => void) => void,
): void {
  const { plan, share, clockStart, round } = setting;
  const chosen = chooseEngine(setting.engine, {
    clock: () => instantAt(Number(process.hrtime.bigint() - clockStart)),
    waitsInRing: true,
    // Open arrivals are due between the milliseconds that Node's own timers know.
    fineAlarms: plan.groups.some(({ demand }) => demand.kind === 'open'),
  });
  assert(!('impossible' in chosen), 'impossible' in chosen ? chosen.impossible : '');
  const { engine } = chosen;
  const names = new ReplicaNames();
  let driver: Driver | undefined;
  let stopping = false;
  /** Number of the last cut that was sent. */
  let last = 0;

  const begin = (at: Instant): void => {
    const running = new Driver(shareOf(plan, share), { engine, cpu: threadCpu, names, share, begin: at });
    driver = running;
    const cut = (number: number): void => {
      engine.alarm(instantAt(at + number * round), () => {
        if (stopping) return;
        last = number;
        tell({ kind: 'cut', round: number, cut: cutData(running.cut(), names) });
        cut(number + 1);
      });
    };
    cut(1);
  };

  const stop = async (grace: Duration): Promise<void> => {
    assert(driver !== undefined, 'a worker that is stopped has begun');
    stopping = true;
    await driver.end(grace);
    const end = endData(driver.finish(), names);
    tell({ kind: 'cut', round: last + 1, cut: cutData(driver.cut(), names) });
    // Before we are ended: what the kernel does for a thread outlives the thread, descriptors included.
    await engine.close();
    tell({ kind: 'end', end });
  };

  hear((told) => {
    switch (told.kind) {
      case 'begin':
        engine.alarm(told.at, () => begin(told.at));
        return;
      case 'measure':
        driver?.measure();
        return;
      case 'stop':
        void stop(told.grace);
    }
  });
  // A first alarm, so that what an engine makes when it is first used is there before the beginning.
  engine.alarm(after(engine.now(), round), () => tell({ kind: 'ready' }));
}

const isSetting = (given: unknown): given is WorkerSetting =>
  typeof given === 'object' && given !== null && 'plan' in given && 'share' in given && 'clockStart' in given;

const isToWorker = (given: unknown): given is ToWorker =>
  typeof given === 'object' && given !== null && 'kind' in given;

/** A thread is given its setting with its beginning. */
function workAsThread(port: MessagePort): void {
  const setting: unknown = workerData;
  assert(isSetting(setting), 'a worker is started by a crew, with its setting');
  work(
    setting,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    (message) => port.postMessage(message),
    (on) => port.on('message', on),
  );
}

/** A process is told its setting in its first message, and ends with its parent. */
function workAsProcess(send: (message: FromWorker) => void): void {
  process.on('disconnect', () => process.exit());
  process.once('message', (first: unknown) => {
    const setting: unknown = typeof first === 'object' && first !== null ? Reflect.get(first, 'setting') : undefined;
    assert(isSetting(setting), 'a worker is started by a crew, with its setting');
    work(setting, send, (on) => {
      process.on('message', (told: unknown) => {
        if (isToWorker(told)) on(told);
      });
    });
  });
}

if (parentPort !== null) workAsThread(parentPort);
else if (process.send !== undefined) workAsProcess((message) => process.send?.(message));
