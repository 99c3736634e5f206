// Who is fit for requests, and who comes and goes.

import { imaginedLog } from '../imagined.ts';
import { counting, type Kind, stepped, steppedCounts } from '../kind.ts';
import {
  accessLog,
  csv,
  errorLogTime,
  events,
  iso,
  json,
  type LogRow,
  queryRange,
  scrape,
  secondTap,
  syslogTime,
  text,
} from '../writers.ts';

const fastFailBlackhole: Kind = {
  slug: 'fast-fail-blackhole',
  make(draw) {
    const count = draw.count(3, 5);
    const replicas = draw.addresses(count);
    const bad = draw.below(count);
    const { rows, requests, failed, meanSeconds } = imaginedLog(
      draw,
      'black-hole',
      [`services.api.replicas=${count}`, `demand.0.open.rate=${90 * count}/s`, `faults.0.fail.replica=api-${bad + 1}`],
      replicas,
      12,
    );
    return {
      culprit: [replicas[bad] ?? ''],
      signals: [
        secondTap(draw, rows),
        accessLog(draw, rows, draw.pick(['nginx', 'json', 'envoy', 'haproxy'])),
        csv(
          'hosts.csv',
          ['host', 'requests', 'errors_5xx', 'mean_ms'],
          replicas.map((id, index) => [id, requests[index] ?? 0, failed[index] ?? 0, 1000 * (meanSeconds[index] ?? 0)]),
        ),
        text('nginx.conf', [
          'events {}',
          'http {',
          `  upstream ${draw.service} { least_conn; ${replicas.map((id) => `server ${id};`).join(' ')} }`,
          `  server { listen 80; location / { proxy_pass http://${draw.service}; } }`,
          '}',
        ]),
        scrape('hosts.prom', [
          ...replicas.map((instance, index) => ({
            name: 'http_requests_total',
            labels: { instance },
            value: requests[index] ?? 0,
          })),
          ...replicas.map((instance, index) => ({
            name: 'http_request_errors_total',
            labels: { instance },
            value: failed[index] ?? 0,
          })),
        ]),
      ],
    };
  },
};

