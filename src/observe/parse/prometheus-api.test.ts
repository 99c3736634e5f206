import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier } from '../dossier.ts';
import { dossierOf, sampleLines, seriesLines } from '../testing/facts.ts';

test('a matrix gives series; a gap that was written as NaN is no point', () => {
  const text =
    '{"status":"success","data":{"resultType":"matrix","result":[' +
    '{"metric":{"__name__":"up","pod":"a"},"values":[[1775113200.5,"4"],[1775113215.5,"NaN"],[1775113230.5,"+Inf"]]},' +
    '{"metric":{"pod":"b"},"values":[[1775113200.5,"1e3"]]}]}}';
  const dossier = dossierOf(text);
  assert.deepEqual(seriesLines(dossier), ['up{pod=a} 07:00:00.500 4 Infinity', 'query{pod=b} 07:00:00.500 1000']);
});

test('vectors and scalars give samples, and the same question asked again is another reading', () => {
  const answer = (value: number): string =>
    `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"served_total"},"value":[1775113200,"${value}"]}]}}`;
  assert.deepEqual(sampleLines(dossierOf(`${answer(4)}\n${answer(9)}\n`)), ['served_total +4', 'served_total +9 #1']);
  const scalar = '{"status":"success","data":{"resultType":"scalar","result":[1775113200,"7"]}}';
  assert.deepEqual(sampleLines(dossierOf(scalar)), ['query 7']);
});

test('an error is told to the person, and a cut answer too', () => {
  const { dossier, problems } = readDossier([
    { name: 'a.json', text: '{"status":"error","errorType":"bad_data","error":"parse error at char 3"}' },
    { name: 'b.json', text: '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up"' },
  ]);
  assert.equal(dossier.messages[0]?.code, 'query-bad-data');
  assert.deepEqual(problems, [
    'a.json: Prometheus answered with an error: parse error at char 3',
    'b.json: the JSON is cut off or broken: ask Prometheus again and keep the whole answer',
  ]);
});
