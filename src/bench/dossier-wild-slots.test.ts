// Slots that idle connections hold, pools that prefer one connection, generators that look up a name once: as people note
// them down, in tables, status pages and properties.

import { describe, it } from 'node:test';
import { expectOther, expectPattern } from './testing/incident.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const indented = (lines: readonly string[]): string => lines.join('\n       ');

describe('slots that idle connections hold', () => {
  const page = (scoreboard: string, busy: number): string => `=== server-status.txt
       Total Accesses: 120311
       Total kBytes: 88
       CPULoad: .02
       Uptime: 88123
       ReqPerSec: 1.36
       BusyWorkers: ${busy}
       IdleWorkers: 0
       Scoreboard: ${scoreboard}
       === httpd.conf
       <IfModule mpm_prefork_module>
         MaxRequestWorkers 150
       </IfModule>
       KeepAlive On
       KeepAliveTimeout 15`;

  it('are the letters R and K on Apache’s scoreboard', () => {
    expectPattern(
      'worker-slots-held-by-idle-connections',
      page(`${'R'.repeat(131)}${'K'.repeat(12)}${'W'.repeat(7)}`, 150),
    );
  });

  it('are not, when every worker sends an answer', () => {
    expectOther(['worker-slots-held-by-idle-connections'], page('W'.repeat(150), 150));
  });

  it('are a list of workers that all wait for a request', () => {
    const worker = (state: string) => (index: number) =>
      `{"worker": ${index}, "state": "${state}", "bytes_read": 0, "seconds": ${12 + 7 * index}}`;
    const evidence = (state: string): string => `=== workers.json
       [${numbers(4).map(worker(state)).join(', ')}]
       === process.prom
       # TYPE process_cpu_percent gauge
       process_cpu_percent 1.2
       # TYPE workers_busy gauge
       workers_busy 4
       # TYPE workers_total gauge
       workers_total 4`;
    expectPattern('worker-slots-held-by-idle-connections', evidence('reading request'));
    expectOther(['worker-slots-held-by-idle-connections'], evidence('running handler'));
  });
});

describe('a pool that prefers one connection', () => {
  it('shows in counts over five minutes, and in the order of its queue', () => {
    expectPattern(
      'pool-order-skew',
      `=== per-backend.csv
       backend,open_connections,requests_5m
       10.8.0.1,32,91022
       10.8.0.2,32,22431
       10.8.0.3,31,1820
       10.8.0.4,32,11
       === pool.yaml
       pool:
         size: 127
         order: fifo`,
    );
  });

  it('shows in a list of sockets beside a log, also of the replica that nobody ever asks', () => {
    const sockets = numbers(40).map((index) => `ESTAB 0 0 10.9.0.2:${40_000 + index} 10.8.0.${1 + (index % 4)}:8080`);
    const asked = numbers(400).map((index) => {
      const replica = index % 20 === 0 ? 2 : index % 50 === 1 ? 3 : 1;
      const clock = `${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}`;
      return `10.9.0.2 - - [02/Apr/2026:10:${clock} +0000] "GET /a HTTP/1.1" 200 12 "-" "-" upstream=10.8.0.${replica}:8080 rt=0.012`;
    });
    expectPattern(
      'pool-order-skew',
      `=== ss.txt
       State Recv-Q Send-Q Local Address:Port Peer Address:Port
       ${indented(sockets)}
       === access.log
       ${indented(asked)}
       === settings.json
       {"http_client": {"pool_strategy": "always the oldest free connection", "connections_per_target": 10}}`,
    );
  });
});

describe('a generator that looks up a name once', () => {
  it('is a Java program that keeps addresses for ever', () => {
    const sockets = numbers(100).map((index) => `ESTAB 0 0 10.9.0.2:${40_000 + index} 203.0.113.5:443`);
    const evidence = (kept: string): string => `=== jmeter.properties
       networkaddress.cache.ttl=${kept}
       === ss.txt
       State Recv-Q Send-Q Local Address:Port Peer Address:Port
       ${indented(sockets)}
       === nodes.prom
       # TYPE lb_node_requests_total counter
       lb_node_requests_total{node="203.0.113.5"} 910000
       lb_node_requests_total{node="203.0.113.6"} 0
       === dns.json
       {"name": "api.example", "ttl_s": 60, "records": ["203.0.113.5", "203.0.113.6"]}`;
    expectPattern('generator-dns-pin', evidence('-1'));
    expectOther(['generator-dns-pin'], evidence('0'));
  });

  it('says so itself', () => {
    expectPattern(
      'generator-dns-pin',
      `=== gatling.json
       {"generator": "gatling", "users": 1000, "dns": "resolved once at start", "addresses_of_name": 4}
       === edge.csv
       edge,connections,requests_per_s
       edge-1,1000,4200
       edge-2,0,0
       edge-3,0,0
       edge-4,0,0`,
    );
  });
});
