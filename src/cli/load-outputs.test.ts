// One run of `plimsoll load` told in every way there is, before a server that counts: all of them agree with it to the request.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { parsePrometheus } from '../observe.ts';
import { readRecord } from '../record.ts';
import { plimsoll, startPlimsoll, type Ended } from './testing/run-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-outputs-'));
const file = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(file(name), 'utf8');
after(() => rmSync(folder, { recursive: true }));

/** Answers: two in three are good, by two replicas in turn. */
let served = 0;
let good = 0;
const server = http.createServer((_request, response) => {
  served += 1;
  const bad = served % 3 === 0;
  if (!bad) good += 1;
  response.writeHead(bad ? 503 : 200, { 'x-plimsoll-replica': `api-${(served % 2) + 1}` });
  response.end('hello');
});
/** What the collector was sent, newest last. */
const exports: unknown[] = [];
const collector = http.createServer((request, response) => {
  let body = '';
  request.on('data', (piece: Buffer) => (body += piece.toString()));
  request.on('end', () => {
    assert.equal(request.url, '/v1/metrics');
    assert.equal(request.headers['x-key'], 'k1');
    exports.push(JSON.parse(body));
    response.end('{}');
  });
});

const portOf = (one: http.Server): number => (one.address() as AddressInfo).port;
const listening = (one: http.Server): Promise<void> => new Promise((resolve) => one.listen(0, '127.0.0.1', resolve));

let ended: Ended;
/** What `/metrics` said while the run went on, newest last. */
const scrapes: string[] = [];

before(async () => {
  await Promise.all([listening(server), listening(collector)]);
  const files = `--csv ${file('run.csv')} --junit ${file('run.xml')} --hgrm ${file('run.hgrm')} --hlog ${file('run.hlog')} --record ${file('run.jsonl')}`;
  const words = [
    ...`load http://127.0.0.1:${portOf(server)}/ -c 4 -R 300 -d 1500ms --json ${files} --prometheus 0`.split(' '),
    ...`--json-file ${file('run.json')} --otlp http://127.0.0.1:${portOf(collector)} --otlp-header`.split(' '),
    'x-key: k1',
    '--objective',
    'http_req_failed: rate<0.1',
    '--objective',
    'http_reqs: count>10',
  ];
  const started = startPlimsoll(words);
  let talk = '';
  started.child.stderr?.on('data', (piece: Buffer) => (talk += piece.toString()));
  const scrape = setInterval(() => {
    const port = /metrics at port (\d+)/.exec(talk)?.[1];
    if (port === undefined) return;
    fetch(`http://127.0.0.1:${port}/metrics`)
      .then((response) => response.text())
      .then((text) => scrapes.push(text))
      .catch(() => {});
  }, 50);
  ended = await started.ended;
  clearInterval(scrape);
  server.close();
  collector.close();
});

const result = z.object({
  ledger: z.object({
    planned: z.number(),
    answered: z.number(),
    failed: z.number(),
    in_flight_at_end: z.number(),
    never_sent: z.number(),
  }),
  errorsByKind: z.record(z.string(), z.number()),
});

test('the ledger is what the server counted, on the screen and in the file alike, and an objective that fails is 99', () => {
  assert.equal(ended.code, 99, ended.stderr);
  assert.deepEqual(JSON.parse(ended.stdout), JSON.parse(read('run.json')));
  const { ledger, errorsByKind } = result.parse(JSON.parse(ended.stdout));
  assert.equal(ledger.answered, good);
  assert.equal(ledger.failed, served - good);
  assert.equal(errorsByKind['status-5xx'], served - good);
});

test('the columns of the table add up to the ledger', () => {
  const [head = '', ...rows] = read('run.csv').trim().split('\n');
  const names = head.split(',');
  const table = rows.map((row) => new Map(row.split(',').map((cell, index) => [names[index] ?? '', cell])));
  const sum = (of: string, column: string): number =>
    table.filter((row) => row.get('of') === of).reduce((total, row) => total + Number(row.get(column)), 0);
  const { ledger } = result.parse(JSON.parse(ended.stdout));
  for (const column of ['planned', 'answered', 'failed', 'in_flight_at_end', 'never_sent'] as const) {
    assert.equal(sum('group', column), ledger[column], column);
  }
  assert.equal(sum('replica', 'answers'), served);
  assert.ok(rows.every((row) => row.split(',').length === names.length));
});

