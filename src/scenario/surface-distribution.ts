// How long something takes, as a person writes it: a text such as `exponential 20ms`, or the same as a mapping.

import { z } from 'zod';
import { parseDuration } from '../base.ts';
import type { Distribution } from './model.ts';
import { duration, mapping, timeout } from './surface-leaves.ts';

const distributionObject = z.discriminatedUnion(
  'distribution',
  [
    mapping({
      distribution: z.literal('constant'),
      value: duration().describe('The same for every request.'),
    }).transform(({ distribution: kind, value }): Distribution => ({ kind, value })),
    mapping({ distribution: z.literal('exponential'), mean: timeout().describe('Its mean.') }).transform(
      ({ distribution: kind, mean }): Distribution => ({ kind, mean }),
    ),
    mapping({
      distribution: z.literal('uniform'),
      min: duration().describe('The shortest.'),
      max: timeout().describe('The longest.'),
    }).transform(({ distribution: kind, min, max }): Distribution => ({ kind, min, max })),
    mapping({
      distribution: z.literal('log-normal'),
      median: timeout().describe('Half of the requests need less.'),
      p99: timeout().describe('One in a hundred needs more.'),
    }).transform(({ distribution: kind, median, p99 }): Distribution => ({ kind, median, p99 })),
  ],
  { error: 'one of constant, exponential, uniform, log-normal' },
);

const distributionError =
  'a distribution such as exponential 20ms, constant 5ms, uniform 5ms 15ms or log-normal 20ms 120ms (median and p99)';

export const distribution = distributionBy(parseDistribution, distributionError);

/** The same, or a length of time alone: then it is the same every time. */
export const durationOrDistribution = distributionBy((text) => {
  const value = parseDuration(text);
  return value === undefined ? parseDistribution(text) : { kind: 'constant', value };
}, `a duration such as 5ms, or ${distributionError}`);

function distributionBy(
  read: (text: string) => Distribution | undefined,
  error: string,
): z.ZodType<Distribution, unknown> {
  return z
    .union(
      [
        z.string({ error }).transform((text, context): Distribution => {
          const parsed = read(text);
          if (parsed !== undefined) return parsed;
          context.issues.push({ code: 'custom', input: text, message: `expected ${error}, found ${text}` });
          return z.NEVER;
        }),
        distributionObject,
      ],
      { error },
    )
    .superRefine((value, context) => {
      if (value.kind === 'uniform' && value.max < value.min) {
        context.addIssue({ code: 'custom', message: 'max is below min: expected min ≤ max' });
      }
      if (value.kind === 'log-normal' && value.p99 <= value.median) {
        context.addIssue({ code: 'custom', message: 'p99 is not above the median: expected median < p99' });
      }
    });
}

/** Reads a text such as `exponential 20ms`; undefined where it is none. */
export function parseDistribution(text: string): Distribution | undefined {
  const [kind, ...rest] = text.trim().split(/\s+/);
  const [first, second, third] = rest.map(parseDuration);
  if (first === undefined || third !== undefined) return undefined;
  if (kind === 'constant' && second === undefined) return { kind, value: first };
  if (kind === 'exponential' && second === undefined && first > 0) return { kind, mean: first };
  if (kind === 'uniform' && second !== undefined) return { kind, min: first, max: second };
  if (kind === 'log-normal' && second !== undefined && first > 0) return { kind, median: first, p99: second };
  return undefined;
}
