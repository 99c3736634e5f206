import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, eventLines, expected, messageLines, requestLines, settingLines } from '../testing/facts.ts';
import { samples } from '../testing/samples.ts';

test('a log gives requests with their stages; −1 is a stage that was never reached', () => {
  const dossier = dossierOf(samples['HAProxy log'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.120 GET /cart status=200 seconds=0.044 upstream=0.04 queue=0.003 connect=0.001 answered=200 tries=1 by=s1 for=192.0.2.9 flag=---- service=shop
      07:00:01.900 GET / status=503 seconds=0.1 tries=0 for=192.0.2.9 flag=sQ-- service=shop
    `),
  );
});

test('notices between the requests are messages, and events where something changed; requests give the year', () => {
  const dossier =
    dossierOf(`Apr 02 07:00:00 edge haproxy[77]: 192.0.2.9:51000 [02/Apr/2026:07:00:00.120] web shop/s1 0/3/1/40/44 200 512 - - ---- 9/9/4/2/0 0/0 "GET /cart HTTP/1.1"
<134>Apr  2 07:01:00 edge haproxy[77]: Server shop/s1 is going DOWN for maintenance (DNS timeout status). 1 active and 0 backup servers left.
[WARNING] (77) : Backup Server shop/s3 is DOWN, reason: Layer7 timeout, check duration: 2001ms. 0 active and 0 backup servers left.
Apr 02 07:01:02 edge haproxy[77]: backend shop has no server available!
Apr 02 07:02:00 edge haproxy[77]: Server shop/s1 is UP, reason: Layer7 check passed, code: 200, check duration: 1ms.
Apr 02 07:02:01 edge haproxy[77]: Connect() failed for backend shop: no free ports.
`);
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      07:01:00.000 server-unresolved shop/s1
      - server-down shop/s3
      07:01:02.000 no-live-upstreams shop
      07:02:00.000 server-up shop/s1
      07:02:01.000 connect-failed shop
    `),
  );
  assert.deepEqual(
    eventLines(dossier),
    expected(`
      07:01:00.000 unhealthy shop/s1 (DNS timeout status)
      - unhealthy shop/s3 (Layer7 timeout, check duration: 2001ms)
      07:01:02.000 no-server-available shop
      07:02:00.000 healthy shop/s1 (Layer7 check passed, code: 200, check duration: 1ms)
    `),
  );
});

test('the TCP form has no request and no status', () => {
  const dossier = dossierOf(
    'haproxy[77]: 192.0.2.9:51000 [02/Apr/2026:07:00:00.120] kv store/n1 0/2/4500 9400 -- 4/4/3/1/0 0/0\n' +
      'haproxy[77]: 192.0.2.9:51001 [02/Apr/2026:07:00:01.120] kv store/<NOSRV> -1/-1/5000 0 sC 4/4/3/0/3 0/0\n',
  );
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.120 seconds=4.5 queue=0 connect=0.002 tries=1 by=n1 for=192.0.2.9 flag=-- service=store
      07:00:01.120 seconds=5 tries=0 for=192.0.2.9 flag=sC service=store
    `),
  );
});

test('statistics tell the policy, the servers in their order, and their limits', () => {
  const dossier = dossierOf(samples['HAProxy statistics'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [frontend web] downstream.max-connections = 4000 :2
      [server shop/s1] upstream.endpoint-max-requests = 50 :3
      [server shop/s2] upstream.endpoint-max-requests = 50 :4
      [backend shop] balance.policy = least-request :5
      [backend shop] balance.layer = http :5
      [backend shop] upstream.endpoints = 2 :5
      [backend shop] upstream.endpoint-list = s1,s2 :5
    `),
  );
  const up = dossier.samples.filter((sample) => sample.name === 'haproxy_up' && sample.labels['type'] === 'server');
  assert.deepEqual(
    up.map((sample) => [sample.labels['server'], sample.labels['status'], sample.value]),
    [
      ['s1', 'UP', 1],
      ['s2', 'DOWN', 0],
    ],
  );
  const total = dossier.samples.find((sample) => sample.name === 'haproxy_stot' && sample.labels['server'] === 's1');
  assert.equal(total?.type, 'counter');
  assert.equal(total?.value, 450);
});

test('show info: numbers, and the settings among them', () => {
  const dossier = dossierOf(samples['HAProxy show info'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [global] workers.processes = 4 :3
      [global] downstream.max-connections = 4000 :4
    `),
  );
  assert.equal(dossier.samples.find((sample) => sample.name === 'haproxy_info_run_queue')?.value, 2);
});
