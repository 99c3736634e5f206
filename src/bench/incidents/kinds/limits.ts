// What is full: pools, queues, tables, ports, streams, quotas, names.

import { counting, type Kind, stepped, steppedCounts } from '../kind.ts';
import {
  accessLog,
  csv,
  errorLogTime,
  iso,
  json,
  type LogRow,
  queryRange,
  scrape,
  text,
  twoScrapes,
} from '../writers.ts';

const breakerOverflow: Kind = {
  slug: 'circuit-breaker-overflow',
  make(draw) {
    const { service } = draw;
    const limit = draw.pick([3, 16, 64, 100]);
    const hosts = draw.addresses(2, 9080);
    const rows = Array.from({ length: 240 }, (_, index): LogRow => {
      const refused = draw.chance(0.3);
      return {
        startMs: draw.beganMs + index * 20,
        seconds: refused ? 0 : 0.3,
        status: refused ? 503 : 200,
        replica: refused ? undefined : hosts[index % 2],
        ...(refused ? { flag: 'UO' } : {}),
      };
    });
    const overflow = draw.count(400, 2000);
    const labels = { envoy_cluster_name: service };
    return {
      culprit: [service],
      signals: [
        accessLog(draw, rows, 'envoy'),
        text('cluster.yaml', [
          `name: ${service}`,
          'connect_timeout: 1s',
          'type: STRICT_DNS',
          `circuit_breakers: {thresholds: [{max_requests: ${limit}, max_pending_requests: ${limit}}]}`,
        ]),
        text('stats.txt', [
          `cluster.${service}.upstream_rq_pending_overflow: ${overflow}`,
          `cluster.${service}.upstream_rq_active: ${limit}`,
          `cluster.${service}.circuit_breakers.default.rq_open: 1`,
          `cluster.${service}.upstream_rq_total: ${overflow * 4}`,
        ]),
        queryRange('query_range.json', draw.beganMs, 15, [
          {
            name: 'envoy_cluster_upstream_rq_pending_overflow',
            labels,
            values: [0, 0, ...counting(0, [overflow / 3, overflow / 3, overflow / 3])],
          },
          { name: 'envoy_cluster_upstream_rq_active', labels, values: [limit * 0.6, limit * 0.9, limit, limit, limit] },
          { name: 'envoy_cluster_circuit_breakers_default_rq_open', labels, values: [0, 0, 1, 1, 1] },
          { name: 'envoy_cluster_upstream_rq_total', labels, values: counting(1000, [1000, 1000, 900, 800, 800]) },
        ]),
      ],
    };
  },
};

const poolExhaustion: Kind = {
  slug: 'dependency-pool-exhaustion',
  make(draw) {
    const size = draw.pick([5, 10, 20, 40]);
    const at = (index: number): string => iso(draw.beganMs + index * 900);
    return {
      signals: [
        text(
          'app.log',
          Array.from(
            { length: 40 },
            (_, index) =>
              `${at(index).replace('T', ' ').replace('Z', '')} ERROR [app.api] sqlalchemy.exc.TimeoutError: QueuePool limit of size ${size} overflow 0 reached, connection timed out, timeout 30.00`,
          ),
        ),
        scrape('pool.prom', [
          { name: 'hikaricp_connections_max', labels: { pool: 'main' }, value: size },
          { name: 'hikaricp_connections_active', labels: { pool: 'main' }, value: size },
          { name: 'hikaricp_connections_pending', labels: { pool: 'main' }, value: draw.count(40, 300) },
        ]),
        csv(
          'pool.csv',
          ['time', 'pool_in_use', 'pool_max', 'pool_waiting'],
          Array.from({ length: 14 }, (_, index) => [
            iso(draw.beganMs + index * 2000),
            size,
            size,
            40 + index * draw.count(3, 9),
          ]),
        ),
        csv(
          'db.csv',
          ['metric', 'value'],
          [
            ['db_active_connections', size],
            ['db_max_connections', 200],
            ['db_cpu_percent', draw.count(5, 20)],
          ],
        ),
      ],
    };
  },
};

