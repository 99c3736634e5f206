// What the YAML surface is built of: times, rates, shares, names, and mappings that know their keys. Each says what it expects as
// the noun phrase that finishes "expected …".

import { z } from 'zod';
import { type Duration, parseDuration } from '../base.ts';
import { parseRate, parseShare } from './units.ts';

export const durationPattern = /^(\d+(\.\d+)?(ns|us|µs|ms|min|s|m|h))+$/;

/** A length of time; zero is allowed. */
export const duration = (): z.ZodType<Duration, string> => durationAbove(-1, 'a duration such as 250ms or 1.5s');
/** A length of time in which something must happen: zero would let nothing happen. */
export const timeout = (): z.ZodType<Duration, string> => durationAbove(0, 'a duration above 0, such as 250ms or 1.5s');

function durationAbove(bound: number, error: string): z.ZodType<Duration, string> {
  return z
    .string({ error })
    .regex(durationPattern, { error })
    .transform((text, context) => {
      const parsed = parseDuration(text);
      if (parsed !== undefined && parsed > bound) return parsed;
      context.issues.push({ code: 'custom', input: text, message: `expected ${error}, found ${text}` });
      return z.NEVER;
    });
}

export function whole(min: number, max: number): z.ZodType<number, number> {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function positive(error: string): z.ZodType<number, number> {
  return z.number({ error }).positive({ error });
}

/** Text with a unit, read by `read`; the pattern goes into the JSON Schema. */
export function measured(
  pattern: RegExp,
  error: string,
  read: (text: string) => number | undefined,
): z.ZodType<number, string> {
  return z
    .string({ error })
    .regex(pattern, { error })
    .transform((text, context) => {
      const parsed = read(text);
      if (parsed !== undefined) return parsed;
      context.issues.push({ code: 'custom', input: text, message: `expected ${error}, found ${text}` });
      return z.NEVER;
    });
}

export const rate = (): z.ZodType<number, string> =>
  measured(/^\d+(\.\d+)?\/(s|min|h)$/, 'a rate above 0, such as 240/s or 90/min', parseRate);
/** A rate that may be nothing. */
export const rateOrNone = (): z.ZodType<number, string> =>
  measured(/^\d+(\.\d+)?\/(s|min|h)$/, 'a rate such as 240/s, 90/min or 0/s', (text) =>
    /^0+(\.0+)?\//.test(text) ? 0 : parseRate(text),
  );
export const share = (): z.ZodType<number, string | number> => {
  const error = 'a share from 0 to 1, or from 0% to 100%';
  return z.union(
    [z.number({ error }).min(0, { error }).max(1, { error }), measured(/^\d+(\.\d+)?%$/, error, parseShare)],
    {
      error,
    },
  );
};

const nameError = 'a name of lower-case letters, digits and hyphens that begins with a letter';
export const name = (): z.ZodString => z.string({ error: nameError }).regex(/^[a-z][a-z0-9-]*$/, { error: nameError });
export const replica = (): z.ZodString =>
  z
    .string({ error: "a replica's id such as api-2" })
    .regex(/^[a-z][a-z0-9-]*-\d+$/, { error: "a replica's id such as api-2" });

export function oneOf<const T extends readonly [string, ...string[]]>(values: T): z.ZodType<T[number], T[number]> {
  return z.enum(values, { error: `one of ${values.join(', ')}` });
}

/** A mapping with exactly these keys. Its expectation for an unknown key is the list of known ones. */
export function mapping<T extends z.ZodRawShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : 'a mapping'),
  });
}

/** Exactly one of `keys` must be there. */
export function exactlyOne<T extends z.ZodType>(schema: T, keys: readonly string[]): T {
  return schema
    .check((context) => {
      // An unknown key has been told already, and is probably the one that is meant.
      if (context.issues.length > 0) return;
      const value: unknown = context.value;
      const found = typeof value === 'object' && value !== null ? keys.filter((key) => key in value) : [];
      if (found.length === 1) return;
      const what = found.length === 0 ? 'none of them' : found.join(' and ');
      context.issues.push({
        code: 'custom',
        input: context.value,
        message: `expected exactly one of ${keys.join(', ')}, found ${what}`,
      });
    })
    .meta({ oneOf: keys.map((key) => ({ required: [key] })) });
}
