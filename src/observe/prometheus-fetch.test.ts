// Asked of a small server that behaves as Prometheus does, and of Prometheus itself where it is installed.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readDossier } from './dossier.ts';
import { fetchPrometheus, type PrometheusFetched, type PrometheusQuery } from './prometheus-fetch.ts';

const fromMs = 1_772_000_000_000;
const hour = { fromMs, toMs: fromMs + 3_600_000 };

type Answer = (url: URL, response: ServerResponse) => void;

/** A server for one test. */
async function serving(answer: Answer): Promise<string> {
  const server = createServer((request: IncomingMessage, response) =>
    answer(new URL(request.url ?? '/', 'http://x'), response),
  );
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return `http://127.0.0.1:${address.port}`;
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

const names = [
  'http_requests_total',
  'queue_length',
  'http_request_duration_seconds_bucket',
  'prometheus_tsdb_head_series',
  'moon_phase',
];

/** As Prometheus answers: names, and for each selector one series of three values. */
const usual: Answer = (url, response) => {
  if (url.pathname.endsWith('/label/__name__/values')) return json(response, { status: 'success', data: names });
  const name = /__name__="(\w+)"/.exec(url.searchParams.get('query') ?? '')?.[1];
  const start = Number(url.searchParams.get('start'));
  const values = [0, 1, 2].map((at) => [start + 15 * at, String(10 * at)]);
  return json(response, {
    status: 'success',
    data: { resultType: 'matrix', result: [{ metric: { __name__: name, pod: 'a' }, values }] },
    ...(name === 'queue_length' ? { warnings: ['a store was not reached'] } : {}),
  });
};

function answerOf(fetched: PrometheusFetched): Extract<PrometheusFetched, { answer: unknown }>['answer'] {
  assert.ok('answer' in fetched, JSON.stringify(fetched));
  return fetched.answer;
}

async function problemOf(query: PrometheusQuery): Promise<string> {
  const fetched = await fetchPrometheus(query);
  assert.ok('problem' in fetched, JSON.stringify(fetched));
  return fetched.problem;
}

test('metrics that say something are asked for over the time, the rest is left where it is', async () => {
  const asked: URL[] = [];
  const url = await serving((one, response) => {
    asked.push(one);
    usual(one, response);
  });
  const answer = answerOf(await fetchPrometheus({ url: `${url}/`, ...hour }));
  assert.equal(answer.series, 2);
  assert.match(answer.remarks[0] ?? '', /^2 of 5 metrics asked for, every 15 s: 2 series$/);
  assert.ok(answer.remarks.includes('queue_length: a store was not reached'));
  const questions = asked.filter(({ pathname }) => pathname === '/api/v1/query_range');
  assert.deepEqual(questions.map(({ searchParams }) => String(searchParams.get('query'))).toSorted(), [
    '{__name__="http_requests_total"}',
    '{__name__="queue_length"}',
  ]);
  for (const { searchParams } of questions) {
    assert.deepEqual(
      ['start', 'end', 'step'].map((key) => Number(searchParams.get(key))),
      [fromMs / 1000, fromMs / 1000 + 3600, 15],
    );
  }
  const { dossier, problems } = readDossier([{ name: 'prometheus', text: answer.text }]);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    dossier.series.map(({ name, labels, values }) => `${name} ${labels['pod']} ${values.join()}`).toSorted(),
    ['http_requests_total a 0,10,20', 'queue_length a 0,10,20'],
  );
});

test('one metric that is refused is missing, with the reason; the others come', async () => {
  const url = await serving((one, response) => {
    if (one.searchParams.get('query')?.includes('queue_length') === true) {
      json(
        response,
        { status: 'error', errorType: 'execution', error: 'query processing would load too many samples into memory' },
        422,
      );
    } else usual(one, response);
  });
  const { series, remarks } = answerOf(await fetchPrometheus({ url, ...hour }));
  assert.equal(series, 1);
  assert.ok(
    remarks.some((remark) =>
      /^1 of 2 metrics were not answered, and are missing: queue_length: .* answered 422 \(execution\): query processing/.test(
        remark,
      ),
    ),
    remarks.join('\n'),
  );
});

