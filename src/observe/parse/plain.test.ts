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

/** A JSON file with this in it means these settings. */
function check(value: unknown, settings: string): void {
  const dossier = dossierOf(JSON.stringify(value, undefined, 1));
  assert.deepEqual(
    settingLines(dossier).map((line) => line.replace(/ :\d+$/, '').replace(/^\[\w+\] /, '')),
    expected(settings),
  );
}

test('settings by the words of their names, with their units', () => {
  check(
    { http: { keepAliveTimeout_ms: 5000, headersTimeout: 60000 } },
    'downstream.keepalive-timeout = 5\ndownstream.header-timeout = 60',
  );
  check(
    { timeout_ms: 200, max_attempts: 4, backoff: null },
    'route.per-try-timeout = 0.2\nroute.retries = 3\nretry.backoff = 0',
  );
  check({ timeout: 30 }, 'downstream.request-timeout = 30');
  check(
    { workers: 4, service_time_ms: 25, queue: 'fifo', cancel_on_client_timeout: false },
    'workers.count = 4\nworkers.service-time = 0.025\nworkers.queue-order = fifo\nworkers.cancels-abandoned = false',
  );
  check(
    { replicas: 2, worker_processes: 16, 'load-balance': 'round_robin' },
    'replicas.count = 2\nworkers.processes = 16\nbalance.policy = round-robin',
  );
  check(
    { server: { SETTINGS_MAX_CONCURRENT_STREAMS: 250 }, client_channels: 1 },
    'h2.max-concurrent-streams = 250\nh2.connections = 1',
  );
  check({ keepAliveTimeout: 5000, explicit: false }, 'downstream.keepalive-timeout = 5 (implied)');
});

test('a file about load: the same words mean other things, and a tool implies its loop', () => {
  check(
    { tool: 'wrk', threads: 10, connections: 100, rate: null, keepalive: true },
    'load.model = closed (implied)\nload.tool = wrk\nload.threads = 10\nload.connections = 100\nload.reuses-connections = true',
  );
  check(
    { threads: 4, connections: 10, duration_s: 60, rate: 1000 },
    'load.model = open (implied)\nload.threads = 4\nload.connections = 10\nload.seconds = 60\nload.rate = 1000',
  );
  check(
    { vus: 320, duration: '60s', noConnectionReuse: true, rps: 0 },
    'load.model = closed (implied)\nload.users = 320\nload.seconds = 60\nload.reuses-connections = false',
  );
  check(
    {
      scenarios: {
        burst: { executor: 'constant-arrival-rate', rate: 600, timeUnit: '1m', duration: '60s', maxVUs: 50 },
      },
    },
    'load.model = open\nload.rate = 10\nload.seconds = 60\nload.users-max = 50',
  );
  check({ load: { model: 'open', rate: 50 } }, 'load.model = open\nload.rate = 50');
});

test('a registry: endpoints in the order of its list, with their health', () => {
  const registry = {
    shop: [
      { addr: '10.1.0.1:80', status: 'UP' },
      { addr: '10.1.0.2:80', status: 'DOWN' },
    ],
  };
  const dossier = dossierOf(JSON.stringify(registry));
  assert.deepEqual(settingLines(dossier), [
    '[shop] upstream.endpoints = 2 :1',
    '[shop] upstream.endpoint-list = 10.1.0.1:80,10.1.0.2:80 :1',
  ]);
  assert.deepEqual(sampleLines(dossier), [
    'endpoint_healthy{endpoint=10.1.0.1:80,service=shop} 1',
    'endpoint_healthy{endpoint=10.1.0.2:80,service=shop} 0',
  ]);
  check(
    { type: 'least_conn', nodes: { 'a:80': 1, 'b:80': 1 } },
    'balance.policy = least-request\nupstream.endpoints = 2\nupstream.endpoint-list = a:80,b:80',
  );
});

test('shapes that say what they are: health, tables, before and after', () => {
  assert.deepEqual(sampleLines(dossierOf('{"a": "healthy", "b": "down"}')), [
    'endpoint_healthy{endpoint=a} 1',
    'endpoint_healthy{endpoint=b} 0',
  ]);
  assert.deepEqual(
    sampleLines(
      dossierOf(
        '{"load": 3, "workers": [{"id": 1, "requests": 40, "status": "idle"}, {"id": 2, "requests": 7, "status": "busy"}]}',
      ),
    ),
    ['load 3', 'worker_requests{worker=1,status=idle} 40', 'worker_requests{worker=2,status=busy} 7'],
  );
  assert.deepEqual(sampleLines(dossierOf('{"after_run": {"drops": 215}, "before_run": {"drops": 11}}')), [
    'drops 11',
    'drops 215 #1',
  ]);
});

test('words that no rule knows are counted as not understood', () => {
  const [source] = dossierOf('{"workers": 4, "mood": "good"}').sources;
  assert.equal(source?.understood, 1);
  assert.deepEqual(source?.foreign, [{ line: 1, text: 'mood: good' }]);
});

