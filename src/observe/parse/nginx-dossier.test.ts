import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier } from '../dossier.ts';
import {
  dossierOf,
  eventLines,
  expected,
  messageLines,
  requestLines,
  sampleLines,
  settingLines,
} from '../testing/facts.ts';
import { samples } from '../testing/samples.ts';

test('a request is over when it is written; of several tries the last counts; a group is no server', () => {
  const dossier = dossierOf(samples['nginx access log'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      06:59:59.956 GET /v1/a status=200 seconds=0.044 upstream=0.04 answered=200 tries=1 by=10.2.0.11:80 for=192.0.2.9
      07:00:00.990 GET /v1/b status=502 seconds=0.01 upstream=0.006 answered=502 tries=2 by=10.2.0.12:80 for=192.0.2.9
      07:00:01.000 GET /v1/b status=502 seconds=0 upstream=0 answered=502 tries=1 for=192.0.2.9 service=api
    `),
  );
  assert.equal(dossier.requests[0]?.stepMs, 1000);
});

test('a log_format of a configuration beside it is how its log is read, and names its servers', () => {
  const { dossier } = readDossier([
    {
      name: 'access.log',
      text: '192.0.2.9 [02/Apr/2026:07:00:00 +0000] "GET /v1/a HTTP/1.1" 200 took=0.044 via="10.2.0.11:80"\n',
    },
    {
      name: 'nginx.conf',
      text: (samples['nginx configuration'] ?? '').replace('server 10.2.0.11:80;', 'server 10.2.0.11:80; # one\n'),
    },
  ]);
  assert.equal(dossier.sources[0]?.format, 'nginx access log');
  assert.deepEqual(requestLines(dossier), [
    '06:59:59.956 GET /v1/a status=200 seconds=0.044 tries=1 by=one for=192.0.2.9 service=api',
  ]);
  const beside = readDossier([
    { name: 'access.log', text: samples['nginx access log'] ?? '' },
    {
      name: 'nginx.conf',
      text: (samples['nginx configuration'] ?? '').replace('server 10.2.0.11:80;', 'server 10.2.0.11:80; # one\n'),
    },
  ]);
  assert.match(requestLines(beside.dossier)[0] ?? '', /by=one for=192\.0\.2\.9 service=api$/);
});

test('the default form of ingress-nginx, with tries in lists and with dashes', () => {
  const dossier =
    dossierOf(`10.9.0.1 - - [02/Apr/2026:07:00:00 +0000] "GET /v1/items HTTP/2.0" 200 512 "-" "agent/1.0" 120 0.021 [default-shop-80] [] 10.8.0.11:80, 10.8.0.12:80 0, 512 0.001, 0.019 502, 200 5eb5
10.9.0.1 - - [02/Apr/2026:07:00:01 +0000] "GET /v1/items HTTP/2.0" 503 512 "-" "agent/1.0" 120 0.000 [default-shop-80] [] - - - - 5eb6
`);
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      06:59:59.979 GET /v1/items status=200 seconds=0.021 upstream=0.019 answered=200 tries=2 by=10.8.0.12:80 for=10.9.0.1 service=default-shop-80
      07:00:01.000 GET /v1/items status=503 seconds=0 for=10.9.0.1 service=default-shop-80
    `),
  );
});

test('the combined form says only who asked for what and what came back', () => {
  const dossier = dossierOf('192.0.2.9 - bob [02/Apr/2026:07:00:00 +0100] "GET /a HTTP/1.1" 404 12 "-" "agent/1.0"\n');
  assert.deepEqual(requestLines(dossier), ['06:00:00.000 GET /a status=404 for=192.0.2.9']);
});

