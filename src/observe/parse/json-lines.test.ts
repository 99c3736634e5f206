import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dossierOf,
  eventLines,
  expected,
  messageLines,
  requestLines,
  seriesLines,
  settingLines,
} from '../testing/facts.ts';
import { samples } from '../testing/samples.ts';

test('an access log in JSON, flat or with objects inside', () => {
  assert.deepEqual(
    requestLines(dossierOf(samples['JSON access log'] ?? '')),
    expected(`
      07:00:00.120 GET /cart status=200 seconds=0.044 by=10.6.0.11:80 service=shop
      07:00:00.130 GET /cart status=503 seconds=0 flag=UO service=shop
    `),
  );
  const caddy =
    '{"level":"info","ts":1775113200.044,"msg":"handled request","request":{"remote_ip":"192.0.2.9","method":"GET","host":"shop.example","uri":"/cart?id=7"},"duration":0.044,"status":200}\n';
  assert.deepEqual(requestLines(dossierOf(caddy)), [
    '07:00:00.000 GET /cart status=200 seconds=0.044 for=192.0.2.9 service=shop.example',
  ]);
  const traefik =
    '{"ClientHost":"192.0.2.9","DownstreamStatus":504,"Duration":15001000000,"OriginDuration":15000000000,"OriginStatus":504,"RequestMethod":"GET","RequestPath":"/cart","RetryAttempts":1,"ServiceAddr":"10.6.0.11:80","ServiceName":"shop","StartUTC":"2026-04-02T07:00:00.120Z"}\n';
  assert.deepEqual(requestLines(dossierOf(traefik)), [
    '07:00:00.120 GET /cart status=504 seconds=15.001 upstream=15 answered=504 tries=2 by=10.6.0.11:80 for=192.0.2.9 service=shop',
  ]);
});

test('attempts, a caller that has gone, and a setting that stands in a line', () => {
  const dossier = dossierOf(`{"ts":"2026-04-02T07:00:00Z","request":7,"attempt":1,"status":404,"caller_timeout_s":120}
{"ts":"2026-04-02T07:02:00Z","request":7,"attempt":151780,"status":404,"caller":"disconnected"}
`);
  assert.deepEqual(requestLines(dossier), [
    '07:00:00.000 status=404 tries=1',
    '07:02:00.000 status=404 tries=151780 flag=client-left',
  ]);
  assert.deepEqual(settingLines(dossier), ['[requests] downstream.request-timeout = 120 :1']);
});

test('a line is an event, a message or numbers, by its keys', () => {
  const dossier = dossierOf(samples['JSON lines'] ?? '');
  assert.deepEqual(eventLines(dossier), [
    '07:00:00.000 backend-sync shop (endpoints=3)',
    '07:00:05.000 trigger-start (dependency latency 25ms -> 100ms)',
  ]);
  assert.deepEqual(messageLines(dossier), ['07:00:06.000 dns-failure']);
  assert.deepEqual(seriesLines(dossier), ['ListenOverflows 07:00:10.000 3378', 'established 07:00:10.000 345']);
});

test('what happened, in whichever words', () => {
  const lines = [
    { ts: 1775113200, kind: 'rollout-start', version: '2' },
    { ts: 1775113201, reason: 'Killing', pod: 'web-1', ip: '10.1.0.1' },
    { ts: 1775113202, reason: 'TargetUnhealthy', ip: '10.1.0.1' },
    { ts: 1775113203, event: 'open', session: 5, node: 'a' },
    { ts: 1775113204, event: 'upstream-change', nodes: ['a', 'b'] },
    { t: 1775113205.65, what: 'dependency latency back to 25ms' },
    { t: 1775113206, what: 'proxy pods CrashLoopBackOff restarts=32' },
    { t: 1775113207, what: 'lunch' },
    { t: 1775113208, what: 'the office has moved' },
  ];
  assert.deepEqual(
    eventLines(dossierOf(lines.map((line) => JSON.stringify(line)).join('\n'))),
    expected(`
      07:00:00.000 rollout-start (version=2)
      07:00:01.000 pod-terminating web-1 (ip=10.1.0.1)
      07:00:02.000 unhealthy 10.1.0.1
      07:00:03.000 open a (session=5)
      07:00:04.000 upstream-change (nodes=a,b)
      07:00:05.650 trigger-end (dependency latency back to 25ms)
      07:00:06.000 restart (proxy pods CrashLoopBackOff restarts=32)
      07:00:07.000 lunch
      07:00:08.000 note (the office has moved)
    `),
  );
});
