// Who accepts, who is fit, who comes and goes, and what a generator did: the kinds of the cases in other clothes, and beside each
// something that looks like it and is not.

import { describe, it } from 'node:test';
import { expectPattern, expectOther } from './testing/incident.ts';

describe('accepting', () => {
  it('is unfair and hurts', () => {
    expectPattern(
      'accept-imbalance',
      `=== workers.csv
       worker,connections,cpu_percent
       0,21000,99.8
       1,300,4
       2,12,0.4
       3,0,0
       === server.json
       {"workers": 4, "reuse_port": false}`,
    );
  });

  it('is unfair and does not', () => {
    expectPattern(
      'benign-accept-order',
      `=== workers.csv
       worker,requests,cpu_percent
       0,91000,31
       1,8000,4
       2,900,0.4
       3,40,0`,
    );
  });

  it('is fair', () => {
    expectOther(
      ['accept-imbalance', 'benign-accept-order'],
      `=== workers.csv
       worker,requests,cpu_percent
       0,25000,99
       1,25100,99
       2,24800,98
       3,25200,99`,
    );
  });
});

describe('who is fit', () => {
  it('a replica that fails fast draws the traffic, as an access log shows', () => {
    const rows = Array.from({ length: 300 }, (_, index) => {
      const bad = index % 5 < 3;
      const host = bad ? '10.5.0.3:80' : (['10.5.0.1:80', '10.5.0.2:80'][index % 2] ?? '');
      const time = bad ? '0.002' : `0.1${10 + (index % 60)}`;
      const status = bad ? 500 : 200;
      return `192.0.2.1 - - [02/Mar/2026:10:00:${String(index % 60).padStart(2, '0')} +0000] "GET / HTTP/1.1" ${status} 10 rt=${time} ua="${host}" us="${status}" ut="${time}"`;
    });
    expectPattern(
      'fast-fail-blackhole',
      `=== nginx.conf
       events {}
       http {
         log_format up '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent rt=$request_time ua="$upstream_addr" us="$upstream_status" ut="$upstream_response_time"';
         upstream app { least_conn; server 10.5.0.1:80; server 10.5.0.2:80; server 10.5.0.3:80; }
         server { listen 80; access_log /dev/stdout up; location / { proxy_pass http://app; } }
       }
       === access.log
       ${rows.join('\n')}`,
      ['10.5.0.3'],
    );
  });

  it('a whole service that fails is no black hole', () => {
    expectOther(
      ['fast-fail-blackhole'],
      `=== hosts.csv
       host,requests,errors_5xx,mean_ms
       a,2000,1800,3
       b,2010,1790,3
       c,1990,1810,3`,
    );
  });

  it('a failing replica that is slow is no black hole', () => {
    expectOther(
      ['fast-fail-blackhole'],
      `=== hosts.csv
       host,requests,errors_5xx,mean_ms
       a,2000,0,30
       b,2010,3,30
       c,1200,1100,5000`,
    );
  });

  it('probes wait behind full workers, as HAProxy and the threads tell', () => {
    expectPattern(
      'health-check-on-shared-workers',
      `=== haproxy.log
       Mar  4 08:01:01 lb1 haproxy[1201]: Server be/app1 is DOWN, reason: Layer7 timeout, check duration: 2001ms. 2 active and 0 backup servers left. 8 sessions active, 0 requeued, 0 remaining in queue.
       Mar  4 08:01:31 lb1 haproxy[1201]: Server be/app2 is DOWN, reason: Layer7 timeout, check duration: 2001ms. 1 active and 0 backup servers left. 8 sessions active, 0 requeued, 0 remaining in queue.
       Mar  4 08:01:55 lb1 haproxy[1201]: Server be/app1 is UP, reason: Layer7 check passed, code: 200, check duration: 3ms. 2 active and 0 backup servers online. 0 sessions requeued, 0 total in queue.
       === threads.prom
       # TYPE tomcat_threads_busy gauge
       tomcat_threads_busy{instance="app1"} 200
       tomcat_threads_busy{instance="app2"} 200
       tomcat_threads_busy{instance="app3"} 151
       # TYPE tomcat_threads_max gauge
       tomcat_threads_max{instance="app1"} 200
       tomcat_threads_max{instance="app2"} 200
       tomcat_threads_max{instance="app3"} 200`,
    );
  });

  it('probes that are refused met a dead replica', () => {
    expectOther(
      ['health-check-on-shared-workers'],
      `=== haproxy.log
       Mar  4 08:01:01 lb1 haproxy[1201]: Server be/app1 is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms. 2 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       Mar  4 08:01:31 lb1 haproxy[1201]: Server be/app2 is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms. 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       === threads.prom
       # TYPE tomcat_threads_busy gauge
       tomcat_threads_busy{instance="app3"} 200
       # TYPE tomcat_threads_max gauge
       tomcat_threads_max{instance="app3"} 200`,
    );
  });

  it('idle connections hold the slots', () => {
    expectPattern(
      'worker-slots-held-by-idle-connections',
      `=== server.json
       {"server": "prefork", "workers": 16, "slot_taken_at": "accept"}
       === metrics.prom
       # TYPE workers_busy gauge
       workers_busy 16
       # TYPE http_requests_in_flight gauge
       http_requests_in_flight 1
       # TYPE connections_established gauge
       connections_established 48
       # TYPE process_cpu_ratio gauge
       process_cpu_ratio 0.03`,
    );
  });

  it('slots that all work are no such thing', () => {
    expectOther(
      ['worker-slots-held-by-idle-connections'],
      `=== server.json
       {"server": "prefork", "workers": 16, "slot_taken_at": "accept"}
       === metrics.prom
       # TYPE workers_busy gauge
       workers_busy 16
       # TYPE http_requests_in_flight gauge
       http_requests_in_flight 16
       # TYPE connections_established gauge
       connections_established 48`,
    );
  });

  it('all are ejected and nobody is asked', () => {
    expectPattern(
      'all-ejected-no-panic',
      `=== stats.txt
       cluster.pay.membership_total: 3
       cluster.pay.membership_healthy: 0
       cluster.pay.lb_healthy_panic: 0
       cluster.pay.outlier_detection.ejections_active: 3
       cluster.pay.outlier_detection.ejections_total: 3
       cluster.pay.upstream_cx_none_healthy: 410
       cluster.pay.upstream_rq_503: 410
       === cluster.yaml
       name: pay
       connect_timeout: 1s
       type: STRICT_DNS
       lb_policy: ROUND_ROBIN
       common_lb_config: {healthy_panic_threshold: {value: 0}}
       outlier_detection: {consecutive_5xx: 3, max_ejection_percent: 100}
       load_assignment:
         cluster_name: pay
         endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: pay.example.test, port_value: 80}}}}]}]`,
      ['cluster pay'],
    );
  });

  it('all are ejected, as the flag in the access log tells', () => {
    const rows = Array.from({ length: 40 }, (_, index) => {
      const refused = index > 9;
      return `[2026-03-05T11:00:${String(index).padStart(2, '0')}.000Z] "GET / HTTP/1.1" 503 ${refused ? 'UH' : '-'} 0 19 ${refused ? 0 : 4} ${refused ? '-' : '3'} "-" "x" "id-${index}" "pay.example.test" "${refused ? '-' : `10.6.0.${1 + (index % 2)}:80`}"`;
    });
    expectPattern(
      'all-ejected-no-panic',
      `=== access.log
       ${rows.join('\n')}
       === clusters.txt
       pay::default_priority::max_connections::1024
       pay::10.6.0.1:80::cx_active::0
       pay::10.6.0.1:80::rq_total::5
       pay::10.6.0.1:80::rq_error::5
       pay::10.6.0.1:80::health_flags::/failed_outlier_check
       pay::10.6.0.2:80::cx_active::0
       pay::10.6.0.2:80::rq_total::5
       pay::10.6.0.2:80::rq_error::5
       pay::10.6.0.2:80::health_flags::/failed_outlier_check`,
    );
  });

  it('half are out and health is ignored', () => {
    expectPattern(
      'panic-mode',
      `=== stats-t0.txt
       cluster.geo.membership_total: 10
       cluster.geo.membership_healthy: 4
       cluster.geo.lb_healthy_panic: 1000
       cluster.geo.upstream_cx_none_healthy: 0
       cluster.geo.upstream_rq_total: 90000
       === stats-t60.txt
       cluster.geo.membership_total: 10
       cluster.geo.membership_healthy: 4
       cluster.geo.lb_healthy_panic: 31000
       cluster.geo.upstream_cx_none_healthy: 0
       cluster.geo.upstream_rq_total: 120000`,
      ['cluster geo'],
    );
  });

  it('enough hosts are fit: no panic', () => {
    expectOther(
      ['panic-mode', 'all-ejected-no-panic'],
      `=== stats.txt
       cluster.geo.membership_total: 10
       cluster.geo.membership_healthy: 9
       cluster.geo.lb_healthy_panic: 0
       cluster.geo.upstream_rq_total: 90000`,
    );
  });

  it('the only server is out for its penalty, as the access log alone tells', () => {
    const rows = Array.from({ length: 400 }, (_, index) => {
      const out = index > 60 && index <= 360;
      const first = index === 60;
      const at = new Date(1_770_000_000_000 + index * 100).toISOString();
      const status = out || first ? 502 : 200;
      const upstream = out ? 'app' : '10.7.0.1:9000';
      return `${at} "GET /x HTTP/1.1" ${status} request_time=${out ? '0.000' : '0.012'} upstream_addr=${upstream} upstream_status=${status} upstream_response_time=${out ? '0.000' : '0.011'}`;
    });
    expectPattern(
      'passive-eviction-last-peer',
      `=== nginx.conf
       events {}
       http {
         upstream app { server 10.7.0.1:9000 max_fails=1 fail_timeout=30s; server 10.7.0.2:9000 down; }
         server { listen 80; location / { proxy_pass http://app; } }
       }
       === access.log
       ${rows.join('\n')}`,
      ['app', '30'],
    );
  });

  it('the list of hosts is empty because updates fail', () => {
    expectPattern(
      'discovery-outage',
      `=== stats.txt
       cluster.web.membership_total: 0
       cluster.web.membership_healthy: 0
       cluster.web.update_attempt: 40
       cluster.web.update_failure: 38
       cluster.web.update_success: 2
       cluster.web.upstream_cx_none_healthy: 812
       cluster.web.upstream_rq_503: 812`,
    );
  });

  it('a name does not resolve, as nginx tells', () => {
    const errors = Array.from(
      { length: 20 },
      (_, index) =>
        `2026/03/03 12:00:${String(index).padStart(2, '0')} [error] 31#31: *${index} web.example.test could not be resolved (110: Operation timed out), client: 198.51.100.8, server: a.example.test, request: "GET / HTTP/1.1", host: "a.example.test"`,
    );
    const rows = Array.from(
      { length: 20 },
      (_, index) =>
        `198.51.100.8 - - [03/Mar/2026:12:00:${String(index).padStart(2, '0')} +0000] "GET / HTTP/1.1" 502 150 "-" "x"`,
    );
    expectPattern('discovery-outage', `=== error.log\n${errors.join('\n')}\n=== access.log\n${rows.join('\n')}`);
  });

  it('servers that fail their checks are no discovery outage', () => {
    expectOther(
      ['discovery-outage'],
      `=== haproxy.log
       Mar  4 08:01:01 lb1 haproxy[1201]: Server be/app1 is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms. 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       Mar  4 08:01:03 lb1 haproxy[1201]: Server be/app2 is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms. 0 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       Mar  4 08:01:03 lb1 haproxy[1201]: backend be has no server available!`,
    );
  });
});

