// What a value of each setting looks like in a notes file, and what it is in a dossier: durations carry their unit and become
// seconds, shares may be percents and become 0–1, words are one of few where only few mean something.
//
// A bare number for a duration is refused, as in a scenario: nobody knows whether 30 is seconds or milliseconds.

import { z } from 'zod';
import { type SettingKey, settingKeys } from '../../../record.ts';
import { policyWord } from '../policy-words.ts';
import { parseCores, parseSeconds, parseShare } from '../quantities.ts';

export type ValueKind =
  | 'duration'
  | 'count'
  | 'truth'
  | 'share'
  | 'cores'
  | 'count or share'
  | 'policy'
  | 'text'
  | 'words';

type Value = number | string | boolean;

/** How a person is told of each kind. */
export const kindNames: Readonly<Record<ValueKind, string>> = {
  duration: 'duration',
  count: 'number',
  truth: '`true` or `false`',
  share: 'share',
  cores: 'cores',
  'count or share': 'number or percent',
  policy: 'policy',
  text: 'text',
  words: 'word',
};

const keysOfKind: Readonly<Partial<Record<ValueKind, readonly SettingKey[]>>> = {
  duration: [
    'balance.slow-start',
    'upstream.idle-timeout',
    'upstream.connect-timeout',
    'upstream.read-timeout',
    'upstream.fail-timeout',
    'upstream.write-timeout',
    'upstream.connection-lifetime',
    'queue.timeout',
    'downstream.idle-timeout',
    'downstream.keepalive-timeout',
    'downstream.connection-lifetime',
    'downstream.header-timeout',
    'downstream.request-timeout',
    'route.timeout',
    'route.idle-timeout',
    'route.per-try-timeout',
    'retry.backoff',
    'retry.jitter',
    'retry.window',
    'outlier.interval',
    'outlier.ejection-time',
    'health.interval',
    'health.timeout',
    'workers.service-time',
    'pool.acquire-timeout',
    'pool.hold-time',
    'dependency.timeout',
    'kernel.conntrack-timeout-close-wait',
    'kernel.conntrack-timeout-time-wait',
    'kernel.conntrack-timeout-established',
    'kernel.fin-timeout',
    'cpu.quota-period',
    'rollout.min-ready',
    'rollout.pre-stop-sleep',
    'rollout.termination-grace',
    'rollout.readiness-delay',
    'balancer.deregistration-delay',
    'dns.timeout',
    'dns.hold',
    'dns.hold-errors',
    'dns.interval',
    'load.seconds',
    'load.think-time',
  ],
  count: [
    'upstream.endpoints',
    'upstream.keepalive-connections',
    'upstream.keepalive-requests',
    'upstream.max-fails',
    'upstream.down-servers',
    'upstream.backup-servers',
    'upstream.endpoint-max-requests',
    'queue.max',
    'downstream.keepalive-requests',
    'downstream.max-connections',
    'route.retries',
    'breaker.max-connections',
    'breaker.max-requests',
    'breaker.max-pending',
    'breaker.max-retries',
    'limit.rate',
    'limit.burst',
    'outlier.consecutive-5xx',
    'health.fall',
    'health.rise',
    'workers.count',
    'workers.processes',
    'workers.connections',
    'pool.size',
    'pool.min-idle',
    'listen.backlog',
    'kernel.somaxconn',
    'kernel.port-range-from',
    'kernel.port-range-to',
    'kernel.conntrack-max',
    'kernel.syn-backlog',
    'kernel.syn-retries',
    'kernel.time-wait-max',
    'kernel.files-max',
    'kernel.files-per-process-max',
    'replicas.count',
    'scale.min',
    'scale.max',
    'h2.max-concurrent-streams',
    'h2.connections',
    'dns.attempts',
    'dns.search-dots',
    'dns.search-domains',
    'load.users',
    'load.users-max',
    'load.rate',
    'load.threads',
    'load.connections',
  ],
  truth: [
    'balance.cross-zone',
    'balance.state-kept',
    'balance.shared-state',
    'balance.zone-aware',
    'retry.redispatch',
    'retry.stops-on-disconnect',
    'outlier.enabled',
    'health.shares-workers',
    'workers.reuse-port',
    'workers.accept-mutex',
    'workers.cancels-abandoned',
    'kernel.syncookies',
    'kernel.abort-on-overflow',
    'kernel.reuse-time-wait',
    'dns.parallel-questions',
    'load.http2',
    'load.reuses-connections',
    'load.unique-bodies',
  ],
  share: ['balance.panic-threshold', 'retry.budget', 'outlier.max-ejection-share'],
  cores: ['cpu.limit', 'cpu.request'],
  'count or share': ['scale.target', 'rollout.max-surge', 'rollout.max-unavailable'],
  policy: ['balance.policy'],
  text: [
    'balance.sticky',
    'upstream.endpoint-list',
    'upstream.http-version',
    'route.target',
    'route.retry-on',
    'health.path',
    'replicas.zone-layout',
    'scale.metric',
    'rollout.readiness-path',
    'dns.servers',
    'program.runtime',
    'client.policy-hint',
    'load.tool',
  ],
};

