import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyDossier, type MessageFact, type RequestTable, type SeriesFact } from '../../record.ts';
import { dossierRemarks } from './remarks.ts';
import { table } from './testing/facts.ts';

const morning = Date.UTC(2026, 3, 2, 7);
const hour = 3_600_000;

function series(file: string, fromMs: number, toMs: number): SeriesFact {
  return { name: 'in_flight', labels: {}, atMs: [fromMs, toMs], values: [1, 2], origin: { file } };
}

function message(file: string, atMs: number): MessageFact {
  return { program: 'app', atMs, code: 'timeout', text: 'timeout', origin: { file } };
}

/** A log of twenty requests to these replicas. */
function log(file: string, replicas: readonly string[], route: string): RequestTable {
  const rows = Array.from({ length: 20 }, (_, at) => ({
    at,
    replica: replicas[at % replicas.length] ?? '',
    route,
    status: 200,
    seconds: 0.1,
  }));
  return table('nginx', rows, file);
}

test('evidence of days that do not meet is said to be that, with both times', () => {
  const dossier = {
    ...emptyDossier,
    series: [series('metrics.json', morning, morning + hour)],
    messages: [message('app.log', morning + 48 * hour)],
  };
  assert.deepEqual(dossierRemarks(dossier), [
    'times that do not meet: metrics.json until 2026-04-02T08:00:00, app.log from 2026-04-04T07:00:00 on; nothing in one explains the other, unless a clock is wrong',
  ]);
});

test('runs of one morning belong together, and so does a log that begins when another ends', () => {
  const dossier = {
    ...emptyDossier,
    series: [
      series('first.json', morning, morning + hour),
      series('second.json', morning + 3 * hour, morning + 4 * hour),
    ],
    messages: [message('app.log', morning + 4 * hour)],
  };
  assert.deepEqual(dossierRemarks(dossier), []);
});

test('two logs that share nothing may be of two systems', () => {
  const dossier = {
    ...emptyDossier,
    requests: [log('shop.log', ['10.0.0.1', '10.0.0.2'], 'GET /cart'), log('bank.log', ['10.9.0.1'], 'POST /transfer')],
  };
  const [remark = ''] = dossierRemarks(dossier);
  assert.match(
    remark,
    /^shop\.log and bank\.log share no replica, service, route or client: they may be of different systems/,
  );
});

test('one replica in common, with or without its port, is enough to belong together', () => {
  const dossier = {
    ...emptyDossier,
    requests: [log('edge.log', ['10.0.0.1:80'], 'GET /'), log('inner.log', ['10.0.0.1', '10.0.0.7'], 'POST /x')],
  };
  assert.deepEqual(dossierRemarks(dossier), []);
});