test('what the server refuses altogether is a problem in its own words', async () => {
  const bad = await serving((_, response) =>
    json(response, { status: 'error', errorType: 'bad_data', error: 'invalid parameter "start"' }, 400),
  );
  assert.match(await problemOf({ url: bad, ...hour }), /answered 400 \(bad_data\): invalid parameter "start"/);
  const down = await serving((_, response) =>
    json(response, { status: 'error', errorType: 'unavailable', error: 'TSDB not ready' }, 503),
  );
  assert.match(await problemOf({ url: down, ...hour }), /answered 503 \(unavailable\): TSDB not ready/);
});

test('another server, nobody, somebody who says nothing, a time without metrics: each in its own words', async () => {
  const page = await serving((_, response) => response.end('<html>'));
  assert.match(
    await problemOf({ url: page, ...hour }),
    /answered 200 and no JSON of Prometheus; expected the address of its HTTP API/,
  );
  assert.match(
    await problemOf({ url: `http://127.0.0.1:${await freePort()}`, ...hour }),
    /refuses connections: nobody listens there/,
  );
  const silent = await serving(() => undefined);
  assert.match(await problemOf({ url: silent, ...hour, patienceSeconds: 0.05 }), /did not answer within 0\.05 s/);
  const empty = await serving((_, response) => json(response, { status: 'success', data: [] }));
  assert.match(await problemOf({ url: empty, ...hour }), /has no metric between 2026-02-25T/);
});

test('a time that ends before it begins, and more values than Prometheus gives, are not asked for', async () => {
  assert.match(await problemOf({ url: 'http://127.0.0.1:1', fromMs: 10, toMs: 10 }), /ends before it begins/);
  assert.match(
    await problemOf({ url: 'http://127.0.0.1:1', ...hour, stepSeconds: 0.1 }),
    /36000 values a series are more than the 11000/,
  );
});

const present =
  spawnSync('prometheus', ['--version']).status === 0 && spawnSync('promtool', ['--version']).status === 0;

test(
  'Prometheus itself gives what was put into it',
  { skip: present ? false : 'prometheus is not installed', timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-prometheus-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const begin = Math.floor(Date.now() / 1000) - 3600;
    const lines = Array.from({ length: 20 }, (_, at) => begin + 15 * at).flatMap((seconds, at) => [
      `http_requests_total{pod="a"} ${100 * at} ${seconds}`,
      `http_requests_total{pod="b"} ${at} ${seconds}`,
    ]);
    const sorted = ['a', 'b'].flatMap((pod) => lines.filter((line) => line.includes(`"${pod}"`)));
    writeFileSync(join(folder, 'metrics.txt'), `# TYPE http_requests counter\n${sorted.join('\n')}\n# EOF\n`);
    const blocks = spawnSync(
      'promtool',
      ['tsdb', 'create-blocks-from', 'openmetrics', join(folder, 'metrics.txt'), join(folder, 'data')],
      { encoding: 'utf8' },
    );
    assert.equal(blocks.status, 0, blocks.stderr);
    writeFileSync(join(folder, 'prometheus.yml'), 'global: {scrape_interval: 1h}\n');
    const port = await freePort();
    const server = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    after(() => server.kill('SIGKILL'));
    await new Promise<void>((ready) => {
      // Read to the end: a program that writes into a closed pipe dies of it.
      server.stderr.on('data', (chunk) => String(chunk).includes('Server is ready') && ready());
    });
    const query = {
      url: `http://127.0.0.1:${port}`,
      fromMs: begin * 1000,
      toMs: (begin + 285) * 1000,
      stepSeconds: 15,
    };
    const { text, series } = answerOf(await fetchPrometheus(query));
    assert.equal(series, 2);
    const { dossier } = readDossier([{ name: 'prometheus', text }]);
    assert.deepEqual(
      dossier.series
        .map(({ labels, values }) => `${labels['pod']} ${values[0]} ${values.at(-1)} of ${values.length}`)
        .toSorted(),
      ['a 0 1900 of 20', 'b 0 19 of 20'],
    );
    assert.match(await problemOf({ ...query, fromMs: 0, toMs: 1000 }), /has no metric between 1970/);
  },
);

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}
