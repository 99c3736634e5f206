// Timeouts, retries, health and discovery, in incidents as others would write them down: other programs, other units, other
// words, something missing, and something beside it that has nothing to do with it.
// Long because each incident is a text.

import { describe, it } from 'node:test';
import { expectOther, expectPattern, matrix } from './testing/incident.ts';

const at = (ms: number): string => new Date(1_772_000_000_000 + ms).toISOString();

describe('probes that share the workers', () => {
  it('are Kubernetes probes of a gunicorn service, and an alert about throttling of somebody else', () => {
    expectPattern(
      'health-check-on-shared-workers',
      `=== gunicorn.conf.py
       bind = "0.0.0.0:8000"
       workers = 3
       worker_class = "sync"
       timeout = 120
       === deploy.yaml
       apiVersion: apps/v1
       kind: Deployment
       metadata: {name: reports}
       spec:
         replicas: 4
         selector: {matchLabels: {app: reports}}
         template:
           metadata: {labels: {app: reports}}
           spec:
             containers:
             - name: web
               image: example.test/reports:9
               ports: [{containerPort: 8000}]
               readinessProbe: {httpGet: {path: /healthz, port: 8000}, periodSeconds: 5, timeoutSeconds: 1, failureThreshold: 3}
       === events.txt
       LAST SEEN   TYPE      REASON      OBJECT                        MESSAGE
       4m12s       Warning   Unhealthy   pod/reports-6b8f9d5c4-2vq8x   Readiness probe failed: Get "http://10.4.2.11:8000/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
       4m10s       Warning   Unhealthy   pod/reports-6b8f9d5c4-8hj2p   Readiness probe failed: Get "http://10.4.2.12:8000/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
       3m58s       Warning   Unhealthy   pod/reports-6b8f9d5c4-zz41c   Readiness probe failed: Get "http://10.4.2.13:8000/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
       === metrics.prom
       # TYPE gunicorn_workers_busy gauge
       gunicorn_workers_busy{pod="reports-6b8f9d5c4-2vq8x"} 3
       gunicorn_workers_busy{pod="reports-6b8f9d5c4-8hj2p"} 3
       gunicorn_workers_busy{pod="reports-6b8f9d5c4-zz41c"} 3
       gunicorn_workers_busy{pod="reports-6b8f9d5c4-q0b7n"} 3
       # TYPE gunicorn_workers gauge
       gunicorn_workers{pod="reports-6b8f9d5c4-2vq8x"} 3
       gunicorn_workers{pod="reports-6b8f9d5c4-8hj2p"} 3
       gunicorn_workers{pod="reports-6b8f9d5c4-zz41c"} 3
       gunicorn_workers{pod="reports-6b8f9d5c4-q0b7n"} 3
       # TYPE container_cpu_cfs_throttled_periods_total counter
       container_cpu_cfs_throttled_periods_total{pod="nightly-batch-0"} 90100`,
    );
  });

  it('are told by a person', () => {
    expectPattern(
      'health-check-on-shared-workers',
      `=== notes.yaml
       plimsoll_notes: 1
       settings:
         - { program: puma, scope: web, set: { workers.count: 5, health.path: /up, health.timeout: 2s, health.interval: 5s, health.shares-workers: true } }
       events:
         - { at: 2026-01-09T11:00:10Z, event: unhealthy, subject: web-1, detail: probe timed out }
         - { at: 2026-01-09T11:00:12Z, event: unhealthy, subject: web-2, detail: probe timed out }
         - { at: 2026-01-09T11:00:40Z, event: healthy, subject: web-1 }
         - { at: 2026-01-09T11:00:55Z, event: unhealthy, subject: web-1, detail: probe timed out }
       counts:
         - { name: workers_busy, by: pod, values: { web-1: 5, web-2: 5, web-3: 5 } }
         - { name: workers_max, by: pod, values: { web-1: 5, web-2: 5, web-3: 5 } }`,
    );
  });

  it('are not probes of a program that was killed for its memory', () => {
    expectOther(
      ['health-check-on-shared-workers'],
      `=== events.txt
       LAST SEEN   TYPE      REASON      OBJECT          MESSAGE
       4m12s       Warning   Unhealthy   pod/reports-0   Readiness probe failed: dial tcp 10.4.2.11:8000: connect: connection refused
       4m10s       Warning   OOMKilling  node/n-3        Memory cgroup out of memory: Killed process 4132 (java)
       3m58s       Warning   BackOff     pod/reports-0   Back-off restarting failed container`,
    );
  });
});

