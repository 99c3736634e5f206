// Further incidents in the forms in which people have them: answers of dig, manifests of meshes, sockets counted by a one-liner,
// tables from a wiki, logs of programs that nobody else runs.
// Long because each incident is a text.

import { describe, it } from 'node:test';
import { expectOther, expectPattern, matrix } from './testing/incident.ts';

const at = (ms: number): string => new Date(1_773_000_000_000 + ms).toISOString();

describe('a generator that found one address', () => {
  it('as dig and the counters of each node tell', () => {
    expectPattern(
      'generator-dns-pin',
      `=== dig.txt
       ; <<>> DiG 9.18.24 <<>> lb.example.test
       ;; global options: +cmd
       ;; Got answer:
       ;; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1234
       ;; QUESTION SECTION:
       ;lb.example.test.               IN      A

       ;; ANSWER SECTION:
       lb.example.test.        60      IN      A       192.0.2.31
       lb.example.test.        60      IN      A       192.0.2.32
       lb.example.test.        60      IN      A       192.0.2.33
       === k6-options.json
       {"vus": 200, "duration": "5m", "dns": {"ttl": "inf", "select": "first"}}
       === nodes.prom
       # TYPE traefik_entrypoint_requests_total counter
       traefik_entrypoint_requests_total{instance="192.0.2.31"} 1204455
       traefik_entrypoint_requests_total{instance="192.0.2.32"} 3
       traefik_entrypoint_requests_total{instance="192.0.2.33"} 2`,
    );
  });

  it('as the load balancer’s own log by node tells', () => {
    expectPattern(
      'generator-dns-pin',
      `=== locust.json
       {"tool": "locust", "users": 500, "duration_s": 600, "host": "https://shop.example.test"}
       === lookup.json
       {"shop.example.test": ["198.51.100.7", "198.51.100.8"]}
       === lb-nodes.csv
       node_ip,active_connections,requests_per_second,cpu_percent
       198.51.100.7,500,8120,97
       198.51.100.8,0,0,2`,
    );
  });
});

describe('slots that nobody uses', () => {
  it('are Apache prefork children that wait for the first byte', () => {
    expectPattern(
      'worker-slots-held-by-idle-connections',
      `=== httpd.conf
       <IfModule mpm_prefork_module>
         MaxRequestWorkers 64
       </IfModule>
       KeepAlive On
       KeepAliveTimeout 15
       === server-status.txt
       Total Accesses: 90211
       BusyWorkers: 64
       IdleWorkers: 0
       Scoreboard: RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRKKKKKKKKWW
       === notes.yaml
       plimsoll_notes: 1
       settings:
         - { program: apache, scope: prefork, set: { workers.slot-taken-at: accept } }`,
    );
  });

  it('are gunicorn workers, told by a table of what each does', () => {
    expectPattern(
      'worker-slots-held-by-idle-connections',
      `=== Procfile
       web: gunicorn shop.wsgi --workers 6 --worker-class sync --bind 0.0.0.0:8000
       === py-spy.csv
       worker,state,seconds_in_state
       1,waiting-for-request,41
       2,waiting-for-request,38
       3,waiting-for-request,36
       4,waiting-for-request,30
       5,waiting-for-request,22
       6,handling,0.2
       === host.prom
       process_cpu_ratio 0.03`,
    );
  });
});

describe('nobody left to ask', () => {
  it('in a mesh, as the sidecar’s statistics and its rule tell', () => {
    expectPattern(
      'all-ejected-no-panic',
      `=== stats.txt
       cluster.outbound|8080||stock.shop.svc.cluster.local.membership_total: 6
       cluster.outbound|8080||stock.shop.svc.cluster.local.membership_healthy: 0
       cluster.outbound|8080||stock.shop.svc.cluster.local.lb_healthy_panic: 0
       cluster.outbound|8080||stock.shop.svc.cluster.local.outlier_detection.ejections_active: 6
       cluster.outbound|8080||stock.shop.svc.cluster.local.outlier_detection.ejections_enforced_total: 6
       cluster.outbound|8080||stock.shop.svc.cluster.local.upstream_cx_none_healthy: 4801
       cluster.outbound|8080||stock.shop.svc.cluster.local.upstream_rq_503: 4801
       === rule.yaml
       apiVersion: networking.istio.io/v1
       kind: DestinationRule
       metadata: {name: stock}
       spec:
         host: stock.shop.svc.cluster.local
         trafficPolicy:
           outlierDetection: {consecutive5xxErrors: 5, interval: 10s, baseEjectionTime: 180s, maxEjectionPercent: 100, minHealthPercent: 0}`,
    );
  });

  it('in a gateway of one’s own that logs in sentences', () => {
    const rows = Array.from(
      { length: 50 },
      (_, index) =>
        `${at(index * 700)} ERROR gateway: 503 GET /stock: no healthy upstream in cluster stock (0 of 4 healthy, 4 ejected)`,
    );
    expectPattern(
      'all-ejected-no-panic',
      `=== gateway.log
       ${rows.join('\n')}
       === cluster.json
       {"cluster": "stock", "panic_threshold": 0, "hosts": [{"name": "s1", "health": "ejected"}, {"name": "s2", "health": "ejected"}, {"name": "s3", "health": "ejected"}, {"name": "s4", "health": "ejected"}]}`,
    );
  });
});

