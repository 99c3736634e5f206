// Until when, how often, and what keeps a service down after its cause has gone.

import { type Kind, stepped, steppedCounts } from '../kind.ts';
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
  text,
} from '../writers.ts';

const timeoutInversion: Kind = {
  slug: 'timeout-inversion',
  make(draw) {
    const inner = draw.pick([5, 10, 15, 20]);
    const outer = inner * draw.pick([3, 4]);
    const servers = ['a1', 'a2', 'a3'];
    const rows = Array.from({ length: 160 }, (_, index): LogRow => {
      const cut = draw.chance(0.22);
      return {
        startMs: draw.beganMs + index * 1500,
        seconds: cut ? inner + 0.001 * draw.count(0, 4) : inner * draw.between(0.55, 0.98),
        status: cut ? 504 : 200,
        replica: servers[index % 3],
        path: `/${draw.service}/export`,
      };
    });
    const log = accessLog(draw, rows, 'haproxy');
    return {
      culprit: [String(inner)],
      signals: [
        secondTap(draw, rows),
        text('haproxy.cfg', [
          'defaults',
          '    mode http',
          '    timeout connect 5s',
          `    timeout client ${outer + 10}s`,
          `    timeout server ${inner}s`,
          'frontend www',
          '    bind :80',
          `    default_backend ${draw.service}`,
          `backend ${draw.service}`,
          ...servers.map((id, index) => `    server ${id} 10.0.0.${index + 1}:80`),
        ]),
        { ...log, text: log.text.replaceAll(/0\/0\/0\/\d+\/(\d+) 504 812 - - ----/g, '0/0/1/-1/$1 504 194 - - sH--') },
        text('client.yaml', [`request_timeout: ${outer}s`]),
        scrape('backend.prom', [
          { name: 'http_request_duration_seconds', labels: { quantile: '0.5' }, value: inner * 0.78 },
          { name: 'http_request_duration_seconds', labels: { quantile: '0.99' }, value: inner * 1.3 },
        ]),
      ],
    };
  },
};

const retryWindowTooShort: Kind = {
  slug: 'retry-window-too-short',
  make(draw) {
    const seconds = draw.pick([2, 3, 5]);
    const tries = draw.pick([2, 3]);
    const hosts = draw.addresses(3, 8080);
    const rows = Array.from({ length: 120 }, (_, index): LogRow => {
      const cut = draw.chance(0.22);
      return {
        startMs: draw.beganMs + index * 400,
        seconds: cut ? seconds : 0.03 + draw.exponential(0.02),
        status: cut ? 504 : 200,
        replica: hosts[index % 3],
        ...(cut ? { flag: 'UT' } : {}),
      };
    });
    return {
      signals: [
        text('route.yaml', [
          'route_config:',
          '  virtual_hosts:',
          `  - name: ${draw.service}`,
          '    domains: ["*"]',
          '    routes:',
          '    - match: {prefix: /}',
          '      route:',
          `        cluster: ${draw.service}`,
          `        timeout: ${seconds}s`,
          `        retry_policy: {retry_on: "5xx,reset,connect-failure", num_retries: ${tries}, per_try_timeout: ${seconds}s}`,
        ]),
        accessLog(draw, rows, 'envoy'),
        json('client.json', {
          deadline_ms: seconds * 1000,
          per_try_timeout_ms: seconds * 1000,
          max_attempts: tries + 1,
        }),
      ],
    };
  },
};

