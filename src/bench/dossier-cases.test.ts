// Forty incidents that people have had, as the files that were left of them: each must come out with its cause and the component
// that has it, and no look-alike may be accused. The files are small and real in form; what no program writes down is in small
// JSON and CSV files, as a person would keep it.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Diagnosis, diagnoseDossier } from '../diagnose.ts';
import { readDossier } from '../observe.ts';

interface Case {
  readonly name: string;
  readonly pattern: string;
  /** What the culprit must say, in any order and case. None: nobody is to blame. */
  readonly culprit: readonly string[];
  /** Theories that must not be given as a cause. */
  readonly not: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'keepalive-pool-over-cluster-ip',
    pattern: 'connection-pinning',
    culprit: ['nginx', 'keepalive', 'ClusterIP'],
    not: ['kube-proxy-algorithm-bug', 'slow-replica', 'under-capacity'],
  },
  {
    name: 'many-cursors-one-beginning',
    pattern: 'rr-synchronised-start',
    culprit: ['ingress controller', 'worker', 'cursor', 'reset'],
    not: ['slow-replica', 'connection-pinning', 'accept-imbalance'],
  },
  {
    name: 'two-routes-one-cursor',
    pattern: 'rr-parity-lock',
    culprit: ['gateway', 'shared', 'position'],
    not: ['unhealthy-replica', 'sticky-session', 'weights'],
  },
  {
    name: 'grpc-client-on-one-pod',
    pattern: 'pick-first',
    culprit: ['frontend', 'gRPC', 'pick_first', 'ClusterIP'],
    not: ['slow-replica', 'policy-already-round-robin', 'under-capacity'],
  },
  {
    name: 'http2-generator-through-tcp',
    pattern: 'generator-single-connection',
    culprit: ['load generator', 'one', 'connection'],
    not: ['lb-algorithm', 'unhealthy-replica', 'slow-replica'],
  },
  {
    name: 'eight-and-two-zones',
    pattern: 'zone-imbalance',
    culprit: ['balancer', 'cross-zone', 'disabled', '8:2'],
    not: ['hot-replica', 'sticky-session', 'lb-algorithm'],
  },
  {
    name: 'eight-preforked-workers',
    pattern: 'benign-accept-order',
    culprit: [],
    not: ['accept-imbalance', 'slow-replica', 'sticky-session'],
  },
  {
    name: 'sixteen-workers-one-socket',
    pattern: 'accept-imbalance',
    culprit: ['nginx', 'workers', 'listen socket'],
    not: ['benign-accept-order', 'backend-slow', 'under-capacity'],
  },
  {
    name: 'probe-behind-slow-searches',
    pattern: 'health-check-on-shared-workers',
    culprit: ['search', '2-worker pool', 'health check'],
    not: ['cpu-throttling', 'crash-loop', 'network-partition'],
  },
  {
    name: 'placeholder-beside-one-server',
    pattern: 'passive-eviction-last-peer',
    culprit: ['nginx upstream', 'max_fails=1', '"down"'],
    not: ['backend-outage', 'health-check-flapping', 'keepalive-race'],
  },
  {
    name: 'ejected-and-still-asked',
    pattern: 'panic-mode',
    culprit: ['cluster httpbin', 'all hosts ejected', 'panic threshold', 'default'],
    not: ['outlier-detection-disabled', 'stale-endpoints', 'all-ejected-no-panic'],
  },
  {
    name: 'resolver-gone-servers-fine',
    pattern: 'discovery-outage',
    culprit: ['DNS resolver 192.0.2.53', 'not the servers'],
    not: ['backend-outage', 'health-check-flapping', 'drain-race'],
  },
  {
    name: 'two-hops-cut-at-fifteen',
    pattern: 'timeout-inversion',
    culprit: ['inner-api', 'nginx', 'proxy_read_timeout', '15'],
    not: ['front-proxy-only', 'backend-crash', 'keepalive-race'],
  },
  {
    name: 'per-try-above-route-timeout',
    pattern: 'default-route-timeout',
    culprit: ['route timeout unset', '15', 'per_try_timeout 30'],
    not: ['backend-outage', 'retry-condition-mismatch', 'keepalive-race'],
  },
  {
    name: 'grpc-errors-under-200',
    pattern: 'default-route-timeout',
    culprit: ['route timeout 15', 'roster', '127.0.0.1:7000'],
    not: ['no-incident', 'client-cancelled', 'keepalive-race'],
  },
  {
    name: 'idle-hour-before-75-seconds',
    pattern: 'keepalive-race',
    culprit: ['nginx', 'keepalive_timeout', '75', 'idle timeout', '3600'],
    not: ['timeout-inversion', 'drain-race', 'no-finding'],
  },
  {
    name: 'pauses-then-instant-errors',
    pattern: 'keepalive-race',
    culprit: ['envoy cluster core', 'idle_timeout', '3600', 'node', '5'],
    not: ['application-error', 'overload', 'timeout-inversion'],
  },
  {
    name: 'rare-502-without-target-status',
    pattern: 'keepalive-race',
    culprit: ['node', '5', 'idle timeout', '60'],
    not: ['application-error', 'drain-race', 'connect-timeout'],
  },
  {
    name: 'one-limit-raised-of-three',
    pattern: 'circuit-breaker-overflow',
    culprit: ['cluster shop', 'max_requests', '1024', 'default'],
    not: ['backend-5xx', 'no-healthy-upstream', 'panic-mode'],
  },
  {
    name: 'six-at-once-three-refused',
    pattern: 'circuit-breaker-overflow',
    culprit: ['cluster service', 'max_requests 3'],
    not: ['backend-5xx', 'no-incident', 'no-healthy-upstream'],
  },
  {
    name: 'final-errors-tried-again',
    pattern: 'retry-storm',
    culprit: ['retry policy', '404/400', 'attempt cap', 'disconnect'],
    not: ['traffic-growth', 'database-outage', 'no-healthy-upstream-as-root'],
  },
  {
    name: 'short-slowdown-long-storm',
    pattern: 'metastable-retry',
    culprit: ['retry policy', '4 attempts', '200 ms'],
    not: ['slow-server', 'traffic-growth', 'under-capacity'],
  },
  {
    name: 'handshakes-nobody-waits-for',
    pattern: 'metastable-stale-backlog',
    culprit: ['port', 'backend', 'handshakes'],
    not: ['cpu-under-provisioned', 'attack-only', 'backend-slow'],
  },
  {
    name: 'loop-on-instant-503',
    pattern: 'closed-loop-artifact',
    culprit: ['load generator', 'without pacing', '100'],
    not: ['traffic-growth', 'lb-regression', 'retry-storm'],
  },
  {
    name: 'two-connections-to-a-database',
    pattern: 'dependency-pool-exhaustion',
    culprit: ['payment', 'pool', '2', '200 ms'],
    not: ['cpu-saturation', 'network', 'retries-helped'],
  },
  {
    name: 'quarter-second-for-a-connection',
    pattern: 'acquire-timeout-too-short',
    culprit: ['connection-timeout', '250'],
    not: ['connection-leak', 'database-outage', 'under-sized-pool-only'],
  },
  {
    name: 'idle-process-full-accept-queue',
    pattern: 'accept-queue-overflow',
    culprit: ['backlog', '511'],
    not: ['event-loop-blocked', 'slow-handler', 'cpu-throttling'],
  },
  {
    name: 'step-at-one-second',
    pattern: 'accept-queue-overflow',
    culprit: ['backlog', '128'],
    not: ['gc-pause', 'slow-handler', 'coordinated-omission'],
  },
  {
    name: 'tracked-but-closed',
    pattern: 'conntrack-full',
    culprit: ['close_wait', '3600'],
    not: ['socket-leak', 'ephemeral-port-exhaustion', 'backend-slow'],
  },
  {
    name: 'ports-of-the-generator',
    pattern: 'generator-port-exhaustion',
    culprit: ['load generator', 'reuse', '28232', '60'],
    not: ['server-capacity', 'connection-refused', 'conntrack-full'],
  },
  {
    name: 'steps-of-two-and-a-half',
    pattern: 'dns-quantised-delay',
    culprit: ['DNS', '2.5'],
    not: ['slow-backend', 'overload', 'tls-handshake'],
  },
  {
    name: 'sleep-equal-to-detection',
    pattern: 'drain-race',
    culprit: ['preStop', '30s', '15s x 2', 'target group'],
    not: ['bad-release', 'cold-start', 'keepalive-race'],
  },
  {
    name: 'slow-while-rolling',
    pattern: 'cold-start',
    culprit: ['new pods', 'ready', 'pool'],
    not: ['bad-release', 'database-outage', 'drain-race'],
  },
  {
    name: 'idle-cpu-throttled',
    pattern: 'cpu-throttling',
    culprit: ['ingress-0', 'CPU limit', '200m'],
    not: ['slow-upstream', 'under-capacity', 'network-jitter'],
  },
  {
    name: 'generator-out-of-users',
    pattern: 'generator-saturated',
    culprit: ['load generator'],
    not: ['system-ceiling-600', 'system-not-limited'],
  },
  {
    name: 'twice-what-it-can',
    pattern: 'overload-open-loop',
    culprit: ['500', '1000'],
    not: ['generator-bug', 'network-latency', 'healthy'],
  },
  {
    name: 'streams-on-one-connection',
    pattern: 'h2-stream-cap',
    culprit: ['MaxConcurrentStreams', '250', 'single connection'],
    not: ['slow-server', 'cpu-saturation', 'network'],
  },
  {
    name: 'sessions-after-scaling',
    pattern: 'lb-state-reset',
    culprit: ['least_conn', 'rebuilt', 'upstream'],
    not: ['unhealthy-replica', 'weights', 'sticky-session'],
  },
  {
    name: 'fails-in-two-milliseconds',
    pattern: 'fast-fail-blackhole',
    culprit: ['replica c'],
    not: ['hot-replica-by-capacity', 'whole-service-failing', 'retry-storm'],
  },
  {
    name: 'neighbour-of-the-unhealthy',
    pattern: 'rr-next-host-dogpile',
    culprit: ['round robin', 'unhealthy host b'],
    not: ['slow-replica', 'connection-pinning', 'zone-imbalance'],
  },
];