describe('slots that idle connections hold', () => {
  it('are gunicorn sync workers behind a balancer that opens connections ahead', () => {
    expectPattern(
      'worker-slots-held-by-idle-connections',
      `=== gunicorn.conf.py
       bind = ":8080"
       workers = 8
       worker_class = 'sync'
       keepalive = 75
       === status.json
       {"workers_total": 8, "workers_busy": 8, "requests_in_flight": 0, "connections_established": 21}
       === process.prom
       # TYPE process_cpu_ratio gauge
       process_cpu_ratio 0.01`,
    );
  });

  it('is a PHP pool, seen from its status page and the sockets', () => {
    expectPattern(
      'worker-slots-held-by-idle-connections',
      `=== fpm-status.txt
       pool:                 www
       process manager:      static
       start time:           02/Mar/2026:09:00:00 +0000
       start since:          3600
       accepted conn:        18210
       listen queue:         31
       max listen queue:     60
       listen queue len:     511
       idle processes:       0
       active processes:     20
       total processes:      20
       max active processes: 20
       max children reached: 1
       slow requests:        0
       === notes.yaml
       plimsoll_notes: 1
       settings:
         - { program: php-fpm, scope: pool www, set: { workers.count: 20, workers.slot-taken-at: accept } }
       counts:
         - { name: requests_in_flight, value: 1 }
         - { name: process_cpu_ratio, value: 0.02 }`,
    );
  });

  it('are not workers that read from a slow database', () => {
    expectOther(
      ['worker-slots-held-by-idle-connections'],
      `=== gunicorn.conf.py
       workers = 8
       worker_class = 'sync'
       === status.json
       {"workers_total": 8, "workers_busy": 8, "requests_in_flight": 8, "connections_established": 21}`,
    );
  });
});

describe('the last peer', () => {
  it('is out for ten seconds, and the person only has the error log', () => {
    const refused = Array.from(
      { length: 40 },
      (_, index) =>
        `2026/03/03 12:00:${String(6 + Math.floor(index / 4)).padStart(2, '0')} [error] 31#31: *${index + 2} no live upstreams while connecting to upstream, client: 198.51.100.${index % 9}, server: blog.example.test, request: "GET /p/${index} HTTP/1.1", upstream: "http://blog/", host: "blog.example.test"`,
    );
    expectPattern(
      'passive-eviction-last-peer',
      `=== vhost.conf
       upstream blog {
           server 172.18.0.5:2368;
           server 172.18.0.9:2368 down;
       }
       server {
           listen 443 ssl;
           server_name blog.example.test;
           location / { proxy_pass http://blog; }
       }
       === error.log
       2026/03/03 12:00:05 [error] 31#31: *1 recv() failed (104: Connection reset by peer) while reading response header from upstream, client: 198.51.100.8, server: blog.example.test, request: "GET / HTTP/1.1", upstream: "http://172.18.0.5:2368/", host: "blog.example.test"
       ${refused.join('\n')}`,
    );
  });

  it('is not a pool that is exhausted and answers 503 after five seconds', () => {
    const rows = Array.from({ length: 200 }, (_, index) => {
      const late = index % 3 !== 0;
      return `${at(index * 100)} method=GET path=/cart status=${late ? 503 : 200} duration=${late ? '5.00' : '0.0'}${20 + (index % 9)}s error="${late ? 'timeout acquiring connection from pool' : ''}"`;
    });
    expectOther(['passive-eviction-last-peer', 'all-ejected-no-panic'], `=== app.log\n${rows.join('\n')}`);
  });

  it('is not three servers that are really down', () => {
    expectOther(
      ['passive-eviction-last-peer'],
      `=== nginx.conf
       events {}
       http { upstream app { server 10.0.0.1:80; server 10.0.0.2:80; server 10.0.0.3:80; } server { listen 80; location / { proxy_pass http://app; } } }
       === error.log
       ${[1, 2, 3]
         .map(
           (host) =>
             `2026/03/03 12:00:0${host} [error] 31#31: *${host} connect() failed (111: Connection refused) while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://10.0.0.${host}:80/", host: "a"`,
         )
         .join('\n')}
       2026/03/03 12:00:04 [error] 31#31: *4 no live upstreams while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://app/", host: "a"`,
    );
  });
});