const defaultRouteTimeout: Kind = {
  slug: 'default-route-timeout',
  make(draw) {
    const hosts = draw.addresses(2, 8080);
    const { service } = draw;
    const rows = Array.from({ length: 160 }, (_, index): LogRow => {
      const cut = draw.chance(0.15);
      return {
        startMs: draw.beganMs + index * 700,
        seconds: cut ? 15 + 0.001 * draw.below(3) : draw.between(5, 14.6),
        status: cut ? 504 : 200,
        replica: hosts[index % 2],
        ...(cut ? { flag: 'UT' } : {}),
      };
    });
    return {
      culprit: ['15'],
      signals: [
        secondTap(draw, rows),
        accessLog(draw, rows, 'envoy'),
        text('route.yaml', [
          'virtual_hosts:',
          `- name: ${service}`,
          `  domains: ["${service}.example.test"]`,
          '  routes:',
          '  - match: {prefix: "/"}',
          `    route: {cluster: ${service}}`,
        ]),
        text('stats.txt', [
          `cluster.${service}.upstream_rq_total: 16000`,
          `cluster.${service}.upstream_rq_timeout: ${draw.about(2400)}`,
          `cluster.${service}.upstream_rq_5xx: ${draw.about(2400)}`,
        ]),
      ],
    };
  },
};

const keepaliveRace: Kind = {
  slug: 'keepalive-race',
  make(draw) {
    const server = draw.pick([2, 4, 5]);
    const balancer = draw.pick([60, 75]);
    const hosts = draw.addresses(2, 8080);
    const { service } = draw;
    const rows = Array.from({ length: 240 }, (_, index): LogRow => {
      const broken = index % 25 === 3;
      return {
        startMs: draw.beganMs + index * 5500,
        seconds: broken ? 0.001 : 0.02 + draw.exponential(0.01),
        status: broken ? 502 : 200,
        replica: hosts[index % 2],
      };
    });
    return {
      signals: [
        text('server.js', [
          "const http = require('http');",
          'const server = http.createServer(app);',
          `server.keepAliveTimeout = ${server * 1000};`,
          'server.listen(8080);',
        ]),
        text('nginx.conf', [
          'events {}',
          'http {',
          `  upstream ${service} { ${hosts.map((id) => `server ${id};`).join(' ')} keepalive 32; keepalive_timeout ${balancer}s; }`,
          `  server { listen 80; location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://${service}; } }`,
          '}',
        ]),
        accessLog(draw, rows, 'nginx'),
        text(
          'error.log',
          Array.from(
            { length: 9 },
            (_, index) =>
              `${errorLogTime(draw.beganMs + (3 + index * 25) * 5500)} [error] 31#31: *${index} recv() failed (104: Connection reset by peer) while reading response header from upstream, client: 198.51.100.8, server: a, request: "GET / HTTP/1.1", upstream: "http://${hosts[1]}/", host: "a"`,
          ),
        ),
      ],
    };
  },
};

const retryStorm: Kind = {
  slug: 'retry-storm',
  make(draw) {
    const asked = draw.count(5000, 20_000);
    const first = draw.between(3.4, 3.95);
    const second = draw.between(3.4, 3.95);
    const [middle, last] = [draw.word(), draw.word()];
    const counts = [asked, Math.round(asked * first), Math.round(asked * first * second)];
    const { service } = draw;
    return {
      signals: [
        csv(
          'tiers.csv',
          ['tier', 'requests'],
          [
            [service, counts[0] ?? 0],
            [middle, counts[1] ?? 0],
            [last, counts[2] ?? 0],
          ],
        ),
        text('policy.yaml', [`${service}: {max_attempts: 4}`, `${middle}: {max_attempts: 4}`]),
        scrape('errors.prom', [
          { name: 'http_client_errors_total', labels: { target: last }, value: draw.about((counts[2] ?? 0) * 0.92) },
        ]),
        text('stats.txt', [
          `cluster.${last}.upstream_rq_total: ${counts[2]}`,
          `cluster.${last}.upstream_rq_retry: ${(counts[2] ?? 0) - (counts[1] ?? 0)}`,
          `cluster.${last}.upstream_rq_retry_success: ${draw.count(10, 90)}`,
          `cluster.${last}.upstream_rq_5xx: ${draw.about((counts[2] ?? 0) * 0.92)}`,
        ]),
      ],
    };
  },
};