describe('coming and going', () => {
  it('a pod closes its port before the proxy has heard of it', () => {
    const errors = [12, 13, 14].map(
      (second) =>
        `2026/03/03 12:00:${second} [error] 31#31: *9${second} connect() failed (111: Connection refused) while connecting to upstream, client: 198.51.100.8, server: shop.example.test, request: "GET / HTTP/1.1", upstream: "http://10.8.0.5:8080/", host: "shop.example.test"`,
    );
    expectPattern(
      'drain-race',
      `=== error.log
       ${errors.join('\n')}
       === events.jsonl
       {"ts": "2026-03-03T12:00:06Z", "reason": "Killing", "pod": "shop-5", "ip": "10.8.0.5"}
       {"ts": "2026-03-03T12:00:16Z", "reason": "EndpointsUpdated", "pod": "shop-5", "ip": "10.8.0.5"}
       === pod.yaml
       apiVersion: v1
       kind: Pod
       metadata: {name: shop-5}
       spec:
         terminationGracePeriodSeconds: 30
         containers:
         - name: shop
           lifecycle: {preStop: {exec: {command: ["sleep", "5"]}}}`,
    );
  });

  it('a wait that is shorter than the detection is found before anything happens', () => {
    expectPattern(
      'drain-race',
      `=== pod.yaml
       apiVersion: apps/v1
       kind: Deployment
       metadata: {name: shop}
       spec:
         replicas: 3
         selector: {matchLabels: {app: shop}}
         template:
           metadata: {labels: {app: shop}}
           spec:
             terminationGracePeriodSeconds: 30
             containers:
             - name: shop
               image: example.test/shop:1
               lifecycle: {preStop: {exec: {command: ["sleep", "5"]}}}
       === target-group.json
       {"HealthCheckIntervalSeconds": 10, "HealthCheckTimeoutSeconds": 5, "UnhealthyThresholdCount": 3, "HealthyThresholdCount": 2}`,
    );
  });

  it('a wait that is long enough is none', () => {
    expectOther(
      ['drain-race'],
      `=== pod.yaml
       apiVersion: v1
       kind: Pod
       metadata: {name: shop-5}
       spec:
         terminationGracePeriodSeconds: 120
         containers:
         - name: shop
           lifecycle: {preStop: {exec: {command: ["sleep", "60"]}}}
       === target-group.json
       {"HealthCheckIntervalSeconds": 10, "HealthCheckTimeoutSeconds": 5, "UnhealthyThresholdCount": 2, "HealthyThresholdCount": 2}`,
    );
  });

  it('a new replica is slow for a minute, as the access log tells', () => {
    const rows = Array.from({ length: 400 }, (_, index) => {
      const fresh = index % 4 === 0 && index >= 100;
      const host = fresh ? '10.9.0.4:80' : `10.9.0.${1 + (index % 3)}:80`;
      const cold = fresh && index < 220;
      return JSON.stringify({
        ts: new Date(1_770_000_000_000 + index * 500).toISOString(),
        method: 'GET',
        path: '/',
        status: 200,
        duration_ms: cold ? 2400 - index * 4 : 40 + (index % 11),
        upstream_host: host,
      });
    });
    expectPattern(
      'cold-start',
      `=== access.jsonl
       ${rows.join('\n')}
       === events.jsonl
       {"ts": "${new Date(1_770_000_050_000).toISOString()}", "reason": "Started", "pod": "web-4", "ip": "10.9.0.4"}`,
    );
  });

  it('a release that stays slow is no cold start', () => {
    const rows = Array.from({ length: 400 }, (_, index) => {
      const fresh = index % 4 === 0 && index >= 100;
      return JSON.stringify({
        ts: new Date(1_770_000_000_000 + index * 500).toISOString(),
        method: 'GET',
        path: '/',
        status: 200,
        duration_ms: fresh ? 400 + (index % 13) : 40 + (index % 11),
        upstream_host: fresh ? '10.9.0.4:80' : `10.9.0.${1 + (index % 3)}:80`,
      });
    });
    const text = `=== access.jsonl
       ${rows.join('\n')}
       === events.jsonl
       {"ts": "${new Date(1_770_000_050_000).toISOString()}", "reason": "Started", "pod": "web-4", "ip": "10.9.0.4"}`;
    expectOther(['cold-start'], text);
    expectPattern('slow-replica', text, ['10.9.0.4']);
  });
});

