// Requests when they were: the times of an access log, played again. What a rate smooths away (the rush after a mailing, the
// pause at lunch) is often what broke the service.

import { assert, type Duration, ns } from '../../base.ts';
import type { Pacer } from './pacer.ts';

/** `times` in rising order. */
export function listed(times: readonly Duration[]): Pacer {
  assert(
    times.every((time, index) => index === 0 || time >= (times[index - 1] ?? time)),
    'times are listed in rising order',
  );
  return { due: (index) => times[index] };
}

/** The same requests faster (2: in half the time) or slower. */
export function warped(times: readonly Duration[], speed: number): readonly Duration[] {
  assert(speed > 0, 'time goes forward');
  return times.map((time) => ns(time / speed));
}