describe('nobody healthy', () => {
  it('and panic is on, as Prometheus tells of a mesh', () => {
    expectPattern(
      'panic-mode',
      `=== query.json
       ${matrix({
         'envoy_cluster_membership_healthy{envoy_cluster_name="outbound|9080||ratings.bookinfo.svc.cluster.local"}': [
           4, 2, 1, 1, 1,
         ],
         'envoy_cluster_membership_total{envoy_cluster_name="outbound|9080||ratings.bookinfo.svc.cluster.local"}': [
           4, 4, 4, 4, 4,
         ],
         'envoy_cluster_lb_healthy_panic{envoy_cluster_name="outbound|9080||ratings.bookinfo.svc.cluster.local"}': [
           0, 0, 410, 1290, 2101,
         ],
         'envoy_cluster_upstream_cx_none_healthy{envoy_cluster_name="outbound|9080||ratings.bookinfo.svc.cluster.local"}':
           [0, 0, 0, 0, 0],
       })}`,
    );
  });

  it('and panic is off, as JSON access logs of a mesh tell', () => {
    const rows = Array.from({ length: 60 }, (_, index) => {
      const none = index >= 12;
      return JSON.stringify({
        start_time: at(index * 400),
        method: 'POST',
        path: '/pay',
        protocol: 'HTTP/2',
        response_code: 503,
        response_flags: none ? 'UH' : '-',
        response_code_details: none ? 'no_healthy_upstream' : 'via_upstream',
        duration: none ? 0 : 5,
        upstream_cluster: 'outbound|443||pay.shop.svc.cluster.local',
        upstream_host: none ? null : `10.1.1.${1 + (index % 3)}:443`,
        authority: 'pay',
      });
    });
    expectPattern(
      'all-ejected-no-panic',
      `=== istio.log
       ${rows.join('\n')}
       === destinationrule.yaml
       apiVersion: networking.istio.io/v1beta1
       kind: DestinationRule
       metadata: {name: pay}
       spec:
         host: pay.shop.svc.cluster.local
         trafficPolicy:
           outlierDetection: {consecutive5xxErrors: 3, interval: 5s, baseEjectionTime: 60s, maxEjectionPercent: 100, minHealthPercent: 0}`,
    );
  });

  it('is HAProxy whose servers all fail their checks: no Envoy panic here', () => {
    expectOther(
      ['panic-mode', 'discovery-outage'],
      `=== haproxy.log
       Mar  4 08:01:01 lb1 haproxy[1201]: Server be/app1 is DOWN, reason: Layer7 wrong status, code: 500, info: "Internal Server Error", check duration: 3ms. 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       Mar  4 08:01:03 lb1 haproxy[1201]: Server be/app2 is DOWN, reason: Layer7 wrong status, code: 500, info: "Internal Server Error", check duration: 4ms. 0 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       Mar  4 08:01:03 lb1 haproxy[1201]: backend be has no server available!`,
    );
  });
});

