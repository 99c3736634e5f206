// The YAML surface, version 1: every key, its unit, its default and what it means, as one zod schema. The published JSON
// Schema is generated from it (`schema.ts`), the reference in docs names the same keys, and `parse.ts` reads with it, so
// editor, documentation and program cannot disagree.
//
// Every `error` here is the noun phrase that finishes "expected …"; `explain.ts` adds what was found. A custom check says a
// whole sentence.

import { z } from 'zod';
import { type Duration, parseDuration } from '../base.ts';
import type { Choice, Distribution, PolicyName, Step } from './model.ts';
import { parseObjective } from './objective.ts';
import { parseRate, parseShare, parseSize } from './units.ts';

/** Version of the YAML surface: the value of the first key. */
export const scenarioVersion = 1;

export const replicasMax = 100_000;
export const workersMax = 100_000;
export const usersMax = 10_000_000;
const bodyBytesMax = 1024 * 1024;

/** Defaults that a check between parts needs too. */
export const defaults = { group: 'users', replicas: 4, warmUpSeconds: 3, durationSeconds: 15 } as const;

export const choices: readonly [Choice, ...Choice[]] = ['pick-first', 'round-robin', 'random'];
export const policies: readonly [PolicyName, ...PolicyName[]] = ['round-robin', 'random', 'least-request'];
/** What a diagnosis can end in. */
export const patterns = [
  'convoy',
  'pick-first',
  'slow-replica',
  'overload',
  'healthy',
  'generator-saturated',
  'cpu-throttling',
  'worker-pool-exhaustion',
  'eviction-cascade',
  'metastable-retry',
  'fast-fail-blackhole',
  'cold-start',
  'zone-imbalance',
  'connection-pinning',
  'undecided',
] as const;

// Leaves.

const durationPattern = /^(\d+(\.\d+)?(ns|us|µs|ms|min|s|m|h))+$/;

/** A length of time; zero is allowed. */
const duration = (): z.ZodType<Duration, string> => durationAbove(-1, 'a duration such as 250ms or 1.5s');
/** A length of time in which something must happen: zero would let nothing happen. */
const timeout = (): z.ZodType<Duration, string> => durationAbove(0, 'a duration above 0, such as 250ms or 1.5s');

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

function whole(min: number, max: number): z.ZodType<number, number> {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

function positive(error: string): z.ZodType<number, number> {
  return z.number({ error }).positive({ error });
}

/** Text with a unit, read by `read`; the pattern goes into the JSON Schema. */
function measured(
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

const rate = (): z.ZodType<number, string> =>
  measured(/^\d+(\.\d+)?\/(s|min|h)$/, 'a rate above 0, such as 240/s or 90/min', parseRate);
const share = (): z.ZodType<number, string | number> => {
  const error = 'a share from 0 to 1, or from 0% to 100%';
  return z.union(
    [z.number({ error }).min(0, { error }).max(1, { error }), measured(/^\d+(\.\d+)?%$/, error, parseShare)],
    {
      error,
    },
  );
};

const nameError = 'a name of lower-case letters, digits and hyphens that begins with a letter';
const name = (): z.ZodString => z.string({ error: nameError }).regex(/^[a-z][a-z0-9-]*$/, { error: nameError });
const replica = (): z.ZodString =>
  z
    .string({ error: "a replica's id such as api-2" })
    .regex(/^[a-z][a-z0-9-]*-\d+$/, { error: "a replica's id such as api-2" });

function oneOf<const T extends readonly [string, ...string[]]>(values: T): z.ZodType<T[number], T[number]> {
  return z.enum(values, { error: `one of ${values.join(', ')}` });
}

/** A mapping with exactly these keys. Its expectation for an unknown key is the list of known ones. */
function mapping<T extends z.ZodRawShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : 'a mapping'),
  });
}

