// Pools, queues, ports, names, processors, and whoever makes the load, in incidents as others would write them down: other
// programs, other units, other words, something missing, and something beside it that has nothing to do with it.
// Long because each incident is a text.

import { describe, it } from 'node:test';
import { expectOther, expectPattern, matrix } from './testing/incident.ts';

const at = (ms: number): string => new Date(1_772_000_000_000 + ms).toISOString();
const second = (index: number): string => String(index % 60).padStart(2, '0');

describe('a pool that is the capacity', () => {
  it('is SQLAlchemy, whose error says everything', () => {
    const errors = Array.from(
      { length: 40 },
      (_, index) =>
        `2026-02-11 09:14:${second(index)},${String(index).padStart(3, '0')} ERROR [app.api] sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00`,
    );
    expectPattern(
      'dependency-pool-exhaustion',
      `=== app.log
       ${errors.join('\n')}
       === db.csv
       metric,value
       db_active_connections,15
       db_max_connections,200
       db_cpu_percent,9
       === pg_stat.txt
        state  | count
       --------+-------
        active |    15
        idle   |     2
       (2 rows)`,
    );
  });

  it('is pgbouncer in front of an idle database', () => {
    expectPattern(
      'dependency-pool-exhaustion',
      `=== show-pools.txt
        database | user | cl_active | cl_waiting | sv_active | sv_idle | sv_used | maxwait | pool_mode
       ----------+------+-----------+------------+-----------+---------+---------+---------+-----------
        shop     | app  |        20 |        143 |        20 |       0 |       0 |      11 | session
       (1 row)
       === pgbouncer.ini
       [databases]
       shop = host=10.0.0.9 dbname=shop
       [pgbouncer]
       pool_mode = session
       default_pool_size = 20
       max_client_conn = 1000
       query_wait_timeout = 120
       === db-host.prom
       # TYPE node_cpu_busy_ratio gauge
       node_cpu_busy_ratio{host="db-1"} 0.07`,
    );
  });

  it('is a .NET pool, in French', () => {
    expectPattern(
      'dependency-pool-exhaustion',
      `=== journal.log
       ${Array.from({ length: 25 }, (_, index) => `${at(index * 900)} ERREUR Commande refusée : System.InvalidOperationException: Timeout expired. The timeout period elapsed prior to obtaining a connection from the pool. This may have occurred because all pooled connections were in use and max pool size was reached.`).join('\n')}
       === mesures.csv
       time,pool_in_use,pool_max,pool_waiting
       ${Array.from({ length: 12 }, (_, index) => `${at(index * 2000)},100,100,${40 + index * 7}`).join('\n')}`,
    );
  });

  it('is not a pool with free connections', () => {
    expectOther(
      ['dependency-pool-exhaustion', 'acquire-timeout-too-short'],
      `=== metrics.prom
       # TYPE hikaricp_connections_max gauge
       hikaricp_connections_max{pool="main"} 40
       # TYPE hikaricp_connections_active gauge
       hikaricp_connections_active{pool="main"} 9
       # TYPE hikaricp_connections_pending gauge
       hikaricp_connections_pending{pool="main"} 0`,
    );
  });
});