describe('no room for another try', () => {
  it('in a VirtualService', () => {
    const rows = Array.from({ length: 60 }, (_, index) => {
      const cut = index % 4 === 0;
      return JSON.stringify({
        start_time: at(index * 500),
        method: 'GET',
        path: '/price',
        response_code: cut ? 504 : 200,
        response_flags: cut ? 'UT' : '-',
        duration: cut ? 2500 : 90 + index,
        upstream_service_time: cut ? null : String(88 + index),
        upstream_host: `10.0.4.${1 + (Math.floor(index / 4) % 3)}:8080`,
        upstream_request_attempt_count: 1,
      });
    });
    expectPattern(
      'retry-window-too-short',
      `=== vs.yaml
       apiVersion: networking.istio.io/v1
       kind: VirtualService
       metadata: {name: price}
       spec:
         hosts: [price]
         http:
         - route: [{destination: {host: price}}]
           timeout: 2500ms
           retries: {attempts: 3, perTryTimeout: 2500ms, retryOn: "5xx,reset"}
       === istio.jsonl
       ${rows.join('\n')}`,
    );
  });

  it('in an HTTPProxy', () => {
    expectPattern(
      'retry-window-too-short',
      `=== httpproxy.yaml
       apiVersion: projectcontour.io/v1
       kind: HTTPProxy
       metadata: {name: search}
       spec:
         virtualhost: {fqdn: search.example.test}
         routes:
         - conditions: [{prefix: /}]
           services: [{name: search, port: 80}]
           timeoutPolicy: {response: 5s}
           retryPolicy: {count: 2, perTryTimeout: 5s}`,
    );
  });
});

describe('ports', () => {
  it('of a proxy, counted by a one-liner', () => {
    expectPattern(
      'proxy-port-exhaustion',
      `=== ss-by-peer.txt
       28190 10.4.0.9:5432
          12 10.4.0.10:9090
           3 10.4.0.11:6379
       === haproxy.log
       ${Array.from({ length: 30 }, (_, index) => `Mar  4 08:10:${String(index % 60).padStart(2, '0')} lb1 haproxy[1201]: 192.0.2.9:5${String(1000 + index)} [04/Mar/2026:08:10:${String(index % 60).padStart(2, '0')}.011] in db/pg1 0/-1/0 0 RC 900/900/800/800/3 0/0`).join('\n')}
       === sysctl.txt
       net.ipv4.ip_local_port_range = 32768	60999`,
    );
  });

  it('of a program that calls another, as Go tells it', () => {
    expectPattern(
      'proxy-port-exhaustion',
      `=== gateway.log
       ${Array.from({ length: 40 }, (_, index) => `time="${at(index * 200)}" level=error msg="proxy error" error="dial tcp 10.8.0.3:8080: connect: cannot assign requested address"`).join('\n')}
       === sockstat
       sockets: used 28900
       TCP: inuse 120 orphan 0 tw 28230 alloc 130 mem 12
       UDP: inuse 2 mem 0`,
    );
  });
});

describe('going away', () => {
  it('an instance that a cloud takes out while its balancer still sends', () => {
    const rows = Array.from({ length: 90 }, (_, index) => {
      const gone = index >= 30 && index < 60 && index % 3 === 0;
      const target = `10.0.5.${1 + (index % 3)}:80`;
      return `https ${at(index * 1000).replace('Z', '000Z')} app/front/1 203.0.113.4:4${String(1000 + index)} ${target} ${gone ? '-1 -1 -1' : '0.001 0.020 0.000'} ${gone ? '502 -' : '200 200'} 300 ${gone ? 277 : 900} "GET https://a.example.test:443/ HTTP/1.1" "x" ECDHE TLSv1.3 arn:aws:elasticloadbalancing:eu:0:targetgroup/t/1 "Root=1-${index}" "-" "-" 0 ${at(index * 1000).replace('Z', '000Z')} "forward" "-" "-" "${target}" "${gone ? '-' : '200'}" "-" "-"`;
    });
    expectPattern(
      'drain-race',
      `=== alb.log
       ${rows.join('\n')}
       === activity.jsonl
       {"ts": "${at(29_000)}", "event": "Terminating instance", "subject": "i-1", "ip": "10.0.5.1"}
       {"ts": "${at(61_000)}", "event": "target deregistered", "subject": "i-1", "ip": "10.0.5.1"}
       === target-group.json
       {"HealthCheckIntervalSeconds": 15, "UnhealthyThresholdCount": 2, "HealthyThresholdCount": 2}`,
    );
  });
});

