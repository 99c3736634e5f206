// Less evidence, and in the forms in which people have it: a page of statistics alone, settings alone, a list of sockets, a
// scoreboard, what somebody remembers.

import { describe, it } from 'node:test';
import { expectOther, expectPattern } from './testing/incident.ts';

it('generator-dns-pin: one of three nodes of a balancer counts the requests of a generator', () => {
  expectPattern(
    'generator-dns-pin',
    `=== command.json
     {"tool": "wrk", "threads": 8, "connections": 400, "duration_s": 120, "url": "http://lb.example.test/"}
     === nodes.prom
     # TYPE nginx_http_requests_total counter
     nginx_http_requests_total{instance="192.0.2.21"} 812345
     nginx_http_requests_total{instance="192.0.2.22"} 12
     nginx_http_requests_total{instance="192.0.2.23"} 10`,
  );
});

it('generator-dns-pin: the sockets of a generator lead to one of two addresses', () => {
  expectPattern(
    'generator-dns-pin',
    `=== ss-generator.txt
     State  Recv-Q Send-Q Local Address:Port  Peer Address:Port
     ESTAB  0      0      10.0.0.5:40001      192.0.2.21:443
     ESTAB  0      0      10.0.0.5:40002      192.0.2.21:443
     ESTAB  0      0      10.0.0.5:40003      192.0.2.21:443
     ESTAB  0      0      10.0.0.5:40004      192.0.2.21:443
     ESTAB  0      0      10.0.0.5:40005      192.0.2.21:443
     ESTAB  0      0      10.0.0.5:40006      192.0.2.21:443
     ESTAB  0      0      10.0.0.5:40007      192.0.2.21:443
     ESTAB  0      0      10.0.0.5:40008      192.0.2.21:443
     === options.json
     {"vus": 8, "duration": "60s"}
     === resolver.json
     {"api.example.test": ["192.0.2.21", "192.0.2.22"]}`,
  );
});

it('generator-dns-pin: the connections at one node are as many as the generator opened', () => {
  expectPattern(
    'generator-dns-pin',
    `=== ingress.csv
     node,requests_per_s,connections
     ing-1,0,0
     ing-2,4100,64
     ing-3,0,0
     === options.json
     {"tool":"vegeta","rate":4100,"duration_s":60,"connections":64,"dns":"resolved once at start"}`,
  );
});

it('worker-slots-held-by-idle-connections: workers wait for a request while others wait for a worker', () => {
  expectPattern(
    'worker-slots-held-by-idle-connections',
    `=== gunicorn.json
     {"worker_class": "sync", "workers": 4, "slot_taken_at": "accept", "timeout_s": 30}
     === workers.csv
     worker,state,seconds_in_state
     1,waiting-for-request,24
     2,waiting-for-request,21
     3,waiting-for-request,18
     4,handling,0.1
     === app.prom
     process_cpu_ratio 0.02
     http_requests_in_flight 1`,
  );
});

it('worker-slots-held-by-idle-connections: somebody tells of slots, connections and no requests', () => {
  expectPattern(
    'worker-slots-held-by-idle-connections',
    `=== notes.yaml
     plimsoll_notes: 1
     settings:
       - { program: app, scope: web, set: { workers.count: 8, workers.slot-taken-at: accept } }
       - { program: alb, scope: load balancer, set: { upstream.idle-timeout: 60s } }
     counts:
       - { name: established_connections, value: 8 }
       - { name: requests_in_flight, value: 0 }
       - { name: busy_workers, value: 8 }`,
  );
});

it('worker-slots-held-by-idle-connections: a scoreboard is full of connections that say nothing', () => {
  expectPattern(
    'worker-slots-held-by-idle-connections',
    `=== status.prom
     # TYPE apache_scoreboard gauge
     apache_scoreboard{state="reading"} 140
     apache_scoreboard{state="keepalive"} 8
     apache_scoreboard{state="sending"} 2
     apache_scoreboard{state="idle"} 0
     # TYPE apache_workers gauge
     apache_workers{state="busy"} 150
     apache_workers{state="idle"} 0
     === httpd.json
     {"max_request_workers": 150, "slot_taken_at": "accept"}`,
  );
});