const healthCheckOnSharedWorkers: Kind = {
  slug: 'health-check-on-shared-workers',
  alike: ['worker-pool-exhaustion'],
  make(draw) {
    const workers = draw.pick([2, 3, 5, 16, 50, 200]);
    const count = draw.count(3, 5);
    const pods = draw.replicas(count);
    const busy = pods.map(() => workers);
    const probe = (pod: string, index: number): string =>
      `${syslogTime(draw.beganMs + index * 17_000)} lb1 haproxy[1201]: Server be/${pod} is DOWN, reason: Layer7 timeout, check duration: 2001ms. ${count - 1 - index} active and 0 backup servers left. 8 sessions active, 0 requeued, 0 remaining in queue.`;
    return {
      signals: [
        text('haproxy.log', [
          ...pods.slice(0, count - 1).map(probe),
          `${syslogTime(draw.beganMs + 95_000)} lb1 haproxy[1201]: Server be/${pods[0]} is UP, reason: Layer7 check passed, code: 200, check duration: 3ms. 2 active and 0 backup servers online. 0 sessions requeued, 0 total in queue.`,
        ]),
        scrape('workers.prom', [
          ...pods.map((pod, index) => ({ name: 'workers_busy', labels: { pod }, value: busy[index] ?? 0 })),
          ...pods.map((pod) => ({ name: 'workers_max', labels: { pod }, value: workers })),
        ]),
        text('notes.yaml', [
          'plimsoll_notes: 1',
          'settings:',
          `  - { program: web, scope: ${draw.service}, set: { workers.count: ${workers}, health.path: /up, health.timeout: 2s, health.shares-workers: true } }`,
        ]),
        text('events.txt', [
          'LAST SEEN   TYPE      REASON      OBJECT                        MESSAGE',
          ...pods
            .slice(0, 2)
            .map(
              (pod, index) =>
                `4m${10 + index}s       Warning   Unhealthy   pod/${pod}   Readiness probe failed: Get "http://10.4.2.1${index}:8000/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
            ),
        ]),
        queryRange('cpu.json', draw.beganMs, 15, [
          { name: 'process_cpu_ratio', labels: { job: draw.service }, values: stepped(draw, [[0.12, 10]], 0.2) },
        ]),
      ],
    };
  },
};

const idleSlots: Kind = {
  slug: 'worker-slots-held-by-idle-connections',
  make(draw) {
    const workers = draw.pick([4, 8, 16, 32, 150]);
    return {
      signals: [
        json('server.json', { server: 'prefork', workers, slot_taken_at: 'accept' }),
        json('status.json', {
          workers_total: workers,
          workers_busy: workers,
          requests_in_flight: draw.below(2),
          connections_established: workers * 3,
        }),
        scrape('metrics.prom', [
          { name: 'workers_busy', labels: {}, value: workers },
          { name: 'http_requests_in_flight', labels: {}, value: 1 },
          { name: 'connections_established', labels: {}, value: workers * 3 },
          { name: 'process_cpu_ratio', labels: {}, value: draw.near(0.03, 0.3) },
        ]),
        text('gunicorn.conf.py', ['bind = ":8080"', `workers = ${workers}`, "worker_class = 'sync'", 'keepalive = 75']),
      ],
    };
  },
};

const passiveEvictionLastPeer: Kind = {
  slug: 'passive-eviction-last-peer',
  make(draw) {
    const [good = '', parked = ''] = draw.addresses(2, 9000);
    const penalty = draw.pick([10, 20, 30]);
    const { service } = draw;
    const perSecond = 10;
    const from = 60;
    const rows = Array.from({ length: from + penalty * perSecond + 60 }, (_, index): LogRow => {
      const out = index > from && index <= from + penalty * perSecond;
      const failed = out || index === from;
      return {
        startMs: draw.beganMs + (index * 1000) / perSecond,
        seconds: out ? 0 : 0.012 + draw.exponential(0.004),
        status: failed ? 502 : 200,
        replica: out ? undefined : good,
      };
    });
    const at = (index: number): string => errorLogTime(draw.beganMs + (index * 1000) / perSecond);
    const context = `client: 198.51.100.8, server: ${service}.example.test, request: "GET / HTTP/1.1"`;
    return {
      culprit: [service, good],
      onsetMs: draw.beganMs + (from * 1000) / perSecond,
      signals: [
        text('nginx.conf', [
          'events {}',
          'http {',
          '  log_format up \'$remote_addr - - [$time_local] "$request" $status $body_bytes_sent rt=$request_time ua="$upstream_addr" us="$upstream_status" ut="$upstream_response_time"\';',
          `  upstream ${service} { server ${good} max_fails=1 fail_timeout=${penalty}s; server ${parked} down; }`,
          `  server { listen 80; access_log /dev/stdout up; location / { proxy_pass http://${service}; } }`,
          '}',
        ]),
        accessLog(draw, rows, 'nginx'),
        text('error.log', [
          `${at(from)} [error] 31#31: *1 recv() failed (104: Connection reset by peer) while reading response header from upstream, ${context}, upstream: "http://${good}/", host: "${service}.example.test"`,
          ...Array.from(
            { length: 40 },
            (_, index) =>
              `${at(from + 1 + Math.floor((index * penalty * perSecond) / 40))} [error] 31#31: *${index + 2} no live upstreams while connecting to upstream, ${context}, upstream: "http://${service}/", host: "${service}.example.test"`,
          ),
        ]),
      ],
    };
  },
};

const panicMode: Kind = {
  slug: 'panic-mode',
  make(draw) {
    const total = draw.count(4, 12);
    const healthy = draw.below(Math.ceil(total / 2) - 1) + 1;
    const { service } = draw;
    const perMinute = draw.count(8000, 60_000);
    const stats = (panic: number, requests: number): string[] => [
      `cluster.${service}.membership_total: ${total}`,
      `cluster.${service}.membership_healthy: ${healthy}`,
      `cluster.${service}.lb_healthy_panic: ${panic}`,
      `cluster.${service}.upstream_cx_none_healthy: 0`,
      `cluster.${service}.upstream_rq_total: ${requests}`,
    ];
    const cluster = { envoy_cluster_name: service };
    return {
      culprit: [service],
      signals: [
        text('stats-t0.txt', stats(1000, 90_000)),
        text('stats-t60.txt', stats(1000 + perMinute, 90_000 + perMinute)),
        queryRange('query-range.json', draw.beganMs, 15, [
          {
            name: 'envoy_cluster_membership_healthy',
            labels: cluster,
            values: [total, total, healthy, healthy, healthy],
          },
          { name: 'envoy_cluster_membership_total', labels: cluster, values: [total, total, total, total, total] },
          {
            name: 'envoy_cluster_lb_healthy_panic',
            labels: cluster,
            values: [0, 0, ...counting(0, [perMinute / 4, perMinute / 4, perMinute / 4])],
          },
          { name: 'envoy_cluster_upstream_cx_none_healthy', labels: cluster, values: [0, 0, 0, 0, 0] },
        ]),
        text(
          'clusters.txt',
          draw
            .addresses(total, 80)
            .flatMap((id, index) => [
              `${service}::${id}::rq_total::${draw.about(perMinute / total, 0.02)}`,
              `${service}::${id}::health_flags::${index < healthy ? 'healthy' : '/failed_active_hc'}`,
            ]),
        ),
      ],
    };
  },
};

const allEjected: Kind = {
  slug: 'all-ejected-no-panic',
  make(draw) {
    const total = draw.count(2, 5);
    const hosts = draw.addresses(total, 80);
    const { service } = draw;
    const refused = draw.count(200, 900);
    const rows = Array.from({ length: 90 }, (_, index): LogRow => {
      const none = index > 14;
      return {
        startMs: draw.beganMs + index * 250,
        seconds: none ? 0 : 0.004,
        status: 503,
        replica: none ? undefined : hosts[index % total],
        ...(none ? { flag: 'UH' } : {}),
      };
    });
    return {
      culprit: [service],
      signals: [
        text('stats.txt', [
          `cluster.${service}.membership_total: ${total}`,
          `cluster.${service}.membership_healthy: 0`,
          `cluster.${service}.lb_healthy_panic: 0`,
          `cluster.${service}.outlier_detection.ejections_active: ${total}`,
          `cluster.${service}.outlier_detection.ejections_total: ${total}`,
          `cluster.${service}.upstream_cx_none_healthy: ${refused}`,
          `cluster.${service}.upstream_rq_503: ${refused}`,
        ]),
        text('cluster.yaml', [
          `name: ${service}`,
          'connect_timeout: 1s',
          'type: STRICT_DNS',
          'lb_policy: ROUND_ROBIN',
          'common_lb_config: {healthy_panic_threshold: {value: 0}}',
          `outlier_detection: {consecutive_5xx: ${draw.count(2, 5)}, max_ejection_percent: 100}`,
          'load_assignment:',
          `  cluster_name: ${service}`,
          `  endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: ${service}.example.test, port_value: 80}}}}]}]`,
        ]),
        accessLog(draw, rows, 'envoy'),
        text(
          'clusters.txt',
          hosts.flatMap((id) => [
            `${service}::${id}::cx_active::0`,
            `${service}::${id}::rq_total::5`,
            `${service}::${id}::rq_error::5`,
            `${service}::${id}::health_flags::/failed_outlier_check`,
          ]),
        ),
      ],
    };
  },
};

const discoveryOutage: Kind = {
  slug: 'discovery-outage',
  make(draw) {
    const { service } = draw;
    const failures = draw.count(20, 60);
    const at = (index: number): string => errorLogTime(draw.beganMs + index * 1000);
    return {
      signals: [
        text('stats.txt', [
          `cluster.${service}.membership_total: 0`,
          `cluster.${service}.membership_healthy: 0`,
          `cluster.${service}.update_attempt: ${failures + 2}`,
          `cluster.${service}.update_failure: ${failures}`,
          `cluster.${service}.update_success: 2`,
          `cluster.${service}.upstream_cx_none_healthy: ${failures * 20}`,
          `cluster.${service}.upstream_rq_503: ${failures * 20}`,
        ]),
        text(
          'error.log',
          Array.from(
            { length: 24 },
            (_, index) =>
              `${at(index)} [error] 31#31: *${index} ${service}.internal could not be resolved (110: Operation timed out), client: 198.51.100.8, server: a.example.test, request: "GET / HTTP/1.1", host: "a.example.test"`,
          ),
        ),
        accessLog(
          draw,
          Array.from({ length: 60 }, (_, index): LogRow => ({
            startMs: draw.beganMs + index * 400,
            seconds: 0,
            status: 503,
            replica: undefined,
            flag: 'UH',
          })),
          'envoy',
        ),
        text(
          'gateway.log',
          Array.from(
            { length: 20 },
            (_, index) =>
              `${iso(draw.beganMs + index * 1000)} ERROR [gw] resolver: lookup ${service}.internal on 10.96.0.10:53: read udp 10.1.2.3:40121->10.96.0.10:53: i/o timeout`,
          ),
        ),
      ],
    };
  },
};

const drainRace: Kind = {
  slug: 'drain-race',
  make(draw) {
    const [gone = '', ...others] = draw.addresses(3, 8080);
    const pod = draw.replicas(3)[0] ?? '';
    const ip = gone.split(':')[0] ?? '';
    const late = draw.between(5, 12);
    const killedMs = draw.beganMs + 10_000;
    const rows = Array.from({ length: 240 }, (_, index): LogRow => {
      const startMs = draw.beganMs + index * 125;
      const inGap = startMs > killedMs + 500 && startMs < killedMs + late * 1000;
      const replica = startMs >= killedMs + late * 1000 ? others[index % 2] : [gone, ...others][index % 3];
      const refused = inGap && replica === gone;
      return {
        startMs,
        seconds: refused ? 0.001 : 0.02 + draw.exponential(0.004),
        status: refused ? 502 : 200,
        replica,
      };
    });
    return {
      onsetMs: killedMs,
      signals: [
        text('notes.yaml', [
          'plimsoll_notes: 1',
          'events:',
          `  - { at: ${iso(killedMs)}, event: pod-terminating, subject: ${pod} }`,
          `  - { at: ${iso(killedMs + late * 1000)}, event: removed-from-balancer, subject: ${pod} }`,
        ]),
        secondTap(draw, rows),
        accessLog(draw, rows, draw.pick(['nginx', 'json'])),
        events('events.jsonl', [
          { atMs: killedMs, reason: 'Killing', pod, ip, message: `Stopping container ${draw.service}` },
          { atMs: killedMs + late * 1000, reason: 'EndpointsUpdated', pod, ip },
        ]),
        text(
          'error.log',
          Array.from(
            { length: 6 },
            (_, index) =>
              `${errorLogTime(killedMs + 1000 + index * 700)} [error] 31#31: *9${index} connect() failed (111: Connection refused) while connecting to upstream, client: 198.51.100.8, server: ${draw.service}.example.test, request: "GET / HTTP/1.1", upstream: "http://${gone}/", host: "${draw.service}.example.test"`,
          ),
        ),
        text('pod.yaml', [
          'apiVersion: v1',
          'kind: Pod',
          `metadata: {name: ${pod}}`,
          'spec:',
          '  terminationGracePeriodSeconds: 30',
          `  containers: [{name: ${draw.service}, image: "example.test/${draw.service}:3"}]`,
        ]),
      ],
    };
  },
};

/** How the mean falls from the first seconds of a new replica to those of the others. */
const coldStart: Kind = {
  slug: 'cold-start',
  make(draw) {
    const hosts = draw.addresses(4, 8080);
    const fresh = hosts[3] ?? '';
    const base = draw.between(0.02, 0.06);
    const factor = draw.between(12, 40);
    const warmSeconds = draw.between(40, 80);
    const startedMs = draw.beganMs + 60_000;
    const rows = Array.from({ length: 1200 }, (_, index): LogRow => {
      const startMs = draw.beganMs + index * 200;
      const replica = startMs < startedMs ? hosts[index % 3] : hosts[index % 4];
      const age = (startMs - startedMs) / 1000;
      const cold = replica === fresh && age < warmSeconds ? 1 + factor * (1 - age / warmSeconds) : 1;
      return { startMs, seconds: base * cold * draw.between(0.85, 1.2), status: 200, replica };
    });
    const p99 = base * 1.2;
    return {
      culprit: [fresh.split(':')[0] ?? '', 'new pods'],
      onsetMs: startedMs,
      signals: [
        secondTap(draw, rows),
        accessLog(draw, rows, draw.pick(['json', 'envoy', 'nginx'])),
        events('events.jsonl', [
          {
            atMs: startedMs - 4000,
            reason: 'ScalingReplicaSet',
            message: `Scaled up replica set ${draw.service} from 3 to 4`,
          },
          { atMs: startedMs, reason: 'Started', pod: `${draw.service}-3`, ip: fresh.split(':')[0] },
        ]),
        queryRange('query-range.json', draw.beganMs, 15, [
          {
            name: 'http_request_duration_p99_seconds',
            labels: { job: draw.service },
            values: [
              ...stepped(draw, [[p99, 4]]),
              ...[1, 0.8, 0.5, 0.25].map((part) => p99 + base * factor * part),
              ...stepped(draw, [[p99, 6]]),
            ],
          },
          { name: 'requests_per_second', labels: { job: draw.service }, values: steppedCounts(draw, [[5, 14]], 0.01) },
        ]),
      ],
    };
  },
};

export const fitnessKinds: readonly Kind[] = [
  fastFailBlackhole,
  healthCheckOnSharedWorkers,
  idleSlots,
  passiveEvictionLastPeer,
  panicMode,
  allEjected,
  discoveryOutage,
  drainRace,
  coldStart,
];