describe('idle connections', () => {
  it('of Apache’s proxy to a Java server', () => {
    expectPattern(
      'keepalive-race',
      `=== httpd.conf
       <VirtualHost *:80>
         ProxyPass "/" "http://10.0.0.5:8080/" keepalive=On ttl=120 connectiontimeout=2
         ProxyTimeout 60
       </VirtualHost>
       === application.properties
       server.port=8080
       server.tomcat.keep-alive-timeout=20000
       server.tomcat.threads.max=50`,
    );
  });

  it('of uvicorn behind a Google balancer', () => {
    const rows = Array.from({ length: 200 }, (_, index) => {
      const broken = index % 61 === 17;
      return JSON.stringify({
        timestamp: at(index * 4000),
        httpRequest: {
          requestMethod: 'GET',
          requestUrl: 'https://api.example.test/v1',
          status: broken ? 502 : 200,
          latency: broken ? '0.002s' : '0.051s',
          remoteIp: '203.0.113.8',
          serverIp: `10.0.2.${1 + (index % 2)}`,
        },
        jsonPayload: {
          statusDetails: broken ? 'backend_connection_closed_before_data_sent_to_client' : 'response_sent_by_backend',
        },
      });
    });
    expectPattern(
      'keepalive-race',
      `=== lb.jsonl
       ${rows.join('\n')}
       === Dockerfile
       FROM python:3.12-slim
       COPY . /app
       CMD ["uvicorn", "api:app", "--host", "0.0.0.0", "--port", "8080"]
       === balancer.yaml
       upstream_idle_timeout: 600s`,
    );
  });
});

describe('pools', () => {
  it('of six connections, as Node’s driver and the database tell', () => {
    expectPattern(
      'dependency-pool-exhaustion',
      `=== pool.ts
       export const pool = new Pool({ max: 6, connectionTimeoutMillis: 5000, idleTimeoutMillis: 30000 });
       === app.log
       ${Array.from({ length: 30 }, (_, index) => `${at(index * 500)} error Error: timeout exceeded when trying to connect at Pool.connect (total: 6, idle: 0, waiting: ${20 + index})`).join('\n')}
       === pg_stat_activity.txt
        state  | count
       --------+-------
        active |     6
        idle   |     1
       (2 rows)`,
    );
  });

  it('are not to blame for a database that refuses', () => {
    expectOther(
      ['dependency-pool-exhaustion', 'acquire-timeout-too-short'],
      `=== app.log
       ${Array.from({ length: 30 }, (_, index) => `${at(index * 500)} error connection to server at "10.0.0.9", port 5432 failed: FATAL: the database system is starting up`).join('\n')}`,
    );
  });
});

describe('overload that stays', () => {
  it('when retries feed it, in three series with other names', () => {
    const steady = Array.from({ length: 20 }, () => 120);
    expectPattern(
      'metastable-retry',
      `=== query.json
       ${matrix({
         'demand_rps{svc="login"}': steady,
         'attempts_rps{svc="login"}': steady.map((value, index) => (index < 6 ? value : 480)),
         'goodput_rps{svc="login"}': steady.map((value, index) => (index < 6 ? value : 2)),
         'db_latency_seconds{svc="login"}': steady.map((_, index) => (index >= 6 && index < 9 ? 2 : 0.02)),
       })}
       === policy.json
       {"timeout_ms": 400, "retries": 3, "backoff_ms": 0}`,
    );
  });

  it('is none where the demand has doubled', () => {
    expectOther(
      ['metastable-retry', 'metastable-stale-backlog'],
      `=== query.json
       ${matrix({
         'demand_rps{svc="login"}': [100, 100, 100, 220, 220, 220, 220, 220],
         'attempts_rps{svc="login"}': [101, 100, 102, 230, 231, 229, 230, 231],
         'goodput_rps{svc="login"}': [100, 100, 100, 150, 150, 150, 150, 150],
       })}`,
    );
  });
});

describe('tables as JSON', () => {
  it('of hosts with counts are no less than tables', () => {
    expectPattern(
      'fast-fail-blackhole',
      `=== hosts.json
       {"policy": "least_request", "hosts": [
         {"host": "h1", "requests": 1010, "errors_5xx": 2, "mean_ms": 80},
         {"host": "h2", "requests": 990, "errors_5xx": 1, "mean_ms": 82},
         {"host": "h3", "requests": 6100, "errors_5xx": 6098, "mean_ms": 1}
       ]}`,
      ['h3'],
    );
  });

  it('of processes are processes', () => {
    expectPattern(
      'accept-imbalance',
      `=== workers.json
       {"workers": 4, "reuse_port": false, "rows": [
         {"pid": 11, "connections": 30100, "cpu_percent": 99},
         {"pid": 12, "connections": 900, "cpu_percent": 6},
         {"pid": 13, "connections": 4, "cpu_percent": 0},
         {"pid": 14, "connections": 0, "cpu_percent": 0}
       ]}`,
    );
  });
});
