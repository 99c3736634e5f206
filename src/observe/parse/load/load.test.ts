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
} from '../../testing/facts.ts';
import { resultLines } from '../../testing/results.ts';
import { samples } from '../../testing/samples.ts';

test('k6’s summary: failures are the side that fits the share, dropped iterations and users are kept apart', () => {
  const dossier = dossierOf(samples['k6 summary'] ?? '');
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      k6 requests=1200 ratePerSecond=40 seconds=30 errors=60 dropped=300 users=20 usersMax=20 latency={0:0.002,1:0.9025,mean:0.0445,0.5:0.04,0.9:0.08,0.95:0.12} connectSeconds={1:0.031,mean:0.0005}
    `),
  );
});

test('k6’s text says the same as its summary, what it complains of, and what it was told', () => {
  const dossier = dossierOf(samples['k6 output'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [steady] load.model = open :4
      [steady] load.rate = 40 :4
      [steady] load.seconds = 30 :4
      [steady] load.users-max = 20 :4
      [loop] load.model = closed :5
      [loop] load.users = 10 :5
      [loop] load.seconds = 60 :5
    `),
  );
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      k6 requests=1200 ratePerSecond=40 seconds=30 errors=60 dropped=300 users=20 usersMax=20 latency={0:0.002,1:0.9025,mean:0.0445,0.5:0.04,0.9:0.08,0.95:0.12}
    `),
  );
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      - generator-out-of-users
      07:00:31.000 address-not-available 10.8.0.11:80
    `),
  );
});

test('k6’s points: a request is stamped with its end, and a result is counted from all of them', () => {
  const dossier = dossierOf(samples['k6 JSON output'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:01.000 GET /cart status=200 seconds=0.04 for=steady
      07:00:02.000 GET /cart seconds=0 flag=dial: connection refused
    `),
  );
  assert.deepEqual(
    seriesLines(dossier),
    expected(`
      k6_vus 07:00:00.000 3
      k6_dropped_iterations 07:00:02.000 2
    `),
  );
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      k6 requests=2 errors=1 statuses={200:1} errorsByKind={refused:1} seconds=1 ratePerSecond=2 latency={0:0,1:0.04,mean:0.02,0.5:0,0.75:0.04,0.9:0.04,0.95:0.04,0.99:0.04,0.999:0.04} connectSeconds={0:0.003,1:0.003,mean:0.003,0.5:0.003,0.75:0.003,0.9:0.003,0.95:0.003,0.99:0.003,0.999:0.003} dropped=2 users=3
    `),
  );
});

test('k6’s points as a table', () => {
  const dossier = dossierOf(samples['k6 CSV output'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.960 GET /cart status=200 seconds=0.04 for=steady
      07:00:01.920 GET /cart status=503 seconds=0.08 for=steady flag=1503
    `),
  );
  assert.deepEqual(
    seriesLines(dossier),
    expected(`
      k6_vus 07:00:00.000 3
    `),
  );
});

test('k6’s options: a rate counts per its unit, and without maxVUs there are no more users than stand ready', () => {
  const dossier = dossierOf(samples['k6 options'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [file] load.reuses-connections = false :1
      [steady] load.model = open :2
      [steady] load.rate = 10 :2
      [steady] load.seconds = 30 :2
      [steady] load.users = 5 :2
      [steady] load.users-max = 5 (implied)
      [ramp] load.model = closed :3
      [ramp] load.seconds = 40 :3
      [ramp] load.users = 20 :3
    `),
  );
});

test('wrk2 gives two kinds of latency, and errors add up', () => {
  const dossier = dossierOf(samples['wrk result'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [file] load.seconds = 30 :1
      [file] load.threads = 2 :2
      [file] load.connections = 64 :2
      [file] load.tool = wrk2 :1
      [file] load.model = open (implied)
    `),
  );
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      wrk2 connections=64 requests=15000 seconds=30 errorsByKind={connect:0,read:2,write:0,timeout:3,status:7} errors=12 ratePerSecond=500.02 latency={1:30,mean:15.01,0.5:15.01,0.99:29.7} uncorrected={1:0.02268,0.5:0.02}
    `),
  );
});

test('hey’s bars get their lower bounds, and errors are both what broke and what was refused', () => {
  const dossier = dossierOf(samples['hey result'] ?? '');
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      hey seconds=2.5 ratePerSecond=80 connectSeconds={0:0,1:0.05,mean:0.0002} requests=200 statuses={200:190,503:8} errorsByKind={refused:2} errors=10 latency={0:0.001,1:1.09,mean:0.03,0.5:0.02,0.99:1.04} histogram=[0:1,0.001:187,0.1:10]
    `),
  );
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      - refused
    `),
  );
});

test('hey’s single results have no points in time', () => {
  const dossier = dossierOf(samples['hey results'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      - status=200 seconds=0.04 connect=0.003
      - status=503 seconds=0.02
    `),
  );
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      hey requests=2 errors=1 statuses={200:1,503:1} errorsByKind={status-503:1} latency={0:0.02,1:0.04,mean:0.03,0.5:0.02,0.75:0.04,0.9:0.04,0.95:0.04,0.99:0.04,0.999:0.04} connectSeconds={0:0.003,1:0.003,mean:0.003,0.5:0.003,0.75:0.003,0.9:0.003,0.95:0.003,0.99:0.003,0.999:0.003} seconds=0.12 ratePerSecond=16.6667
    `),
  );
});