test('the files of HdrHistogram hold every answer, as its own library reads them', async () => {
  const { decodeFromCompressedBase64 } = await import('hdr-histogram-js');
  const lines = read('run.hlog')
    .trim()
    .split('\n')
    .filter((line) => /^[\d.]+,/.test(line));
  const counts = lines.map((line) => decodeFromCompressedBase64(line.split(',')[3] ?? '').totalCount);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    served,
  );
  assert.match(read('run.hlog'), /^Tag=api-1,/m);
  assert.match(read('run.hgrm'), new RegExp(`Total count\\s+=\\s+${served}\\]`));
});

test('the collector was sent sums that end at what the server counted', () => {
  const point = z.object({
    attributes: z.array(z.object({ key: z.string(), value: z.object({ stringValue: z.string() }) })),
    asInt: z.string().optional(),
    count: z.string().optional(),
  });
  const metric = z.object({
    name: z.string(),
    sum: z.object({ dataPoints: z.array(point), aggregationTemporality: z.literal(2) }).optional(),
    exponentialHistogram: z.object({ dataPoints: z.array(point) }).optional(),
  });
  const request = z.object({
    resourceMetrics: z.array(z.object({ scopeMetrics: z.array(z.object({ metrics: z.array(metric) })) })),
  });
  const last = request.parse(exports.at(-1)).resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
  const named = (name: string) => last.find((each) => each.name === name);
  const how = named('plimsoll.load.ended')?.sum?.dataPoints.find(({ attributes }) =>
    attributes.some(({ value }) => value.stringValue === 'answered'),
  );
  assert.equal(how?.asInt, String(good));
  assert.equal(named('plimsoll.load.latency')?.exponentialHistogram?.dataPoints[0]?.count, String(served));
});

test('what Prometheus is served is read whole by a reader of its format, and never goes down', () => {
  const seen: number[] = [];
  for (const text of scrapes) {
    const { samples, foreign, types } = parsePrometheus(text);
    assert.deepEqual(foreign, []);
    assert.equal(types.get('plimsoll_load_cpu_seconds_total'), 'counter');
    for (const { name, labels, value } of samples) {
      if (name === 'plimsoll_load_latency_seconds_bucket' && labels['le'] === '+Inf') seen.push(value);
    }
  }
  assert.ok(seen.length > 0, `${scrapes.length} scrapes`);
  assert.deepEqual(
    seen,
    seen.toSorted((one, other) => one - other),
  );
});

test('the record is whole, adds up to what the server counted, and is not written over', async () => {
  const reading = readRecord(read('run.jsonl'));
  if ('problem' in reading) assert.fail(reading.problem.message);
  const { header, topology, phases, complete } = reading.record;
  const [phase] = phases;
  assert.deepEqual([header.world, complete, phase?.ledgers[0]?.answered], ['live', true, good]);
  assert.deepEqual(
    topology.services[0]?.replicas.map(({ id }) => id),
    ['api-1', 'api-2'],
  );
  const finished = phase?.ticks.flatMap(({ replicas }) => replicas.map((replica) => replica.finished ?? 0)) ?? [];
  assert.equal(
    finished.reduce((sum, count) => sum + count, 0),
    served,
  );
  assert.ok(phase?.ticks.every(({ replicas }) => replicas.every((replica) => (replica.in_flight_mean ?? 0) > 0)));
  const again = await plimsoll(...`load http://127.0.0.1:9/ --anyway -d 1 --record ${file('run.jsonl')}`.split(' '));
  assert.equal(again.code, 2);
  assert.match(again.stderr, /--record .*: it is there already, and no record is written over/);
});

test('JUnit has a case for each objective and one for the ruler', () => {
  const text = read('run.xml');
  assert.match(text, /<testcase classname="plimsoll.load" name="http_req_failed rate&lt;0.1">\n\s+<(?:failure|error) /);
  assert.match(text, /name="http_reqs count&gt;10"\/>/);
  assert.match(text, /name="the generator was not the limit"/);
});

test('files and addresses that cannot be had are told at once, before the run', async () => {
  const nowhere = join(folder, 'no', 'such', 'folder');
  const { code, stderr } = await plimsoll(
    ...`load http://127.0.0.1:9/ --anyway -d 1 --csv ${nowhere} --otlp collector:4318 --prometheus 70000`.split(' '),
  );
  assert.equal(code, 2);
  assert.match(stderr, /--otlp: "collector:4318" is no URL; expected one such as http:\/\/collector:4318/);
  assert.match(stderr, /--prometheus: found "70000"/);
});
