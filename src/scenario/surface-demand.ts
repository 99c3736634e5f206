// Who asks how much, as YAML: steps, flows, closed users, open rates, connections that are held, and what must hold of it all.

import { z } from 'zod';
import { inSeconds } from '../base.ts';
import type { Dial, Extraction, Step } from './model.ts';
import { parseObjective } from './objective.ts';
import { durationOrDistribution } from './surface-distribution.ts';
import {
  duration,
  durationPattern,
  exactlyOne,
  mapping,
  measured,
  name,
  oneOf,
  rate,
  rateOrNone,
  timeout,
  whole,
} from './surface-leaves.ts';
import { parseSize } from './units.ts';

export const usersMax = 10_000_000;
const bodyBytesMax = 1024 * 1024;

// Demand.

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;
const stepError = "a step such as 'GET /' or {post: /order, body: text}";
const targetError = 'a path that begins with / and has no space (write %20)';
const target = z
  .string({ error: targetError })
  .regex(/^\/\S*$/, { error: targetError })
  .optional();

const someText = (error: string): z.ZodString => z.string({ error }).min(1, { error });

const headerError = 'a name of letters, digits and -';
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: headerError });
const headerValue = z
  .string({ error: "a header's value as text" })
  .regex(/^[^\r\n\0]*$/, { error: "a header's value on one line" });

const extraction = exactlyOne(
  mapping({
    header: someText('the name of a header').optional().describe('A header of the answer.'),
    json: someText('a path into JSON such as items.0.id')
      .optional()
      .describe('A place in an answer that is JSON: items.0.id.'),
    between: z
      .tuple([someText('the text before it'), z.string({ error: 'the text after it' })], { error: 'two texts' })
      .optional()
      .describe('What stands between two texts, where they first occur.'),
  }),
  ['header', 'json', 'between'],
);

const variableError = 'a name of letters, digits and _ that begins with a letter';
const extractions = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: variableError }), extraction, {
    error: 'a mapping of variables to where they are read from',
  })
  .transform((byName) =>
    Object.entries(byName).map(([variable, { header, json, between }]): Extraction => {
      if (header !== undefined) return { variable, from: 'header', header };
      if (json !== undefined) return { variable, from: 'json', path: json };
      const [after = '', before = ''] = between ?? [];
      return { variable, from: 'text', after, before };
    }),
  );

const rendezvous = mapping({
  users: whole(2, usersMax).describe('So many go together.'),
  timeout: timeout().prefault('10s').describe('Whoever has waited this long goes with those who are there.'),
});

const step: z.ZodType<Step, unknown> = z.union(
  [
    z
      .string({ error: stepError })
      .regex(/^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/\S*$/, { error: stepError })
      .transform((text): Step => {
        const [method = 'GET', path = '/'] = text.split(' ');
        return { method, path, headers: {}, body: undefined };
      }),
    exactlyOne(
      mapping({
        get: target,
        head: target,
        post: target,
        put: target,
        patch: target,
        delete: target,
        options: target,
        headers: z
          .record(headerName, headerValue, {
            error: 'a mapping of header names to values',
          })
          .prefault({})
          .describe('Request headers.'),
        body: z
          .union(
            [
              z.string(),
              mapping({
                size: measured(/^\d+(\.\d+)?(B|KB|MB|KiB|MiB)$/, 'a size up to 1MiB, such as 600B or 22KiB', (text) => {
                  const bytes = parseSize(text);
                  return bytes !== undefined && bytes <= bodyBytesMax ? bytes : undefined;
                }).describe('A body of so many bytes.'),
              }).transform(({ size }) => 'x'.repeat(size)),
            ],
            { error: 'a text, or {size: 22KiB}' },
          )
          .optional()
          .describe('Request body: a text, or {size: 22KiB}.'),
        extract: extractions.optional().describe('Variables that are read from the answer, by name.'),
        think: durationOrDistribution.optional().describe("Pause after this step's answer, instead of the users' own."),
        rendezvous: rendezvous.optional().describe('Users gather before this step, and take it together.'),
      }),
      methods,
    ).transform((raw): Step => {
      const method = methods.find((candidate) => raw[candidate] !== undefined) ?? 'get';
      return {
        method: method.toUpperCase(),
        path: raw[method] ?? '/',
        headers: raw.headers,
        body: raw.body,
        ...(raw.extract === undefined ? {} : { extract: raw.extract }),
        ...(raw.think === undefined ? {} : { think: raw.think }),
        ...(raw.rendezvous === undefined ? {} : { rendezvous: raw.rendezvous }),
      };
    }),
  ],
  { error: stepError },
);

const flow = z
  .array(step, { error: 'a list of steps' })
  .min(1, { error: 'at least one step' })
  .prefault(['GET /'])
  .describe("The requests of one user, in order: 'GET /cart' or {post: /order, headers: {…}, body: …}.");

const closed = mapping({
  users: whole(1, usersMax).describe('How many; each waits for its answer before it goes on.'),
  think: durationOrDistribution
    .prefault('0s')
    .describe('Pause of a user between an answer and the next request: a duration, or a distribution.'),
  pacing: timeout().optional().describe('A user begins its flow anew at least this long after it began it last.'),
  cookies: z
    .boolean({ error: 'true or false' })
    .prefault(false)
    .describe('Each user keeps the cookies that it is given, and sends them.'),
  flow,
});