test('vegeta’s report: a status of 0 is a request without an answer', () => {
  const dossier = dossierOf(samples['vegeta report'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [file] load.tool = vegeta :?
      [file] load.model = open (implied)
    `),
  );
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      vegeta requests=6000 ratePerSecond=100.02 seconds=60.2 latency={0:0.001,1:0.9,0.5:0.011,0.9:0.02,0.95:0.025,0.99:0.04,mean:0.012} errors=30 statuses={0:12,200:5970,503:18}
    `),
  );
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      - status-503
      - refused
    `),
  );
});

test('vegeta’s report as JSON counts nanoseconds', () => {
  const dossier = dossierOf(samples['vegeta report as JSON'] ?? '');
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      vegeta requests=6000 ratePerSecond=100.02 seconds=59.99 errors=30 latency={0:0.001,1:0.9,mean:0.012,0.5:0.011,0.99:0.04} statuses={0:12,200:5970,503:18}
    `),
  );
});

test('vegeta’s single results, as JSON and as CSV', () => {
  const dossier = dossierOf(samples['vegeta results'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.000 GET /cart status=200 seconds=0.04
      07:00:00.010 GET /cart status=503 seconds=0.002 flag=status-503
      07:00:01.000 GET /cart status=200 seconds=0.02
    `),
  );
});

test('ApacheBench', () => {
  const dossier = dossierOf(samples['ApacheBench result'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [file] load.connections = 16 :9
      [file] load.tool = ab :?
      [file] load.model = closed (implied)
    `),
  );
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      ab connections=16 seconds=2.5 requests=1000 errors=3 errorsByKind={connect:1,receive:0,length:2,exceptions:0,status:2} ratePerSecond=400 connectSeconds={0:0,1:0.031,mean:0.001,0.5:0.001} latency={0:0.003,1:0.402,mean:0.04,0.5:0.037,0.99:0.12}
    `),
  );
});

test('h2load adds up the clients of its threads', () => {
  const dossier = dossierOf(samples['h2load result'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [file] load.tool = h2load :?
      [file] load.model = closed (implied)
      [file] load.connections = 16 :?
    `),
  );
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      h2load connections=16 seconds=2.5 ratePerSecond=400 requests=1000 errors=10 errorsByKind={errored:2,timeout:1} statuses={2xx:990,3xx:0,4xx:0,5xx:7} latency={0:0.003,1:0.402,mean:0.04} connectSeconds={0:0.001,1:0.031,mean:0.002}
    `),
  );
});

test('oha’s JSON: requests are answers and what never was one', () => {
  const dossier = dossierOf(samples['load result as JSON'] ?? '');
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      oha seconds=2.5 ratePerSecond=400 latency={0:0.003,1:0.402,mean:0.04,0.5:0.037,0.99:0.12} statuses={200:980,503:10} errorsByKind={refused:10} requests=1000 errors=20 histogram=[0:1,0.003:980,0.2:9]
    `),
  );
});

test('JMeter: statuses, what is no status, and connections that were opened', () => {
  const dossier = dossierOf(samples['JMeter results'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.120 GET cart status=200 seconds=0.044 connect=0.003 for=Shoppers
      07:00:00.130 GET cart status=503 seconds=0.02 for=Shoppers flag=status-503
      07:00:00.140 GET cart seconds=5 connect=0.001 for=Shoppers flag=timeout
    `),
  );
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      jmeter requests=3 errors=2 statuses={200:1,503:1} errorsByKind={status-503:1,timeout:1} seconds=5.02 ratePerSecond=0.59761 latency={0:0.02,1:5,mean:1.688,0.5:0.044108,0.75:5,0.9:5,0.95:5,0.99:5,0.999:5} connectSeconds={0:0.001,1:0.003,mean:0.002,0.5:0.001,0.75:0.003,0.9:0.003,0.95:0.003,0.99:0.003,0.999:0.003} users=16
    `),
  );
});

test('Locust: the row of all is the result, the others are samples', () => {
  const dossier = dossierOf(samples['Locust results'] ?? '');
  assert.deepEqual(
    resultLines(dossier),
    expected(`
      locust requests=1200 errors=60 ratePerSecond=40 seconds=30 latency={0:0.002,1:0.902,mean:0.0445,0.5:0.04,0.95:0.12,0.99:0.3}
    `),
  );
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      locust_requests_total{route=GET /cart} +1200
      locust_response_time_seconds_mean{route=GET /cart} 0.0445
    `),
  );
});

test('commands: wrk is a closed loop, vegeta an open one, and a rate counts per its unit', () => {
  const dossier = dossierOf(samples['command of a load generator'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [file] load.tool = wrk :2
      [file] load.model = closed (implied)
      [file] load.threads = 4 :2
      [file] load.connections = 100 :2
      [file] load.seconds = 30 :2
      [file] load.tool = vegeta :3
      [file] load.model = open (implied)
      [file] load.rate = 500 :3
      [file] load.seconds = 60 :3
      [file] load.reuses-connections = false :3
    `),
  );
});