const acquireTooShort: Kind = {
  slug: 'acquire-timeout-too-short',
  make(draw) {
    const size = draw.pick([30, 50]);
    const limit = draw.pick([50, 100]);
    return {
      signals: [
        scrape('stats.prom', [
          { name: 'db_pool_max_connections', labels: {}, value: size },
          { name: 'db_pool_acquire_timeouts_total', labels: {}, value: draw.count(400, 2000) },
          { name: 'db_pool_hold_seconds', labels: { quantile: '0.5' }, value: (limit / 1000) * 1.1 },
        ]),
        text('settings.env', [`DB_POOL_MAX=${size}`, `DB_ACQUIRE_TIMEOUT_MS=${limit}`]),
        queryRange('query_range.json', draw.beganMs, 15, [
          {
            name: 'db_pool_acquired_connections',
            labels: { service: draw.service },
            values: [9, size, 11, 8, size, 12, 10],
          },
          { name: 'db_pool_waiting', labels: { service: draw.service }, values: [0, 40, 0, 0, 38, 0, 0] },
        ]),
        text('client.yaml', ['http:', '  pool:', `    max-size: ${size}`, `    acquire-timeout: ${limit}ms`]),
        text(
          'client.log',
          Array.from({ length: 90 }, (_, index) => {
            const at = iso(draw.beganMs + index * 3000);
            const busy = draw.count(8, 18);
            return index % 3 === 0
              ? `${at} WARN o.a.h.i.c.PoolingHttpClientConnectionManager ConnectionPoolTimeoutException: Timeout waiting for connection from pool [leased: ${size}; pending: ${draw.count(50, 70)}; available: 0; max: ${size}]`
              : `${at} DEBUG o.a.h.i.c.PoolingHttpClientConnectionManager Pool stats [leased: ${busy}; pending: 0; available: ${size - busy}; max: ${size}]`;
          }),
        ),
        scrape('pool.prom', [
          {
            name: 'http_pool_hold_seconds',
            labels: { quantile: '0.5' },
            value: (limit / 1000) * draw.between(0.7, 1.1),
          },
          { name: 'http_pool_hold_seconds', labels: { quantile: '0.99' }, value: (limit / 1000) * 2 },
          { name: 'remote_busy_ratio', labels: {}, value: draw.between(0.1, 0.4) },
        ]),
      ],
    };
  },
};

const acceptQueue: Kind = {
  slug: 'accept-queue-overflow',
  make(draw) {
    const queue = draw.pick([128, 511]);
    const port = draw.pick([3000, 8080, 5000]);
    const overflowed = draw.count(1200, 4500);
    return {
      signals: [
        text('hey.txt', [
          'Summary:',
          '  Total:\t20.8301 secs',
          '  Slowest:\t3.0313 secs',
          '  Fastest:\t0.0009 secs',
          '  Average:\t0.0710 secs',
          '  Requests/sec:\t4800.75',
          '',
          'Latency distribution:',
          '  10% in 0.0051 secs',
          '  50% in 0.0102 secs',
          '  90% in 0.0121 secs',
          '  95% in 0.0140 secs',
          '  99% in 1.0101 secs',
          '',
          'Status code distribution:',
          '  [200]\t100000 responses',
        ]),
        text('ss-lnt.txt', [
          'State    Recv-Q   Send-Q     Local Address:Port     Peer Address:Port',
          `LISTEN   ${queue + 1}      ${queue}              0.0.0.0:${port}          0.0.0.0:*`,
        ]),
        text('nstat-before.txt', [
          '#kernel',
          'TcpExtListenOverflows           120                0.0',
          'TcpExtListenDrops               120                0.0',
        ]),
        text('nstat-after.txt', [
          '#kernel',
          `TcpExtListenOverflows           ${120 + overflowed}               0.0`,
          `TcpExtListenDrops               ${120 + overflowed}               0.0`,
        ]),
        scrape('process.prom', [
          { name: 'process_cpu_ratio', labels: { job: draw.service }, value: draw.between(0.05, 0.3) },
        ]),
      ],
    };
  },
};