it('drain-race: an ingress meets the closed port of a pod that was told to end', () => {
  expectPattern(
    'drain-race',
    `=== access.log
     10.9.0.1 - - [02/Mar/2026:10:00:12 +0000] "GET /v1 HTTP/1.1" 502 512 "-" "x" 120 0.001 [default-shop-8080] [] 10.8.0.11:8080 0 0.001 502 5eb5
     10.9.0.1 - - [02/Mar/2026:10:00:12 +0000] "GET /v1 HTTP/1.1" 200 512 "-" "x" 120 0.021 [default-shop-8080] [] 10.8.0.12:8080 512 0.020 200 5eb6
     10.9.0.1 - - [02/Mar/2026:10:00:13 +0000] "GET /v1 HTTP/1.1" 502 512 "-" "x" 120 0.001 [default-shop-8080] [] 10.8.0.11:8080 0 0.001 502 5eb7
     10.9.0.1 - - [02/Mar/2026:10:00:14 +0000] "GET /v1 HTTP/1.1" 200 512 "-" "x" 120 0.021 [default-shop-8080] [] 10.8.0.12:8080 512 0.020 200 5eb8
     === events.jsonl
     {"ts": "2026-03-02T10:00:11Z", "reason": "Killing", "pod": "shop-0", "ip": "10.8.0.11"}
     {"ts": "2026-03-02T10:00:16Z", "reason": "EndpointRemoved", "pod": "shop-0", "ip": "10.8.0.11"}`,
  );
});

it('pool-order-skew: a driver takes the connection that came back last', () => {
  expectPattern(
    'pool-order-skew',
    `=== pool.json
     {"driver": "x", "max_pool_size": 30, "idle_queue": "LIFO"}
     === replicas.csv
     replica,connections,queries,avg_ms
     db-1,10,98000,2.1
     db-2,10,4100,2.0
     db-3,10,150,2.2`,
  );
});

it('pick-first: a client inside picks first, under a load test', () => {
  expectPattern(
    'pick-first',
    `=== pods.csv
     pod,requests,connections
     price-0,120000,1
     price-1,0,0
     price-2,0,0
     === options.json
     {"vus": 64, "duration": "60s"}
     === client.yaml
     plimsoll_notes: 1
     settings:
       - { program: grpc-java, scope: cart client, set: { balance.policy: pick-first } }`,
  );
});

it('healthy: a page of statistics is even', () => {
  expectPattern(
    'healthy',
    `=== stats.csv
     # pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,wredis,status,weight,act,bck,chkfail,chkdown,lastchg,downtime,qlimit,pid,iid,sid,throttle,lbtot,tracked,type,rate,rate_lim,rate_max,check_status,check_code,check_duration,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,hanafail,req_rate,req_rate_max,req_tot,cli_abrt,srv_abrt,comp_in,comp_out,comp_byp,comp_rsp,lastsess,last_chk,last_agt,qtime,ctime,rtime,ttime,
     web,FRONTEND,,,12,40,2000,4000,1,1,0,0,0,,,,,OPEN,,,,,,,,,1,2,0,,,,0,10,0,50,,,,0,4000,0,0,0,0,,10,50,4000,,,0,0,0,0,,,,,,,,
     app,s1,0,0,3,10,,1001,1,1,,0,,0,0,0,0,UP,1,1,0,0,0,1000,0,,1,3,1,,1001,,2,3,,20,L7OK,200,1,0,1001,0,0,0,0,0,,,,0,0,,,,,0,,,0,0,21,22,
     app,s2,0,0,3,10,,1000,1,1,,0,,0,0,0,0,UP,1,1,0,0,0,1000,0,,1,3,2,,1000,,2,3,,20,L7OK,200,1,0,1000,0,0,0,0,0,,,,0,0,,,,,0,,,0,0,20,22,
     app,s3,0,0,3,10,,999,1,1,,0,,0,0,0,0,UP,1,1,0,0,0,1000,0,,1,3,3,,999,,2,3,,20,L7OK,200,1,0,999,0,0,0,0,0,,,,0,0,,,,,0,,,0,0,22,23,
     app,BACKEND,0,0,9,30,200,3000,1,1,0,0,,0,0,0,0,UP,3,3,0,,0,1000,0,,1,3,0,,3000,,1,10,,50,,,,0,3000,0,0,0,0,,,,3000,0,0,0,0,0,0,0,,,0,0,21,22,`,
  );
});

