import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dossierOf,
  expected,
  messageLines,
  requestLines,
  sampleLines,
  seriesLines,
  settingLines,
} from '../testing/facts.ts';
import { samples } from '../testing/samples.ts';

test('JMeter as XML: the samples, and what failed in one word', () => {
  const dossier = dossierOf(samples['JMeter results (XML)'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.000 GET / status=200 seconds=1.42 connect=1.003
      07:00:00.100 GET / seconds=0.02 flag=address-not-available
    `),
  );
  assert.equal(dossier.results[0]?.errorsByKind?.['address-not-available'], 1);
  assert.equal(dossier.results[0]?.users, 50);
});

test('Gatling: counts, quantiles in seconds, errors by kind', () => {
  const [result] = dossierOf(samples['Gatling result'] ?? '').results;
  assert.equal(result?.requests, 10_000);
  assert.equal(result?.errors, 1000);
  assert.equal(result?.latency?.['0.99'], 30);
  assert.deepEqual(result?.errorsByKind, { 'address-not-available': 1000 });
});

test('Artillery: an open loop, with times under their heading', () => {
  const dossier = dossierOf(samples['Artillery result'] ?? '');
  assert.deepEqual(dossier.results[0]?.latency, { '0': 0.005, '0.99': 5.01 });
  assert.deepEqual(dossier.results[0]?.errorsByKind, { 'address-not-available': 120 });
  assert.ok(settingLines(dossier).some((line) => line.includes('load.model = open')));
});

test('HAR: requests, and the time for names as a series', () => {
  const dossier = dossierOf(samples['HAR'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.000 GET /cart status=200 seconds=5.0205 upstream=0.014 connect=0.003 by=10.0.0.1 service=shop.example
      07:00:01.000 GET /cart status=503 seconds=0.02 upstream=0.014 service=shop.example
    `),
  );
  assert.deepEqual(seriesLines(dossier), expected('dns_lookup_seconds 07:00:00.000 5.0005'));
});

test('a goroutine profile: places with their counts, and a message where most wait for a pool', () => {
  const dossier = dossierOf(samples['goroutine profile'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      threads{pool=goroutines,state=waiting,top=database/sql.(*DB).conn,own=main.(*Store).Find} 800
      threads{pool=goroutines,state=waiting,top=net/http.(*conn).serve,own=} 12
    `),
  );
  assert.deepEqual(messageLines(dossier), expected('- threads-wait-for-pool goroutines'));
});

test('kubectl describe: limits apart from requests, the probe, and the events', () => {
  const dossier = dossierOf(samples['kubectl describe'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [pod web-0] cpu.limit = 0.2 :7
      [pod web-0] cpu.request = 0.1 :9
      [pod web-0 readiness] health.kind = http :10
      [pod web-0 readiness] health.path = /healthz :10
      [pod web-0 readiness] health.timeout = 1 :10
      [pod web-0 readiness] health.interval = 5 :10
      [pod web-0 readiness] health.fall = 3 :10
    `),
  );
  assert.deepEqual(
    dossier.events.map(({ event, subject }) => `${event} ${subject}`),
    ['unhealthy web-0', 'pod-terminating web-0'],
  );
});

test('vmstat and sar: shares of processors, run queue, links; a line is a reading', () => {
  assert.deepEqual(
    sampleLines(dossierOf(samples['vmstat'] ?? '')),
    expected(`
      run_queue 9
      processes_blocked 0
      swap_in 0
      swap_out 0
      host_cpu 0.98
      host_io_wait 0
      host_cpu_steal 0.07
      run_queue 11 #1
      processes_blocked 1 #1
      swap_in 0 #1
      swap_out 0 #1
      host_cpu 0.98 #1
      host_io_wait 0 #1
      host_cpu_steal 0.08 #1
    `),
  );
  assert.deepEqual(
    sampleLines(dossierOf(samples['devices by the second'] ?? '')),
    expected(`
      network_receive_packets_per_second{interface=eth0} 81000
      network_transmit_packets_per_second{interface=eth0} 90000
      network_receive_bytes_per_second{interface=eth0} 102400
      network_transmit_bytes_per_second{interface=eth0} 204800
      network_utilisation{interface=eth0} 0.99
    `),
  );
});

test('a name server’s answer: addresses as a list, the time as a lookup; nslookup’s server is none of them', () => {
  const dossier = dossierOf(samples['answer of a name server'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [lb.example] upstream.endpoints = 2 :7
      [lb.example] upstream.endpoint-list = 192.0.2.31,192.0.2.32 :7
    `),
  );
  assert.deepEqual(sampleLines(dossier), expected('dns_lookup_seconds{lookup=1} 5.003'));
  const asked = dossierOf('Server:\t10.0.0.2\nAddress:\t10.0.0.2#53\n\nName:\tlb.example\nAddress: 192.0.2.31\n');
  assert.deepEqual(
    settingLines(asked),
    expected(`
      [lb.example] upstream.endpoints = 1 :5
      [lb.example] upstream.endpoint-list = 192.0.2.31 :5
    `),
  );
});