describe('discovery', () => {
  it('is a registry that does not answer, as the program says', () => {
    const rows = Array.from(
      { length: 30 },
      (_, index) =>
        `${at(index * 1000)
          .replace('T', ' ')
          .replace(
            'Z',
            '',
          )} ERROR [gw] resolver: lookup orders.internal on 10.96.0.10:53: read udp 10.1.2.3:40121->10.96.0.10:53: i/o timeout`,
    );
    expectPattern(
      'discovery-outage',
      `=== gateway.log
       ${rows.join('\n')}
       === access.jsonl
       ${Array.from({ length: 60 }, (_, index) => JSON.stringify({ ts: at(index * 500), method: 'GET', path: '/orders', status: 503, duration_ms: 0, upstream: null, error: 'no endpoints for service orders' })).join('\n')}
       === orders.jsonl
       ${Array.from({ length: 5 }, (_, index) => JSON.stringify({ ts: at(index * 500), event: 'healthy', subject: `orders-${index}` })).join('\n')}`,
    );
  });

  it('is HAProxy whose resolver times out', () => {
    expectPattern(
      'discovery-outage',
      `=== haproxy.cfg
       resolvers kube
           nameserver dns1 10.96.0.10:53
           resolve_retries 3
           timeout retry 1s
           hold valid 10s
           hold timeout 30s
       defaults
           mode http
           timeout connect 5s
           timeout client 30s
           timeout server 30s
       frontend in
           bind :80
           default_backend app
       backend app
           balance roundrobin
           server-template srv 3 _http._tcp.app.default.svc.cluster.local resolvers kube check init-addr none
       === haproxy.log
       2026-03-04T08:01:31+00:00 lb haproxy[7]: Server app/srv1 is going DOWN for maintenance (DNS timeout status). 2 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       2026-03-04T08:01:31+00:00 lb haproxy[7]: Server app/srv2 is going DOWN for maintenance (DNS timeout status). 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       2026-03-04T08:01:31+00:00 lb haproxy[7]: Server app/srv3 is going DOWN for maintenance (DNS timeout status). 0 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.
       2026-03-04T08:01:31+00:00 lb haproxy[7]: backend app has no server available!`,
    );
  });
});

describe('timeouts in the wrong order', () => {
  it('are HAProxy inside, a client outside that waits longer', () => {
    const rows = Array.from({ length: 120 }, (_, index) => {
      const cut = index % 4 === 0;
      return `Mar  4 08:${String(10 + Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')} lb1 haproxy[1201]: 192.0.2.9:5${String(1000 + index)} [04/Mar/2026:08:${String(10 + Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}.011] web app/a${1 + (index % 2)} 0/0/1/${cut ? -1 : 8000 + index * 3}/${cut ? 10_001 : 8003 + index * 3} ${cut ? 504 : 200} ${cut ? 194 : 4000} - - ${cut ? 'sH--' : '----'} 12/12/8/4/0 0/0 "GET /export HTTP/1.1"`;
    });
    expectPattern(
      'timeout-inversion',
      `=== haproxy.cfg
       defaults
           mode http
           timeout connect 5s
           timeout client 60s
           timeout server 10s
       frontend web
           bind :80
           default_backend app
       backend app
           server a1 10.0.0.1:80
           server a2 10.0.0.2:80
       === haproxy.log
       ${rows.join('\n')}
       === client.yaml
       request_timeout: 45s`,
      ['10'],
    );
  });

  it('are an ingress annotation below what the work takes', () => {
    const rows = Array.from({ length: 80 }, (_, index) => {
      const cut = index % 5 === 0;
      return `10.2.0.${index % 7} - - [02/Mar/2026:10:0${Math.floor(index / 20)}:${String((index * 3) % 60).padStart(2, '0')} +0000] "POST /render HTTP/1.1" ${cut ? 504 : 200} 160 "-" "x" 310 ${cut ? '20.001' : `1${index % 9}.2${10 + (index % 50)}`} [shop-render-80] [] 10.3.0.${1 + (index % 3)}:8080 ${cut ? 0 : 160} ${cut ? '20.000' : `1${index % 9}.2${10 + (index % 50)}`} ${cut ? 504 : 200} ab${index}`;
    });
    expectPattern(
      'timeout-inversion',
      `=== ingress.yaml
       apiVersion: networking.k8s.io/v1
       kind: Ingress
       metadata:
         name: render
         annotations:
           nginx.ingress.kubernetes.io/proxy-read-timeout: "20"
           nginx.ingress.kubernetes.io/proxy-next-upstream-tries: "1"
       spec:
         rules: [{host: r.example.test, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: render, port: {number: 80}}}}]}}]
       === access.log
       ${rows.join('\n')}
       === caller.env
       RENDER_CLIENT_TIMEOUT=60s`,
    );
  });
});

