import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, expected, settingLines } from '../../testing/facts.ts';
import { samples } from '../../testing/samples.ts';

/** What the example of a format means. */
function check(name: string, settings: string): void {
  assert.deepEqual(settingLines(dossierOf(samples[name] ?? '')), expected(settings));
}

test('Apache’s scoreboard tells the workers that have a request from those that have only a connection', () => {
  const read = dossierOf(samples['Apache server-status'] ?? '').samples.map(
    ({ name, labels, value }) => `${name}${labels['state'] === undefined ? '' : ` ${labels['state']}`} ${value}`,
  );
  assert.deepEqual(read, [
    'apache_accesses_total 1200',
    'apache_sent_bytes_total 40960',
    'apache_cpu_usage_ratio 0.005',
    'apache_uptime_seconds 600',
    'apache_workers_busy 6',
    'apache_workers_idle 1',
    'apache_scoreboard reading 3',
    'apache_scoreboard keepalive 2',
    'apache_scoreboard sending 1',
    'apache_scoreboard waiting 1',
  ]);
});

test('two pages of Apache’s status in one file are two readings', () => {
  const page = samples['Apache server-status'] ?? '';
  const { samples: read } = dossierOf(`${page}${page.replace('1200', '1500')}`);
  const accesses = read.filter(({ name }) => name === 'apache_accesses_total');
  assert.deepEqual(
    accesses.map(({ value, reading }) => [value, reading]),
    [
      [1200, 0],
      [1500, 1],
    ],
  );
});

test('gunicorn: processes times threads, and connections that are kept', () => {
  check(
    'gunicorn configuration',
    `
    [file] workers.processes = 4 :4
    [file] listen.backlog = 2048 (implied)
    [file] workers.reuse-port = false (implied)
    [file] workers.count = 32 :4
    [file] downstream.keepalive-timeout = 5 :7
  `,
  );
});

test('gunicorn: sync workers take a slot at accept and keep nothing', () => {
  const settings = settingLines(dossierOf('bind = ":8000"\nworkers = 3\nkeepalive = 75\n'));
  assert.ok(settings.includes('[file] workers.slot-taken-at = accept (implied)'), settings.join('\n'));
  assert.ok(!settings.some((line) => line.includes('keepalive-timeout')));
});

test('Puma: what stands behind an environment variable is its default', () => {
  check(
    'Puma configuration',
    `
    [file] workers.processes = 2 :3
    [file] downstream.keepalive-timeout = 75 :5
    [file] listen.backlog = 1024 (implied)
    [file] workers.count = 12 :2
  `,
  );
});

test('PHP-FPM: children are workers, bound at accept, and the ping is answered by them', () => {
  check(
    'PHP-FPM pool',
    `
    [pool shop] workers.count = 20 :6
    [pool shop] listen.backlog = 1024 :4
    [pool shop] downstream.request-timeout = 30 :7
    [pool shop] workers.slot-taken-at = accept (implied)
    [pool shop] health.path = /ping :8
    [pool shop] health.shares-workers = true (implied)
  `,
  );
});

test('Tomcat: without a keep-alive time of its own, that of connections binds; comments do not', () => {
  check(
    'Tomcat configuration',
    `
    [connector 8080] workers.count = 50 :5
    [connector 8080] listen.backlog = 100 (implied)
    [connector 8080] downstream.max-connections = 8192 (implied)
    [connector 8080] downstream.keepalive-requests = 100 (implied)
    [connector 8080] downstream.keepalive-timeout = 20 :5
  `,
  );
});

test('uWSGI: a backlog and workers', () => {
  check(
    'uWSGI configuration',
    `
    [file] workers.processes = 4 :3
    [file] listen.backlog = 512 :5
    [file] workers.reuse-port = false (implied)
    [file] workers.count = 8 :3
    [file] workers.slot-taken-at = accept (implied)
  `,
  );
});

test('Apache: a server and a balancer in one file', () => {
  check(
    'Apache configuration',
    `
    [balancer shop] upstream.endpoints = 2 :4
    [balancer shop] upstream.endpoint-list = 10.7.0.1:8080,10.7.0.2:8080 :4
    [balancer shop] balance.policy = least-request :4
    [balancer shop] upstream.idle-timeout = 60 :5
    [balancer shop] upstream.read-timeout = 30 :5
    [route /] route.target = shop :9
    [route /] upstream.connect-timeout = 2 :9
    [file] downstream.keepalive-timeout = 15 :2
    [file] downstream.keepalive-requests = 100 (implied)
    [file] workers.count = 150 :3
    [file] listen.backlog = 511 (implied)
  `,
  );
});

test('commands: flags with and without an equals sign', () => {
  check(
    'command of a server',
    `
    [file] workers.processes = 3 :1
    [file] listen.backlog = 2048 (implied)
    [file] workers.reuse-port = false (implied)
    [file] downstream.keepalive-timeout = 65 :1
    [file] workers.processes = 2 :2
    [file] downstream.keepalive-timeout = 30 :2
    [file] listen.backlog = 2048 (implied)
  `,
  );
});

test('a manifest starts a server with its command and its arguments', () => {
  const settings = settingLines(
    dossierOf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  template:
    spec:
      containers:
      - name: api
        command: ["python", "-m", "uvicorn"]
        args: ["api:app", "--timeout-keep-alive", "7"]
`),
  );
  assert.ok(
    settings.some((line) => /downstream\.keepalive-timeout = 7 /.test(line)),
    settings.join('\n'),
  );
});
