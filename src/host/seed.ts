// Where chance comes from when nobody gave a seed. It is drawn once, printed and kept in the record; everything else that is
// random in a run comes from it.

import { randomInt } from 'node:crypto';

/** At most nine digits: short enough to be typed again by somebody who saw it fail. */
export function chanceSeed(): number {
  return randomInt(1_000_000_000);
}
