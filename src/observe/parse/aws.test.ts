import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier } from '../dossier.ts';
import {
  dossierOf,
  eventLines,
  expected,
  requestLines,
  sampleLines,
  seriesLines,
  settingLines,
} from '../testing/facts.ts';
import { samples } from '../testing/samples.ts';

test('an access log: a part of −1 was never reached, and the time of creation is the beginning', () => {
  assert.deepEqual(
    requestLines(dossierOf(samples['AWS load balancer access log'] ?? '')),
    expected(`
      07:00:00.120 GET /cart status=200 seconds=0.043 upstream=0.04 queue=0.002 answered=200 tries=1 by=10.4.0.11:80 for=192.0.2.9 service=shop
      07:00:01.120 GET / status=504 seconds=10.001 tries=1 by=10.4.0.12:80 for=192.0.2.9 flag=target-not-reached service=shop
    `),
  );
});

test('the classic form has no type and no time of creation', () => {
  const dossier = dossierOf(
    '2026-04-02T07:00:00.164000Z edge 192.0.2.9:51000 10.4.0.11:80 0.002 0.040 0.001 200 200 34 366 "GET http://shop.example:80/a HTTP/1.1" "agent/1.0" - -\n',
  );
  assert.deepEqual(requestLines(dossier), [
    '07:00:00.121 GET /a status=200 seconds=0.043 upstream=0.04 queue=0.002 answered=200 tries=1 by=10.4.0.11:80 for=192.0.2.9 service=edge',
  ]);
});

test('attributes and targets: the idle timeout holds on both sides, zones are counted', () => {
  const dossier = dossierOf(samples['AWS load balancer description'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [load balancer] downstream.idle-timeout = 60 :4
      [load balancer] upstream.idle-timeout = 60 :4
      [load balancer] balance.cross-zone = false :4
      [target group] upstream.endpoints = 2 :2
      [target group] upstream.endpoint-list = 10.4.0.11,10.4.0.12 :2
      [target group] replicas.zone-layout = z1=1,z2=1 :2
    `),
  );
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      target_healthy{target=10.4.0.11,state=healthy,zone=z1} 1
      target_healthy{target=10.4.0.12,state=unhealthy,zone=z2,reason=Target.Timeout} 0
    `),
  );
});

const snapshot = (ts: string, second: string): string =>
  JSON.stringify({
    ts,
    TargetHealthDescriptions: [
      { Target: { Id: '10.4.0.11' }, TargetHealth: { State: 'healthy' } },
      { Target: { Id: '10.4.0.12' }, TargetHealth: { State: second } },
    ],
  });

test('one health answer a line: readings, a series each, and an event where a state changed', () => {
  const text = [
    snapshot('2026-04-02T07:00:00Z', 'healthy'),
    snapshot('2026-04-02T07:00:15Z', 'unhealthy'),
    snapshot('2026-04-02T07:00:30Z', 'healthy'),
  ].join('\n');
  const dossier = dossierOf(text);
  assert.deepEqual(seriesLines(dossier), [
    'target_healthy{target=10.4.0.11} 07:00:00.000 1 1 1',
    'target_healthy{target=10.4.0.12} 07:00:00.000 1 0 1',
  ]);
  assert.deepEqual(eventLines(dossier), [
    '07:00:15.000 unhealthy 10.4.0.12 (unhealthy)',
    '07:00:30.000 healthy 10.4.0.12 (healthy)',
  ]);
  assert.deepEqual(
    dossier.samples.map((sample) => sample.reading),
    [0, 0, 1, 1, 2, 2],
  );
});

test('who is a target in one file is who answers in the access log of another', () => {
  const { dossier } = readDossier([
    { name: 'app.log', text: '2026-04-02T07:00:00.000Z 10.4.0.12 "GET /x" 200 0.236 worker=0\n' },
    {
      name: 'health.jsonl',
      text: `${snapshot('2026-04-02T07:00:00Z', 'healthy')}\n${snapshot('2026-04-02T07:00:09Z', 'healthy')}`,
    },
  ]);
  assert.match(requestLines(dossier)[0] ?? '', /by=10\.4\.0\.12 worker=0/);
});

test('a target group says how it probes', () => {
  const group = {
    HealthCheckPath: '/up',
    HealthCheckTimeoutSeconds: 5,
    HealthCheckIntervalSeconds: 15,
    UnhealthyThresholdCount: 2,
  };
  assert.deepEqual(settingLines(dossierOf(JSON.stringify({ TargetGroups: [{ TargetGroupName: 'shop', ...group }] }))), [
    '[target group shop] health.path = /up :1',
    '[target group shop] health.interval = 15 :1',
    '[target group shop] health.timeout = 5 :1',
    '[target group shop] health.fall = 2 :1',
  ]);
});