const rateStage = mapping({
  over: duration().describe('How long it takes; 0s is at once.'),
  to: rateOrNone().describe('Where the rate is then.'),
});

const bursts = mapping({
  size: whole(1, 1_000_000).describe('Requests at once.'),
  every: timeout().describe('From one burst to the next.'),
});

const open = exactlyOne(
  mapping({
    rate: rate().optional().describe('Requests a second, whatever the answers do.'),
    stages: z
      .array(rateStage, { error: 'a list of stages such as {over: 30s, to: 500/s}' })
      .min(1, { error: 'at least one stage' })
      .optional()
      .describe('The rate moves from rate through these in straight lines, and stays at the last.'),
    bursts: bursts.optional().describe('So many at once, again and again, instead of a rate.'),
    arrivals: oneOf(['constant', 'poisson']).prefault('poisson').describe('Evenly spaced, or at random.'),
    flow,
  }),
  ['rate', 'bursts'],
)
  .superRefine(({ bursts: given, stages }, context) => {
    if (given !== undefined && stages !== undefined) {
      context.addIssue({ code: 'custom', path: ['stages'], message: 'bursts have no stages: expected one of the two' });
    }
  })
  .transform(({ rate: perSecond, stages, bursts: given, arrivals, flow: steps }) => ({
    ratePerSecond: perSecond ?? (given === undefined ? 0 : given.size / inSeconds(given.every)),
    // A burst is all at once: nothing is left to chance.
    arrivals: given === undefined ? arrivals : ('constant' as const),
    ...(stages === undefined ? {} : { stages: stages.map(({ over, to }) => ({ over, toPerSecond: to })) }),
    ...(given === undefined ? {} : { bursts: given }),
    flow: steps,
  }));

export const demandSchema = exactlyOne(
  mapping({
    clients: name().optional().describe('The client group that asks. May be left out when there is one.'),
    closed: closed.optional().describe('A fixed number of users.'),
    open: open.optional().describe('So many requests a second, whatever the answers do.'),
  }),
  ['closed', 'open'],
);

// Connections that are held: a number that may move, and how fast.

const countError = 'a whole number of connections, or {from: 0, stages: [{over: 30s, to: 1000}]}';
const newError = 'a rate such as 50/s, or {from: 0/s, stages: [{over: 30s, to: 50/s}]}';

/** A value, or one that moves from `from` through stages. */
function dial<T extends string | number>(value: () => z.ZodType<number, T>, error: string): z.ZodType<Dial, unknown> {
  return z.union(
    [
      value().transform((from): Dial => ({ from })),
      mapping({
        from: value().describe('Where it begins.'),
        stages: z
          .array(
            mapping({
              over: duration().describe('How long it takes; 0s is at once.'),
              to: value().describe('Where it is then.'),
            }),
            { error: 'a list of stages' },
          )
          .prefault([])
          .describe('It moves through these in straight lines, and stays at the last.'),
      }),
    ],
    { error },
  );
}

export const connectionsSchema = mapping({
  clients: name().optional().describe('The client group that holds them. May be left out when there is one.'),
  held: dial(() => whole(0, usersMax), countError).describe('How many are held.'),
  new: dial(rateOrNone, newError)
    .optional()
    .describe('New ones a second once that many are held: each takes the place of the oldest.'),
  opening: rate().prefault('2000/s').describe('New ones a second, at most, while fewer are held than should be.'),
});

// Objectives: `http_req_duration: ['p(95)<200']`. The grammar is read with the metric in hand.

const expressionError = "an expression such as 'p(95)<200'";
const expression = z.union(
  [
    z.string({ error: expressionError }),
    mapping({
      threshold: z.string({ error: expressionError }).describe('The expression.'),
      abortOnFail: z
        .boolean({ error: 'true or false' })
        .prefault(false)
        .describe("The load ends as soon as it does not hold: the same as 'or abort' in the expression."),
      delayAbortEval: z
        .string({ error: 'a duration such as 30s' })
        .regex(durationPattern, { error: 'a duration such as 30s' })
        .optional()
        .describe("Not before this much has been judged: the same as 'or abort after 30s'."),
    }).transform(({ threshold, abortOnFail, delayAbortEval }) =>
      abortOnFail
        ? `${threshold} or abort${delayAbortEval === undefined ? '' : ` after ${delayAbortEval}`}`
        : threshold,
    ),
  ],
  { error: expressionError },
);

const expressions = z.union([expression, z.array(expression)], {
  error: "an expression such as 'p(95)<200', or a list of them",
});

export const objectivesSchema = z
  .record(z.string(), expressions, { error: 'a mapping of metrics to expressions' })
  .transform((byMetric, context) =>
    Object.entries(byMetric).flatMap(([metric, texts]) =>
      (typeof texts === 'string' ? [texts] : texts).flatMap((text, index) => {
        const parsed = parseObjective(metric, text);
        if (typeof parsed !== 'string') return [parsed];
        const path = typeof texts === 'string' ? [metric] : [metric, index];
        context.issues.push({ code: 'custom', input: text, path, message: parsed });
        return [];
      }),
    ),
  );

export type DemandSurface = z.output<typeof demandSchema>;
export type ConnectionsSurface = z.output<typeof connectionsSchema>;