describe('no room for a second try', () => {
  it('is a window of nginx that is as long as one try', () => {
    expectPattern(
      'retry-window-too-short',
      `=== nginx.conf
       events {}
       http {
         upstream api { server 10.0.0.1:80; server 10.0.0.2:80; }
         server {
           listen 80;
           location / {
             proxy_pass http://api;
             proxy_read_timeout 10s;
             proxy_connect_timeout 10s;
             proxy_next_upstream error timeout;
             proxy_next_upstream_tries 3;
             proxy_next_upstream_timeout 10s;
           }
         }
       }
       === error.log
       2026/03/03 12:00:15 [error] 31#31: *1 upstream timed out (110: Connection timed out) while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://10.0.0.1:80/", host: "a"
       2026/03/03 12:00:29 [error] 31#31: *2 upstream timed out (110: Connection timed out) while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://10.0.0.1:80/", host: "a"`,
    );
  });

  it('is an Envoy route whose time one try uses up', () => {
    const rows = Array.from({ length: 60 }, (_, index) => {
      const cut = index % 4 === 0;
      return `[${at(index * 500)}] "GET /search HTTP/1.1" ${cut ? 504 : 200} ${cut ? 'UT' : '-'} 0 24 ${cut ? 3000 : 210 + index} ${cut ? '-' : 208 + index} "-" "app" "id-${index}" "search" "10.0.3.${1 + (Math.floor(index / 4) % 2)}:8080"`;
    });
    expectPattern(
      'retry-window-too-short',
      `=== route.yaml
       route_config:
         virtual_hosts:
         - name: search
           domains: ["*"]
           routes:
           - match: {prefix: /}
             route:
               cluster: search
               timeout: 3s
               retry_policy: {retry_on: "5xx,reset,connect-failure", num_retries: 2, per_try_timeout: 3s}
       === access.log
       ${rows.join('\n')}`,
    );
  });

  it('is a client that gives each of three tries as long as its whole deadline', () => {
    expectPattern(
      'retry-window-too-short',
      `=== client.json
       {"deadline_ms": 2000, "per_try_timeout_ms": 2000, "max_attempts": 3}
       === calls.csv
       time,target,status,duration_ms,attempts
       ${Array.from({ length: 40 }, (_, index) => `${at(index * 300)},10.0.0.${1 + (index % 3)}:80,${index % 5 === 0 ? 504 : 200},${index % 5 === 0 ? 2000 : 31 + index},1`).join('\n')}`,
    );
  });

  it('is not a window with room for three', () => {
    expectOther(
      ['retry-window-too-short'],
      `=== client.json
       {"deadline_ms": 7000, "per_try_timeout_ms": 2000, "max_attempts": 3}`,
    );
  });
});