const conntrackFull: Kind = {
  slug: 'conntrack-full',
  make(draw) {
    const limit = draw.pick([65_536, 131_072, 262_144]);
    const instance = `gw-${draw.count(1, 9)}`;
    const uptime = draw.count(100_000, 2_000_000);
    return {
      signals: [
        text(
          'dmesg.txt',
          [0.1, 0.2, 5.1, 5.3].map(
            (later) => `[${(uptime + later).toFixed(6)}] nf_conntrack: nf_conntrack: table full, dropping packet`,
          ),
        ),
        text('sysctl.txt', [
          `net.netfilter.nf_conntrack_max = ${limit}`,
          `net.netfilter.nf_conntrack_count = ${limit}`,
          'net.netfilter.nf_conntrack_tcp_timeout_established = 432000',
        ]),
        scrape('node.prom', [
          { name: 'node_nf_conntrack_entries', labels: { instance }, value: limit - 1 },
          { name: 'node_nf_conntrack_entries_limit', labels: { instance }, value: limit },
          { name: 'node_nf_conntrack_stat_drop_total', labels: { instance }, value: draw.count(10_000, 90_000) },
        ]),
      ],
    };
  },
};

const proxyPorts: Kind = {
  slug: 'proxy-port-exhaustion',
  make(draw) {
    const [host = ''] = draw.addresses(1, 8080);
    const waiting = draw.count(28_190, 28_231);
    return {
      signals: [
        accessLog(
          draw,
          Array.from({ length: 120 }, (_, index): LogRow => {
            const failed = index % 4 !== 0;
            return {
              startMs: draw.beganMs + index * 100,
              seconds: failed ? 0 : 0.009,
              status: failed ? 502 : 200,
              replica: host,
            };
          }),
          'nginx',
        ),
        text(
          'error.log',
          Array.from(
            { length: 30 },
            (_, index) =>
              `${errorLogTime(draw.beganMs + index * 1000)} [crit] 31#31: *${index} connect() to ${host} failed (99: Cannot assign requested address) while connecting to upstream, client: 198.51.100.${index % 9}, server: a.example.test, request: "GET / HTTP/1.1", upstream: "http://${host}/", host: "a.example.test"`,
          ),
        ),
        text('ss-s.txt', [
          'Total: 30012',
          `TCP:   29890 (estab ${draw.count(100, 400)}, closed 28301, orphaned 0, timewait ${waiting})`,
          '',
          'Transport Total     IP        IPv6',
          'RAW       0         0         0',
          'TCP       1589      1580      9',
        ]),
        text('sockstat.txt', [
          'sockets: used 30100',
          `TCP: inuse 200 orphan 0 tw ${waiting} alloc 300 mem 40`,
          'UDP: inuse 3 mem 1',
        ]),
      ],
    };
  },
};

const streamCap: Kind = {
  slug: 'h2-stream-cap',
  make(draw) {
    const { service } = draw;
    const cap = draw.pick([100, 128, 250]);
    const pending = draw.count(30, 900);
    return {
      signals: [
        text('stats.txt', [
          `cluster.${service}.upstream_cx_active: 1`,
          `cluster.${service}.upstream_rq_active: ${cap}`,
          `cluster.${service}.upstream_rq_pending_active: ${pending}`,
          `cluster.${service}.upstream_rq_total: 100000`,
          `cluster.${service}.membership_healthy: 3`,
          `cluster.${service}.membership_total: 3`,
        ]),
        json('server.json', { max_concurrent_streams: cap }),
        scrape('client.prom', [
          { name: 'grpc_client_active_streams', labels: { channel: '1' }, value: cap },
          { name: 'grpc_client_pending_streams', labels: { channel: '1' }, value: pending },
          { name: 'grpc_client_latency_seconds', labels: { quantile: '0.5' }, value: 0.9 },
          { name: 'grpc_server_latency_seconds', labels: { quantile: '0.5' }, value: 0.1 },
        ]),
      ],
    };
  },
};

