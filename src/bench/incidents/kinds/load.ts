// What the load generator did to its own measurement, and fleets in which nothing is wrong.

import { imaginedLog } from '../imagined.ts';
import { type Kind, stepped } from '../kind.ts';
import { accessLog, csv, json, queryRange, scrape, secondTap, text } from '../writers.ts';

const singleConnection: Kind = {
  slug: 'generator-single-connection',
  alikeWithLess: ['pick-first'],
  make(draw) {
    const count = draw.count(3, 5);
    const servers = draw.replicas(count);
    const hot = draw.below(count);
    const requests = draw.count(100_000, 500_000);
    return {
      signals: [
        text('run.sh', [
          `ghz --insecure --proto shop.proto --call shop.Cart/Get -c 200 --connections=1 -z 60s lb.example.test:443`,
        ]),
        csv(
          'pods.csv',
          ['pod', 'connections', 'requests', 'cpu_percent'],
          servers.map((id, index) => [
            id,
            index === hot ? 1 : 0,
            index === hot ? requests : 0,
            index === hot ? draw.about(97) : 1,
          ]),
        ),
        json('load.json', { tool: 'h2load', connections: 1, http2: true, requests, duration_s: 60 }),
        text('svc.yaml', [
          'apiVersion: v1',
          'kind: Service',
          `metadata: {name: ${draw.service}}`,
          `spec: {type: LoadBalancer, ports: [{port: 443}], selector: {app: ${draw.service}}}`,
        ]),
      ],
    };
  },
};

const dnsPin: Kind = {
  slug: 'generator-dns-pin',
  alikeWithLess: ['pick-first'],
  make(draw) {
    const addresses = Array.from({ length: 3 }, (_, index) => `203.0.113.${draw.count(1, 60) + index * 61}`);
    const hot = draw.below(3);
    const users = draw.pick([64, 200, 400]);
    const requests = draw.count(100_000, 900_000);
    return {
      signals: [
        csv(
          'nodes.csv',
          ['address', 'requests', 'connections'],
          addresses.map((id, index) => [id, index === hot ? requests : 0, index === hot ? users : 0]),
        ),
        json('load.json', { tool: 'jmeter', users, duration_s: 300, dns: 'resolved once at start' }),
        json('lookup.json', { 'lb.example.test': addresses }),
        scrape(
          'nodes.prom',
          addresses.map((instance, index) => ({
            name: 'nginx_http_requests_total',
            labels: { instance },
            value: index === hot ? requests : draw.below(15),
          })),
        ),
      ],
    };
  },
};

const generatorPorts: Kind = {
  slug: 'generator-port-exhaustion',
  make(draw) {
    const failed = draw.count(8000, 60_000);
    return {
      signals: [
        text('ab.txt', [
          'This is ApacheBench, Version 2.3 <$Revision: 1903618 $>',
          'Benchmarking 10.0.0.5 (be patient)',
          'Completed 20000 requests',
          'apr_socket_connect(): Cannot assign requested address (99)',
          `Total of ${draw.count(28_100, 28_231)} requests completed`,
        ]),
        text('ss-s.txt', [
          'Total: 28400',
          `TCP:   28290 (estab 3, closed 28200, orphaned 0, timewait ${draw.count(28_190, 28_231)})`,
          '',
          'Transport Total     IP        IPv6',
          'TCP       90        90        0',
        ]),
        text('locust_failures.csv', [
          'Method,Name,Error,Occurrences',
          `GET,/,"ConnectionError(MaxRetryError('HTTPConnectionPool(host=10.0.0.5, port=80): Max retries exceeded (Caused by NewConnectionError: Failed to establish a new connection: [Errno 99] Cannot assign requested address))')",${failed}`,
        ]),
        json('options.json', { tool: 'locust', users: 4000, keepalive: false }),
      ],
    };
  },
};

const generatorSaturated: Kind = {
  slug: 'generator-saturated',
  make(draw) {
    const rate = draw.pick([800, 1000, 2000]);
    const done = rate * draw.between(0.4, 0.6);
    const users = draw.pick([200, 500]);
    return {
      signals: [
        text('k6.txt', [
          '     execution: local',
          '        script: checkout.js',
          `     scenarios: (100.00%) 1 scenario, ${users} max VUs, 2m30s max duration (incl. graceful stop)`,
          '',
          `     dropped_iterations.............: ${Math.round((rate - done) * 120)}  ${(rate - done).toFixed(2)}/s`,
          '     http_req_duration..............: avg=412ms min=20ms med=390ms max=2.1s p(90)=700ms p(95)=810ms',
          `     http_reqs......................: ${Math.round(done * 120)}  ${done.toFixed(2)}/s`,
          `     iterations.....................: ${Math.round(done * 120)}  ${done.toFixed(2)}/s`,
          `     vus............................: ${users}    min=${users} max=${users}`,
          `     vus_max........................: ${users}    min=${users} max=${users}`,
        ]),
        scrape('generator.prom', [
          { name: 'process_cpu_ratio', labels: { job: 'k6' }, value: draw.between(0.97, 1) },
          { name: 'server_cpu_ratio', labels: { job: draw.service }, value: draw.between(0.1, 0.35) },
        ]),
        json('options.json', {
          scenarios: {
            main: {
              executor: 'constant-arrival-rate',
              rate,
              timeUnit: '1s',
              duration: '2m',
              preAllocatedVUs: users,
              maxVUs: users,
            },
          },
        }),
      ],
    };
  },
};