describe('a default nobody knew of', () => {
  it('is fifteen seconds of Envoy under a Gateway route', () => {
    const rows = Array.from({ length: 80 }, (_, index) => {
      const cut = index % 8 === 0;
      return `[${at(index * 400)}] "POST /train HTTP/2" ${cut ? 504 : 200} ${cut ? 'UT' : '-'} 900 24 ${cut ? 15_001 : 6000 + index * 90} ${cut ? '-' : 5990 + index * 90} "-" "sdk" "id-${index}" "ml.example.test" "10.0.9.${1 + (index % 2)}:8080"`;
    });
    expectPattern(
      'default-route-timeout',
      `=== envoy.log
       ${rows.join('\n')}
       === route.yaml
       virtual_hosts:
       - name: ml
         domains: ["ml.example.test"]
         routes:
         - match: {prefix: "/"}
           route: {cluster: ml}`,
      ['15'],
    );
  });

  it('is sixty seconds of nginx', () => {
    const rows = Array.from({ length: 60 }, (_, index) => {
      const cut = index % 6 === 0;
      const took = cut ? '60.00' + (index % 5) : `${20 + (index % 35)}.${100 + index}`;
      return `{"time_iso8601":"${at(index * 60_000)}","request":"GET /big HTTP/1.1","status":${cut ? 504 : 200},"request_time":${took},"upstream_addr":"10.0.0.${1 + (index % 2)}:80","upstream_response_time":"${took}","upstream_status":"${cut ? 504 : 200}"}`;
    });
    expectPattern(
      'default-route-timeout',
      `=== nginx.conf
       events {}
       http { upstream big { server 10.0.0.1:80; server 10.0.0.2:80; } server { listen 80; location /big { proxy_pass http://big; } } }
       === access.json
       ${rows.join('\n')}`,
      ['60'],
    );
  });
});

describe('idle connections that end too early', () => {
  it('are gunicorn behind an application balancer', () => {
    expectPattern(
      'keepalive-race',
      `=== gunicorn.conf.py
       workers = 4
       worker_class = "gthread"
       threads = 8
       keepalive = 2
       === attributes.json
       {"Attributes": [{"Key": "idle_timeout.timeout_seconds", "Value": "60"}]}
       === alb.log
       ${Array.from({ length: 80 }, (_, index) => {
         const broken = index % 27 === 7;
         return `http ${at(index * 9000).replace('Z', '000Z')} app/lb/1 203.0.113.9:4${String(1000 + index)} 10.0.1.${1 + (index % 2)}:8000 0.000 ${broken ? '0.001 -1' : '0.030 0.000'} ${broken ? '502 -' : '200 200'} 100 ${broken ? 277 : 900} "GET http://app.example.test:80/ HTTP/1.1" "x" - - arn:aws:elasticloadbalancing:eu:0:targetgroup/t/1 "Root=1-${index}" "-" "-" 0 ${at(index * 9000).replace('Z', '000Z')} "forward" "-" "-" "10.0.1.${1 + (index % 2)}:8000" "${broken ? '-' : '200'}" "-" "-"`;
       }).join('\n')}`,
    );
  });

  it('are Tomcat behind HAProxy, which keeps its idle connections as long as it likes', () => {
    expectPattern(
      'keepalive-race',
      `=== server.xml
       <?xml version="1.0" encoding="UTF-8"?>
       <Server port="8005" shutdown="SHUTDOWN">
         <Service name="Catalina">
           <Connector port="8080" protocol="HTTP/1.1" connectionTimeout="20000" keepAliveTimeout="4000" maxThreads="200" acceptCount="100" redirectPort="8443" />
           <Engine name="Catalina" defaultHost="localhost"/>
         </Service>
       </Server>
       === haproxy.cfg
       global
           tune.pool-low-fd-ratio 20
       defaults
           mode http
           http-reuse safe
           timeout connect 5s
           timeout client 60s
           timeout server 60s
       backend app
           default-server pool-purge-delay 60s
           server t1 10.0.0.1:8080 check
           server t2 10.0.0.2:8080 check
       === haproxy.log
       ${Array.from({ length: 100 }, (_, index) => {
         const broken = index % 25 === 3;
         return `Mar  4 08:10:${String(index % 60).padStart(2, '0')} lb1 haproxy[1201]: 192.0.2.9:5${String(1000 + index)} [04/Mar/2026:08:10:${String(index % 60).padStart(2, '0')}.011] web app/t${1 + (index % 2)} 0/0/0/${broken ? -1 : 12}/${broken ? 1 : 13} ${broken ? 502 : 200} 194 - - ${broken ? 'SH--' : '----'} 3/3/1/1/0 0/0 "GET /x HTTP/1.1"`;
       }).join('\n')}`,
    );
  });

  it('is Puma behind nginx, by settings alone', () => {
    expectPattern(
      'keepalive-race',
      `=== puma.rb
       workers 2
       threads 5, 5
       persistent_timeout 20
       port 3000
       === nginx.conf
       events {}
       http {
         upstream puma { server 127.0.0.1:3000; keepalive 32; keepalive_timeout 60s; }
         server { listen 80; location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://puma; } }
       }`,
    );
  });

  it('is not a server that keeps them longer than the balancer', () => {
    expectOther(
      ['keepalive-race'],
      `=== server.ts
       const server = http.createServer(app);
       server.keepAliveTimeout = 65000;
       server.headersTimeout = 66000;
       server.listen(8080);
       === attributes.json
       {"Attributes": [{"Key": "idle_timeout.timeout_seconds", "Value": "60"}]}`,
    );
  });
});