const cpuThrottling: Kind = {
  slug: 'cpu-throttling',
  make(draw) {
    const pod = draw.replicas(1)[0] ?? '';
    const quota = draw.pick([25_000, 50_000, 100_000]);
    const throttled = draw.between(0.6, 0.95);
    const perReading = 150;
    const growth = (share: number): readonly number[] =>
      counting(
        100,
        Array.from({ length: 10 }, () => draw.near(perReading * share)),
      );
    return {
      culprit: [pod, 'quota', 'limit', 'cpu'],
      signals: [
        text('cpu.stat-t0.txt', [
          'usage_usec 900000000',
          'user_usec 700000000',
          'system_usec 200000000',
          'nr_periods 10000',
          'nr_throttled 7000',
          'throttled_usec 300000000',
        ]),
        text('cpu.stat-t60.txt', [
          'usage_usec 930000000',
          'user_usec 723000000',
          'system_usec 207000000',
          'nr_periods 10600',
          `nr_throttled ${7000 + Math.round(600 * throttled)}`,
          `throttled_usec ${300_000_000 + Math.round(42_000_000 * throttled)}`,
        ]),
        text('cpu.max.txt', [`${quota} 100000`]),
        queryRange('query_range.json', draw.beganMs, 15, [
          { name: 'container_cpu_cfs_periods_total', labels: { pod }, values: growth(1) },
          { name: 'container_cpu_cfs_throttled_periods_total', labels: { pod }, values: growth(throttled) },
          {
            name: 'container_cpu_cfs_throttled_seconds_total',
            labels: { pod },
            values: counting(
              9,
              Array.from({ length: 10 }, () => draw.near(10)),
            ),
          },
          { name: 'http_request_duration_p99_seconds', labels: { pod }, values: stepped(draw, [[0.19, 10]]) },
        ]),
        csv(
          'latency.csv',
          ['quantile', 'ms'],
          [
            [0.5, 12],
            [0.95, draw.about(96)],
            [0.99, draw.about(185)],
          ],
        ),
      ],
    };
  },
};

const dnsDelay: Kind = {
  slug: 'dns-quantised-delay',
  make(draw) {
    const step = draw.pick([2, 5]);
    const slow = draw.between(0.08, 0.15);
    return {
      signals: [
        text(
          'client.jsonl',
          Array.from({ length: 260 }, (_, index) =>
            JSON.stringify({
              ts: iso(draw.beganMs + index * 700),
              method: 'GET',
              path: '/rate',
              status: 200,
              duration_ms: (draw.chance(slow) ? step * 1000 : 0) + draw.count(12, 21),
              upstream_response_time_ms: draw.count(8, 11),
              host: `${draw.service}.example.test`,
            }),
          ),
        ),
        csv(
          'lookups.csv',
          ['n', 'time_namelookup', 'time_connect', 'time_total'],
          Array.from({ length: 80 }, (_, index) => {
            const look = (draw.chance(slow) ? step : 0) + draw.between(0.002, 0.005);
            return [index, look, look + 0.001, look + 0.02];
          }),
        ),
        text('resolv.conf', [
          'nameserver 10.96.0.10',
          'search shop.svc.cluster.local svc.cluster.local cluster.local',
          `options ndots:5${step === 2 ? ' timeout:2' : ''}`,
        ]),
      ],
    };
  },
};

const overload: Kind = {
  slug: 'overload-open-loop',
  alike: ['overload'],
  make(draw) {
    const rate = draw.pick([1000, 2000, 4000]);
    const done = rate * draw.between(0.45, 0.7);
    const labels = { job: draw.service };
    // What was asked in the last second has waited for all that had piled up in the minute.
    const last = 60 * (1 - done / rate);
    const waited = (part: number): string => (last * part).toFixed(2);
    return {
      signals: [
        text('wrk2.txt', [
          'Running 1m test @ http://10.0.0.1/',
          '  4 threads and 400 connections',
          '  Thread calibration: mean lat.: 4000.100ms, rate sampling interval: 15000ms',
          '  Thread Stats   Avg      Stdev     Max   +/- Stdev',
          `    Latency    ${waited(0.5)}s     ${waited(0.29)}s   ${waited(1)}s    57.00%`,
          '    Req/Sec   250.00     10.00   270.00     70.00%',
          '  Latency Distribution (HdrHistogram - Recorded Latency)',
          ` 50.000%   ${waited(0.5)}s`,
          ` 75.000%   ${waited(0.75)}s`,
          ` 90.000%   ${waited(0.9)}s`,
          ` 99.000%   ${waited(0.99)}s`,
          `  ${Math.round(done * 60)} requests in 1.00m, 18.00MB read`,
          `Requests/sec:   ${done.toFixed(2)}`,
          'Transfer/sec:    307.20KB',
        ]),
        text('command.sh', [`wrk2 -t4 -c400 -d60s -R${rate} --latency http://10.0.0.1/`]),
        scrape('server.prom', [{ name: 'process_cpu_ratio', labels, value: draw.between(0.97, 0.999) }]),
        queryRange('query_range.json', draw.beganMs, 15, [
          { name: 'offered_requests_per_second', labels, values: stepped(draw, [[rate, 8]], 0.005) },
          { name: 'completed_per_second', labels, values: stepped(draw, [[done, 8]], 0.01) },
          { name: 'process_cpu_ratio', labels, values: stepped(draw, [[0.985, 8]], 0.005) },
          {
            name: 'queue_length',
            labels,
            values: Array.from({ length: 8 }, (_, index) => 10 + (rate - done) * 15 * index),
          },
        ]),
      ],
    };
  },
};

