// Settings that no program's own format tells: environment variables, properties, small JSON and YAML files. People name them
// freely, so names are read as words:
//
//   keepAliveTimeout_ms: 5000            →  downstream.keepalive-timeout 5 s
//   DB_ACQUIRE_TIMEOUT_MS=3000           →  pool.acquire-timeout 3 s
//   spring.datasource.hikari.maximum-pool-size=40   →  pool.size 40
//   max_attempts: 4                      →  route.retries 3
//
// A unit at the end of a name counts; a bare number of 250 or more is milliseconds, a smaller one seconds, as nobody waits
// 250 s or configures 30 ms by accident. What no rule knows is not guessed.

import type { SettingKey } from '../../record.ts';
import { isPolicyWord, policyWord } from './policy-words.ts';
import { parseBytes, parseCores, parseNumber, parseSeconds, parseShare, parseTruth } from './quantities.ts';

export type Scalar = string | number | boolean | undefined;

export interface FoundSetting {
  readonly key: SettingKey;
  readonly value: number | string | boolean;
}

type Kind =
  | 'duration'
  | 'hold'
  | 'count'
  | 'cores'
  | 'bytes'
  | 'share'
  | 'truth'
  | 'untruth'
  | 'word'
  | 'policy'
  | 'attempts';

/** What a file is about decides what a bare word like `threads` or `rate` means. */
export type Matter = 'load' | 'program' | 'environment';

interface Rule {
  readonly pattern: RegExp;
  readonly key: SettingKey;
  readonly kind: Kind;
  readonly matter?: Matter;
}