const folder = fileURLToPath(new URL('../observe/fixtures/cases/', import.meta.url));

describe('incidents that people have had', () => {
  for (const one of cases) {
    it(`${one.name} is ${one.pattern}`, () =>
      check(
        one,
        diagnosisOf(one.name, (files) => files),
      ));
  }

  it('there is a folder for each case and a case for each folder', () => {
    assert.deepEqual(readdirSync(folder).toSorted(), cases.map(({ name }) => name).toSorted());
  });
});

describe('the order and the names of the files', () => {
  it('do not matter', () => {
    for (const one of cases) {
      const { verdict } = diagnosisOf(one.name, (files) => files.toReversed());
      assert.equal(verdict.pattern, diagnosisOf(one.name, (files) => files).verdict.pattern, one.name);
    }
  });
});

describe('with one file missing', () => {
  it('no look-alike is accused', () => {
    for (const one of cases) {
      for (const gone of readdirSync(join(folder, one.name))) {
        const { verdict } = diagnosisOf(one.name, (files) => files.filter(({ name }) => name !== gone));
        assert.ok(!one.not.includes(verdict.pattern), `${one.name} without ${gone}: ${verdict.pattern}`);
      }
    }
  });
});

interface File {
  readonly name: string;
  readonly text: string;
}

function diagnosisOf(name: string, arrange: (files: readonly File[]) => readonly File[]): Diagnosis {
  const files = readdirSync(join(folder, name)).map((file) => ({
    name: file,
    text: readFileSync(join(folder, name, file), 'utf8'),
  }));
  return diagnoseDossier(readDossier([...arrange(files)]).dossier);
}

function check({ pattern, culprit, not }: Case, { verdict }: Diagnosis): void {
  assert.equal(verdict.pattern, pattern, verdict.sentence);
  const accused = [verdict.pattern, ...(verdict.simultaneous ?? []).map((other) => other.pattern)];
  for (const innocent of not) assert.ok(!accused.some((one) => one === innocent), `${innocent} is accused`);
  if (culprit.length === 0) assert.equal(verdict.culprit, undefined);
  for (const word of culprit) {
    assert.ok(verdict.culprit?.toLowerCase().includes(word.toLowerCase()), `"${word}" in "${verdict.culprit}"`);
  }
  assert.ok(verdict.confidence > 0.5 && verdict.confidence < 1);
  assert.ok(verdict.arithmetic.length > 0, 'there is arithmetic to check by hand');
}
