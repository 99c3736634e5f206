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
