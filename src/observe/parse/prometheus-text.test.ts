import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier } from '../dossier.ts';

const scrape = `# HELP http_requests_total served
# TYPE http_requests_total counter
http_requests_total{pod="a"} 10 1772964000000
http_requests_total{pod="b"} 20
# TYPE latency_seconds summary
latency_seconds{quantile="0.99"} 0.31
latency_seconds_count 7
cores 1.5
broken{ 3
`;

test('every sample is a fact with its type, its line and its instant where one is written', () => {
  const { dossier } = readDossier([{ name: 'scrape.prom', text: scrape }]);
  assert.deepEqual(
    dossier.samples.map(({ name, value, type, atMs, origin }) => [name, value, type, atMs, origin.line]),
    [
      ['http_requests_total', 10, 'counter', 1772964000000, 3],
      ['http_requests_total', 20, 'counter', undefined, 4],
      ['latency_seconds', 0.31, 'gauge', undefined, 6],
      ['latency_seconds_count', 7, 'counter', undefined, 7],
      ['cores', 1.5, 'unknown', undefined, 8],
    ],
  );
  assert.deepEqual(dossier.sources[0]?.foreign, [{ line: 9, text: 'broken{ 3' }]);
});

test('several scrapes in one file are readings, with the time above each and exemplars passed over', () => {
  const text = `# 2026-04-02T07:00:00Z
# TYPE served counter
served{pod="a"} 5 # {trace_id="x y"} 0.67
served{pod="b"} 6
# 2026-04-02T07:00:30Z
served{pod="a"} 9
served{pod="b"} 16
# EOF
`;
  assert.deepEqual(
    readDossier([{ name: 'scrapes', text }]).dossier.samples.map(({ value, reading, atMs }) => [value, reading, atMs]),
    [
      [5, 0, 1_775_113_200_000],
      [6, 0, 1_775_113_200_000],
      [9, 1, 1_775_113_230_000],
      [16, 1, 1_775_113_230_000],
    ],
  );
});

test('one sample again and again with times is a series', () => {
  const text = '# TYPE a gauge\na{x="1"} 5 1775113200\na{x="1"} 6 1775113215\na{x="2"} 7 1775113230\n# EOF\n';
  const { dossier } = readDossier([{ name: 'backfill', text }]);
  assert.deepEqual(dossier.samples, []);
  assert.deepEqual(
    dossier.series.map(({ values, atMs }) => [values, atMs[0]]),
    [
      [[5, 6], 1_775_113_200_000],
      [[7], 1_775_113_230_000],
    ],
  );
});