describe('a wait that is given up too soon', () => {
  it('is an HTTP client’s pool with a lease time of a tenth of a second', () => {
    expectPattern(
      'acquire-timeout-too-short',
      `=== client.yaml
       http:
         pool:
           max-size: 50
           acquire-timeout: 100ms
       === client.log
       ${Array.from({ length: 60 }, (_, index) =>
         index % 3 === 0
           ? `${at(index * 3000)} WARN o.a.h.i.c.PoolingHttpClientConnectionManager ConnectionPoolTimeoutException: Timeout waiting for connection from pool [leased: 50; pending: ${60 + (index % 9)}; available: 0; max: 50]`
           : `${at(index * 3000)} DEBUG o.a.h.i.c.PoolingHttpClientConnectionManager Pool stats [leased: ${11 + (index % 9)}; pending: 0; available: ${39 - (index % 9)}; max: 50]`,
       ).join('\n')}
       === pool.prom
       # TYPE http_pool_hold_seconds summary
       http_pool_hold_seconds{quantile="0.5"} 0.08
       http_pool_hold_seconds{quantile="0.99"} 0.2
       # TYPE remote_busy_ratio gauge
       remote_busy_ratio 0.3`,
    );
  });

  it('is a Go pool whose context ends after fifty milliseconds', () => {
    expectPattern(
      'acquire-timeout-too-short',
      `=== settings.env
       DB_POOL_MAX=30
       DB_ACQUIRE_TIMEOUT_MS=50
       === stats.prom
       # TYPE db_pool_max_connections gauge
       db_pool_max_connections 30
       # TYPE db_pool_hold_seconds summary
       db_pool_hold_seconds{quantile="0.5"} 0.06
       # TYPE db_pool_acquire_timeouts_total counter
       db_pool_acquire_timeouts_total 912
       # TYPE pg_stat_activity_active gauge
       pg_stat_activity_active 12
       === query.json
       ${matrix({
         'db_pool_acquired_connections{service="cart"}': [9, 30, 11, 8, 30, 12, 10],
         'db_pool_waiting{service="cart"}': [0, 40, 0, 0, 38, 0, 0],
       })}
       === trace.log
       ${Array.from({ length: 20 }, (_, index) => `${at(index * 1000)} error acquiring connection: timed out after 50ms (30 in use)`).join('\n')}`,
    );
  });
});

describe('a queue of handshakes', () => {
  it('is short because nobody set it, as sockets and counters tell', () => {
    expectPattern(
      'accept-queue-overflow',
      `=== server.js
       const app = require('express')();
       app.get('/', (req, res) => res.send('ok'));
       app.listen(3000);
       === ss-lnt.txt
       State    Recv-Q   Send-Q     Local Address:Port     Peer Address:Port
       LISTEN   512      511              0.0.0.0:3000          0.0.0.0:*
       === nstat-before.txt
       #kernel
       TcpExtListenOverflows           120                0.0
       TcpExtListenDrops               120                0.0
       === nstat-after.txt
       #kernel
       TcpExtListenOverflows           9120               0.0
       TcpExtListenDrops               9120               0.0
       === top.txt
       top - 10:00:01 up 3 days,  1 user,  load average: 0.40, 0.31, 0.20
       %Cpu(s):  9.0 us,  2.0 sy,  0.0 ni, 89.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st
           PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
          2101 app       20   0  980000  90000  30000 S  11.0   1.1   1:02.10 node`,
    );
  });

  it('is told by netstat -s and a ladder of seconds in a test', () => {
    expectPattern(
      'accept-queue-overflow',
      `=== netstat-s.txt
       TcpExt:
           4821 times the listen queue of a socket overflowed
           4821 SYNs to LISTEN sockets dropped
           16 delayed acks sent
       === hey.txt
       Summary:
         Total:	20.8301 secs
         Slowest:	3.0313 secs
         Fastest:	0.0009 secs
         Average:	0.0710 secs
         Requests/sec:	4800.75

       Latency distribution:
         10% in 0.0051 secs
         50% in 0.0102 secs
         90% in 0.0121 secs
         95% in 0.0140 secs
         99% in 1.0101 secs

       Status code distribution:
         [200]	100000 responses
       === sysctl.txt
       net.core.somaxconn = 128
       net.ipv4.tcp_max_syn_backlog = 1024`,
    );
  });

  it('is not a list of listening sockets that are empty', () => {
    expectOther(
      ['accept-queue-overflow'],
      `=== ss-lnt.txt
       State    Recv-Q   Send-Q     Local Address:Port     Peer Address:Port
       LISTEN   0        4096             0.0.0.0:8080          0.0.0.0:*
       === nstat.txt
       #kernel
       TcpExtListenOverflows           0                  0.0
       TcpExtListenDrops               0                  0.0`,
    );
  });
});