it('fast-fail-blackhole: a page of statistics has one server with most requests, errors and the shortest time', () => {
  expectPattern(
    'fast-fail-blackhole',
    `=== stats.csv
     # pxname,svname,scur,smax,stot,econ,eresp,status,weight,type,hrsp_2xx,hrsp_5xx,rtime,ttime,algo,mode
     app,s1,30,60,4100,0,0,UP,1,2,4100,0,180,182,,http
     app,s2,30,60,4080,0,0,UP,1,2,4080,0,181,183,,http
     app,s3,1,12,39500,0,0,UP,1,2,10,39490,2,3,,http
     app,BACKEND,61,90,47680,0,0,UP,3,1,8190,39490,60,62,leastconn,http`,
  );
});

it('connection-pinning: long connections, and pods that came later', () => {
  expectPattern(
    'connection-pinning',
    `=== scrape.prom
     # TYPE grpc_server_handled_total counter
     grpc_server_handled_total{pod="svc-a",grpc_code="OK"} 500000
     grpc_server_handled_total{pod="svc-b",grpc_code="OK"} 480000
     grpc_server_handled_total{pod="svc-c",grpc_code="OK"} 0
     grpc_server_handled_total{pod="svc-d",grpc_code="OK"} 0
     # TYPE grpc_server_active_connections gauge
     grpc_server_active_connections{pod="svc-a"} 25
     grpc_server_active_connections{pod="svc-b"} 24
     grpc_server_active_connections{pod="svc-c"} 0
     grpc_server_active_connections{pod="svc-d"} 0
     === events.jsonl
     {"ts":"2026-03-02T10:00:00Z","reason":"ScalingReplicaSet","message":"Scaled up replica set svc to 4 from 2"}
     === service.yaml
     apiVersion: v1
     kind: Service
     metadata: {name: svc}
     spec:
       type: ClusterIP
       ports: [{port: 50051}]`,
  );
});

it('connection-pinning: settings alone', () => {
  expectPattern(
    'connection-pinning',
    `=== nginx.conf
     events {}
     http {
       upstream api { server 10.96.0.20:80; keepalive 64; }
       server { listen 80; location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://api; } }
     }
     === svc.yaml
     apiVersion: v1
     kind: Service
     metadata: {name: api}
     spec: {type: ClusterIP, clusterIP: 10.96.0.20, selector: {app: api}, ports: [{port: 80}]}`,
  );
});

it('zone-imbalance: settings alone', () => {
  expectPattern(
    'zone-imbalance',
    `=== attrs.json
     {"Attributes":[{"Key":"load_balancing.cross_zone.enabled","Value":"false"}]}
     === targets.json
     {"TargetHealthDescriptions":[{"Target":{"Id":"i-1","Port":80,"AvailabilityZone":"a"},"TargetHealth":{"State":"healthy"}},{"Target":{"Id":"i-2","Port":80,"AvailabilityZone":"a"},"TargetHealth":{"State":"healthy"}},{"Target":{"Id":"i-3","Port":80,"AvailabilityZone":"a"},"TargetHealth":{"State":"healthy"}},{"Target":{"Id":"i-4","Port":80,"AvailabilityZone":"b"},"TargetHealth":{"State":"healthy"}}]}`,
  );
});

it('zone-imbalance: hints keep requests in their zone', () => {
  expectPattern(
    'zone-imbalance',
    `=== pods.csv
     pod,zone,requests
     a-1,z1,1000
     a-2,z1,1010
     a-3,z1,990
     a-4,z2,2980
     a-5,z3,3010
     === svc.yaml
     apiVersion: v1
     kind: Service
     metadata: {name: a, annotations: {service.kubernetes.io/topology-mode: Auto}}
     spec: {selector: {app: a}, ports: [{port: 80}]}`,
  );
});