const workerPool: Kind = {
  slug: 'worker-pool-exhaustion',
  make(draw) {
    const workers = draw.pick([8, 16, 32]);
    const labels = { job: draw.service };
    const slow = draw.between(4, 12);
    return {
      onsetMs: draw.beganMs + 90_000,
      signals: [
        queryRange('query_range.json', draw.beganMs, 15, [
          {
            name: 'workers_busy',
            labels,
            values: [...steppedCounts(draw, [[workers * 0.15, 6]], 0.2), ...steppedCounts(draw, [[workers, 14]], 0)],
          },
          {
            name: 'dependency_latency_seconds',
            labels,
            values: stepped(
              draw,
              [
                [0.04, 6],
                [slow, 14],
              ],
              0.03,
            ),
          },
        ]),
        text('app.yaml', [`workers: ${workers}`]),
        scrape('process.prom', [{ name: 'process_cpu_ratio', labels, value: draw.between(0.06, 0.2) }]),
        scrape('workers.prom', [
          { name: 'workers_busy', labels, value: workers },
          { name: 'workers_max', labels, value: workers },
        ]),
      ],
    };
  },
};

const rateLimited: Kind = {
  slug: 'rate-limited',
  make(draw) {
    const hosts = draw.addresses(2, 8080);
    const limit = draw.pick([10, 20, 50]);
    const rows = Array.from({ length: 400 }, (_, index): LogRow => {
      const refused = draw.chance(0.35);
      return {
        startMs: draw.beganMs + index * (1000 / (limit * 1.6)),
        seconds: refused ? 0 : 0.03 + draw.exponential(0.005),
        status: refused ? 429 : 200,
        replica: refused ? undefined : hosts[index % 2],
        path: '/api',
      };
    });
    return {
      signals: [
        accessLog(draw, rows, 'nginx'),
        text('nginx.conf', [
          'events {}',
          'http {',
          `  limit_req_zone $binary_remote_addr zone=api:10m rate=${limit}r/s;`,
          '  limit_req_status 429;',
          `  upstream ${draw.service} { ${hosts.map((id) => `server ${id};`).join(' ')} }`,
          `  server { listen 80; location /api { limit_req zone=api burst=5 nodelay; proxy_pass http://${draw.service}; } }`,
          '}',
        ]),
        text(
          'error.log',
          Array.from(
            { length: 30 },
            (_, index) =>
              `${errorLogTime(draw.beganMs + index * 300)} [error] 31#31: *${index} limiting requests, excess: 5.${100 + index} by zone "api", client: 198.51.100.${index % 9}, server: a, request: "GET /api HTTP/1.1", host: "a"`,
          ),
        ),
      ],
    };
  },
};

const unreachableTarget: Kind = {
  slug: 'unreachable-target',
  make(draw) {
    const [good = '', bad = ''] = draw.addresses(2, 80);
    const alb = (index: number): string => {
      const failed = index % 5 === 0;
      const at = iso(draw.beganMs + index * 900).replace('Z', '000Z');
      const target = failed ? bad : good;
      return `http ${at} app/lb/1 203.0.113.9:4${1000 + index} ${target} ${failed ? '-1 -1 -1' : '0.000 0.040 0.000'} ${failed ? '504 -' : '200 200'} 100 ${failed ? 277 : 900} "GET http://app.example.test:80/ HTTP/1.1" "x" - - arn:aws:elasticloadbalancing:eu:0:targetgroup/t/1 "Root=1-${index}" "-" "-" 0 ${iso(draw.beganMs + index * 900 - (failed ? 10_000 : 40)).replace('Z', '000Z')} "forward" "-" "-" "${target}" "${failed ? '-' : '200'}" "-" "-"`;
    };
    return {
      culprit: [bad],
      signals: [
        text(
          'alb.log',
          Array.from({ length: 120 }, (_, index) => alb(index)),
        ),
        text(
          'error.log',
          Array.from(
            { length: 24 },
            (_, index) =>
              `${errorLogTime(draw.beganMs + index * 4500)} [error] 31#31: *${index} upstream timed out (110: Connection timed out) while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://${bad}/", host: "a"`,
          ),
        ),
      ],
    };
  },
};

