// What is full in the kernel, in a proxy, in a quota, and names that take their time.

import { counting, stepped, type Kind } from '../kind.ts';
import {
  type LogRow,
  accessLog,
  csv,
  errorLogTime,
  iso,
  json,
  queryRange,
  scrape,
  text,
  twoScrapes,
} from '../writers.ts';

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
        queryRange('query-range.json', draw.beganMs, 15, [
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

export const limitsKinds: readonly Kind[] = [
  acceptQueue,
  conntrackFull,
  proxyPorts,
  streamCap,
  cpuThrottling,
  dnsDelay,
  rateLimited,
  unreachableTarget,
  descriptors,
  cpuSteal,
];