/** Exactly one of `keys` must be there. */
function exactlyOne<T extends z.ZodType>(schema: T, keys: readonly string[]): T {
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

// Service times.

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

const distribution: z.ZodType<Distribution, unknown> = z
  .union(
    [
      z.string({ error: distributionError }).transform((text, context): Distribution => {
        const parsed = readDistribution(text);
        if (parsed !== undefined) return parsed;
        context.issues.push({ code: 'custom', input: text, message: `expected ${distributionError}, found ${text}` });
        return z.NEVER;
      }),
      distributionObject,
    ],
    { error: distributionError },
  )
  .superRefine((value, context) => {
    if (value.kind === 'uniform' && value.max < value.min) {
      context.addIssue({ code: 'custom', message: 'max is below min: expected min ≤ max' });
    }
    if (value.kind === 'log-normal' && value.p99 <= value.median) {
      context.addIssue({ code: 'custom', message: 'p99 is not above the median: expected median < p99' });
    }
  });

function readDistribution(text: string): Distribution | undefined {
  const [kind, ...rest] = text.trim().split(/\s+/);
  const [first, second, third] = rest.map(parseDuration);
  if (first === undefined || third !== undefined) return undefined;
  if (kind === 'constant' && second === undefined) return { kind, value: first };
  if (kind === 'exponential' && second === undefined && first > 0) return { kind, mean: first };
  if (kind === 'uniform' && second !== undefined) return { kind, min: first, max: second };
  if (kind === 'log-normal' && second !== undefined && first > 0) return { kind, median: first, p99: second };
  return undefined;
}

// Topology.

const queue = mapping({
  limit: whole(0, 1_000_000)
    .prefault(1024)
    .describe('Requests that may wait for a worker in one replica; the next one is answered 503.'),
  abandoned: oneOf(['served', 'dropped'])
    .prefault('served')
    .describe('What becomes of a waiting request whose client has left: most real servers serve it all the same.'),
});

const call = mapping({
  to: name().describe('The dependency or service that is called.'),
  timeout: timeout().optional().describe('For each attempt. Without one a call waits for ever.'),
  retries: whole(0, 100).prefault(0).describe('Further attempts after a failed one, at once.'),
  choice: oneOf(choices).prefault('round-robin').describe('How one replica of a called service is chosen.'),
});

export const serviceSchema = mapping({
  replicas: whole(1, replicasMax)
    .prefault(defaults.replicas)
    .describe('How many; their ids are the name with -1, -2, …'),
  workers: whole(1, workersMax)
    .prefault(4)
    .describe('Fixed worker pool of each replica: its capacity is workers ÷ service time.'),
  service_time: distribution
    .prefault('exponential 20ms')
    .describe('Time a worker needs for one request, calls not included: constant, exponential, uniform or log-normal.'),
  cpu_time: duration().prefault('0s').describe('CPU burnt at the start of each request, on top of the service time.'),
  queue: queue.prefault({}).describe('Requests that wait for a worker.'),
  cpu_quota: positive('a number of cores above 0, such as 0.5')
    .optional()
    .describe('Cores, enforced by a cgroup where one can be written.'),
  calls: z
    .array(call, { error: 'a list of calls' })
    .prefault([])
    .describe('What each request calls, one after the other, while it holds its worker.'),
  health_shares_pool: z
    .boolean({ error: 'true or false' })
    .prefault(false)
    .describe('Whether the health check waits for a worker like any request.'),
  cold_start: mapping({
    factor: positive('a factor above 0, such as 5').describe('What service times are multiplied by at first.'),
    length: timeout().describe('After this a replica is warm.'),
  })
    .optional()
    .describe('How slow a replica is after it was started. Those that stand when the run begins are warm.'),
  zones: z
    .array(name(), { error: 'a list of names' })
    .min(1, { error: 'at least one zone' })
    .optional()
    .describe('Where the replicas stand, in turn: the first in the first zone.'),
});

export const dependencySchema = mapping({
  workers: whole(1, workersMax).prefault(16).describe('Worker pool of its one process.'),
  service_time: distribution.prefault('exponential 5ms').describe('Time a worker needs for one call.'),
});

const health = mapping({
  path: z
    .string({ error: 'a path that begins with /' })
    .regex(/^\//, { error: 'a path that begins with /' })
    .prefault('/healthz')
    .describe('What is asked.'),
  interval: timeout().prefault('2s').describe('From one check to the next.'),
  timeout: timeout().prefault('1s').describe('A check that takes longer has failed.'),
  fall: whole(1, 100).prefault(3).describe('Failures in a row that take a replica out.'),
  rise: whole(1, 100).prefault(2).describe('Successes in a row that bring it back.'),
});

export const gatewaySchema = mapping({
  policy: oneOf(policies).prefault('round-robin').describe('How a replica is chosen for each request.'),
  timeout: timeout().prefault('8s').describe('Whole time allowed for one request, retries included.'),
  connect_timeout: timeout().prefault('1s').describe('Time allowed for a connection to a replica.'),
  retries: whole(0, 100).prefault(0).describe('Further attempts on another replica after a failed one.'),
  health: health.optional().describe('Active health checks. Without this key there are none.'),
});

const retry = mapping({
  retries: whole(1, 20).describe('Further tries after the first.'),
  back_off: duration()
    .prefault('0s')
    .describe('Ceiling of the first wait; it doubles, and the wait is drawn below it.'),
  budget: share().optional().describe('Retries for each request at most, all users together. Without it, no budget.'),
});

export const clientsSchema = mapping({
  service: name().optional().describe('The service they ask. May be left out when there is one.'),
  via: oneOf(['gateway', 'registry', 'forwarder'])
    .optional()
    .describe(
      'gateway: through the load balancer (the default when there is one). registry: straight to a replica from the list. forwarder: through a proxy that holds the list.',
    ),
  choice: oneOf(choices).prefault('round-robin').describe('How one of the list is chosen, without a gateway.'),
  timeout: timeout().prefault('10s').describe('After this a client gives up.'),
  retry: retry.optional().describe('Asks again after a failure or its timeout, which then holds for each try.'),
  zone: name().optional().describe('Registry clients in a zone ask only replicas of theirs, as long as there is one.'),
  pinned: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe('Each user keeps the replica that its connection was first made to. Registry only.'),
});

// Demand.

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;
const stepError = "a step such as 'GET /' or {post: /order, body: text}";
const target = z
  .string({ error: 'a path that begins with /' })
  .regex(/^\//, { error: 'a path that begins with /' })
  .optional();

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
          .record(z.string(), z.string({ error: "a header's value as text" }), {
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
      }),
      methods,
    ).transform((raw): Step => {
      const method = methods.find((candidate) => raw[candidate] !== undefined) ?? 'get';
      return { method: method.toUpperCase(), path: raw[method] ?? '/', headers: raw.headers, body: raw.body };
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
  think: duration().prefault('0s').describe('Pause of a user between an answer and the next request.'),
  flow,
});

const open = mapping({
  rate: rate().describe('Requests a second, whatever the answers do.'),
  arrivals: oneOf(['constant', 'poisson']).prefault('poisson').describe('Evenly spaced, or at random.'),
  flow,
});

export const demandSchema = exactlyOne(
  mapping({
    clients: name().optional().describe('The client group that asks. May be left out when there is one.'),
    closed: closed.optional().describe('A fixed number of users.'),
    open: open.optional().describe('A fixed rate.'),
  }),
  ['closed', 'open'],
);

// Faults.

/** `stop: api-3`, and `stop: {replica: api-3}` for those who prefer one shape everywhere. */
const victim = z
  .union([replica(), mapping({ replica: replica() }).transform((raw) => raw.replica)], {
    error: "a replica's id such as api-2",
  })
  .optional();

export const faultKinds = ['slow', 'stop', 'resume', 'kill', 'restart', 'burn', 'pause', 'fail'] as const;

export const faultSchema = exactlyOne(
  mapping({
    at: duration().prefault('0s').describe('When it begins, from the start of the run, warm-up included.'),
    for: timeout().optional().describe('How long it lasts. Without it, until the end.'),
    slow: mapping({
      replica: replica(),
      factor: positive('a factor above 0, such as 1.15').describe('Service times are multiplied by it.'),
    })
      .optional()
      .describe('Service times of one replica are multiplied.'),
    stop: victim.describe('The process stands still (SIGSTOP).'),
    resume: victim.describe('A stopped process goes on (SIGCONT).'),
    kill: victim.describe('The process ends at once (SIGKILL).'),
    restart: victim.describe('A killed process is started again.'),
    burn: mapping({ replica: replica(), share: share().describe("Part of the process's time, 0 to 1 or 0% to 100%.") })
      .optional()
      .describe("Part of the process's time goes to something else."),
    pause: mapping({ replica: replica(), length: timeout().describe('How long it stands still.') })
      .optional()
      .describe('The process stands still once, as in a garbage collection.'),
    fail: mapping({
      replica: replica(),
      share: share().prefault('100%').describe('How many of the requests, 0 to 1 or 0% to 100%.'),
      after: duration().prefault('1ms').describe('How long each error takes.'),
    })
      .optional()
      .describe('Requests are answered with an error, without a worker; health checks still pass.'),
  }),
  faultKinds,
);

// Objectives: `http_req_duration: ['p(95)<200']`. The grammar is read with the metric in hand.

const expressions = z.union([z.string(), z.array(z.string({ error: "an expression such as 'p(95)<200'" }))], {
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

// The whole.

const named = <T extends z.ZodType>(of: T, what: string): z.ZodRecord<z.ZodString, T> =>
  z.record(name(), of, { error: `a mapping of names to ${what}` });

export const scenarioSchema = mapping({
  plimsoll: z
    .literal(scenarioVersion, { error: `${scenarioVersion}, the version of this format` })
    .describe('Version of this format.'),
  name: z.string({ error: 'a text' }).optional().describe("Defaults to the file's name."),
  about: z.string({ error: 'a text' }).prefault('').describe('One line that says what happens.'),
  services: named(serviceSchema, 'services')
    .refine((services) => Object.keys(services).length > 0, { error: 'expected at least one service, found none' })
    .describe('What is load balanced: replicas with a fixed worker pool each.'),
  dependencies: named(dependencySchema, 'dependencies').prefault({}).describe('What services call: one process each.'),
  gateway: gatewaySchema.optional().describe('The load balancer. Without this key clients use the registry.'),
  clients: named(clientsSchema, 'client groups')
    .prefault({})
    .describe('Who asks, and by which way. By default one group, users.'),
  demand: z
    .array(demandSchema, { error: 'a list with a closed or open demand' })
    .min(1, { error: 'at least one demand' })
    .describe('How much is asked.'),
  faults: z.array(faultSchema, { error: 'a list of faults' }).prefault([]).describe('What goes wrong, and when.'),
  objectives: objectivesSchema
    .prefault({})
    .describe(
      "What must hold, in k6's threshold grammar: http_req_duration: ['p(95)<200'], http_req_failed: ['rate<0.01'].",
    ),
  warm_up: duration().prefault(`${defaults.warmUpSeconds}s`).describe('First part of the baseline, not judged.'),
  duration: timeout().prefault(`${defaults.durationSeconds}s`).describe('How long the baseline is judged.'),
  expect: oneOf(patterns).optional().describe('The verdict this scenario should end in; only the exit code reads it.'),
});

export type ServiceSurface = z.output<typeof serviceSchema>;
export type DependencySurface = z.output<typeof dependencySchema>;
export type GatewaySurface = z.output<typeof gatewaySchema>;
export type ClientsSurface = z.output<typeof clientsSchema>;
export type DemandSurface = z.output<typeof demandSchema>;
export type FaultSurface = z.output<typeof faultSchema>;
export type ScenarioSurface = z.output<typeof scenarioSchema>;
