// The few kinds of number and name that a configuration is made of, each with the sentence that a person reads when it is not one.

import { z } from 'zod';

/** A whole number from `least` to `most`; `unit` is for the message. */
export function whole(least: number, most: number, unit = '') {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
  const error = `expected a whole number${unit}, ${range}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

/** A length of time in whole nanoseconds, `least` or more. */
export function duration(least: number) {
  return whole(least, Number.MAX_SAFE_INTEGER, ' of nanoseconds');
}

/** A number from 0 to 1, both included. */
export const share = z
  .number({ error: 'expected a share from 0 to 1' })
  .min(0, { error: 'expected a share from 0 to 1' })
  .max(1, { error: 'expected a share from 0 to 1' });

/** A number from 0 to 1, 0 not included. */
export const someShare = z
  .number({ error: 'expected a share above 0, up to 1' })
  .gt(0, { error: 'expected a share above 0, up to 1' })
  .max(1, { error: 'expected a share above 0, up to 1' });

export const positive = z
  .number({ error: 'expected a number above 0' })
  .positive({ error: 'expected a number above 0' });

export const name = z.string({ error: 'expected a name' }).min(1, { error: 'expected a name' });