test('YAML is taken only when there is a setting in it', () => {
  assert.deepEqual(settingLines(dossierOf('pool:\n  max: 5\n')), ['[file] pool.size = 5 :2']);
  assert.throws(() => dossierOf('Colour: blue\nMood: fair (so far)\n'), /not a format/);
});

test('a gateway’s routes lead to services that it resolves itself', () => {
  const text = 'spring:\n  cloud:\n    gateway:\n      routes:\n      - {id: r1, uri: "lb://shop"}\n';
  assert.deepEqual(settingLines(dossierOf(text)), [
    '[route r1] route.target = shop :5',
    '[service shop] balance.policy = round-robin (implied)',
  ]);
});

test('pairs: variables and properties', () => {
  const properties = `spring.datasource.hikari.maximum-pool-size=40
spring.datasource.hikari.connection-timeout=250
spring.datasource.hikari.leak-detection-threshold=2000
`;
  const dossier = dossierOf(properties);
  assert.deepEqual(settingLines(dossier), ['[file] pool.size = 40 :1', '[file] pool.acquire-timeout = 0.25 :2']);
  assert.equal(dossier.sources[0]?.foreign[0]?.line, 3);
  assert.deepEqual(settingLines(dossierOf(samples['settings as pairs'] ?? '')), [
    '[file] pool.size = 2 :2',
    '[file] pool.acquire-timeout = 3 :3',
    '[file] route.retries = 2 :4',
  ]);
  assert.deepEqual(settingLines(dossierOf('API_CLIENT_TIMEOUT_SECONDS=30\n')), [
    '[file] downstream.request-timeout = 30 :1',
  ]);
});

test('a table without a time: a sample for each number, words are labels', () => {
  assert.deepEqual(
    sampleLines(dossierOf(samples['table with a header'] ?? '')),
    expected(`
      requests{host=a,state=up} 234
      mean_ms{host=a,state=up} 120.5
      endpoint_healthy{host=a,state=up} 1
      requests{host=b,state=down} 9
      mean_ms{host=b,state=down} 2
      endpoint_healthy{host=b,state=down} 0
    `),
  );
  assert.deepEqual(sampleLines(dossierOf('pid,cpu\n33,100\n34,7.5\n')), ['cpu{pid=33} 100', 'cpu{pid=34} 7.5']);
  assert.deepEqual(sampleLines(dossierOf('a_s;b_s\n1;2\n3;4\n')), [
    'a_s{row=1} 1',
    'b_s{row=1} 2',
    'a_s{row=2} 3',
    'b_s{row=2} 4',
  ]);
});

test('a table with a time: series, or requests where there is a status and a duration', () => {
  assert.deepEqual(seriesLines(dossierOf('time,rps,errors\n2026-04-02T07:00:10Z,5,1\n2026-04-02T07:00:00Z,4,0\n')), [
    'rps 07:00:00.000 4 5',
    'errors 07:00:00.000 0 1',
  ]);
  assert.deepEqual(
    requestLines(
      dossierOf(
        'ts,method,path,status,seconds\n2026-04-02T07:00:00Z,GET,/rpc,405,9.26\n2026-04-02T07:00:30Z,GET,/rpc,200,0.1\n',
      ),
    ),
    ['07:00:00.000 GET /rpc status=405 seconds=9.26', '07:00:30.000 GET /rpc status=200 seconds=0.1'],
  );
});

test('quotes in a table hold separators', () => {
  assert.deepEqual(sampleLines(dossierOf('name,count\n"a, b",3\n"say ""so""",4\n')), [
    'count{name=a, b} 3',
    'count{name=say "so"} 4',
  ]);
});

test('a column of numbers is named for its file', () => {
  assert.deepEqual(sampleLines(dossierOf('0.02\n2.5\n', 'logs/name-lookup.txt')), [
    'name_lookup{row=1} 0.02',
    'name_lookup{row=2} 2.5',
  ]);
});

test('statements of a database are requests that end when they are written', () => {
  assert.deepEqual(requestLines(dossierOf(samples['PostgreSQL slow statements'] ?? '')), [
    '07:00:00.100 SELECT * FROM t WHERE id = ? seconds=21.9',
    '07:00:48.500 SELECT ? seconds=1.5',
  ]);
});

test('an application’s log: what it complains about, and the state of a pool', () => {
  const dossier = dossierOf(samples['application log'] ?? '');
  assert.deepEqual(messageLines(dossier), [
    '07:00:00.500 log-info',
    '07:00:01.500 pool-timeout',
    '07:00:02.000 refused 10.7.0.11:80',
  ]);
  assert.deepEqual(seriesLines(dossier), [
    'pool_total{pool=main} 07:00:01.500 4',
    'pool_active{pool=main} 07:00:01.500 4',
    'pool_idle{pool=main} 07:00:01.500 0',
    'pool_waiting{pool=main} 07:00:01.500 9',
  ]);
});