const rules: readonly Rule[] = [
  // Load generators
  { pattern: /(?:^|-)(?:load-)?model$/, key: 'load.model', kind: 'word', matter: 'load' },
  { pattern: /^(?:max-vus|users-max|max-users)$|-max-vus$/, key: 'load.users-max', kind: 'count', matter: 'load' },
  {
    pattern: /(?:^|-)(?:vus|users|virtual-users|concurrent-users|concurrency|pre-allocated-vus)$/,
    key: 'load.users',
    kind: 'count',
    matter: 'load',
  },
  {
    pattern:
      /(?:^|-)(?:rate|rps|qps|rate-per-s|rate-per-second|requests-per-s|requests-per-second|target-rate|arrival-rate)$/,
    key: 'load.rate',
    kind: 'count',
    matter: 'load',
  },
  { pattern: /(?:^|-)connections$/, key: 'load.connections', kind: 'count', matter: 'load' },
  { pattern: /(?:^|-)threads$/, key: 'load.threads', kind: 'count', matter: 'load' },
  { pattern: /(?:^|-)duration$/, key: 'load.seconds', kind: 'duration', matter: 'load' },
  { pattern: /(?:^|-)(?:think-time|sleep|pause)$/, key: 'load.think-time', kind: 'duration', matter: 'load' },
  {
    pattern: /(?:^|-)(?:no-connection-reuse|no-vu-connection-reuse|disable-keepalive|disable-keep-alive)$/,
    key: 'load.reuses-connections',
    kind: 'untruth',
  },
  {
    pattern: /(?:^|-)(?:keepalive|keep-alive|connection-reuse)$/,
    key: 'load.reuses-connections',
    kind: 'truth',
    matter: 'load',
  },
  { pattern: /(?:^|-)(?:http2|h2)$/, key: 'load.http2', kind: 'truth', matter: 'load' },
  { pattern: /(?:^|-)(?:unique-bodies|unique-payloads)$/, key: 'load.unique-bodies', kind: 'truth', matter: 'load' },
  { pattern: /(?:^|-)(?:tool|generator|load-generator)$/, key: 'load.tool', kind: 'word', matter: 'load' },
  // Pools of connections
  {
    pattern:
      /(?:^|-)(?:pool-(?:max|size|max-size|maximum|limit|max-connections|max-open)|(?:max|maximum)-pool-size|max-open-conns|max-open-connections|max-sockets)$/,
    key: 'pool.size',
    kind: 'count',
  },
  {
    pattern: /(?:^|-)(?:pool-(?:min|min-size|min-idle)|minimum-idle|min-idle|min-pool-size)$/,
    key: 'pool.min-idle',
    kind: 'count',
  },
  {
    pattern:
      /(?:^|-)(?:acquire-timeout|pool-timeout|pool-wait|checkout-timeout|pool-acquire-timeout|borrow-timeout|max-wait|hikari-connection-timeout|acquisition-timeout|pending-acquire-timeout)$/,
    key: 'pool.acquire-timeout',
    kind: 'duration',
  },
  {
    pattern: /(?:^|-)(?:db-work|work-time|hold-time|db-work-time|query-time)$/,
    key: 'pool.hold-time',
    kind: 'duration',
  },
  {
    pattern:
      /(?:^|-)(?:pool-(?:order|strategy|selection|discipline)|(?:acquire|acquisition|checkout|lease|reuse|selection)-order)$/,
    key: 'pool.order',
    kind: 'word',
  },
  // Names
  {
    pattern:
      /(?:^|-)(?:dns|networkaddress|address|name|resolver)-cache(?:-ttl)?$|(?:^|-)dns(?:-ttl|-resolution|-lookup)?$/,
    key: 'dns.hold',
    kind: 'hold',
  },
  // Calls
  {
    pattern: /(?:^|-)(?:per-try-timeout|attempt-timeout|try-timeout)$/,
    key: 'route.per-try-timeout',
    kind: 'duration',
  },
  {
    pattern:
      /(?:^|-)(?:client-timeout|caller-timeout|request-timeout|call-timeout|deadline|overall-timeout|total-timeout)$/,
    key: 'downstream.request-timeout',
    kind: 'duration',
  },
  {
    pattern:
      /(?:^|-)(?:upstream-timeout|dependency-timeout|db-timeout|query-timeout|statement-timeout|socket-timeout|command-timeout|datastore-timeout)$/,
    key: 'dependency.timeout',
    kind: 'duration',
  },
  { pattern: /(?:^|-)connect-timeout$/, key: 'upstream.connect-timeout', kind: 'duration' },
  { pattern: /(?:^|-)(?:read-timeout|response-timeout)$/, key: 'upstream.read-timeout', kind: 'duration' },
  { pattern: /(?:^|-)(?:send-timeout|write-timeout)$/, key: 'upstream.write-timeout', kind: 'duration' },
  {
    pattern: /(?:^|-)(?:attempts|max-attempts|retry-attempts|max-tries|tries)$/,
    key: 'route.retries',
    kind: 'attempts',
  },
  { pattern: /(?:^|-)(?:retries|max-retries|retry-count|num-retries|retry-max)$/, key: 'route.retries', kind: 'count' },
  { pattern: /(?:^|-)(?:retry-jitter|jitter)$/, key: 'retry.jitter', kind: 'duration' },
  {
    pattern:
      /(?:^|-)(?:backoff|retry-backoff|backoff-base|initial-backoff|base-backoff|retry-delay|retry-interval|backoff-initial)$/,
    key: 'retry.backoff',
    kind: 'duration',
  },
  { pattern: /(?:^|-)retry-budget$/, key: 'retry.budget', kind: 'share' },
  {
    pattern: /(?:^|-)(?:stop-on-disconnect|stops-on-disconnect|cancel-retries-on-disconnect)$/,
    key: 'retry.stops-on-disconnect',
    kind: 'truth',
  },
  // Servers
  {
    pattern: /(?:^|-)(?:keep-alive-timeout|keepalive-timeout)$/,
    key: 'downstream.keepalive-timeout',
    kind: 'duration',
  },
  {
    pattern:
      /(?:^|-)(?:keepalive-requests|keep-alive-requests|max-keep-alive-requests|max-keepalive-requests|max-requests-per-socket)$/,
    key: 'downstream.keepalive-requests',
    kind: 'count',
  },
  {
    pattern: /(?:^|-)(?:headers-timeout|header-timeout|read-header-timeout)$/,
    key: 'downstream.header-timeout',
    kind: 'duration',
  },
  {
    pattern:
      /(?:^|-)(?:upstream-keepalive-timeout|upstream-idle-timeout|free-socket-timeout|idle-conn-timeout|agent-idle-timeout)$/,
    key: 'upstream.idle-timeout',
    kind: 'duration',
  },
  { pattern: /(?:^|-)(?:idle-timeout|connection-idle-timeout)$/, key: 'downstream.idle-timeout', kind: 'duration' },
  {
    pattern: /(?:^|-)(?:upstream-keepalive-connections|upstream-keepalive)$/,
    key: 'upstream.keepalive-connections',
    kind: 'count',
  },
  { pattern: /(?:^|-)upstream-keepalive-requests$/, key: 'upstream.keepalive-requests', kind: 'count' },
  { pattern: /(?:^|-)(?:worker-processes|processes|num-processes)$/, key: 'workers.processes', kind: 'count' },
  {
    pattern:
      /(?:^|-)(?:workers|worker-count|num-workers|web-concurrency|threads|max-threads|thread-pool-size|threads-max|server-threads)$/,
    key: 'workers.count',
    kind: 'count',
    matter: 'program',
  },
  {
    pattern: /(?:^|-)(?:workers|worker-count|num-workers|web-concurrency|max-threads|threads-max|thread-pool-size)$/,
    key: 'workers.count',
    kind: 'count',
    matter: 'environment',
  },
  { pattern: /(?:^|-)(?:service-time|work-duration)$/, key: 'workers.service-time', kind: 'duration' },
  { pattern: /(?:^|-)(?:queue|queue-order|queue-discipline)$/, key: 'workers.queue-order', kind: 'word' },
  {
    pattern: /(?:^|-)(?:cancel-on-client-timeout|cancels-abandoned|cancel-abandoned|cancel-on-disconnect)$/,
    key: 'workers.cancels-abandoned',
    kind: 'truth',
  },
  { pattern: /(?:^|-)slot-taken-at$/, key: 'workers.slot-taken-at', kind: 'word' },
  { pattern: /(?:^|-)(?:reuse-port|reuseport)$/, key: 'workers.reuse-port', kind: 'truth' },
  { pattern: /(?:^|-)(?:backlog|listen-backlog|so-backlog|accept-count)$/, key: 'listen.backlog', kind: 'count' },
  { pattern: /(?:^|-)somaxconn$/, key: 'kernel.somaxconn', kind: 'count' },
  { pattern: /(?:^|-)max-concurrent-streams$/, key: 'h2.max-concurrent-streams', kind: 'count' },
  {
    pattern: /(?:^|-)(?:client-channels|channels|channel-count|client-connections)$/,
    key: 'h2.connections',
    kind: 'count',
  },
  { pattern: /(?:^|-)runtime$/, key: 'program.runtime', kind: 'word' },
  // Balancers
  { pattern: /(?:^|-)grpc-lb-policy$/, key: 'client.policy-hint', kind: 'policy', matter: 'environment' },
  {
    pattern:
      /(?:^|-)(?:lb-policy|load-balance|load-balancing|load-balancer|load-balancing-policy|balancer|balance|policy|strategy|algorithm|lb|type|loadbalancer-type)$/,
    key: 'balance.policy',
    kind: 'policy',
    matter: 'program',
  },
  { pattern: /(?:^|-)cross-zone(?:-enabled)?$/, key: 'balance.cross-zone', kind: 'truth' },
  { pattern: /(?:^|-)panic-threshold$/, key: 'balance.panic-threshold', kind: 'share' },
  { pattern: /(?:^|-)slow-start(?:-window|-duration)?$/, key: 'balance.slow-start', kind: 'duration' },
  { pattern: /(?:^|-)max-fails$/, key: 'upstream.max-fails', kind: 'count' },
  { pattern: /(?:^|-)fail-timeout$/, key: 'upstream.fail-timeout', kind: 'duration' },
  {
    pattern: /(?:^|-)(?:deregistration-delay|deregistration-delay-timeout|drain-timeout)$/,
    key: 'balancer.deregistration-delay',
    kind: 'duration',
  },
  // Probes
  { pattern: /(?:^|-)health(?:-?check)?-path$/, key: 'health.path', kind: 'word' },
  { pattern: /(?:^|-)health(?:-?check)?-interval$/, key: 'health.interval', kind: 'duration' },
  { pattern: /(?:^|-)health(?:-?check)?-timeout$/, key: 'health.timeout', kind: 'duration' },
  { pattern: /(?:^|-)unhealthy-threshold(?:-count)?$/, key: 'health.fall', kind: 'count' },
  { pattern: /(?:^|-)healthy-threshold(?:-count)?$/, key: 'health.rise', kind: 'count' },
  { pattern: /(?:^|-)health-shares-workers$/, key: 'health.shares-workers', kind: 'truth' },
  // Deployment
  {
    pattern:
      /^(?!(?:.*-)?(?:min|max|current|desired|ready|available)-)(?:.*-)?(?:replicas|replica-count|instances|instance-count)$/,
    key: 'replicas.count',
    kind: 'count',
  },
  { pattern: /(?:^|-)(?:pre-stop-sleep|prestop-sleep)$/, key: 'rollout.pre-stop-sleep', kind: 'duration' },
  { pattern: /(?:^|-)termination-grace(?:-period)?$/, key: 'rollout.termination-grace', kind: 'duration' },
  { pattern: /(?:^|-)cpu-limit$/, key: 'cpu.limit', kind: 'cores' },
  { pattern: /(?:^|-)cpu-request$/, key: 'cpu.request', kind: 'cores' },
];

