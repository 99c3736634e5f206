// Small examples of what load generators print, in our own words.

export const loadSamples: Readonly<Record<string, string>> = {
  'JMeter results (XML)': `<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="1420" lt="1410" ct="1003" ts="1775113200000" s="true" lb="GET /" rc="200" rm="OK" tn="Users 1-1" na="50"/>
<httpSample t="20" lt="0" ct="0" ts="1775113200100" s="false" lb="GET /" rc="Non HTTP response code: java.net.BindException" rm="Cannot assign requested address" tn="Users 1-2" na="50"/>
</testResults>
`,
  'Gatling result': `================================================================================
---- Global Information --------------------------------------------------------
> request count                                      10000 (OK=9000   KO=1000  )
> min response time                                      5 (OK=5      KO=1000  )
> max response time                                  60002 (OK=30000  KO=60002 )
> mean response time                                  1200 (OK=800    KO=5000  )
> response time 99th percentile                      30000 (OK=29000  KO=60000 )
> mean requests/sec                                  166.6 (OK=150    KO=16.6  )
---- Errors --------------------------------------------------------------------
> j.n.BindException: Cannot assign requested address                 1000 (100.0%)
================================================================================
`,
  'Artillery result': `--------------------------------
Summary report @ 07:00:00(+0000)
--------------------------------
errors.EADDRNOTAVAIL: .......................................................... 120
http.codes.200: ................................................................ 9000
http.request_rate: ............................................................. 100/sec
http.requests: ................................................................. 9120
http.response_time:
  min: ......................................................................... 5
  p99: ......................................................................... 5010
vusers.created: ................................................................ 9120
`,
  'k6 options': `{"noConnectionReuse": true, "scenarios": {
  "steady": {"executor": "constant-arrival-rate", "rate": 600, "timeUnit": "1m", "duration": "30s", "preAllocatedVUs": 5},
  "ramp": {"executor": "ramping-vus", "startVUs": 1, "stages": [{"duration": "30s", "target": 20}, {"duration": "10s", "target": 0}]}
}}
`,
  'command of a load generator': `# the run of the morning
$ wrk -t4 -c100 -d30s --latency http://shop.example/
echo "GET http://shop.example/" | vegeta attack -rate=30000/1m -duration=60s -keepalive=false | vegeta report
`,
  'k6 summary': `{"root_group": {"name": ""}, "metrics": {
  "http_reqs": {"count": 1200, "rate": 40},
  "http_req_failed": {"value": 0.05, "passes": 60, "fails": 1140},
  "http_req_duration": {"avg": 44.5, "min": 2, "med": 40, "max": 902.5, "p(90)": 80, "p(95)": 120},
  "http_req_duration{expected_response:true}": {"avg": 41},
  "http_req_connecting": {"avg": 0.5, "max": 31},
  "dropped_iterations": {"count": 300, "rate": 10},
  "vus": {"value": 12, "min": 3, "max": 20},
  "vus_max": {"value": 20, "min": 20, "max": 20}
}}
`,
  'k6 output': `  execution: local
     script: checkout.js
  scenarios: (100.00%) 2 scenarios, 30 max VUs, 1m30s max duration (incl. graceful stop):
           * steady: 40.00 iterations/s for 30s (maxVUs: 10-20, gracefulStop: 30s)
           * loop: 10 looping VUs for 1m0s (gracefulStop: 30s)
WARN[0012] Insufficient VUs, reached 20 active VUs and cannot initialize more  executor=constant-arrival-rate scenario=steady
time="2026-04-02T07:00:31Z" level=warning msg="Request Failed" error="Get \\"http://shop.example/\\": dial tcp 10.8.0.11:80: connect: cannot assign requested address"
     http_req_duration..............: avg=44.5ms  min=2ms med=40ms max=902.5ms p(90)=80ms p(95)=120ms
       { expected_response:true }...: avg=41ms    min=2ms med=39ms max=400ms   p(90)=70ms p(95)=90ms
     http_req_failed................: 5.00%   ✓ 60        ✗ 1140
     http_reqs......................: 1200    40/s
     dropped_iterations.............: 300     10/s
     iterations.....................: 1200    40/s
     vus............................: 12      min=3       max=20
     vus_max........................: 20      min=20      max=20
running (0m30.0s), 00/20 VUs, 1200 complete and 0 interrupted iterations
`,
  'k6 JSON output': `{"metric":"http_req_duration","type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time"}}
{"metric":"vus","type":"Point","data":{"time":"2026-04-02T07:00:00Z","value":3,"tags":null}}
{"metric":"http_req_duration","type":"Point","data":{"time":"2026-04-02T07:00:01.040Z","value":40,"tags":{"method":"GET","name":"http://shop.example/cart?id=7","status":"200","expected_response":"true","scenario":"steady"}}}
{"metric":"http_req_connecting","type":"Point","data":{"time":"2026-04-02T07:00:01.040Z","value":3,"tags":{}}}
{"metric":"http_req_duration","type":"Point","data":{"time":"2026-04-02T07:00:02Z","value":0,"tags":{"method":"GET","name":"http://shop.example/cart","status":"0","error":"dial: connection refused","error_code":"1212","expected_response":"false"}}}
{"metric":"dropped_iterations","type":"Point","data":{"time":"2026-04-02T07:00:02Z","value":2,"tags":{}}}
`,
  'k6 CSV output': `metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,scenario,status,url
vus,1775113200,3.000000,,,,,,,,,,
http_req_duration,1775113201,40.000000,,,,true,,GET,http://shop.example/cart,steady,200,http://shop.example/cart
http_req_duration,1775113202,80.000000,,,1503,false,,GET,http://shop.example/cart,steady,503,http://shop.example/cart
`,
  'wrk result': `Running 30s test @ http://shop.example/
  2 threads and 64 connections
  Thread calibration: mean lat.: 9.747ms, rate sampling interval: 21ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    15.01s     1.20s   30.00s    57.00%
    Req/Sec   250.00      8.07    260.00    86.54%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%   15.01s
 99.000%   29.70s
100.000%   30.00s

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)
   15010.000     0.500000         7500         2.00
   30000.000     1.000000        15000          inf
#[Mean    =    15011.000, StdDeviation   =     8651.000]
#[Max     =    30000.000, Total count    =        15000]
#[Buckets =           27, SubBuckets     =         2048]
  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%   20.00ms
100.000%   22.68ms
  15000 requests in 30.00s, 1.20MB read
  Socket errors: connect 0, read 2, write 0, timeout 3
  Non-2xx or 3xx responses: 7
Requests/sec:    500.02
Transfer/sec:     40.00KB
`,
  'hey result': `
Summary:
  Total:	2.5000 secs
  Slowest:	1.0900 secs
  Fastest:	0.0010 secs
  Average:	0.0300 secs
  Requests/sec:	80.0000
  Total data:	6400 bytes
  Size/request:	32 bytes

Response time histogram:
  0.001 [1]	|
  0.100 [187]	|■■■■■■■■■■■■■■■■
  1.100 [10]	|■

Latency distribution:
  50% in 0.0200 secs
  99% in 1.0400 secs

Details (average, fastest, slowest):
  DNS+dialup:	0.0002 secs, 0.0000 secs, 0.0500 secs
  resp wait:	0.0290 secs, 0.0010 secs, 1.0000 secs

Status code distribution:
  [200]	190 responses
  [503]	8 responses

Error distribution:
  [2]	Get "http://shop.example/": dial tcp 10.8.0.11:80: connect: connection refused
`,
  'hey results': `response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset
0.0400,0.0030,0.0010,0.0000,0.0390,0.0000,200,0.0000
0.0200,0.0000,0.0000,0.0000,0.0190,0.0000,503,0.1000
`,
  'vegeta report': `Requests      [total, rate, throughput]         6000, 100.02, 99.52
Duration      [total, attack, wait]             1m0.2s, 59.99s, 210ms
Latencies     [min, mean, 50, 90, 95, 99, max]  1ms, 12ms, 11ms, 20ms, 25ms, 40ms, 900ms
Bytes In      [total, mean]                     60000, 10.00
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           99.50%
Status Codes  [code:count]                      0:12  200:5970  503:18
Error Set:
503 Service Unavailable
Get "http://shop.example/": dial tcp 0.0.0.0:0->10.8.0.11:80: connect: connection refused
`,
  'vegeta report as JSON': `{"latencies":{"total":72000000000,"mean":12000000,"50th":11000000,"99th":40000000,"max":900000000,"min":1000000},"bytes_in":{"total":1,"mean":1},"bytes_out":{"total":0,"mean":0},"earliest":"2026-04-02T07:00:00Z","duration":59990000000,"wait":210000000,"requests":6000,"rate":100.02,"throughput":99.52,"success":0.995,"status_codes":{"0":12,"200":5970,"503":18},"errors":["503 Service Unavailable"]}
`,
  'vegeta results': `{"attack":"a","seq":0,"code":200,"timestamp":"2026-04-02T07:00:00Z","latency":40000000,"bytes_out":0,"bytes_in":10,"error":"","method":"GET","url":"http://shop.example/cart?id=7"}
{"attack":"a","seq":1,"code":503,"timestamp":"2026-04-02T07:00:00.01Z","latency":2000000,"bytes_out":0,"bytes_in":10,"error":"503 Service Unavailable","method":"GET","url":"http://shop.example/cart"}
1775113201000000000,200,20000000,0,10,,Ym9keQ==,a,2,GET,http://shop.example/cart,
`,
  'ApacheBench result': `This is ApacheBench, Version 2.3 <$Revision: 1903618 $>
Benchmarking shop.example (be patient).....done

Server Software:        shop
Server Hostname:        shop.example
Document Path:          /cart
Document Length:        10 bytes

Concurrency Level:      16
Time taken for tests:   2.500 seconds
Complete requests:      1000
Failed requests:        3
   (Connect: 1, Receive: 0, Length: 2, Exceptions: 0)
Non-2xx responses:      2
Total transferred:      150000 bytes
HTML transferred:       10000 bytes
Requests per second:    400.00 [#/sec] (mean)
Time per request:       40.000 [ms] (mean)
Time per request:       2.500 [ms] (mean, across all concurrent requests)
Transfer rate:          58.59 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    1   0.5      1      31
Processing:     2   38  12.0     36     400
Waiting:        1   37  12.0     35     399
Total:          3   40  12.1     37     402

Percentage of the requests served within a certain time (ms)
  50%     37
  99%    120
 100%    402 (longest request)
`,
  'h2load result': `starting benchmark...
spawning thread #0: 8 total client(s). 500 total requests
spawning thread #1: 8 total client(s). 500 total requests
TLS Protocol: TLSv1.3
Application protocol: h2

finished in 2.50s, 400.00 req/s, 58.59KB/s
requests: 1000 total, 1000 started, 1000 done, 990 succeeded, 10 failed, 2 errored, 1 timeout
status codes: 990 2xx, 0 3xx, 0 4xx, 7 5xx
traffic: 146.48KB (150000) total, 10.00KB (10240) headers (space savings 90.00%), 9.77KB (10000) data
                     min         max         mean         sd        +/- sd
time for request:     3.00ms    402.00ms     40.00ms     12.10ms    86.00%
time for connect:     1.00ms     31.00ms      2.00ms      0.50ms    90.00%
time to 1st byte:     5.00ms     60.00ms     20.00ms      2.00ms    90.00%
req/s           :      24.00       26.00       25.00        0.50    70.00%
`,
  'load result as JSON': `{"summary":{"successRate":0.99,"total":2.5,"slowest":0.402,"fastest":0.003,"average":0.04,"requestsPerSec":400},
"responseTimeHistogram":{"0.003":1,"0.2":980,"0.402":9},
"latencyPercentiles":{"p50":0.037,"p99":0.12},
"statusCodeDistribution":{"200":980,"503":10},"errorDistribution":{"connection refused (os error 111)":10}}
`,
  'JMeter results': `timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect
1775113200120,44,GET cart,200,OK,Shoppers 1-1,text,true,,900,120,16,16,http://shop.example/cart,43,0,3
1775113200130,20,GET cart,503,Service Unavailable,Shoppers 1-2,text,false,"Test failed: code expected, to be 200",81,120,16,16,http://shop.example/cart,20,0,0
1775113200140,5000,GET cart,Non HTTP response code: java.net.SocketTimeoutException,Read timed out,Shoppers 1-3,text,false,,0,0,16,16,http://shop.example/cart,0,0,1
`,
  'Locust results': `Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,50%,95%,99%,100%
GET,/cart,1200,60,40,44.5,2,902,10,40,2,40,120,300,902
,Aggregated,1200,60,40,44.5,2,902,10,40,2,40,120,300,902
`,
  'HdrHistogram percentiles': `       Value     Percentile TotalCount 1/(1-Percentile)

       1.000 0.000000000000          1           1.00
       1.000 0.100000000000          1           1.11
       2.003 0.200000000000          2           1.25
       2.003 0.300000000000          2           1.43
       3.006 0.400000000000          3           1.67
       3.006 0.500000000000          3           2.00
       5.005 0.550000000000          4           2.22
       5.005 0.600000000000          4           2.50
       5.005 0.650000000000          4           2.86
       6.013 0.700000000000          5           3.33
       6.013 0.750000000000          5           4.00
       6.013 0.775000000000          5           4.44
       6.013 0.800000000000          5           5.00
       6.013 0.825000000000          5           5.71
      40.010 0.850000000000          6           6.67
      40.010 1.000000000000          6
#[Mean    =        9.503, StdDeviation   =       13.741]
#[Max     =       40.000, Total count    =            6]
#[Buckets =           33, SubBuckets     =         2048]
`,
  'HdrHistogram log': `#[Histogram log format version 1.3]
#[StartTime: 1775113200.000 (seconds since epoch)]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
0.000,1.000,40.000,HISTFAAAAC94nJNpmSzMwMDAy8DAwMjAwMDMAAGMDAwsDEiA8eA6RqZGAaa1HEz9NkwAYuoE5w==
1.000,1.000,6.000,HISTFAAAACl4nJNpmSzMwMDAzsDAwMjAwMDMAAGMDAwsDEiAsf0yI9NTZiYAR50Dnw==
Tag=api-1,0.000,1.000,6.000,HISTFAAAACl4nJNpmSzMwMDAzsDAwMjAwMDMAAGMDAwsDEiAsf0yI9NTZiYAR50Dnw==
`,
};
