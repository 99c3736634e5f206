// Small examples of what applications and tracers write, in our own words.

export const applicationSamples: Readonly<Record<string, string>> = {
  'gunicorn configuration': `# how the shop is served
import multiprocessing
bind = "0.0.0.0:8000"
workers = 4
worker_class = 'gthread'
threads = 8
keepalive = 5  # seconds
`,
  'Apache server-status': `Total Accesses: 1200
Total kBytes: 40
CPULoad: .5
Uptime: 600
BusyWorkers: 6
IdleWorkers: 1
Scoreboard: RRRKKW_...
`,
  'Puma configuration': `max = ENV.fetch("RAILS_MAX_THREADS") { 5 }
threads ENV.fetch("RAILS_MIN_THREADS") { 2 }, 6
workers 2
port 3000
persistent_timeout 75
`,
  'PHP-FPM pool': `; the pool of the shop
[shop]
listen = /run/php/shop.sock
listen.backlog = 1024
pm = static
pm.max_children = 20
request_terminate_timeout = 30s
ping.path = /ping
`,
  'Tomcat configuration': `<?xml version="1.0"?>
<Server port="8005">
  <!-- <Connector port="1" maxThreads="1"/> -->
  <Service name="Catalina">
    <Connector port="8080" protocol="HTTP/1.1"
               connectionTimeout="20000" maxThreads="50"/>
  </Service>
</Server>
`,
  'uWSGI configuration': `[uwsgi]
module = shop:app
processes = 4
threads = 2
listen = 512
`,
  'Apache configuration': `ServerName shop.example
KeepAliveTimeout 15
MaxRequestWorkers 150
<Proxy "balancer://shop">
    BalancerMember http://10.7.0.1:8080 ttl=60 timeout=30
    BalancerMember http://10.7.0.2:8080
    ProxySet lbmethod=bybusyness
</Proxy>
ProxyPass "/" "balancer://shop/" connectiontimeout=2
`,
  'command of a server': `web: gunicorn shop:app -w 3 --worker-class gevent --keep-alive=65
api: uvicorn api:app --workers 2 --timeout-keep-alive 30
`,
  'statistics of workers': `{"version":"2.0","listen_queue":3,"listen_queue_errors":0,"load":3,"workers":[
  {"id":1,"pid":101,"accepting":1,"requests":4790,"exceptions":2,"status":"busy","avg_rt":5000,"tx":218633},
  {"id":2,"pid":102,"accepting":1,"requests":27883,"exceptions":0,"status":"idle","avg_rt":13000,"tx":223331}
]}
`,
  'table drawn with bars': ` database | user | cl_active | cl_waiting | sv_active | maxwait
----------+------+-----------+------------+-----------+---------
 shop     | app  |        20 |         73 |        20 |       4
(1 row)

 pid | state  | wait_event
-----+--------+------------
  11 | active | ClientRead
  12 | idle   | 
  13 | active | ClientRead
(3 rows)
`,
  'thread dump': `2026-04-02 07:00:00
Full thread dump OpenJDK 64-Bit Server VM (21.0.2 mixed mode):

${[1, 2, 3, 4, 5]
  .map(
    (number) => `"http-nio-8080-exec-${number}" #3${number} daemon prio=5 os_prio=0 tid=0x7f nid=0x1f runnable [0x7f]
   java.lang.Thread.State: RUNNABLE
	at java.net.SocketInputStream.socketRead0(Native Method)
	at org.postgresql.core.VisibleBufferedInputStream.readMore(VisibleBufferedInputStream.java:161)
	at com.example.Store.find(Store.java:40)
	- locked <0x0000000700000000> (a java.lang.Object)
`,
  )
  .join('\n')}
"http-nio-8080-exec-6" #36 daemon prio=5 os_prio=0 tid=0x7f nid=0x20 waiting on condition [0x7f]
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@21.0.2/Native Method)
`,
  'goroutine profile': `goroutine profile: total 812
800 @ 0x43e0c5 0x44f2b2 0x6a1b2c
#	0x6a1b2b	database/sql.(*DB).conn+0x12b	/usr/local/go/src/database/sql/sql.go:1369
#	0x7b0000	main.(*Store).Find+0x40	/app/store.go:40

12 @ 0x43e0c5
#	0x43e0c5	net/http.(*conn).serve+0x1	/usr/local/go/src/net/http/server.go:1
`,
  'kubectl describe': `Name:             web-0
Namespace:        shop
Containers:
  web:
    Restart Count:  3
    Limits:
      cpu:     200m
    Requests:
      cpu:        100m
    Readiness:    http-get http://:8000/healthz delay=0s timeout=1s period=5s #success=1 #failure=3
Events:
  Type     Reason     Age                From      Message
  ----     ------     ----               ----      -------
  Warning  Unhealthy  2m (x12 over 10m)  kubelet   Readiness probe failed: context deadline exceeded
  Normal   Killing    60s                kubelet   Stopping container web
`,
  HAR: `{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[
{"startedDateTime":"2026-04-02T07:00:00.000Z","time":5020.5,"request":{"method":"GET","url":"https://shop.example/cart?x=1"},"response":{"status":200},"timings":{"blocked":1,"dns":5000.5,"connect":3,"send":0,"wait":14,"receive":1},"serverIPAddress":"10.0.0.1"},
{"startedDateTime":"2026-04-02T07:00:01.000Z","time":20,"request":{"method":"GET","url":"https://shop.example/cart"},"response":{"status":503},"timings":{"blocked":1,"dns":-1,"connect":-1,"send":0,"wait":14,"receive":1}}]}}
`,
  'garbage collector log': `[2026-04-02T07:00:00.120+0000][info][gc] Using G1
[2026-04-02T07:00:01.120+0000][info][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.512ms
[2026-04-02T07:00:02.120+0000][info][gc] GC(13) Pause Full (System.gc()) 24M->4M(256M) 351.200ms
2026-04-02T07:00:03.120+0000: 12.3: [GC (Allocation Failure) 24K->4K(256K), 0.0054 secs]
[31:0x5581]     9203 ms: Mark-Compact 200.1 (230.0) -> 150.0 (231.0) MB, 812.2 / 0.0 ms  (average mu = 0.39) allocation failure
`,
  'program source': `const pool = new Pool({ max: 10, connectionTimeoutMillis: 2000 });
app.listen(8080);
`,
  'MySQL slow statements': `# Time: 2026-04-02T07:00:22.000000Z
# User@Host: app[app] @ shop-1 [10.0.0.11]  Id: 7
# Query_time: 21.900000  Lock_time: 20.000000 Rows_sent: 1  Rows_examined: 900000
SET timestamp=1775113222;
SELECT * FROM orders WHERE id = 7;
`,
  'OTLP traces': `{"resourceSpans":[
{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"k8s.pod.name","value":{"stringValue":"shop-1"}}]},"scopeSpans":[{"spans":[
 {"traceId":"t1","spanId":"a","name":"GET /cart","kind":2,"startTimeUnixNano":"1775113200000000000","endTimeUnixNano":"1775113200250000000","attributes":[{"key":"http.response.status_code","value":{"intValue":"504"}}],"status":{"code":2}},
 {"traceId":"t1","spanId":"b","parentSpanId":"a","name":"GET /stock","kind":3,"startTimeUnixNano":"1775113200010000000","endTimeUnixNano":"1775113200110000000","attributes":[{"key":"server.address","value":{"stringValue":"10.0.1.1"}}],"status":{"code":2,"message":"deadline exceeded"}},
 {"traceId":"t1","spanId":"c","parentSpanId":"a","name":"GET /stock","kind":3,"startTimeUnixNano":"1775113200120000000","endTimeUnixNano":"1775113200220000000","attributes":[{"key":"http.response.status_code","value":{"intValue":200}}]}]}]},
{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"stock"}},{"key":"service.instance.id","value":{"stringValue":"stock-2"}}]},"scopeSpans":[{"spans":[
 {"traceId":"t1","spanId":"d","parentSpanId":"b","name":"GET /stock","kind":2,"startTimeUnixNano":"1775113200012000000","endTimeUnixNano":"1775113200412000000"},
 {"traceId":"t1","spanId":"e","parentSpanId":"c","name":"GET /stock","kind":2,"startTimeUnixNano":"1775113200122000000","endTimeUnixNano":"1775113200218000000","attributes":[{"key":"http.response.status_code","value":{"intValue":200}}]}]}]}
]}
`,
  'Jaeger traces': `{"data":[{"traceID":"t1","spans":[
 {"spanID":"a","operationName":"GET /cart","references":[],"startTime":1775113200000000,"duration":250000,"tags":[{"key":"span.kind","value":"server"},{"key":"http.status_code","value":200}],"processID":"p1"},
 {"spanID":"b","operationName":"stock","references":[{"refType":"CHILD_OF","traceID":"t1","spanID":"a"}],"startTime":1775113200010000,"duration":100000,"tags":[{"key":"span.kind","value":"client"},{"key":"peer.service","value":"stock"}],"processID":"p1"}],
"processes":{"p1":{"serviceName":"shop","tags":[{"key":"hostname","value":"shop-1"}]}}}]}
`,
  'Zipkin traces': `[{"traceId":"t1","id":"a","kind":"SERVER","name":"get /cart","timestamp":1775113200000000,"duration":250000,"localEndpoint":{"serviceName":"shop","ipv4":"10.0.0.1","port":80},"tags":{"http.status_code":"200"}},
 {"traceId":"t1","id":"b","parentId":"a","kind":"CLIENT","name":"stock","timestamp":1775113200010000,"duration":100000,"localEndpoint":{"serviceName":"shop","ipv4":"10.0.0.1"},"remoteEndpoint":{"serviceName":"stock"},"tags":{"error":"timeout"}}]
`,
};