const closedLoop: Kind = {
  slug: 'closed-loop-artifact',
  make(draw) {
    const users = draw.pick([100, 200, 400]);
    const before = draw.count(3000, 8000);
    const during = draw.count(120_000, 200_000);
    const good = draw.count(500, 2000);
    const mean = users / during;
    return {
      signals: [
        text('hey.txt', [
          'Summary:',
          '  Total:	30.0021 secs',
          '  Slowest:	0.0310 secs',
          '  Fastest:	0.0001 secs',
          `  Average:	${mean.toFixed(4)} secs`,
          `  Requests/sec:	${during}.11`,
          '',
          'Latency distribution:',
          `  50% in ${(mean * 0.9).toFixed(4)} secs`,
          `  95% in ${(mean * 2).toFixed(4)} secs`,
          `  99% in ${(mean * 4).toFixed(4)} secs`,
          '',
          'Status code distribution:',
          `  [200]	${good} responses`,
          `  [503]	${during * 30 - good} responses`,
        ]),
        text('command.sh', [`hey -c ${users} -z 30s http://lb.example.test/`]),
        text('before.txt', [
          'Summary:',
          '  Total:	30.0010 secs',
          `  Average:	${(users / before).toFixed(4)} secs`,
          `  Requests/sec:	${before}.20`,
          '',
          'Status code distribution:',
          `  [200]	${before * 30} responses`,
        ]),
      ],
    };
  },
};

/** Fleets that work: below their knee, over one policy or another, in one form of log or another. */
const healthyOpen: Kind = {
  slug: 'healthy',
  alike: ['benign-accept-order'],
  make(draw) {
    const count = draw.count(3, 6);
    const replicas = draw.addresses(count);
    const { rows, requests, meanSeconds } = imaginedLog(
      draw,
      'black-hole',
      [
        `services.api.replicas=${count}`,
        `demand.0.open.rate=${draw.count(40, 90) * count}/s`,
        'faults=[]',
        `gateway.policy=${draw.pick(['round-robin', 'random', 'least-request'])}`,
      ],
      replicas,
      20,
    );
    return {
      signals: [
        secondTap(draw, rows),
        accessLog(draw, rows, draw.pick(['nginx', 'envoy', 'json', 'haproxy'])),
        csv(
          'hosts.csv',
          ['host', 'requests', 'errors_5xx', 'mean_ms'],
          replicas.map((id, index) => [id, requests[index] ?? 0, 0, 1000 * (meanSeconds[index] ?? 0)]),
        ),
        queryRange(
          'query-range.json',
          draw.beganMs,
          15,
          replicas.flatMap((instance) => [
            { name: 'requests_per_second', labels: { instance }, values: stepped(draw, [[60, 12]], 0.03) },
            { name: 'process_cpu_ratio', labels: { instance }, values: stepped(draw, [[0.35, 12]], 0.06) },
            {
              name: 'http_request_duration_p99_seconds',
              labels: { instance },
              values: stepped(draw, [[0.09, 12]], 0.08),
            },
          ]),
        ),
      ],
    };
  },
};

const healthyClosed: Kind = {
  slug: 'healthy',
  alike: ['benign-accept-order'],
  make(draw) {
    const count = draw.count(3, 5);
    const replicas = Array.from({ length: count }, (_, index) => `${draw.service}-${index + 1}`);
    const { rows, requests } = imaginedLog(
      draw,
      'healthy',
      [
        `services.api.replicas=${count}`,
        `demand.0.closed.users=${8 * count}`,
        `demand.0.closed.think=${draw.count(80, 200)}ms`,
      ],
      replicas,
      20,
    );
    return {
      signals: [
        secondTap(draw, rows),
        queryRange(
          'query-range.json',
          draw.beganMs,
          15,
          replicas.flatMap((instance) => [
            { name: 'requests_per_second', labels: { instance }, values: stepped(draw, [[60, 12]], 0.03) },
            { name: 'process_cpu_ratio', labels: { instance }, values: stepped(draw, [[0.35, 12]], 0.06) },
            {
              name: 'http_request_duration_p99_seconds',
              labels: { instance },
              values: stepped(draw, [[0.09, 12]], 0.08),
            },
          ]),
        ),
        accessLog(draw, rows, draw.pick(['haproxy', 'json'])),
        scrape(
          'replicas.prom',
          replicas.flatMap((pod, index) => [
            { name: 'http_requests_total', labels: { pod }, value: requests[index] ?? 0 },
          ]),
        ),
        text('stats.txt', [
          `cluster.${draw.service}.membership_total: ${count}`,
          `cluster.${draw.service}.membership_healthy: ${count}`,
          `cluster.${draw.service}.lb_healthy_panic: 0`,
          `cluster.${draw.service}.upstream_rq_total: 90000`,
          `cluster.${draw.service}.upstream_rq_pending_overflow: 0`,
        ]),
      ],
    };
  },
};

export const loadKinds: readonly Kind[] = [singleConnection, dnsPin, generatorPorts, generatorSaturated, closedLoop];
export const quietKinds: readonly Kind[] = [healthyOpen, healthyClosed];