const choicesOf: Readonly<Partial<Record<SettingKey, readonly [string, ...string[]]>>> = {
  'balance.layer': ['http', 'tcp'],
  'upstream.address-kind': ['cluster-ip', 'headless', 'dns', 'static', 'pods'],
  'upstream.reuse': ['never', 'safe', 'aggressive', 'always'],
  'health.kind': ['http', 'tcp', 'grpc', 'exec', 'agent', 'none'],
  'workers.queue-order': ['fifo', 'lifo', 'codel'],
  'workers.slot-taken-at': ['accept', 'first-byte'],
  'pool.order': ['lifo', 'fifo'],
  'load.model': ['closed', 'open'],
};

const kindByKey: ReadonlyMap<string, ValueKind> = new Map([
  ...Object.entries(keysOfKind).flatMap(([kind, keys]) => keys.map((key) => [key, kindNamed(kind)] as const)),
  ...Object.keys(choicesOf).map((key) => [key, 'words'] as const),
]);

function kindNamed(name: string): ValueKind {
  const [kind] = Object.keys(kindNames).filter((one): one is ValueKind => one === name);
  return kind ?? 'text';
}

/** Every setting in the order of the vocabulary. */
export const allKeys: readonly SettingKey[] = Object.keys(settingKeys).filter((key): key is SettingKey => isKey(key));

function isKey(key: string): key is SettingKey {
  return Object.hasOwn(settingKeys, key);
}

/** The kind of this setting's value; undefined when nobody has said. */
export function kindOf(key: SettingKey): ValueKind | undefined {
  return kindByKey.get(key);
}

/** The few words that a setting may have; empty when it may have any. */
export function wordsFor(key: SettingKey): readonly string[] {
  return choicesOf[key] ?? [];
}

const durationError = 'a duration with its unit, such as 250ms or 1.5s, or none';
const shareError = 'a share from 0 to 1, such as 0.3 or 30%';
const coresError = 'cores, such as 0.5 or 500m';
const eitherError = 'a number, or a percent such as 25%';

/** How a value of this setting is written; its output is what a dossier holds. */
export function valueSchema(key: SettingKey): z.ZodType<Value> {
  const [first, ...others] = wordsFor(key);
  if (first !== undefined) return z.enum([first, ...others], { error: `one of ${wordsFor(key).join(', ')}` });
  switch (kindOf(key)) {
    case 'duration':
      return z
        .string({ error: durationError })
        .regex(/^(?:none|(?:\d+(?:\.\d+)?\s*(?:ns|us|µs|ms|s|min|m|h|d))+)$/, { error: durationError })
        .transform((text) => (text === 'none' ? Number.POSITIVE_INFINITY : (parseSeconds(text) ?? 0)));
    case 'count':
      return z.number({ error: 'a number, 0 or more' }).nonnegative({ error: 'a number, 0 or more' });
    case 'truth':
      return z.boolean({ error: 'true or false' });
    case 'share':
      return measured(shareError, /^\d+(?:\.\d+)?\s*%$/, (value) => {
        const share = parseShare(value);
        return share !== undefined && share >= 0 && share <= 1 ? share : undefined;
      });
    case 'cores':
      return measured(coresError, /^\d+(?:\.\d+)?m?$/, parseCores);
    case 'count or share':
      return measured(eitherError, /^\d+(?:\.\d+)?\s*%$/, parseShare);
    case 'policy':
      return z.string({ error: 'a policy, such as round-robin, least-request or pick-first' }).transform(policyWord);
    default:
      return z.union([z.string(), z.number()], { error: 'a text' }).transform(String);
  }
}

/** A number, or a text of this pattern; `read` refuses by undefined. */
function measured(
  error: string,
  pattern: RegExp,
  read: (value: number | string) => number | undefined,
): z.ZodType<number> {
  return z
    .union([z.number({ error }), z.string({ error }).regex(pattern, { error })], { error })
    .transform((value, context) => {
      const number = read(value);
      if (number !== undefined && number >= 0) return number;
      context.issues.push({ code: 'custom', input: value, message: `expected ${error}, found ${value}` });
      return z.NEVER;
    });
}
