import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../../base.ts';
import type { GatewaySettings } from './gateway-program.ts';
import { nginxConfiguration } from './nginx-configuration.ts';

const settings: GatewaySettings = {
  service: 'api',
  policy: 'round-robin',
  timeout: seconds(10),
  connectTimeout: seconds(1),
  retries: 0,
  health: undefined,
  seed: 1,
  endpoints: [
    { id: 'api-1', host: '127.0.0.1', port: 4001 },
    { id: 'api-2', host: '127.0.0.1', port: 4002 },
  ],
};
const place = {
  host: '127.0.0.1',
  port: 8080,
  statisticsPort: 8081,
  folder: '/run/lab',
  accessLog: '/run/lab/access.log',
  errorLog: '/run/lab/error.log',
  pidFile: '/run/lab/nginx.pid',
  connectionsMax: 8192,
};

test('a plain gateway', () => {
  assert.equal(
    nginxConfiguration(settings, place),
    `daemon off;
master_process off;
pid /run/lab/nginx.pid;
error_log stderr crit;
error_log /run/lab/error.log warn;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
    log_format plimsoll '$msec $remote_addr:$remote_port $connection "$request" $status $body_bytes_sent rt=$request_time ua="$upstream_addr" us="$upstream_status" ut="$upstream_response_time" uc="$upstream_connect_time" uh="$upstream_header_time"';
    access_log /run/lab/access.log plimsoll;
    client_body_temp_path /run/lab/client_body;
    proxy_temp_path /run/lab/proxy;
    fastcgi_temp_path /run/lab/fastcgi;
    uwsgi_temp_path /run/lab/uwsgi;
    scgi_temp_path /run/lab/scgi;
    upstream api {
        server 127.0.0.1:4001 max_fails=0; # api-1
        server 127.0.0.1:4002 max_fails=0; # api-2
        keepalive 1024;
        keepalive_requests 1000000000;
    }
    server {
        listen 127.0.0.1:8080 backlog=4096;
        keepalive_timeout 75s;
        keepalive_requests 1000000000;
        location / {
            proxy_pass http://api;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_connect_timeout 1000ms;
            proxy_read_timeout 10000ms;
            proxy_send_timeout 10000ms;
            proxy_next_upstream off;
        }
    }
    server {
        listen 127.0.0.1:8081;
        access_log off;
        location = /stub_status { stub_status; }
    }
}
`,
  );
});

test('retries go to the next server within the whole timeout, and failures leave a server out for the interval', () => {
  const health = { path: '/healthz', interval: seconds(2), timeout: seconds(1), fall: 3, rise: 2 };
  const text = nginxConfiguration({ ...settings, policy: 'least-request', retries: 2, health }, place);
  for (const line of [
    '        least_conn;',
    '        server 127.0.0.1:4001 max_fails=3 fail_timeout=2s; # api-1',
    '            proxy_next_upstream error timeout;',
    '            proxy_next_upstream_tries 3;',
    '            proxy_next_upstream_timeout 10000ms;',
  ]) {
    assert.ok(text.split('\n').includes(line), line);
  }
});
