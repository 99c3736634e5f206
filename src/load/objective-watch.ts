// Objectives while a run goes on. One that has a window is judged over the last so many seconds, each time a second is added;
// it is met in the end if it held every time, and the value told is the worst. One that says `or abort` is judged as the run
// goes, so that whoever conducts it can end it.
//
//   seconds   │ ok │ ok │ bad│ ok │ ok │        window of two seconds: judged at each │ from the second on
//             └─── ok ──┘
//                  └── bad ─┘                  not met, whatever comes later

import { assert, type Duration, ns } from '../base.ts';
import type { Objective } from '../scenario.ts';
import type { ObjectiveResult } from './contract.ts';
import { judge, type Measured, Subject, subjectOf } from './objectives.ts';

interface Watched {
  readonly objective: Objective;
  /** Seconds of the window, oldest first; for an objective without one, everything so far as one subject. */
  readonly recent: Subject[];
  /** Undefined until it has been judged once. */
  worst: ObjectiveResult | undefined;
  now: ObjectiveResult | undefined;
  /** How long it has been watched. */
  watched: Duration;
}

export class ObjectiveWatch {
  readonly #watched: readonly Watched[];

  constructor(objectives: readonly Objective[]) {
    this.#watched = objectives.map((objective) => ({
      objective,
      recent: [],
      worst: undefined,
      now: undefined,
      watched: ns(0),
    }));
  }

  /** What came before does not count: the warm-up is over. */
  restart(): void {
    for (const watched of this.#watched) {
      watched.recent.length = 0;
      watched.worst = undefined;
      watched.now = undefined;
      watched.watched = ns(0);
    }
  }

  /** One more second, or what a snapshot held. */
  add(second: Measured): void {
    for (const watched of this.#watched) {
      if (watched.objective.window === undefined && watched.objective.abortAfter === undefined) continue;
      watched.watched = ns(watched.watched + second.span);
      watched.recent.push(subjectOf(watched.objective, second));
      if (shortenTo(watched)) judgeNow(watched);
    }
  }

  /** Those that would have the load ended now. */
  get broken(): readonly ObjectiveResult[] {
    return this.#watched.flatMap(({ objective: { abortAfter }, now, watched }) =>
      abortAfter !== undefined && watched >= abortAfter && now?.met === false ? [now] : [],
    );
  }

  /** In the order of the plan: those with a window as they were watched, the others against the whole. A run that was shorter than
   * a window is judged as a whole. */
  results(whole: Measured): readonly ObjectiveResult[] {
    return this.#watched.map(({ objective, worst }) =>
      objective.window === undefined || worst === undefined ? judge(objective, subjectOf(objective, whole)) : worst,
    );
  }
}

/** Keeps what the window needs; says whether it is full. */
function shortenTo({ objective, recent }: Watched): boolean {
  const { window } = objective;
  if (window === undefined) {
    const last = recent.pop();
    assert(last !== undefined, 'a second was just added');
    const [all] = recent;
    if (all === undefined) recent.push(last);
    else all.add(last);
    return true;
  }
  let span = recent.reduce((sum, second) => sum + second.span, 0);
  for (;;) {
    const [oldest] = recent;
    if (oldest === undefined || span - oldest.span < window) break;
    span -= oldest.span;
    recent.shift();
  }
  // A second is never exactly one: timers are late, and the window is as good as full a little before.
  return span >= 0.98 * window;
}

function judgeNow(watched: Watched): void {
  const whole = new Subject();
  for (const second of watched.recent) whole.add(second);
  const result = judge(watched.objective, whole);
  watched.now = result;
  if (watched.worst === undefined || isWorse(result, watched.worst, watched.objective)) watched.worst = result;
}

function isWorse(one: ObjectiveResult, other: ObjectiveResult, { operator }: Objective): boolean {
  if (one.met !== other.met) return !one.met;
  if (one.observed === undefined || other.observed === undefined) return one.observed === undefined;
  const wantsMore = operator === '>' || operator === '>=';
  return wantsMore ? one.observed < other.observed : one.observed > other.observed;
}