const descriptors: Kind = {
  slug: 'descriptors-exhausted',
  make(draw) {
    const limit = draw.pick([512, 768, 1024]);
    return {
      signals: [
        text('nginx.conf', [
          `events { worker_connections ${limit}; }`,
          'http { server { listen 80; location / { proxy_pass http://10.0.0.2:80; } } }',
        ]),
        text(
          'error.log',
          Array.from(
            { length: 40 },
            (_, index) =>
              `${errorLogTime(draw.beganMs + index * 500)} [alert] 31#31: *${index} ${limit} worker_connections are not enough while connecting to upstream, client: 198.51.100.${index % 9}, server: a, request: "GET / HTTP/1.1", upstream: "http://10.0.0.2:80/", host: "a"`,
          ),
        ),
        text('stub_status.txt', [
          `Active connections: ${limit} `,
          'server accepts handled requests',
          ` ${900_000 + limit} 880000 1700000 `,
          `Reading: 0 Writing: ${limit - 4} Waiting: 4 `,
        ]),
      ],
    };
  },
};

const cpuSteal: Kind = {
  slug: 'cpu-steal',
  make(draw) {
    const instance = `vm-${draw.count(1, 20)}`;
    const stolen = draw.between(15, 30);
    const mode = (
      name: string,
      before: number,
      by: number,
    ): {
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly before: number;
      readonly after: number;
    } => ({
      name: 'node_cpu_seconds_total',
      labels: { instance, cpu: '0', mode: name },
      before,
      after: before + by,
    });
    return {
      signals: [
        ...twoScrapes('node', [
          mode('user', 1000, 55),
          mode('system', 200, 5),
          mode('idle', 8000, 100 - 60 - stolen),
          mode('steal', 90, stolen),
        ]),
        text('top.txt', [
          'top - 10:00:01 up 3 days,  1 user,  load average: 1.40, 1.31, 1.20',
          `%Cpu(s): 55.0 us,  5.0 sy,  0.0 ni, ${(40 - stolen).toFixed(1)} id,  0.0 wa,  0.0 hi,  0.0 si, ${stolen.toFixed(1)} st`,
          '    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND',
          '   2101 app       20   0  980000  90000  30000 S  54.0   1.1   1:02.10 server',
        ]),
      ],
    };
  },
};

const cacheStampede: Kind = {
  slug: 'cache-stampede',
  make(draw) {
    const rate = draw.count(500, 3000);
    const labels = { job: draw.service };
    const [hit, fallen] = [draw.between(0.9, 0.97), draw.between(0.1, 0.35)];
    const columns = {
      hit: stepped(
        draw,
        [
          [hit, 6],
          [fallen, 12],
        ],
        0.02,
      ),
      asked: stepped(draw, [[rate, 18]], 0.02),
      behind: stepped(
        draw,
        [
          [rate * (1 - hit), 6],
          [rate * (1 - fallen), 12],
        ],
        0.02,
      ),
    };
    return {
      onsetMs: draw.beganMs + 90_000,
      signals: [
        queryRange('query_range.json', draw.beganMs, 15, [
          { name: 'cache_hit_ratio', labels, values: columns.hit },
          { name: 'client_requests_per_second', labels, values: columns.asked },
          { name: 'database_queries_per_second', labels, values: columns.behind },
        ]),
        csv(
          'minutes.csv',
          ['time', 'cache_hit_ratio', 'client_requests_per_second', 'database_queries_per_second'],
          columns.hit.map((value, index) => [
            iso(draw.beganMs + index * 15_000),
            value,
            columns.asked[index] ?? 0,
            columns.behind[index] ?? 0,
          ]),
        ),
      ],
    };
  },
};

export const limitsKinds: readonly Kind[] = [
  breakerOverflow,
  poolExhaustion,
  acquireTooShort,
  acceptQueue,
  conntrackFull,
  proxyPorts,
  streamCap,
  cpuThrottling,
  dnsDelay,
  overload,
  workerPool,
  rateLimited,
  unreachableTarget,
  descriptors,
  cpuSteal,
  cacheStampede,
];