const metastableRetry: Kind = {
  slug: 'metastable-retry',
  make(draw) {
    const rate = draw.count(300, 1500);
    const times = draw.between(3.4, 3.95);
    const began = 4;
    const labels = { job: draw.service };
    return {
      onsetMs: draw.beganMs + began * 15_000,
      signals: [
        queryRange('query-range.json', draw.beganMs, 15, [
          { name: 'user_requests_per_second', labels, values: stepped(draw, [[rate, 16]], 0.01) },
          {
            name: 'upstream_attempts_per_second',
            labels,
            values: stepped(
              draw,
              [
                [rate * 1.004, began],
                [rate * times, 16 - began],
              ],
              0.01,
            ),
          },
          {
            name: 'successful_responses_per_second',
            labels,
            values: stepped(
              draw,
              [
                [rate * 0.998, began],
                [rate * 0.008, 16 - began],
              ],
              0.2,
            ),
          },
        ]),
        events('events.jsonl', [
          { atMs: draw.beganMs + (began - 0.2) * 15_000, event: `${draw.word()} failover started` },
          { atMs: draw.beganMs + (began + 1.2) * 15_000, event: 'failover finished, latency back to normal' },
        ]),
        text('client.yaml', ['timeout_ms: 500', 'max_attempts: 4', 'backoff: null']),
        csv(
          'minutes.csv',
          ['time', 'user_requests_per_second', 'upstream_attempts_per_second', 'successful_responses_per_second'],
          Array.from({ length: 16 }, (_, index) => [
            new Date(draw.beganMs + index * 15_000).toISOString(),
            draw.near(rate, 0.01),
            draw.near(index < began ? rate * 1.004 : rate * times, 0.01),
            draw.near(index < began ? rate : rate * 0.008, 0.1),
          ]),
        ),
      ],
    };
  },
};

const staleBacklog: Kind = {
  slug: 'metastable-stale-backlog',
  make(draw) {
    const rate = draw.count(200, 900);
    const capacity = rate * 1.25;
    const labels = { job: draw.service };
    const deep = capacity * draw.between(12, 20);
    return {
      onsetMs: draw.beganMs + 30_000,
      signals: [
        csv(
          'minutes.csv',
          ['time', 'offered_requests_per_second', 'completed_per_second', 'goodput_per_second', 'queue_length'],
          Array.from({ length: 12 }, (_, index) => [
            iso(draw.beganMs + index * 15_000),
            draw.near(rate, 0.01),
            draw.near(index < 2 ? rate : capacity, 0.01),
            index < 2 ? draw.near(rate, 0.01) : index === 2 ? rate * 0.05 : 0,
            index < 2 ? 3 : draw.near(deep),
          ]),
        ),
        queryRange('query-range.json', draw.beganMs, 15, [
          { name: 'offered_requests_per_second', labels, values: stepped(draw, [[rate, 12]], 0.01) },
          {
            name: 'completed_per_second',
            labels,
            values: stepped(
              draw,
              [
                [rate, 2],
                [capacity, 10],
              ],
              0.01,
            ),
          },
          {
            name: 'goodput_per_second',
            labels,
            values: [...stepped(draw, [[rate, 2]], 0.01), rate * 0.05, ...Array.from({ length: 9 }, () => 0)],
          },
          { name: 'queue_length', labels, values: [2, 3, deep / 2, ...steppedCounts(draw, [[deep, 9]])] },
          { name: 'process_cpu_ratio', labels, values: [0.8, 0.8, ...Array.from({ length: 10 }, () => 1)] },
        ]),
        json('server.json', { workers: 8, queue: 'fifo', cancel_on_client_timeout: false }),
        json('client.json', { request_timeout_ms: 2000 }),
        events('events.jsonl', [
          { atMs: draw.beganMs + 27_000, event: 'disk stall begins' },
          { atMs: draw.beganMs + 42_000, event: 'disk stall ends' },
        ]),
      ],
    };
  },
};

export const timesKinds: readonly Kind[] = [
  timeoutInversion,
  retryWindowTooShort,
  defaultRouteTimeout,
  keepaliveRace,
  retryStorm,
  metastableRetry,
  staleBacklog,
];
