// Incidents as somebody on call hands them in: what the tools print, with a file beside it that has nothing to do with it. Each has
// a twin that differs in the one point on which the verdict hangs, and must not be accused of the same.

import { describe, it } from 'node:test';
import { expectOther, expectPattern, matrix } from './testing/incident.ts';

const clock = (second: number): string =>
  `${String(9 + Math.floor(second / 3600)).padStart(2, '0')}:${String(Math.floor(second / 60) % 60).padStart(2, '0')}:${String(Math.floor(second) % 60).padStart(2, '0')}`;
const lines = (count: number, each: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => each(index)).join('\n');
/** Between 0 and 1, the same every time, without a pattern in what follows. */
const scattered = (index: number): number => (index * 0.618_034 + 0.1) % 1;

/** Sixty readings. */
const course = (each: (at: number) => number): number[] => Array.from({ length: 60 }, (_, at) => each(at));

const batchJob = `=== events.txt
LAST SEEN   TYPE     REASON      OBJECT                   MESSAGE
41m         Normal   Started     pod/nightly-29661-x7k2p  Started container report
12m         Normal   Completed   job/nightly-29661        Job completed
`;

/** An nginx log in a form of its own; `seconds` says how long a request takes, from its number and its replica. */
const upstreamLog = (count: number, seconds: (index: number, replica: number) => number): string =>
  lines(count, (index) => {
    const taken = seconds(index, index % 3) * (0.8 + 0.4 * scattered(index));
    return `10.3.3.${index % 90} - - [14/May/2026:${clock(index / 10)} +0000] "POST /post HTTP/1.1" 200 77 "-" "-" rt=${(taken + 0.001).toFixed(3)} uaddr=10.20.0.${1 + (index % 3)}:9000 ust=200 urt=${taken.toFixed(3)}`;
  });

const k6Summary = (failed: number): string => `=== k6.txt
     http_req_duration..............: avg=32.4ms   min=9.1ms   med=30.2ms  max=118.4ms  p(90)=47.1ms  p(95)=54.9ms
     http_req_failed................: ${failed === 0 ? '0.00%  ✓ 0         ✗ 3000' : `${((100 * failed) / 3000).toFixed(2)}% ✓ ${failed}  ✗ ${3000 - failed}`}
     http_reqs......................: 3000   50.0/s
     iterations.....................: 3000   50.0/s
     vus............................: 3      min=1       max=6
`;
const refusals = lines(
  3,
  (index) =>
    `time="2026-05-14T11:20:0${index}+02:00" level=warning msg="Request Failed" error="Get \\"http://10.70.1.15:8080/ping\\": dial tcp 10.70.1.15:8080: connect: connection refused"`,
);
const loopbackOnly = `=== ss-ltn.txt
State   Recv-Q  Send-Q  Local Address:Port  Peer Address:Port
LISTEN  0       128     0.0.0.0:22          0.0.0.0:*
LISTEN  0       4096    127.0.0.1:8080      0.0.0.0:*
`;

describe('what k6 printed at the end', () => {
  it('has columns, which are no replicas: beside a good log nothing is wrong', () => {
    expectPattern('healthy', `=== access.log\n${upstreamLog(1500, () => 0.03)}\n${k6Summary(0)}${batchJob}`);
  });

  it('tells of a target where nobody listens when every request was refused', () => {
    expectPattern(
      'unreachable-target',
      `${k6Summary(3000).replace('=== k6.txt\n', `=== k6.txt\n${refusals}\n`)}${loopbackOnly}${batchJob}`,
      ['10.70.1.15:8080: nobody listens'],
    );
  });

  it('tells of none when some were answered', () => {
    expectOther(
      ['unreachable-target'],
      `${k6Summary(900).replace('=== k6.txt\n', `=== k6.txt\n${refusals}\n`)}${loopbackOnly}${batchJob}`,
    );
  });
});

describe('one of three that stops for its collector now and then', () => {
  /** Every fifteen seconds replica 3 stands still, and whoever comes waits for the rest of it. */
  const stalls = (index: number, replica: number): number =>
    replica === 2 && (index / 10) % 15 < 2.8 ? 1 + 2.8 - ((index / 10) % 15) : 0.03;

  it('is the slow one, though it is as quick as the others in between', () => {
    expectPattern('slow-replica', `=== access.log\n${upstreamLog(3000, stalls)}\n${batchJob}`, ['10.20.0.3:9000']);
  });

  it('is not when all stop alike', () => {
    expectOther(['slow-replica'], `=== access.log\n${upstreamLog(3000, (index) => stalls(index, 2))}\n${batchJob}`);
  });
});