describe('a table of connections', () => {
  it('is full, as the kernel says', () => {
    expectPattern(
      'conntrack-full',
      `=== dmesg.txt
       [1200345.100001] nf_conntrack: nf_conntrack: table full, dropping packet
       [1200345.200002] nf_conntrack: nf_conntrack: table full, dropping packet
       [1200350.100003] net_ratelimit: 812 callbacks suppressed
       [1200350.100004] nf_conntrack: nf_conntrack: table full, dropping packet
       === sysctl.txt
       net.netfilter.nf_conntrack_max = 262144
       net.netfilter.nf_conntrack_count = 262144
       net.netfilter.nf_conntrack_tcp_timeout_established = 432000`,
    );
  });

  it('is full, as node-exporter says', () => {
    expectPattern(
      'conntrack-full',
      `=== node.prom
       # TYPE node_nf_conntrack_entries gauge
       node_nf_conntrack_entries{instance="gw-1"} 131071
       # TYPE node_nf_conntrack_entries_limit gauge
       node_nf_conntrack_entries_limit{instance="gw-1"} 131072
       # TYPE node_nf_conntrack_stat_drop counter
       node_nf_conntrack_stat_drop{instance="gw-1"} 88120
       # TYPE node_nf_conntrack_stat_insert_failed counter
       node_nf_conntrack_stat_insert_failed{instance="gw-1"} 12`,
    );
  });

  it('is not full at a third', () => {
    expectOther(
      ['conntrack-full'],
      `=== node.prom
       node_nf_conntrack_entries{instance="gw-1"} 40100
       node_nf_conntrack_entries_limit{instance="gw-1"} 131072`,
    );
  });
});