/** The words of a name: `keepAliveTimeout_ms` → `keep-alive-timeout-ms`. */
export function wordsOf(name: string): string {
  return name
    .replace('VU', 'Vu')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .replaceAll(/[^A-Za-z\d]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .toLowerCase();
}

const units: readonly (readonly [RegExp, number])[] = [
  [/-(?:in-)?(?:ms|msec|millis|milliseconds)$/, 1e-3],
  [/-(?:in-)?(?:us|usec|micros|microseconds)$/, 1e-6],
  [/-(?:in-)?(?:ns|nanos|nanoseconds)$/, 1e-9],
  [/-(?:in-)?(?:s|sec|secs|seconds)$/, 1],
  [/-(?:in-)?(?:min|mins|minutes)$/, 60],
];

/** The setting that this name and value are; undefined when no rule knows it, or the value is none of its kind. */
export function settingOf(name: string, value: Scalar, matter: Matter): FoundSetting | undefined {
  const whole = wordsOf(name);
  const suffix = units.find(([pattern]) => pattern.test(whole));
  const bare = suffix === undefined ? whole : whole.replace(suffix[0], '');
  for (const rule of rules) {
    if (rule.matter !== undefined && rule.matter !== matter) continue;
    // `rate-per-s` ends like a unit and is none.
    const stem = rule.pattern.test(whole) ? whole : rule.pattern.test(bare) ? bare : undefined;
    if (stem === undefined) continue;
    const unit = stem === bare ? suffix?.[1] : undefined;
    const found = valueOf(rule.kind, value, unit, stem);
    if (found !== undefined) return { key: rule.key, value: found };
  }
  return undefined;
}

/** How many of these names speak of a load generator: with half of them it is one's file. */
export function matterOf(names: readonly string[]): Matter {
  const words = names.map(wordsOf);
  if (words.some((word) => /(?:^|-)(?:vus|executor|tool|generator)$|^load-model$/.test(word))) return 'load';
  const own = rules.filter((rule) => rule.matter === 'load');
  const spoken = words.filter((word) =>
    own.some((rule) => rule.pattern.test(word) || units.some(([unit]) => rule.pattern.test(word.replace(unit, '')))),
  );
  const rates = words.some((word) =>
    /(?:^|-)(?:rate|rps|qps|requests-per-s|rate-per-s|connections|duration-s|duration)$/.test(word),
  );
  return rates && spoken.length * 2 >= names.length && spoken.length > 0 ? 'load' : 'program';
}

function valueOf(
  kind: Kind,
  value: Scalar,
  unit: number | undefined,
  stem: string,
): number | string | boolean | undefined {
  switch (kind) {
    case 'duration':
      return durationOf(value, unit, stem);
    case 'hold':
      return holdOf(value, unit);
    case 'count': {
      const count = parseNumber(value);
      // Where a rate or a number of users is 0, none is set.
      return count === 0 && /rps|qps|rate$/.test(stem) ? undefined : count;
    }
    case 'attempts': {
      const attempts = parseNumber(value);
      return attempts === undefined ? undefined : Math.max(0, attempts - 1);
    }
    case 'cores':
      return parseCores(value);
    case 'bytes':
      return parseBytes(value);
    case 'share':
      return parseShare(value);
    case 'truth':
      return parseTruth(value);
    case 'untruth': {
      const truth = parseTruth(value);
      return truth === undefined ? undefined : !truth;
    }
    case 'word':
      return typeof value === 'string' && value !== '' ? value : undefined;
    case 'policy':
      return typeof value === 'string' && isPolicyWord(value) ? policyWord(value) : undefined;
  }
}

/** How long an answer is kept. Java writes −1 for ever, people write `resolved once`. A plain number is seconds. */
function holdOf(value: Scalar, unit: number | undefined): number | string | undefined {
  if (value === undefined || typeof value === 'boolean') return undefined;
  const number = parseNumber(value);
  if (number !== undefined) return number < 0 ? 'forever' : parseSeconds(number, unit ?? 1);
  if (/\b(?:once|for ?ever|inf(?:inite)?|permanent(?:ly)?|never (?:again|expires?)|at start)\b/i.test(String(value)))
    return 'forever';
  return parseSeconds(value);
}

function durationOf(value: Scalar, unit: number | undefined, stem: string): number | undefined {
  // No pause between tries is a pause of nothing; no timeout is none, and says nothing about a duration.
  if (value === undefined) return /backoff|jitter|delay/.test(stem) ? 0 : undefined;
  if (typeof value === 'boolean') return undefined;
  const number = parseNumber(value);
  if (number === undefined) return parseSeconds(value);
  if (unit !== undefined) return parseSeconds(number, unit);
  return parseSeconds(number, number >= 250 ? 1e-3 : 1);
}