describe('a cookie that ties many small clients and one large', () => {
  const config = `=== haproxy.cfg
defaults
  mode http
backend app
  balance roundrobin
  cookie SRV insert indirect nocache
${lines(4, (index) => `  server app${index + 1} 10.40.0.${index + 1}:8080 check cookie app${index + 1}`)}
`;
  /** Two of three requests come from one address; of the rest each client asks three times. */
  const log = (serverOf: (client: number, index: number) => number): string =>
    `=== haproxy.log\n${lines(900, (index) => {
      const client = index % 3 === 0 ? Math.floor(index / 9) : -1;
      const server = client < 0 ? 2 : serverOf(client, index);
      return `May 14 ${clock(index / 10)} lb haproxy[811]: ${client < 0 ? '192.0.2.77' : `10.44.0.${client}`}:${20_000 + index} [14/May/2026:${clock(index / 10)}.${String(100 * (index % 10)).padStart(3, '0')}] www app/app${server} 0/0/1/30/31 200 1822 - - --VN 212/211/90/6/0 0/0 "GET /account HTTP/1.1"`;
    })}\n`;

  it('makes the server of the large one hot', () => {
    expectPattern('sticky-session', config + log((client) => 1 + (client % 4)) + batchJob);
  });

  it('is not to blame when small clients wander', () => {
    expectOther(['sticky-session'], config + log((_, index) => 1 + (Math.floor(index / 3) % 4)) + batchJob);
  });
});

describe('all threads of a Tomcat in one call', () => {
  const series = (client: (at: number) => number): string =>
    `=== query_range.json\n${matrix({
      'tomcat_threads_busy_threads{pod="orders-0"}': course((at) => (at < 20 ? 14 : 200)),
      'tomcat_threads_config_max_threads{pod="orders-0"}': course(() => 200),
      'http_client_requests_seconds_p99{client="fraud-api"}': course(client),
      'process_cpu_usage{pod="orders-0"}': course((at) => (at < 20 ? 0.41 : 0.07)),
    })}\n=== orders.properties\nserver.tomcat.threads.max=200\nfraud.client.connect-timeout=2000\n`;

  it('wait for what its own HTTP client calls', () => {
    expectPattern('worker-pool-exhaustion', series((at) => (at < 19 ? 0.06 : 28)) + batchJob);
  });

  it('wait for something else when that is as quick as before', () => {
    expectOther(['worker-pool-exhaustion'], series(() => 0.06) + batchJob);
  });
});

describe('a cache that was empty for three minutes', () => {
  const during = (at: number): boolean => at >= 24 && at <= 34;
  const series = (demand: (at: number) => number): string =>
    `=== prom.json\n${matrix({
      'cache_hit_ratio{cache="redis"}': course((at) => (during(at) ? 0.04 : 0.97)),
      'http_requests_per_second{service="catalog"}': course(demand),
      'db_queries_per_second{db="catalog"}': course((at) => (during(at) ? 1150 : 40)),
    })}\n${batchJob}`;

  it('sends everybody behind it, also when it has filled since', () => {
    expectPattern(
      'cache-stampede',
      series(() => 1200),
    );
  });

  it('is no stampede when three times as many came', () => {
    expectOther(
      ['cache-stampede'],
      series((at) => (during(at) ? 3600 : 1200)),
    );
  });
});

describe('bounds of a process and of a host', () => {
  it('are said as they are: too many files means the limit on files, not that on connections', () => {
    expectPattern(
      'descriptors-exhausted',
      `=== error.log
${lines(12, (index) => `2026/05/14 09:20:${10 + index} [crit] 19#19: accept4() failed (24: Too many open files)`)}
=== limits.txt
Limit                     Soft Limit           Hard Limit           Units
Max open files            1024                 4096                 files
Max processes             63381                63381                processes
=== nginx.conf
events { worker_connections 4096; }
http { server { listen 80; } }
${batchJob}`,
      ['nginx: process: open files 1024'],
    );
  });

  it('stolen time is that of the host from which it is stolen', () => {
    const host = (name: string, idle: number, stolen: number): string =>
      `node_cpu_seconds_total{instance="${name}",cpu="0",mode="idle"} ${idle}\nnode_cpu_seconds_total{instance="${name}",cpu="0",mode="steal"} ${stolen}\n`;
    expectPattern(
      'cpu-steal',
      `=== node.prom\n# TYPE node_cpu_seconds_total counter\n${host('a:9100', 600, 380)}${host('b:9100', 990, 4)}${host('c:9100', 990, 4)}${batchJob}`,
      ['a:9100: processor time stolen by others on it'],
    );
  });
});
