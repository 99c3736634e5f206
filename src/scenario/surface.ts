// The YAML surface, version 1: every key, its unit, its default and what it means, as one zod schema. The published JSON
// Schema is generated from it (`schema.ts`), the reference in docs names the same keys, and `parse.ts` reads with it, so
// editor, documentation and program cannot disagree.
//
// Every `error` here is the noun phrase that finishes "expected …"; `explain.ts` adds what was found. A custom check says a
// whole sentence.

import { z } from 'zod';
import type { Choice, PolicyName } from './model.ts';
import { autoscaleSchema } from './surface-autoscale.ts';
import { connectionsSchema, demandSchema, objectivesSchema } from './surface-demand.ts';
import { distribution, durationOrDistribution } from './surface-distribution.ts';
import { networkFaultKinds, networkFaults, networkSchema } from './surface-network.ts';
import {
  duration,
  exactlyOne,
  mapping,
  name,
  oneOf,
  positive,
  replica,
  share,
  timeout,
  whole,
} from './surface-leaves.ts';

/** Version of the YAML surface: the value of the first key. */
export const scenarioVersion = 1;

export const replicasMax = 100_000;
/** Services of one kind. */
export const copiesMax = 10_000;
export const workersMax = 100_000;

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

// Topology.

const queue = mapping({
  limit: whole(0, 1_000_000)
    .prefault(1024)
    .describe('Requests that may wait for a worker in one replica; the next one is answered 503.'),
  abandoned: oneOf(['served', 'dropped'])
    .prefault('served')
    .describe('What becomes of a waiting request whose client has left: most real servers serve it all the same.'),
  order: oneOf(['fifo', 'lifo', 'codel'])
    .optional()
    .describe(
      'Who is next: the oldest (fifo, the default), the newest (lifo), or the oldest, where who has waited 5 ms is refused once the queue has stood for 100 ms (codel). Imagined time only, but for fifo.',
    ),
});

const call = mapping({
  to: name().describe('The dependency or service that is called.'),
  timeout: timeout().optional().describe('For each attempt. Without one a call waits for ever.'),
  retries: whole(0, 100).prefault(0).describe('Further attempts after a failed one.'),
  back_off: duration()
    .optional()
    .describe(
      'Ceiling of the wait before the first of them; it doubles, and the wait is drawn below it. At once without it.',
    ),
  budget: share()
    .optional()
    .describe('Retries for each call at most, of all that one replica makes over ten seconds. Without it, no budget.'),
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
  cpu_time: durationOrDistribution
    .prefault('0s')
    .describe(
      'Processor time that each request needs first, on top of the service time: a duration or a distribution.',
    ),
  queue: queue.prefault({}).describe('Requests that wait for a worker.'),
  cpu_quota: positive('a number of cores above 0, such as 0.5')
    .optional()
    .describe('Cores, enforced by a cgroup where one can be written.'),
  cpu_scheduling: oneOf(['fifo', 'shared'])
    .optional()
    .describe(
      'How requests get their processor time: one after the other (fifo, the default), as of a process with one thread, or all at once (shared), each min(1, cores ÷ requests) of a core. Imagined time only, but for fifo.',
    ),
  cores: whole(1, 1024).optional().describe('Cores that requests share; one by default.'),
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
  gc_pauses: mapping({
    every: distribution
      .refine((every) => every.kind !== 'constant' || every.value > 0, { error: 'expected more than 0s between two' })
      .describe('From the end of one to the beginning of the next.'),
    length: distribution.describe('How long each lasts.'),
  })
    .optional()
    .describe('Each replica stands still again and again, by itself, as in garbage collections.'),
  zones: z
    .array(name(), { error: 'a list of names' })
    .min(1, { error: 'at least one zone' })
    .optional()
    .describe('Where the replicas stand, in turn: the first in the first zone.'),
  autoscale: autoscaleSchema
    .optional()
    .describe('Replicas come and go as load does. Imagined time only; without this key there are always as many.'),
  copies: whole(1, copiesMax)
    .optional()
    .describe(
      'So many services of this kind: the name with -1, -2, …, each with its own clients and an equal part of the demand.',
    ),
});