describe('a breaker that opens', () => {
  it('is Istio with a pool of one hundred', () => {
    const rows = Array.from({ length: 100 }, (_, index) => {
      const refused = index % 3 === 0;
      return `[${at(index * 20)}] "GET /r HTTP/1.1" ${refused ? 503 : 200} ${refused ? 'UO' : '-'} ${refused ? 'overflow' : 'via_upstream'} - "-" 0 81 ${refused ? 0 : 300} ${refused ? '-' : 299} "-" "x" "id-${index}" "reviews" "${refused ? '-' : '10.0.0.1:9080'}" outbound|9080||reviews.default.svc.cluster.local - 10.96.1.1:9080 10.0.0.9:4444 - default`;
    });
    expectPattern(
      'circuit-breaker-overflow',
      `=== dr.yaml
       apiVersion: networking.istio.io/v1
       kind: DestinationRule
       metadata: {name: reviews}
       spec:
         host: reviews
         trafficPolicy:
           connectionPool: {tcp: {maxConnections: 100}, http: {http1MaxPendingRequests: 1, maxRequestsPerConnection: 1}}
       === istio.log
       ${rows.join('\n')}`,
    );
  });

  it('is counters alone, in a query of Prometheus', () => {
    expectPattern(
      'circuit-breaker-overflow',
      `=== query.json
       ${matrix({
         'envoy_cluster_upstream_rq_pending_overflow{envoy_cluster_name="pay"}': [0, 0, 120, 410, 933],
         'envoy_cluster_upstream_rq_active{envoy_cluster_name="pay"}': [40, 60, 64, 64, 64],
         'envoy_cluster_circuit_breakers_default_rq_open{envoy_cluster_name="pay"}': [0, 0, 1, 1, 1],
         'envoy_cluster_upstream_rq_total{envoy_cluster_name="pay"}': [1000, 2000, 2900, 3700, 4500],
       })}
       === cluster.yaml
       name: pay
       connect_timeout: 1s
       type: STRICT_DNS
       circuit_breakers: {thresholds: [{max_requests: 64, max_pending_requests: 64}]}`,
    );
  });

  it('is not a limiter of rates', () => {
    expectOther(
      ['circuit-breaker-overflow'],
      `=== stats.txt
       cluster.pay.upstream_rq_total: 4500
       cluster.pay.upstream_rq_pending_overflow: 0
       http.ingress.rate_limit.over_limit: 800
       http.ingress.downstream_rq_4xx: 800`,
    );
  });
});

