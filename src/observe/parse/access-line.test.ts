import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, expected, requestLines } from '../testing/facts.ts';

/** These lines of an access log are these requests. */
function check(log: string, requests: string): void {
  assert.deepEqual(requestLines(dossierOf(`${expected(log).join('\n')}\n`)), expected(requests));
}

test('keys say more than places, in any order and quoted or not', () => {
  check(
    `2026-04-02T07:00:15.000Z host=inner "GET /x?y=1 HTTP/1.1" 504 rt=15.001 up=10.5.0.11:80 ut=15.001 us=504
     2026-04-02T07:00:16.000Z host=inner "GET /x HTTP/1.1" 200 rt=0.030 up="10.5.0.11:80, 10.5.0.12:80" ut="0.010, 0.020" us="502, 200"`,
    `06:59:59.999 GET /x status=504 seconds=15.001 upstream=15.001 answered=504 tries=1 by=10.5.0.11:80 service=inner
     07:00:15.970 GET /x status=200 seconds=0.03 upstream=0.02 answered=200 tries=2 by=10.5.0.12:80 service=inner`,
  );
});

test('a bare method and path, a header time where the response time is missing, a pod that answered', () => {
  check(
    `2026-04-02T07:00:00.000Z GET /data/f5 200 rt=0.025 cs=MISS uht="0.020"
     2026-04-02T07:00:01.000Z GET /data/f6 502 rt=0.001 cs=MISS uht="-" pod=edge-0`,
    `06:59:59.975 GET /data/f5 status=200 seconds=0.025 upstream=0.02
     07:00:00.999 GET /data/f6 status=502 seconds=0.001 by=edge-0`,
  );
});

test('Envoy’s words: the time is the beginning, details tell whether the upstream answered', () => {
  check(
    `[2026-04-02T07:00:00.000Z] method=POST authority=r.example request=/r.v1.R/Get response_flag=- status=200 status_details=via_upstream x-envoy-upstream-service-time=6 total_time_ms=7 upstream=10.5.0.11:70
     [2026-04-02T07:00:02.500Z] method=POST authority=r.example request=/r.v1.R/Get response_flag=UT status=200 status_details=upstream_response_timeout x-envoy-upstream-service-time=- total_time_ms=15001 upstream=10.5.0.11:70`,
    `07:00:00.000 POST /r.v1.R/Get status=200 seconds=0.007 upstream=0.006 answered=200 by=10.5.0.11:70 service=r.example
     07:00:02.500 POST /r.v1.R/Get status=200 seconds=15.001 by=10.5.0.11:70 flag=UT service=r.example`,
  );
});

test('without keys, places speak: who asked before the request, who answered and how long after the status', () => {
  check(
    `10.9.0.1 - - [02/Apr/2026:07:00:00 +0000] "GET /v1/a HTTP/1.1" 200 512 "-" "agent" 0.021 10.8.0.11:80
     10.9.0.2 - - [02/Apr/2026:07:00:03 +0000] "GET /v1/a HTTP/1.1" 200 512 "-" "agent" 36ms 10.8.0.12:80`,
    `06:59:59.979 GET /v1/a status=200 seconds=0.021 by=10.8.0.11:80 for=10.9.0.1
     07:00:02.964 GET /v1/a status=200 seconds=0.036 by=10.8.0.12:80 for=10.9.0.2`,
  );
});

test('a probe names whom it asked', () => {
  check(
    `10.0.7.11:80 200 0.003
     10.0.7.12:80 503 0.004`,
    `- status=200 seconds=0.003 by=10.0.7.11:80
     - status=503 seconds=0.004 by=10.0.7.12:80`,
  );
});

test('times that tick evenly while durations differ are beginnings', () => {
  const log = [0.2, 14.1, 0.3, 18.1, 0.1, 9.9, 0.2]
    .map((seconds, index) => `2026-04-02T07:00:0${index}.000Z "GET /s" 200 ${seconds.toFixed(3)} worker=1`)
    .join('\n');
  assert.match(requestLines(dossierOf(log))[1] ?? '', /^07:00:01\.000 /);
});

test('prose with numbers in it is no access log', () => {
  for (const text of [
    'The server 10.0.0.1 was down at 07:00.',
    'port 443 is open\nport 80 is not',
    '200 OK\n404 Not found',
  ]) {
    assert.throws(() => dossierOf(text), /not a format/, text);
  }
});
