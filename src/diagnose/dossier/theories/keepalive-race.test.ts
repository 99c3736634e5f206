import assert from 'node:assert/strict';
import { test } from 'node:test';

import { events, type Row, said, samples, settings, table } from '../testing/facts.ts';
import { judged, standing } from '../testing/judged.ts';

/** Requests in bunches of five a second, then a pause; `bad` fail first after it. */
function bunches(pause: number, count: number, good: Row, bad: Row | undefined): Row[] {
  const rows: Row[] = [];
  for (let bunch = 0; bunch < count; bunch++) {
    const at = bunch * (pause + 1);
    if (bad !== undefined && bunch > 0 && bunch % 2 === 0) rows.push({ at, ...bad });
    for (let index = 0; index < 5; index++) rows.push({ at: at + 0.2 + index * 0.2, ...good });
  }
  return rows;
}

const nginxPool = `
  nginx | upstream api | upstream.keepalive-connections = 32
  nginx | upstream api | upstream.idle-timeout = (60)
`;

test('nginx keeps connections 60 s, the server behind it 2 s: resets after pauses', () => {
  const found = judged({
    settings: settings(`${nginxPool}
      gunicorn | server | downstream.keepalive-timeout = 2 | gunicorn.conf.py`),
    requests: [
      table(
        'nginx',
        bunches(
          2.1,
          12,
          { seconds: 0.02, status: 200, upstream: 0.02, upstreamStatus: 200, replica: '10.0.0.5:8000' },
          { seconds: 0.001, status: 502, replica: '10.0.0.5:8000' },
        ),
      ),
    ],
  });
  assert.equal(found.verdict.pattern, 'keepalive-race');
  assert.match(
    found.verdict.culprit ?? '',
    /gunicorn .*keep-alive timeout 2 s below nginx upstream api upstream keepalive_timeout 60 s/,
  );
});

test('the proxy’s error log and both idle times are enough', () => {
  const found = judged({
    settings: settings(`${nginxPool}
      node | server | downstream.keepalive-timeout = 5 | server.json`),
    messages: said(
      'nginx',
      'upstream-closed-early',
      'upstream prematurely closed connection while reading response header from upstream',
      7,
    ),
  });
  assert.equal(found.verdict.pattern, 'keepalive-race');
});

test('HAProxy in front of Tomcat: 502 with SH and no time, after the connector’s keep-alive', () => {
  const found = judged({
    settings: settings(`
      haproxy | backend app    | upstream.idle-timeout = 300           | haproxy.cfg
      tomcat  | connector 8080 | downstream.keepalive-timeout = 20     | server.xml
    `),
    requests: [
      table(
        'haproxy',
        bunches(
          20.3,
          10,
          { seconds: 0.03, status: 200, upstream: 0.02, upstreamStatus: 200, flag: '----', replica: 't1' },
          { seconds: 0, status: 502, flag: 'SH--', replica: 't1' },
        ),
      ),
    ],
  });
  assert.equal(found.verdict.pattern, 'keepalive-race');
});

test('the log alone tells it, when every failure follows a pause of the same length', () => {
  const found = judged({
    requests: [
      table(
        'alb',
        bunches(
          5,
          14,
          { seconds: 0.02, status: 200, upstream: 0.02, upstreamStatus: 200, replica: '10.0.0.5:3000' },
          { seconds: 0.001, status: 502, upstream: 0.001, replica: '10.0.0.5:3000' },
        ),
      ),
    ],
  });
  assert.equal(found.verdict.pattern, 'keepalive-race');
});

test('Envoy’s count of connections closed under a request names it without a log', () => {
  const found = judged({
    settings: settings(`
      envoy | cluster api | upstream.idle-timeout = (3600) | envoy.yaml
      go    | server      | downstream.idle-timeout = 120  | main.go
    `),
    samples: samples('envoy_cluster_upstream_cx_destroy_remote_with_active_rq{envoy_cluster_name=api} 14 31'),
  });
  assert.equal(found.verdict.pattern, 'keepalive-race');
});

test('a sender that gives up first cannot race', () => {
  const found = judged({
    settings: settings(`
      aws  | load balancer | upstream.idle-timeout = 60       | lb-attributes.json
      node | server        | downstream.keepalive-timeout = 65 | server.json
    `),
    requests: [table('alb', bunches(10, 6, { seconds: 0.02, status: 200, upstreamStatus: 200 }, undefined))],
  });
  assert.equal(standing(found, 'keepalive-race'), 'refuted');
});

test('errors that the application answered are its own', () => {
  const found = judged({
    settings: settings(`
      aws  | load balancer | upstream.idle-timeout = 60       | lb-attributes.json
      node | server        | downstream.keepalive-timeout = 5 | server.json
    `),
    requests: [
      table(
        'alb',
        bunches(
          5,
          10,
          { seconds: 0.02, status: 200, upstreamStatus: 200 },
          { seconds: 0.003, status: 500, upstreamStatus: 500, upstream: 0.003 },
        ),
      ),
    ],
  });
  assert.equal(standing(found, 'keepalive-race'), 'refuted');
});