describe('streams and generators', () => {
  it('a hundred streams on one connection of a proxy', () => {
    expectPattern(
      'h2-stream-cap',
      `=== stats.txt
       cluster.rpc.upstream_cx_active: 1
       cluster.rpc.upstream_rq_active: 100
       cluster.rpc.upstream_rq_pending_active: 44
       cluster.rpc.upstream_rq_total: 100000
       cluster.rpc.membership_healthy: 3
       cluster.rpc.membership_total: 3
       === server.json
       {"max_concurrent_streams": 100}`,
    );
  });

  it('fewer in flight than allowed is no cap', () => {
    expectOther(
      ['h2-stream-cap'],
      `=== client.prom
       # TYPE grpc_client_streams_in_flight gauge
       grpc_client_streams_in_flight{conn="0"} 31
       === server.json
       {"max_concurrent_streams": 100, "client_channels": 1}`,
    );
  });

  it('a test over one connection', () => {
    expectPattern(
      'generator-single-connection',
      `=== backends.csv
       server,connections,bytes
       kv1,0,0
       kv2,1,90000000
       kv3,0,0
       kv4,0,0
       === lb.cfg
       defaults
           mode tcp
           timeout connect 5s
           timeout client 1m
           timeout server 1m
       listen kv
           bind :6000
           balance leastconn
           server kv1 10.1.1.1:6000 check
           server kv2 10.1.1.2:6000 check
           server kv3 10.1.1.3:6000 check
           server kv4 10.1.1.4:6000 check
       === load.json
       {"tool": "h2load", "connections": 1, "http2": true, "requests": 250000, "duration_s": 30}`,
    );
  });

  it('a test that found one address of three', () => {
    expectPattern(
      'generator-dns-pin',
      `=== nodes.csv
       address,requests,connections
       203.0.113.10,0,0
       203.0.113.11,600000,200
       203.0.113.12,0,0
       === load.json
       {"tool": "jmeter", "users": 200, "duration_s": 300}
       === lookup.json
       {"lb.example.test": ["203.0.113.10", "203.0.113.11", "203.0.113.12"]}`,
    );
  });

  it('a test that used all addresses', () => {
    expectOther(
      ['generator-dns-pin', 'generator-single-connection', 'pick-first'],
      `=== nodes.csv
       address,requests,connections
       203.0.113.10,200400,66
       203.0.113.11,199800,67
       203.0.113.12,199800,67
       === load.json
       {"tool": "jmeter", "users": 200, "duration_s": 300}`,
    );
  });
});

describe('nothing wrong', () => {
  it('is said of a log of a fleet that works', () => {
    const rows = Array.from({ length: 400 }, (_, index) => {
      const host = `10.9.0.${1 + (index % 3)}:80`;
      return JSON.stringify({
        ts: new Date(1_770_000_000_000 + index * 50).toISOString(),
        method: 'GET',
        path: '/',
        status: 200,
        duration_ms: 30 + ((index * 7919) % 23),
        upstream_host: host,
      });
    });
    expectPattern('healthy', `=== access.jsonl\n${rows.join('\n')}`);
  });
});