it('h2-stream-cap: two connections, both full', () => {
  expectPattern(
    'h2-stream-cap',
    `=== client.csv
     connection,streams_in_flight,waiting
     0,100,310
     1,100,295
     === latency.prom
     # TYPE client_rpc_latency_seconds summary
     client_rpc_latency_seconds{quantile="0.5"} 0.41
     # TYPE server_rpc_latency_seconds summary
     server_rpc_latency_seconds{quantile="0.5"} 0.05
     === notes.yaml
     plimsoll_notes: 1
     settings:
       - { program: server, set: { h2.max-concurrent-streams: 100 } }`,
  );
});

it('cold-start: slow twice, each time for as long as replicas are new', () => {
  expectPattern(
    'cold-start',
    `=== notes.yaml
     plimsoll_notes: 1
     settings:
       - { program: app, scope: web, set: { pool.min-idle: 0 } }
       - { program: kubernetes, scope: web readiness, set: { health.kind: tcp } }
     events:
       - { at: 1770000060, event: scaled, subject: web, detail: 4 -> 8 }
       - { at: 1770000600, event: scaled, subject: web, detail: 8 -> 12 }
     === series.json
     {"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"http_p99_seconds"},"values":[[1770000000,"0.2"],[1770000030,"0.2"],[1770000060,"2.9"],[1770000090,"3.1"],[1770000120,"2.2"],[1770000180,"0.9"],[1770000270,"0.2"],[1770000360,"0.21"],[1770000450,"0.2"],[1770000540,"0.2"],[1770000600,"3.3"],[1770000630,"3.0"],[1770000660,"2.5"],[1770000780,"0.21"],[1770000900,"0.2"]]},{"metric":{"__name__":"http_requests_per_s"},"values":[[1770000000,"500"],[1770000060,"505"],[1770000600,"498"],[1770000900,"502"]]}]}}`,
  );
});

it('discovery-outage: a stream of updates is broken and the list is empty', () => {
  expectPattern(
    'discovery-outage',
    `=== envoy.log
     [2026-03-01 10:00:00.000][1][warning][config] StreamEndpoints gRPC config stream to xds_cluster closed: 14, upstream connect error or disconnect/reset before headers. reset reason: connection timeout
     === stats.txt
     cluster.web.membership_total: 0
     cluster.web.membership_healthy: 0
     cluster.web.update_empty: 12
     cluster.web.upstream_cx_none_healthy: 500`,
  );
});

it('discovery-outage: a page of statistics says that a name did not resolve', () => {
  expectPattern(
    'discovery-outage',
    `=== stats.csv
     # pxname,svname,scur,stot,status,weight,type,check_status,check_code,hrsp_5xx,hrsp_2xx
     be,web1,0,1200,MAINT (resolution),1,2,L7OK,200,0,1200
     be,web2,0,1200,MAINT (resolution),1,2,L7OK,200,0,1200
     be,BACKEND,0,2600,DOWN,0,1,,,200,2400`,
  );
});

it('passive-eviction-last-peer: a backup that is down beside the only server', () => {
  expectPattern(
    'passive-eviction-last-peer',
    `=== nginx.conf
     events {}
     http {
       upstream pool { server 10.0.0.1:80; server 10.0.0.2:80 backup down; }
       server { listen 80; location / { proxy_pass http://pool; } }
     }
     === error.log
     2026/03/03 12:00:05 [error] 31#31: *1 upstream prematurely closed connection while reading response header from upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://10.0.0.1:80/", host: "a"
     2026/03/03 12:00:06 [error] 31#31: *2 no live upstreams while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://pool/", host: "a"
     2026/03/03 12:00:08 [error] 31#31: *3 no live upstreams while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://pool/", host: "a"
     2026/03/03 12:00:10 [error] 31#31: *4 no live upstreams while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://pool/", host: "a"
     2026/03/03 12:00:12 [error] 31#31: *5 no live upstreams while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://pool/", host: "a"
     2026/03/03 12:00:14 [error] 31#31: *6 no live upstreams while connecting to upstream, client: 1.1.1.1, server: a, request: "GET / HTTP/1.1", upstream: "http://pool/", host: "a"`,
  );
});

