// The notes file, version 1: every key, what it is and means, as one zod schema. The published JSON Schema is generated from it,
// the reference in docs names the same keys, and the reader reads with it.
//
// Every `error` is the noun phrase that finishes "expected …"; what was found is added by who explains.

import { z } from 'zod';
import { settingKeys } from '../../../record.ts';
import { eventOf } from '../event-words.ts';
import { parseInstant } from '../instants.ts';
import { allKeys, valueSchema } from './values.ts';

/** Version of the format: the value of the first key. */
export const notesVersion = 1;

export const healthWords = ['healthy', 'unhealthy', 'draining', 'unknown'] as const;

/** Words for events that theories look for. Others may be used; a sentence is taken by what it tells. */
export const eventWords = [
  'deploy',
  'rollout-start',
  'rollout-end',
  'config-change',
  'restart',
  'scaled',
  'pod-started',
  'pod-ready',
  'pod-terminating',
  'removed-from-balancer',
  'unhealthy',
  'healthy',
  'backend-sync',
  'dependency-down',
  'dependency-up',
  'trigger-start',
  'trigger-end',
  'note',
] as const;

function text(error = 'a text'): z.ZodType<string, string> {
  return z.string({ error }).min(1, { error });
}

function mapping<T extends z.ZodRawShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : 'a mapping'),
  });
}

function list<T extends z.ZodType>(item: T): z.ZodDefault<z.ZodArray<T>> {
  return z.array(item, { error: 'a list' }).default([]);
}

const instantError = 'a point in time such as 2026-03-04T14:00:00Z';
const instant = z.union([z.string({ error: instantError }), z.number({ error: instantError })], {
  error: instantError,
});
const at = instant.transform((written, context) => {
  const parsed = parseInstant(written);
  if (parsed !== undefined) return parsed.ms;
  context.issues.push({ code: 'custom', input: written, message: `expected ${instantError}, found ${written}` });
  return z.NEVER;
});

const set = z.strictObject(
  Object.fromEntries(allKeys.map((key) => [key, valueSchema(key).optional().describe(settingKeys[key])])),
  { error: 'a mapping of settings' },
);

const setting = mapping({
  program: text().default('notes').describe('Which program is set: nginx, envoy, kernel, shop, …'),
  scope: text().default('all').describe('What in it: upstream shop, route /report, pool payments, …'),
  implied: z
    .boolean({ error: 'true or false' })
    .default(false)
    .describe('Nobody wrote it down: it is what binds when nothing is said.'),
  set: set.describe('Settings by their keys in the vocabulary.'),
});

const event = mapping({
  at: at.optional().describe('When. Left out: nobody knows.'),
  event: text()
    .transform(eventOf)
    .describe('What happened: one of the words below, or a sentence, which is taken by what it tells.'),
  subject: text().optional().describe('What it happened to.'),
  detail: text().optional().describe('Whatever else is to be said.'),
});

const endpoint = z.union(
  [
    z.string({ error: 'an address' }).transform((address) => ({ endpoint: address })),
    mapping({
      endpoint: text('an address').describe('Its address, or its name where no log has addresses.'),
      name: text().optional().describe('What it is called elsewhere.'),
      health: z
        .enum(healthWords, { error: `one of ${healthWords.join(', ')}` })
        .optional()
        .describe('What the registry says of it.'),
      zone: text().optional().describe('Where it stands.'),
      weight: z
        .number({ error: 'a number, 0 or more' })
        .nonnegative({ error: 'a number, 0 or more' })
        .optional()
        .describe('Its weight.'),
    }),
  ],
  { error: 'an address, or a mapping with endpoint' },
);

const count = mapping({
  name: text().describe('What is counted: requests, connections, in_flight, errors, …'),
  value: z.number({ error: 'a number' }).optional().describe('How many, where nothing tells several apart.'),
  by: text().optional().describe('What tells several apart: worker, pod, zone, …'),
  values: z
    .record(z.string(), z.number({ error: 'a number' }), { error: 'a mapping of names to numbers' })
    .optional()
    .describe('How many of each.'),
  at: at.optional().describe('When it was read.'),
  type: z
    .enum(['counter', 'gauge'], { error: 'one of counter, gauge' })
    .optional()
    .describe('counter: it only grows, and only its growth tells anything. gauge: it is as it is.'),
});

export const notesSchema = mapping({
  plimsoll_notes: z.literal(notesVersion, { error: String(notesVersion) }).describe('Version of this format.'),
  about: text().optional().describe('What happened, in a sentence.'),
  settings: list(setting).describe('What was configured, as far as no file says it.'),
  events: list(event).describe('What happened when.'),
  registry: z
    .record(z.string(), z.array(endpoint, { error: 'a list of endpoints' }), {
      error: 'a mapping of services to lists of endpoints',
    })
    .default({})
    .describe('The endpoints of each service, in the order in which a client gets them.'),
  counts: list(count).describe(
    'Numbers that somebody read. An entry that repeats an earlier one is the next reading of it.',
  ),
  remarks: list(text()).describe('Whatever else somebody remembers. Shown, and not judged.'),
});

export type NotesSurface = z.output<typeof notesSchema>;
