import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nginxFormats, nginxReader, recogniseNginx } from './nginx-access.ts';
import { isNginxConfiguration, parseNginxUpstreams } from './nginx-conf.ts';

const ours =
  '1796018400.250 127.0.0.1:40000 17 "GET /cart HTTP/1.1" 200 150 rt=0.044 ua="127.0.0.1:8082" us="200" ut="0.040" uc="0.000" uh="0.040"';

test('our own format: the end is written, the beginning is the end less the time it took', () => {
  const request = recogniseNginx([ours])?.read(ours);
  assert.ok(request !== undefined);
  assert.equal(request.endMs, 1796018400250);
  assert.equal(Math.round(request.endMs - request.startMs), 44);
  assert.equal(Math.round(request.endMs - request.handedMs), 40);
  assert.equal(request.replica, '127.0.0.1:8082');
  assert.equal(request.attempts, 1);
  assert.equal(request.client, '17');
});

test('of several tries the last one answered, and a group name is no server', () => {
  const retried = ours
    .replace('ua="127.0.0.1:8082"', 'ua="127.0.0.1:8082, 127.0.0.1:8083"')
    .replace('us="200"', 'us="502, 200"')
    .replace('ut="0.040"', 'ut="0.004, 0.030"');
  const request = recogniseNginx([retried])?.read(retried);
  assert.equal(request?.replica, '127.0.0.1:8083');
  assert.equal(request?.attempts, 2);
  assert.equal(request === undefined ? undefined : Math.round(request.endMs - request.handedMs), 30);
  const none = ours
    .replace('"127.0.0.1:8082"', '"api"')
    .replace(' 200 150', ' 502 150')
    .replace('us="200"', 'us="502"');
  assert.equal(recogniseNginx([none])?.read(none)?.replica, undefined);
  assert.equal(recogniseNginx([none])?.read(none)?.error, 'no-server');
});

test('the default format of ingress-nginx is known, whole seconds are said to be whole seconds', () => {
  const line =
    '10.9.0.1 - - [02/Mar/2026:10:00:00 +0100] "GET /v1/items HTTP/1.1" 200 512 "-" "loadgen/1.0" 120 0.021 [default-shop-8080] [] 10.8.0.11:8080 512 0.020 200 5eb561a4';
  const reader = recogniseNginx([line]);
  const request = reader?.read(line);
  assert.equal(reader?.format, 'nginx:ingress-nginx');
  assert.equal(request?.endMs, Date.UTC(2026, 2, 2, 9, 0, 0));
  assert.equal(request?.stepMs, 1000);
  assert.equal(request?.service, 'default-shop-8080');
  assert.equal(request?.replica, '10.8.0.11:8080');
});

test('errors by status: the client left, the upstream was late, reset, or answered 5xx itself', () => {
  const error = (status: number, upstream: string): string | undefined => {
    const line = ours.replace(' 200 150', ` ${status} 150`).replace('us="200"', `us="${upstream}"`);
    return recogniseNginx([line])?.read(line)?.error;
  };
  assert.equal(error(499, '-'), 'client-left');
  assert.equal(error(504, '504'), 'timeout');
  assert.equal(error(502, '502'), 'reset');
  assert.equal(error(503, '503'), 'status-5xx');
  assert.equal(error(200, '200'), undefined);
});

test("an operator's own format is compiled as it stands in the configuration", () => {
  const reader = nginxReader(
    'mine',
    '[$time_iso8601] $status ${request_time}s -> $upstream_addr ($upstream_response_time)',
  );
  const request = reader.read('[2026-11-30T06:10:00+00:00] 200 1.250s -> 10.0.0.1:80, 10.0.0.2:80 (1.000, 0.250)');
  assert.equal(request?.replica, '10.0.0.2:80');
  assert.equal(request === undefined ? undefined : request.endMs - request.startMs, 1250);
  assert.equal(reader.read('[2026-11-30T06:10:00+00:00] nonsense'), undefined);
});

test('a foreign line is recognised by nobody', () => {
  assert.equal(recogniseNginx(['hello world', '{"a":1}']), undefined);
  assert.ok(Object.keys(nginxFormats).length >= 3);
});

test('upstream groups: policy, servers in order, names from comments', () => {
  const text = [
    'http {',
    '  upstream api {',
    '    least_conn;',
    '    server 127.0.0.1:8081 max_fails=0; # api-1',
    '    server 127.0.0.1:8082;',
    '    keepalive 64;',
    '  }',
    '  upstream plain { ',
    '    server a:1;',
    '  }',
    '}',
  ].join('\n');
  assert.ok(isNginxConfiguration(text));
  assert.deepEqual(parseNginxUpstreams(text), [
    {
      name: 'api',
      policy: 'least-request',
      servers: [
        { address: '127.0.0.1:8081', label: 'api-1' },
        { address: '127.0.0.1:8082', label: undefined },
      ],
    },
    { name: 'plain', policy: 'round-robin', servers: [{ address: 'a:1', label: undefined }] },
  ]);
});
