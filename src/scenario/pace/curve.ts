// How many requests should have come due by when: the area under the rate, and its inverse. Pacers place requests where the
// area reaches the next number, so nothing is added up along the way and a run of hours drifts by no nanosecond.
//
//   rate │      ____        area(t) = ∫ rate        inverse(n): the t at which area(t) = n
//        │    /
//        │__/_______ t

import type { Duration } from '../../base.ts';

export interface RateCurve {
  /** Requests that should be due before `elapsed`. A real number: the pacer makes whole requests of it. */
  area(elapsed: Duration): number;
  /** When the area reaches `count`, or undefined when it never does. */
  inverse(count: number): Duration | undefined;
}
