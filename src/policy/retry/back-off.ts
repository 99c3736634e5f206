// How long to wait before trying again. The wait is drawn evenly between nothing and a ceiling that doubles with each attempt
// ("full jitter"): clients that failed together must not come back together.
//
//   wait = uniform(0, min(max, base · (2^attempt − 1)))     attempt = 1 for the first retry
//
// Envoy's formula and its defaults, 25 ms and 250 ms.

import { assert, type Dice, type Duration, ms, ns } from '../../base.ts';

export interface BackOffOptions {
  readonly base?: Duration;
  readonly max?: Duration;
}

/** The wait before retry number `attempt`, which counts from 1. */
export function backOff(attempt: number, dice: Dice, options: BackOffOptions = {}): Duration {
  assert(Number.isInteger(attempt) && attempt >= 1, 'retries are counted from one');
  const ceiling = Math.min(options.max ?? ms(250), (options.base ?? ms(25)) * (2 ** Math.min(attempt, 30) - 1));
  return ns(dice.next() * ceiling);
}