export const dependencySchema = mapping({
  workers: whole(1, workersMax).prefault(16).describe('Worker pool of its one process.'),
  service_time: distribution.prefault('exponential 5ms').describe('Time a worker needs for one call.'),
  zone: name().optional().describe('Where it stands.'),
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
  count: whole(1, 255)
    .optional()
    .describe(
      'So many load balancers, each with its own count of what is in flight. Imagined time only; one by default.',
    ),
  zones: z
    .array(name(), { error: 'a list of names' })
    .min(1, { error: 'at least one zone' })
    .optional()
    .describe('Where the load balancers stand, in turn: the first in the first zone.'),
  health: health.optional().describe('Active health checks. Without this key there are none.'),
});

const retry = mapping({
  retries: whole(1, 20).describe('Further tries after the first.'),
  back_off: duration()
    .prefault('0s')
    .describe('Ceiling of the first wait; it doubles, and the wait is drawn below it.'),
  budget: share().optional().describe('Retries for each request at most, all users together. Without it, no budget.'),
});

const keepAlive = mapping({
  requests: whole(1, 1_000_000_000).optional().describe('So many requests on one connection, then it is closed.'),
  lifetime: timeout().optional().describe('A connection that is older is closed before it is used again.'),
}).refine(({ requests, lifetime }) => requests !== undefined || lifetime !== undefined, {
  error: 'expected requests, lifetime or both, found neither',
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
  zone: name()
    .optional()
    .describe('Where they stand. Registry clients ask only replicas of their zone, as long as there is one.'),
  pinned: z
    .boolean({ error: 'true or false' })
    .optional()
    .describe(
      'Each user keeps the replica that its connection was made to, until that breaks. Behind the gateway: it balances connections instead of requests (imagined time only).',
    ),
  users_per_connection: whole(1, 10_000)
    .optional()
    .describe('So many pinned users share a connection, as streams of HTTP/2; one by default. Imagined time only.'),
  keep_alive: keepAlive
    .optional()
    .describe(
      'When a connection is closed though it is good; the next request opens another. Without this key, never.',
    ),
});

// Faults.

/** `stop: api-3`, and `stop: {replica: api-3}` for those who prefer one shape everywhere. */
const victim = z
  .union([replica(), mapping({ replica: replica() }).transform((raw) => raw.replica)], {
    error: "a replica's id such as api-2",
  })
  .optional();

export const faultKinds = [
  'slow',
  'stop',
  'resume',
  'kill',
  'restart',
  'burn',
  'pause',
  'fail',
  ...networkFaultKinds,
] as const;

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
    ...networkFaults,
  }),
  faultKinds,
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
  network: networkSchema
    .optional()
    .describe('What lies between processes. Imagined time only; without this key messages take no time.'),
  gateway: gatewaySchema.optional().describe('The load balancer. Without this key clients use the registry.'),
  clients: named(clientsSchema, 'client groups')
    .prefault({})
    .describe('Who asks, and by which way. By default one group, users.'),
  demand: z
    .array(demandSchema, { error: 'a list with a closed or open demand' })
    .min(1, { error: 'at least one demand' })
    .describe('How much is asked.'),
  connections: z
    .array(connectionsSchema, { error: 'a list of connections that are held' })
    .prefault([])
    .describe('Connections that are opened and kept besides those that carry requests.'),
  faults: z.array(faultSchema, { error: 'a list of faults' }).prefault([]).describe('What goes wrong, and when.'),
  objectives: objectivesSchema
    .prefault({})
    .describe(
      "What must hold, in k6's threshold grammar: http_req_duration: ['p(95)<200'], http_req_failed: ['rate<0.01'].",
    ),
  warm_up: duration().prefault(`${defaults.warmUpSeconds}s`).describe('First part of the baseline, not judged.'),
  duration: timeout().prefault(`${defaults.durationSeconds}s`).describe('How long the baseline is judged.'),
  in_lab: z
    .record(
      z.string(),
      z.union([z.string(), z.number(), z.boolean()], {
        error: 'a value as --set takes it, such as 400 or exponential 20ms',
      }),
      { error: 'settings such as demand.0.closed.users: 400' },
    )
    .optional()
    .describe(
      'Settings with which real processes play it, as those of --set: the scale of a scenario that is too large for one machine.',
    ),
  expect: oneOf(patterns).optional().describe('The verdict this scenario should end in; only the exit code reads it.'),
});

export type ServiceSurface = z.output<typeof serviceSchema>;
export type DependencySurface = z.output<typeof dependencySchema>;
export type GatewaySurface = z.output<typeof gatewaySchema>;
export type ClientsSurface = z.output<typeof clientsSchema>;
export type FaultSurface = z.output<typeof faultSchema>;
export type ScenarioSurface = z.output<typeof scenarioSchema>;
