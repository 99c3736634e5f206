// One small example of every format, written as the program writes it, in our own words. What holds for all formats
// (recognised by content, never throws, carriage returns change nothing) is tested over this table.

import { applicationSamples } from './application-samples.ts';
import { kernelSamples } from './kernel-samples.ts';
import { loadSamples } from './load-samples.ts';
import { notesSample } from './notes-sample.ts';

export const samples: Readonly<Record<string, string>> = {
  ...loadSamples,
  ...kernelSamples,
  ...applicationSamples,
  'Plimsoll notes': notesSample,
  'Prometheus text': `# HELP http_requests_total served
# TYPE http_requests_total counter
http_requests_total{pod="a"} 10
http_requests_total{pod="b"} 20
cores 1.5
`,
  'Prometheus HTTP API': `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"in_flight","pod":"a"},"values":[[1775113200,"4"],[1775113215,"NaN"],[1775113230,"9"]]}]},"warnings":["slow store"]}
`,
  'HAProxy configuration': `global
    maxconn 4000
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 10s
    retries 2
frontend web
    bind :8080
    default_backend shop
backend shop
    balance leastconn
    option httpchk GET /healthz
    timeout queue 500
    server s1 10.1.0.11:80 check inter 1s fall 2 maxconn 50
    server s2 10.1.0.12:80 check inter 1s fall 2 maxconn 50
`,
  'HAProxy log': `Apr 02 07:00:00 edge haproxy[77]: 192.0.2.9:51000 [02/Apr/2026:07:00:00.120] web shop/s1 0/3/1/40/44 200 512 - - ---- 9/9/4/2/0 0/0 "GET /cart?id=7 HTTP/1.1"
Apr 02 07:00:01 edge haproxy[77]: Server shop/s2 is DOWN, reason: Layer4 connection problem, info: "refused", check duration: 0ms. 1 active and 0 backup servers left. 2 sessions active, 0 requeued, 0 remaining in queue.
Apr 02 07:00:02 edge haproxy[77]: 192.0.2.9:51001 [02/Apr/2026:07:00:01.900] web shop/<NOSRV> 0/-1/-1/-1/100 503 221 - - sQ-- 9/9/4/0/0 0/5 "GET / HTTP/1.1"
`,
  'HAProxy show info': `Name: HAProxy
Version: 2.6.12
Nbthread: 4
Maxconn: 4000
CurrConns: 31
CumReq: 9000
SessRate: 3
Run_queue: 2
Idle_pct: 80
`,
  'HAProxy statistics': `# pxname,svname,qcur,qmax,scur,smax,slim,stot,status,weight,type,rtime,mode,algo,
web,FRONTEND,,,9,40,4000,900,OPEN,,0,,http,,
shop,s1,0,2,4,9,50,450,UP,1,2,41,http,,
shop,s2,0,2,0,9,50,450,DOWN,1,2,39,http,,
shop,BACKEND,0,4,4,18,,900,UP,1,1,40,http,leastconn,
`,
  'nginx configuration': `worker_processes 4;
events { worker_connections 512; }
http {
  log_format timed '$remote_addr [$time_local] "$request" $status took=$request_time via="$upstream_addr"';
  upstream api { least_conn; server 10.2.0.11:80; server 10.2.0.12:80 max_fails=3; server 10.2.0.13:80 down; keepalive 8; }
  server {
    listen 80 reuseport backlog=1024;
    server_name api.example;
    location /v1/ { proxy_read_timeout 5s; proxy_pass http://api; }
  }
}
`,
  'nginx access log': `192.0.2.9 - - [02/Apr/2026:07:00:00 +0000] "GET /v1/a?b=1 HTTP/1.1" 200 512 rt=0.044 ua="10.2.0.11:80" us="200" ut="0.040"
192.0.2.9 - - [02/Apr/2026:07:00:01 +0000] "GET /v1/b HTTP/1.1" 502 512 rt=0.010 ua="10.2.0.11:80, 10.2.0.12:80" us="502, 502" ut="0.004, 0.006"
192.0.2.9 - - [02/Apr/2026:07:00:01 +0000] "GET /v1/b HTTP/1.1" 502 512 rt=0.000 ua="api" us="502" ut="0.000"
`,
  'nginx error log': `2026/04/02 07:00:01 [error] 7#7: *12 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 192.0.2.9, server: api.example, request: "GET /v1/b HTTP/1.1", upstream: "http://10.2.0.11:80/v1/b", host: "api.example"
2026/04/02 07:00:02 [error] 7#7: *13 connect() failed (111: Connection refused) while connecting to upstream, client: 192.0.2.9, server: api.example, request: "GET / HTTP/1.1", upstream: "http://10.2.0.12:80/", host: "api.example"
2026/04/02 07:00:03 [alert] 7#7: 512 worker_connections are not enough
`,
  'nginx stub_status': `Active connections: 29
server accepts handled requests
 1000 990 5000
Reading: 1 Writing: 8 Waiting: 20
`,
  'Envoy configuration': `static_resources:
  listeners:
  - name: in
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          stat_prefix: edge
          stream_idle_timeout: 30s
          route_config:
            virtual_hosts:
            - name: all
              retry_policy: {retry_on: 5xx, num_retries: 3}
              routes:
              - match: {prefix: /slow}
                route: {cluster: shop, timeout: 60s}
              - match: {prefix: /}
                route: {cluster: shop}
  clusters:
  - name: shop
    type: STRICT_DNS
    lb_policy: LEAST_REQUEST
    common_lb_config: {healthy_panic_threshold: {value: 0}}
    load_assignment:
      cluster_name: shop
      endpoints:
      - locality: {zone: z1}
        lb_endpoints:
        - endpoint: {address: {socket_address: {address: shop.example, port_value: 80}}}
`,
  'Envoy access log': `[2026-04-02T07:00:00.120Z] "GET /cart?id=7 HTTP/1.1" 200 - 0 900 44 40 "192.0.2.9" "agent/1.0" "6f9a" "shop.example" "10.3.0.11:80"
[2026-04-02T07:00:00.130Z] "GET /cart HTTP/1.1" 503 UO 0 81 0 - "-" "agent/1.0" "6f9b" "shop.example" "-"
[2026-04-02T07:00:00.140Z] "GET /cart HTTP/1.1" 200 - via_upstream - "-" 0 900 12 11 "-" "agent/1.0" "6f9c" "shop.example" "10.3.0.12:80" outbound|80||shop.default.svc.cluster.local 10.3.0.1:40000 10.9.0.1:80 192.0.2.9:51000 - default
`,
  'Envoy statistics': `cluster.shop.eu.upstream_rq_total: 97
cluster.shop.eu.upstream_rq_504: 37
cluster.shop.eu.upstream_rq_5xx: 37
cluster.shop.eu.upstream_rq_active: 3
cluster.shop.eu.upstream_rq_time: P0(nan,1) P50(nan,40) P99(nan,900)
http.edge.downstream_cx_active: 12
server.uptime: 86400
`,
  'Envoy clusters': `shop::default_priority::max_connections::1024
shop::default_priority::max_requests::3
shop::added_via_api::false
shop::10.3.0.11:80::cx_active::2
shop::10.3.0.11:80::rq_total::50
shop::10.3.0.11:80::zone::z1
shop::10.3.0.11:80::health_flags::healthy
shop::10.3.0.12:80::rq_total::7
shop::10.3.0.12:80::health_flags::/failed_active_hc
`,
  'AWS load balancer access log': `https 2026-04-02T07:00:00.164000Z app/edge/50dc6c495c0c9188 192.0.2.9:51000 10.4.0.11:80 0.002 0.040 0.001 200 200 34 366 "GET https://shop.example:443/cart?id=7 HTTP/1.1" "agent/1.0" - - arn:aws:elasticloadbalancing:eu-test-1:000000000000:targetgroup/shop/73e2d6bc24d8a067 "Root=1-1" "-" "-" 0 2026-04-02T07:00:00.120000Z "forward" "-" "-" "10.4.0.11:80" "200" "-" "-"
https 2026-04-02T07:00:11.121000Z app/edge/50dc6c495c0c9188 192.0.2.9:51001 10.4.0.12:80 -1 -1 -1 504 - 34 366 "GET https://shop.example:443/ HTTP/1.1" "agent/1.0" - - arn:aws:elasticloadbalancing:eu-test-1:000000000000:targetgroup/shop/73e2d6bc24d8a067 "Root=1-2" "-" "-" 0 2026-04-02T07:00:01.120000Z "forward" "-" "-" "10.4.0.12:80" "-" "-" "-"
`,
  'AWS load balancer description': `{"TargetHealthDescriptions": [
  {"Target": {"Id": "10.4.0.11", "Port": 80, "AvailabilityZone": "z1"}, "TargetHealth": {"State": "healthy"}},
  {"Target": {"Id": "10.4.0.12", "Port": 80, "AvailabilityZone": "z2"}, "TargetHealth": {"State": "unhealthy", "Reason": "Target.Timeout"}}
], "Attributes": [{"Key": "idle_timeout.timeout_seconds", "Value": "60"}, {"Key": "load_balancing.cross_zone.enabled", "Value": "false"}]}
`,
  'Kubernetes objects': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  template:
    spec:
      terminationGracePeriodSeconds: 45
      containers:
      - name: web
        resources: {limits: {cpu: 500m}}
        readinessProbe: {httpGet: {path: /ready, port: 80}, periodSeconds: 5}
        lifecycle: {preStop: {exec: {command: [sh, -c, "sleep 15 && nginx -s quit"]}}}
        env: [{name: DB_POOL_MAX, value: "10"}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {clusterIP: None}
`,
  'kubectl get events': `LAST SEEN   TYPE      REASON              OBJECT           MESSAGE
2m          Warning   Unhealthy           pod/web-1        Readiness probe failed: timeout
90s         Normal    ScalingReplicaSet   deployment/web   Scaled up replica set web-7 to 4
`,
  'kubectl table of pods': `NAME    CPU(cores)   MEMORY(bytes)
web-1   250m         64Mi
web-2   3m           60Mi
`,
  'access log': `2026-04-02T07:00:00.120Z host=inner "GET /x?y=1 HTTP/1.1" 200 rt=0.044 up=10.5.0.11:80 ut=0.040 us=200
2026-04-02T07:00:16.121Z host=inner "GET /x HTTP/1.1" 504 rt=15.001 up=10.5.0.11:80 ut=15.001 us=504
`,
  'JSON access log': `{"start_time":"2026-04-02T07:00:00.120Z","method":"GET","path":"/cart?id=7","response_code":200,"response_flags":"-","duration":44,"upstream_host":"10.6.0.11:80","upstream_cluster":"shop"}
{"start_time":"2026-04-02T07:00:00.130Z","method":"GET","path":"/cart","response_code":503,"response_flags":"UO","duration":0,"upstream_host":null,"upstream_cluster":"shop"}
`,
  'PostgreSQL slow statements': `2026-04-02T07:00:22.000Z duration: 21900.000 ms  statement: SELECT * FROM t WHERE id = 7
2026-04-02T07:00:50.000Z duration: 1500.000 ms  statement: SELECT 1
`,
  'application log': `2026-04-02 07:00:00,500 INFO [main] com.example.App - started
2026-04-02 07:00:01,500 WARN [http-1] com.zaxxer.hikari.pool.HikariPool - main - Timeout failure stats (total=4, active=4, idle=0, waiting=9)
time="2026-04-02T07:00:02Z" level=error msg="call failed" error="dial tcp 10.7.0.11:80: connect: connection refused"
`,
  'JSON lines': `{"ts":"2026-04-02T07:00:00Z","kind":"backend-sync","service":"shop","endpoints":3}
{"ts":"2026-04-02T07:00:05Z","what":"dependency latency 25ms -> 100ms"}
{"ts":"2026-04-02T07:00:06Z","level":"error","msg":"no such host"}
{"ts":"2026-04-02T07:00:10Z","ListenOverflows":3378,"established":345}
`,
  'table with a header': `host,requests,mean_ms,state
a,234,120.5,up
b,9,2.0,down
`,
  'settings as pairs': `# pool
DB_POOL_MAX=2
DB_ACQUIRE_TIMEOUT_MS=3000
export RETRY_ATTEMPTS=3
`,
  'settings and numbers': `{
  "runtime": "node 20",
  "http": {"keepAliveTimeout_ms": 5000},
  "timeout_ms": 200,
  "max_attempts": 4,
  "queue_length": 17
}
`,
  'column of numbers': `0.022
2.505
0.002
`,
};