it('all-ejected-no-panic: a mesh ejects all of them', () => {
  expectPattern(
    'all-ejected-no-panic',
    `=== dr.yaml
     apiVersion: networking.istio.io/v1
     kind: DestinationRule
     metadata: {name: pay}
     spec:
       host: pay
       trafficPolicy:
         outlierDetection: {consecutive5xxErrors: 3, interval: 10s, baseEjectionTime: 5m, maxEjectionPercent: 100}
     === stats.prom
     # TYPE envoy_cluster_membership_total gauge
     envoy_cluster_membership_total{envoy_cluster_name="outbound|80||pay"} 4
     # TYPE envoy_cluster_membership_healthy gauge
     envoy_cluster_membership_healthy{envoy_cluster_name="outbound|80||pay"} 0
     # TYPE envoy_cluster_outlier_detection_ejections_active gauge
     envoy_cluster_outlier_detection_ejections_active{envoy_cluster_name="outbound|80||pay"} 4
     # TYPE envoy_cluster_upstream_cx_none_healthy counter
     envoy_cluster_upstream_cx_none_healthy{envoy_cluster_name="outbound|80||pay"} 941
     # TYPE envoy_cluster_lb_healthy_panic counter
     envoy_cluster_lb_healthy_panic{envoy_cluster_name="outbound|80||pay"} 0`,
  );
});

it('retry-window-too-short: one replica hangs, and the retry that would have helped finds no time left', () => {
  const line = (index: number): string => {
    const bad = index % 4 === 1;
    const clock = `${String(Math.floor(index / 20)).padStart(2, '0')}:${String((index * 3) % 60).padStart(2, '0')}`;
    return bad
      ? `10.9.0.1 [02/Apr/2026:10:${clock} +0000] "GET /x HTTP/1.1" 504 rt=10.001 ua="10.1.0.6:80" us="504" ut="10.001"`
      : `10.9.0.1 [02/Apr/2026:10:${clock} +0000] "GET /x HTTP/1.1" 200 rt=0.0${10 + (index % 20)} ua="10.1.0.5:80" us="200" ut="0.012"`;
  };
  expectPattern(
    'retry-window-too-short',
    `=== nginx.conf
     events {}
     http {
       log_format up '$remote_addr [$time_local] "$request" $status rt=$request_time ua="$upstream_addr" us="$upstream_status" ut="$upstream_response_time"';
       upstream app { server 10.1.0.5:80; server 10.1.0.6:80; }
       server { listen 80; access_log /x up; location / { proxy_pass http://app; proxy_read_timeout 10s; proxy_next_upstream error timeout; proxy_next_upstream_tries 3; proxy_next_upstream_timeout 10s; } }
     }
     === access.log
     ${Array.from({ length: 80 }, (_, index) => line(index)).join('\n     ')}`,
  );
});

describe('a pool that is the capacity, behind a log that names no server', () => {
  const evidence = (refusal: (index: number) => string): string => `=== metrics.prom
     go_sql_max_open_connections{db_name="orders"} 10
     go_sql_in_use_connections{db_name="orders"} 10
     go_sql_idle_connections{db_name="orders"} 0
     go_sql_wait_count_total{db_name="orders"} 91234
     go_sql_wait_duration_seconds_total{db_name="orders"} 181234
     === access.log
     ${Array.from({ length: 100 }, (_, index) => {
       const at = new Date(Date.UTC(2026, 3, 2, 10) + index * 100).toISOString();
       return `${at} "GET /orders HTTP/1.1" ${index % 2 === 0 ? refusal(index) : `200 rt=${(1 + (index % 30) / 10).toFixed(3)}`}`;
     }).join('\n     ')}
     === config.env
     DB_MAX_OPEN_CONNS=10
     DB_ACQUIRE_TIMEOUT=5s`;

  it('is the pool: nobody was refused in no time, and no server was evicted', () => {
    expectPattern(
      'dependency-pool-exhaustion',
      evidence((index) => `503 rt=5.00${index % 5}`),
    );
  });

  it('and is no eviction either when the refusals took no time', () => {
    expectOther(
      ['passive-eviction-last-peer'],
      evidence(() => '503 rt=0.001'),
    );
  });
});