describe('retries', () => {
  it('multiply what a user asked for, in the requests and calls of two tiers', () => {
    expectPattern(
      'retry-storm',
      `=== tiers.csv
       tier,requests
       edge,10000
       orders,38800
       stock,151200
       === policy.yaml
       edge: {max_attempts: 4}
       orders: {max_attempts: 4}
       === errors.prom
       # TYPE http_client_errors_total counter
       http_client_errors_total{target="stock"} 139000`,
    );
  });

  it('multiply without an end, told by a proxy that writes the number of the try', () => {
    const rows = Array.from({ length: 400 }, (_, index) =>
      JSON.stringify({
        ts: at(index * 50),
        request_id: `r-${Math.floor(index / 100)}`,
        attempt: 1 + (index % 100),
        method: 'POST',
        path: '/charge',
        status: 422,
        duration_ms: 40 + (index % 11),
        upstream: `10.4.0.${1 + (index % 3)}:80`,
      }),
    );
    expectPattern(
      'retry-storm',
      `=== proxy.jsonl
       ${rows.join('\n')}
       === policy.json
       {"retry_on": [422, 500, 503], "max_attempts": null, "stop_on_disconnect": false}`,
    );
  });

  it('keep an overload alive after its cause has gone', () => {
    const rate = [800, 800, 800, 800, 800, 800, 800, 800, 800, 800, 800, 800];
    const attempts = [805, 803, 802, 2900, 3100, 3180, 3190, 3185, 3200, 3190, 3195, 3200];
    const good = [799, 800, 798, 90, 10, 5, 4, 6, 3, 5, 4, 5];
    expectPattern(
      'metastable-retry',
      `=== query.json
       ${matrix({
         'user_requests_per_second{job="checkout"}': rate,
         'upstream_attempts_per_second{job="checkout"}': attempts,
         'successful_responses_per_second{job="checkout"}': good,
       })}
       === events.jsonl
       {"ts": "${new Date(1_770_000_045_000).toISOString()}", "event": "database failover started"}
       {"ts": "${new Date(1_770_000_060_000).toISOString()}", "event": "database failover finished, latency back to normal"}
       === client.yaml
       timeout_ms: 500
       max_attempts: 4
       backoff: null`,
    );
  });

  it('are no storm where a tier asks four others for each request', () => {
    expectOther(
      ['retry-storm'],
      `=== tiers.csv
       tier,requests
       edge,10000
       fragments,40100`,
    );
  });

  it('are no storm when one in a hundred is tried again', () => {
    expectOther(
      ['retry-storm', 'metastable-retry'],
      `=== stats.txt
       cluster.pay.upstream_rq_total: 101000
       cluster.pay.upstream_rq_retry: 1000
       cluster.pay.upstream_rq_retry_success: 990
       cluster.pay.upstream_rq_5xx: 1010`,
    );
  });

  it('a queue of dead work keeps a server busy', () => {
    expectPattern(
      'metastable-stale-backlog',
      `=== query.json
       ${matrix({
         'offered_requests_per_second{job="img"}': [400, 400, 400, 400, 400, 400, 400, 400, 400, 400],
         'completed_per_second{job="img"}': [400, 398, 500, 500, 501, 499, 500, 500, 500, 500],
         'goodput_per_second{job="img"}': [400, 398, 20, 0, 0, 0, 0, 0, 0, 0],
         'queue_length{job="img"}': [2, 3, 4000, 8100, 8000, 8050, 8010, 8030, 8020, 8040],
         'process_cpu_ratio{job="img"}': [0.8, 0.8, 1, 1, 1, 1, 1, 1, 1, 1],
       })}
       === server.json
       {"workers": 8, "queue": "fifo", "cancel_on_client_timeout": false}
       === client.json
       {"request_timeout_ms": 2000}
       === events.jsonl
       {"ts": "${new Date(1_770_000_025_000).toISOString()}", "event": "disk stall begins"}
       {"ts": "${new Date(1_770_000_040_000).toISOString()}", "event": "disk stall ends"}`,
    );
  });
});