test('the error log: what went wrong, how far it had come, and with whom', () => {
  const line = (message: string): string =>
    `2026/04/02 07:00:00 [error] 7#7: *12 ${message}, client: 192.0.2.9, server: api.example, request: "GET / HTTP/1.1", upstream: "http://10.2.0.11:80/", host: "api.example"\n`;
  const dossier = dossierOf(
    [
      'upstream timed out (110: Connection timed out) while connecting to upstream',
      'upstream timed out (110: Connection timed out) while reading response header from upstream',
      'connect() failed (111: Connection refused) while connecting to upstream',
      'connect() to 10.2.0.11:80 failed (99: Cannot assign requested address) while connecting to upstream',
      'recv() failed (104: Connection reset by peer) while reading response header from upstream',
      'upstream prematurely closed connection while reading response header from upstream',
      'no live upstreams while connecting to upstream',
      'upstream server temporarily disabled while connecting to upstream',
      'limiting requests, excess: 5.1 by zone "one"',
    ]
      .map(line)
      .join(''),
  );
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      07:00:00.000 upstream-connect-timeout 10.2.0.11:80
      07:00:00.000 upstream-timeout 10.2.0.11:80
      07:00:00.000 upstream-refused 10.2.0.11:80
      07:00:00.000 address-not-available 10.2.0.11:80
      07:00:00.000 upstream-reset 10.2.0.11:80
      07:00:00.000 upstream-closed-early 10.2.0.11:80
      07:00:00.000 no-live-upstreams 10.2.0.11:80
      07:00:00.000 server-disabled 10.2.0.11:80
      07:00:00.000 rate-limited 10.2.0.11:80
    `),
  );
  assert.deepEqual(eventLines(dossier), ['07:00:00.000 unhealthy 10.2.0.11:80 (server-disabled)']);
});

test('stub_status: accepted but not handled was dropped', () => {
  assert.deepEqual(sampleLines(dossierOf(samples['nginx stub_status'] ?? '')).slice(0, 3), [
    'nginx_connections_active 29',
    'nginx_connections_accepts +1000',
    'nginx_connections_handled +990',
  ]);
});

test('a configuration: what binds in each server, location and group', () => {
  assert.deepEqual(
    settingLines(dossierOf(samples['nginx configuration'] ?? '')),
    expected(`
      [main] workers.processes = 4 :1
      [main] workers.connections = 512 :2
      [main] workers.accept-mutex = false (implied)
      [upstream api] balance.policy = least-request :5
      [upstream api] balance.shared-state = false (implied)
      [upstream api] upstream.endpoints = 3 :5
      [upstream api] upstream.endpoint-list = 10.2.0.11:80,10.2.0.12:80,10.2.0.13:80 :5
      [upstream api] upstream.address-kind = static :5
      [upstream api] upstream.down-servers = 1 :5
      [server api/10.2.0.11:80] upstream.max-fails = 1 (implied)
      [server api/10.2.0.12:80] upstream.max-fails = 3 :5
      [server api/10.2.0.13:80] upstream.max-fails = 1 (implied)
      [upstream api] upstream.fail-timeout = 10 (implied)
      [upstream api] upstream.keepalive-connections = 8 :5
      [upstream api] upstream.keepalive-requests = 1000 (implied)
      [upstream api] upstream.idle-timeout = 60 (implied)
      [upstream api] upstream.connection-lifetime = 3600 (implied)
      [server api.example] downstream.keepalive-timeout = 75 (implied)
      [server api.example] downstream.keepalive-requests = 1000 (implied)
      [server api.example] downstream.header-timeout = 60 (implied)
      [server api.example] workers.reuse-port = true :7
      [server api.example] listen.backlog = 1024 :7
      [location /v1/] route.target = api :9
      [location /v1/] upstream.connect-timeout = 60 (implied)
      [location /v1/] upstream.read-timeout = 5 :9
      [location /v1/] upstream.write-timeout = 60 (implied)
      [location /v1/] route.retry-on = error,timeout (implied)
      [location /v1/] route.retries = 1 (implied)
      [location /v1/] retry.window = Infinity (implied)
      [location /v1/] upstream.http-version = 1.0 (implied)
    `),
  );
});

test('the innermost block counts, a nested location inherits, an include is said', () => {
  const text = `http {
  proxy_read_timeout 30s;
  include sites/*.conf;
  server {
    listen 80;
    location / {
      proxy_read_timeout 5;
      location /deep { proxy_pass http://10.0.0.1:80; }
    }
    location /other { proxy_pass http://10.0.0.1:80; }
  }
  server { listen 81; location / { proxy_pass http://$host; } resolver 10.0.0.53 valid=10s; }
}
`;
  const { dossier, problems } = readDossier([{ name: 'nginx.conf', text }]);
  const lines = settingLines(dossier);
  assert.ok(lines.includes('[location /deep of 80] upstream.read-timeout = 5 :7'));
  assert.ok(lines.includes('[location /other of 80] upstream.read-timeout = 30 :2'));
  assert.ok(lines.includes('[location / of 81] dns.hold = 10 :12'));
  assert.ok(lines.includes('[location / of 81] upstream.address-kind = dns :12'));
  assert.deepEqual(problems, ['nginx.conf: line 3 includes sites/*.conf: give that file too if it matters']);
});