test('resets in the middle of traffic are not this, whatever the settings say', () => {
  const rows = Array.from({ length: 200 }, (_, index): Row =>
    index % 9 === 0
      ? { at: index * 0.05, seconds: 0.001, status: 502, replica: 'a:1' }
      : { at: index * 0.05, seconds: 0.02, status: 200, upstream: 0.02, upstreamStatus: 200, replica: 'a:1' },
  );
  const found = judged({
    settings: settings(`
      aws  | load balancer | upstream.idle-timeout = 60       | lb-attributes.json
      node | server        | downstream.keepalive-timeout = 5 | server.json
    `),
    requests: [table('alb', rows)],
  });
  assert.notEqual(found.verdict.pattern, 'keepalive-race');
});

test('a healthy log is not accused of what its settings could do one day', () => {
  const found = judged({
    settings: settings(`
      aws  | load balancer | upstream.idle-timeout = 60       | lb-attributes.json
      node | server        | downstream.keepalive-timeout = 5 | server.json
    `),
    requests: [
      table(
        'alb',
        bunches(1, 40, { seconds: 0.02, status: 200, upstream: 0.02, upstreamStatus: 200, replica: 'a:1' }, undefined),
      ),
    ],
  });
  assert.notEqual(found.verdict.pattern, 'keepalive-race');
});

test('a pod that is being removed is not a race of idle times', () => {
  const rows = Array.from({ length: 60 }, (_, index): Row =>
    index > 30 && index < 37 && index % 2 === 0
      ? { at: index, seconds: 0.002, status: 502, flag: 'target-not-reached', replica: 'a:1' }
      : {
          at: index,
          seconds: 0.02,
          status: 200,
          upstream: 0.02,
          upstreamStatus: 200,
          replica: index % 2 === 0 ? 'a:1' : 'b:1',
        },
  );
  const found = judged({ requests: [table('alb', rows)], events: events('0 pod-terminating a') });
  assert.notEqual(found.verdict.pattern, 'keepalive-race');
});

test('a client that says so itself needs no timing', () => {
  const found = judged({
    settings: settings('node | server | downstream.keepalive-timeout = 5 | server.json'),
    messages: said('app', 'log-error', 'Get "http://stock:8080/v1": http: server closed idle connection', 6),
  });
  assert.equal(found.verdict.pattern, 'keepalive-race');
  assert.match(found.verdict.culprit ?? '', /node server keep-alive timeout 5 s below the idle time of the sender/);
});

test('resets behind a pool are left open until both idle times are known, and those are asked for', () => {
  const found = judged({
    settings: settings(nginxPool),
    messages: said(
      'nginx',
      'upstream-reset',
      'recv() failed (104: Connection reset by peer) while reading response header from upstream',
      9,
    ),
  });
  assert.equal(found.verdict.pattern, 'undecided');
  assert.match(found.verdict.missing ?? '', /keep-alive time of the servers/);
});

test('a runtime that was told nothing has the keep-alive time of its documentation', () => {
  const found = judged({
    settings: settings(`${nginxPool}
      file | server | program.runtime = gunicorn 22 | server.json`),
    messages: said(
      'nginx',
      'upstream-closed-early',
      'upstream prematurely closed connection while reading response header from upstream',
      9,
    ),
  });
  assert.equal(found.verdict.pattern, 'keepalive-race');
  assert.match(found.verdict.culprit ?? '', /keep-alive timeout 2 s/);
});

test('a proxy that keeps no connection cannot reuse a closed one', () => {
  const found = judged({
    settings: settings(`
      nginx | upstream api | upstream.keepalive-connections = 0
      nginx | upstream api | upstream.idle-timeout = (60)
      node  | server       | downstream.keepalive-timeout = 5 | server.json
    `),
    messages: said(
      'nginx',
      'upstream-reset',
      'recv() failed (104: Connection reset by peer) while reading response header from upstream',
      9,
    ),
  });
  assert.equal(standing(found, 'keepalive-race'), 'refuted');
});

test('far more connections closed under requests than failures without an answer are something else', () => {
  const found = judged({
    settings: settings(`
      envoy | cluster api | upstream.idle-timeout = (3600) | envoy.yaml
      node  | server      | downstream.keepalive-timeout = 5 | server.json
    `),
    samples: samples('envoy_cluster_upstream_cx_destroy_remote_with_active_rq{envoy_cluster_name=api} 0 900'),
    requests: [
      table(
        'envoy',
        Array.from({ length: 100 }, (_, index): Row =>
          index % 40 === 7
            ? { at: index / 10, seconds: 0.001, status: 503, flag: 'UC' }
            : { at: index / 10, seconds: 0.02, status: 200, upstream: 0.02 },
        ),
      ),
    ],
  });
  assert.notEqual(found.verdict.pattern, 'keepalive-race');
});