describe('source ports', () => {
  it('of a proxy are used up towards one address', () => {
    expectPattern(
      'proxy-port-exhaustion',
      `=== error.log
       ${Array.from({ length: 30 }, (_, index) => `2026/03/03 12:00:${second(index)} [crit] 31#31: *${index} connect() to 10.0.0.9:8080 failed (99: Cannot assign requested address) while connecting to upstream, client: 198.51.100.${index % 9}, server: a.example.test, request: "GET / HTTP/1.1", upstream: "http://10.0.0.9:8080/", host: "a.example.test"`).join('\n')}
       === ss-s.txt
       Total: 30012
       TCP:   29890 (estab 310, closed 28301, orphaned 0, timewait 28231)

       Transport Total     IP        IPv6
       RAW       0         0         0
       UDP       4         3         1
       TCP       1589      1580      9
       INET      1593      1583      10
       FRAG      0         0         0`,
    );
  });

  it('of an Envoy are used up, without a word on the kernel', () => {
    const rows = Array.from({ length: 80 }, (_, index) => {
      const failed = index % 4 !== 0;
      return `[${at(index * 100)}] "GET /q HTTP/1.1" ${failed ? 503 : 200} ${failed ? 'UF' : '-'} ${failed ? 'upstream_reset_before_response_started{remote_connection_failure|immediate_connect_error:_Cannot_assign_requested_address}' : 'via_upstream'} - "-" 0 91 ${failed ? 0 : 9} ${failed ? '-' : 8} "-" "x" "id-${index}" "search" "10.0.0.9:9200" search 10.0.0.2:0 10.0.0.1:80 192.0.2.1:41000 - default`;
    });
    expectPattern(
      'proxy-port-exhaustion',
      `=== envoy.log
       ${rows.join('\n')}
       === sockstat.txt
       sockets: used 30100
       TCP: inuse 200 orphan 0 tw 28200 alloc 300 mem 40
       UDP: inuse 3 mem 1`,
    );
  });

  it('of ab are used up', () => {
    expectPattern(
      'generator-port-exhaustion',
      `=== ab.txt
       This is ApacheBench, Version 2.3 <$Revision: 1903618 $>
       Benchmarking 10.0.0.5 (be patient)
       Completed 20000 requests
       apr_socket_connect(): Cannot assign requested address (99)
       Total of 28189 requests completed
       === ss-s.txt
       Total: 28400
       TCP:   28290 (estab 3, closed 28200, orphaned 0, timewait 28198)

       Transport Total     IP        IPv6
       TCP       90        90        0`,
    );
  });

  it('of Locust are used up, as its failures say', () => {
    expectPattern(
      'generator-port-exhaustion',
      `=== locust_failures.csv
       Method,Name,Error,Occurrences
       GET,/,"ConnectionError(MaxRetryError('HTTPConnectionPool(host=10.0.0.5, port=80): Max retries exceeded (Caused by NewConnectionError: Failed to establish a new connection: [Errno 99] Cannot assign requested address))')",41200
       === options.json
       {"tool": "locust", "users": 4000, "keepalive": false}
       === server.prom
       # TYPE process_cpu_ratio gauge
       process_cpu_ratio{job="server"} 0.12`,
    );
  });

  it('are not used up where the server refuses', () => {
    expectOther(
      ['proxy-port-exhaustion', 'generator-port-exhaustion'],
      `=== error.log
       ${Array.from({ length: 30 }, (_, index) => `2026/03/03 12:00:${second(index)} [error] 31#31: *${index} connect() failed (111: Connection refused) while connecting to upstream, client: 198.51.100.${index % 9}, server: a, request: "GET / HTTP/1.1", upstream: "http://10.0.0.9:8080/", host: "a"`).join('\n')}`,
    );
  });
});

describe('names', () => {
  it('take five seconds more, in a client’s own log', () => {
    expectPattern(
      'dns-quantised-delay',
      `=== client.jsonl
       ${Array.from({ length: 200 }, (_, index) => {
         const slow = index % 10 === 3;
         const twice = index % 50 === 23;
         return JSON.stringify({
           ts: at(index * 700),
           method: 'GET',
           path: '/rate',
           status: 200,
           duration_ms: (twice ? 10_000 : slow ? 5000 : 0) + 14 + (index % 7),
           upstream_response_time_ms: 9 + (index % 5),
           host: 'rates.example.test',
         });
       }).join('\n')}
       === resolv.conf
       nameserver 10.96.0.10
       search shop.svc.cluster.local svc.cluster.local cluster.local
       options ndots:5`,
    );
  });

  it('take two seconds more, measured by curl', () => {
    expectPattern(
      'dns-quantised-delay',
      `=== lookups.csv
       n,time_namelookup,time_connect,time_total
       ${Array.from({ length: 60 }, (_, index) => {
         const look = index % 7 === 2 ? 2.004 + (index % 3) / 1000 : 0.002 + (index % 3) / 1000;
         return `${index},${look.toFixed(4)},${(look + 0.001).toFixed(4)},${(look + 0.02).toFixed(4)}`;
       }).join('\n')}
       === resolv.conf
       nameserver 192.168.1.1
       options timeout:2 attempts:3`,
    );
  });

  it('are not to blame for a tail that is smooth', () => {
    expectOther(
      ['dns-quantised-delay'],
      `=== client.jsonl
       ${Array.from({ length: 200 }, (_, index) => JSON.stringify({ ts: at(index * 700), method: 'GET', path: '/rate', status: 200, duration_ms: 20 + ((index * 7919) % 4000), host: 'rates.example.test' })).join('\n')}`,
    );
  });
});

describe('coming and going', () => {
  it('a rollout without a pause, as Kubernetes and Traefik tell', () => {
    const rows = Array.from({ length: 120 }, (_, index) => {
      const gone = index >= 40 && index < 64 && index % 3 === 0;
      return JSON.stringify({
        ClientHost: '10.1.1.1',
        DownstreamStatus: gone ? 502 : 200,
        Duration: gone ? 900_000 : 21_000_000,
        OriginDuration: gone ? 0 : 20_000_000,
        OriginStatus: gone ? 0 : 200,
        RequestMethod: 'GET',
        RequestPath: '/',
        ServiceAddr: `10.8.1.${1 + (index % 3)}:8080`,
        StartUTC: at(index * 250),
        level: 'info',
      });
    });
    expectPattern(
      'drain-race',
      `=== traefik.jsonl
       ${rows.join('\n')}
       === events.jsonl
       {"ts": "${at(9800)}", "reason": "Killing", "pod": "api-0", "ip": "10.8.1.1", "message": "Stopping container api"}
       {"ts": "${at(16_200)}", "reason": "EndpointsUpdated", "pod": "api-0", "ip": "10.8.1.1"}
       === pod.yaml
       apiVersion: v1
       kind: Pod
       metadata: {name: api-0}
       spec:
         terminationGracePeriodSeconds: 30
         containers: [{name: api, image: "example.test/api:3"}]`,
    );
  });

  it('a scale-out that makes it worse for a minute, in two series', () => {
    expectPattern(
      'cold-start',
      `=== query.json
       ${matrix({
         'http_request_duration_p99_seconds{job="shop"}': [
           0.2, 0.2, 0.21, 2.4, 2.6, 1.9, 1.1, 0.5, 0.22, 0.2, 0.2, 0.2,
         ],
         'requests_per_second{job="shop"}': [700, 702, 699, 705, 700, 701, 703, 700, 699, 702, 700, 701],
       })}
       === events.yaml
       plimsoll_notes: 1
       settings:
         - { program: kubernetes, scope: shop readiness, set: { health.kind: tcp } }
         - { program: shop, scope: database, set: { pool.min-idle: 0 } }
       events:
         - { at: ${1_770_000_000 + 44}, event: scaled, subject: shop, detail: 6 -> 12 }`,
    );
  });
});

describe('a quota', () => {
  it('stalls a gateway in hundredths of a second, as cgroup files tell', () => {
    expectPattern(
      'cpu-throttling',
      `=== cpu.stat-t0.txt
       usage_usec 900000000
       user_usec 700000000
       system_usec 200000000
       nr_periods 10000
       nr_throttled 4000
       throttled_usec 300000000
       === cpu.stat-t60.txt
       usage_usec 930000000
       user_usec 723000000
       system_usec 207000000
       nr_periods 10600
       nr_throttled 4540
       throttled_usec 342000000
       === cpu.max.txt
       50000 100000
       === latency.csv
       quantile,ms
       0.5,12
       0.95,96
       0.99,180`,
    );
  });

  it('is in cAdvisor’s counters over time', () => {
    expectPattern(
      'cpu-throttling',
      `=== query.json
       ${matrix({
         'container_cpu_cfs_periods_total{pod="edge-0"}': [1000, 1150, 1300, 1450, 1600],
         'container_cpu_cfs_throttled_periods_total{pod="edge-0"}': [100, 230, 365, 500, 634],
         'container_cpu_cfs_throttled_seconds_total{pod="edge-0"}': [9, 19, 29.5, 40, 51],
         'http_request_duration_p99_seconds{pod="edge-0"}': [0.19, 0.2, 0.21, 0.2, 0.19],
       })}
       === limits.yaml
       apiVersion: v1
       kind: Pod
       metadata: {name: edge-0}
       spec: {containers: [{name: edge, image: "example.test/edge:1", resources: {limits: {cpu: 250m}}}]}`,
    );
  });

  it('is not reached by a batch job elsewhere', () => {
    expectOther(
      ['cpu-throttling'],
      `=== query.json
       ${matrix({
         'container_cpu_cfs_periods_total{pod="batch-9"}': [1000, 1150, 1300, 1450, 1600],
         'container_cpu_cfs_throttled_periods_total{pod="batch-9"}': [100, 230, 365, 500, 634],
         'container_cpu_cfs_periods_total{pod="api-0"}': [1000, 1150, 1300, 1450, 1600],
         'container_cpu_cfs_throttled_periods_total{pod="api-0"}': [7, 7, 7, 7, 7],
         'http_request_duration_p99_seconds{pod="api-0"}': [0.02, 0.02, 5, 5, 5],
       })}`,
    );
  });
});

describe('streams', () => {
  it('wait for one connection of a Java client', () => {
    expectPattern(
      'h2-stream-cap',
      `=== client.prom
       # TYPE grpc_client_active_streams gauge
       grpc_client_active_streams{channel="1"} 100
       # TYPE grpc_client_pending_streams gauge
       grpc_client_pending_streams{channel="1"} 870
       # TYPE grpc_client_latency_seconds summary
       grpc_client_latency_seconds{quantile="0.5"} 0.9
       # TYPE grpc_server_latency_seconds summary
       grpc_server_latency_seconds{quantile="0.5"} 0.1
       === server.yaml
       max_concurrent_streams: 100`,
    );
  });
});

describe('whoever makes the load', () => {
  it('has one connection through a layer-4 balancer', () => {
    expectPattern(
      'generator-single-connection',
      `=== run.sh
       ghz --insecure --proto shop.proto --call shop.Cart/Get -c 200 --connections=1 -z 60s lb.example.test:443
       === pods.csv
       pod,connections,requests,cpu_percent
       cart-0,0,0,1
       cart-1,1,411200,98
       cart-2,0,0,1
       === svc.yaml
       apiVersion: v1
       kind: Service
       metadata: {name: cart}
       spec: {type: LoadBalancer, ports: [{port: 443}], selector: {app: cart}}`,
    );
  });

  it('is at the end of its processors, as it says itself', () => {
    expectPattern(
      'generator-saturated',
      `=== k6.txt
            execution: local
               script: checkout.js
            scenarios: (100.00%) 1 scenario, 500 max VUs, 2m30s max duration (incl. graceful stop)

            dropped_iterations.............: 61233  510.27/s
            http_req_duration..............: avg=412ms min=20ms med=390ms max=2.1s p(90)=700ms p(95)=810ms
            http_reqs......................: 58767  489.72/s
            iterations.....................: 58767  489.72/s
            vus............................: 500    min=500 max=500
            vus_max........................: 500    min=500 max=500
       === generator.prom
       # TYPE process_cpu_ratio gauge
       process_cpu_ratio{job="k6"} 0.99
       # TYPE server_cpu_ratio gauge
       server_cpu_ratio{job="checkout"} 0.21
       === options.json
       {"scenarios": {"main": {"executor": "constant-arrival-rate", "rate": 1000, "timeUnit": "1s", "duration": "2m", "preAllocatedVUs": 500, "maxVUs": 500}}}`,
    );
  });

  it('measures itself when everything is refused at once', () => {
    expectPattern(
      'closed-loop-artifact',
      `=== hey.txt
       Summary:
         Total:	30.0021 secs
         Slowest:	0.0310 secs
         Fastest:	0.0001 secs
         Average:	0.0011 secs
         Requests/sec:	181234.11

       Latency distribution:
         50% in 0.0010 secs
         95% in 0.0021 secs
         99% in 0.0040 secs

       Status code distribution:
         [200]	1204 responses
         [503]	5435200 responses
       === command.sh
       hey -c 200 -z 30s http://lb.example.test/
       === before.txt
       Summary:
         Total:	30.0010 secs
         Average:	0.0390 secs
         Requests/sec:	5110.20

       Status code distribution:
         [200]	153311 responses`,
    );
  });

  it('asks for more than there is, and counts from when a request was due', () => {
    expectPattern(
      'overload-open-loop',
      `=== wrk2.txt
       Running 1m test @ http://10.0.0.1/
         4 threads and 400 connections
         Thread calibration: mean lat.: 4000.100ms, rate sampling interval: 15000ms
         Thread Stats   Avg      Stdev     Max   +/- Stdev
           Latency    15.11s     8.60s   30.05s    57.00%
           Req/Sec   250.00     10.00   270.00     70.00%
         Latency Distribution (HdrHistogram - Recorded Latency)
        50.000%   15.02s
        75.000%   22.40s
        90.000%   26.01s
        99.000%   29.90s
         60012 requests in 1.00m, 18.00MB read
       Requests/sec:   1000.20
       Transfer/sec:    307.20KB
       === command.sh
       wrk2 -t4 -c400 -d60s -R2000 --latency http://10.0.0.1/
       === server.prom
       process_cpu_ratio{job="server"} 0.99`,
    );
  });
});
