// Answers of Prometheus' HTTP API: `/api/v1/query_range` (a matrix: series), `/api/v1/query` (a vector or a scalar: samples),
// and what went wrong. Values are texts, since JSON knows no NaN and no infinity.
//
//   {"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":…},"values":[[1772964000,"50"],…]}]}}
//
// A whole answer may be one line of several, as a loop of `curl` leaves it.

import type { WholeFormat } from './format.ts';
import { isJsonWith, isObject } from './json-tree.ts';
import type { Sink } from './sink.ts';
import { parseJson } from './tree.ts';

const program = 'prometheus';

export const prometheusApi: WholeFormat = {
  kind: 'whole',
  name: 'Prometheus HTTP API',
  recognise(head) {
    if (isJsonWith(head, 'status', 'data', 'resultType', 'result')) return 1;
    return isJsonWith(head, 'status', 'errorType', 'error') ? 0.95 : 0;
  },
  read(text, sink) {
    const whole = parseJson(text);
    if (isObject(whole)) {
      readAnswer(whole, sink, 1);
      return;
    }
    let answers = 0;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const answer = parseJson(line);
      if (!isObject(answer)) {
        sink.foreign(index + 1, line);
        continue;
      }
      // The same question asked twice gives two readings; different questions are one.
      if (answers > 0 && answer['data'] !== undefined && isVector(answer['data'])) sink.nextReading();
      answers += 1;
      readAnswer(answer, sink, index + 1);
    }
    if (answers === 0) sink.remark('the JSON is cut off or broken: ask Prometheus again and keep the whole answer');
  },
};

function isVector(data: unknown): boolean {
  return isObject(data) && data['resultType'] === 'vector';
}

function readAnswer(answer: Readonly<Record<string, unknown>>, sink: Sink, line: number): void {
  const { status, data, error, errorType, warnings, infos } = answer;
  if (status === 'error' || error !== undefined) {
    const code = `query-${typeof errorType === 'string' ? errorType.replaceAll('_', '-') : 'error'}`;
    sink.message({ program, atMs: undefined, code, text: String(error), line });
    sink.remark(`Prometheus answered with an error: ${String(error).slice(0, 200)}`);
    sink.understood();
  }
  for (const warning of [warnings, infos].flatMap((list) => (Array.isArray(list) ? list.map(String) : []))) {
    sink.message({ program, atMs: undefined, code: 'query-warning', text: warning, line });
    sink.understood();
  }
  if (!isObject(data)) return;
  const { resultType, result } = data;
  if (resultType === 'scalar' || resultType === 'string') readScalar(result, sink, line);
  else if (Array.isArray(result)) for (const one of result) readSeries(one, sink, line);
}

function readScalar(result: unknown, sink: Sink, line: number): void {
  const point = pointOf(result);
  if (point === undefined) return;
  sink.sample('query', {}, point.value, { atMs: point.atMs, line });
  sink.understood();
}

function readSeries(one: unknown, sink: Sink, line: number): void {
  const metric = isObject(one) ? one['metric'] : undefined;
  if (!isObject(one) || !isObject(metric)) {
    sink.foreign(line, JSON.stringify(one).slice(0, 100));
    return;
  }
  const { __name__: written, ...rest } = metric;
  const labels = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, String(value)]));
  // An expression has no name of its own.
  const name = typeof written === 'string' ? written : 'query';
  const { value, values } = one;
  if (Array.isArray(values)) {
    const points = values.flatMap((pair) => pointOf(pair) ?? []).filter((point) => !Number.isNaN(point.value));
    sink.series(name, labels, points, line);
    sink.understood();
    return;
  }
  const point = pointOf(value);
  if (point === undefined) {
    // A native histogram has no single number.
    sink.foreign(line, `${name}: neither value nor values`);
    return;
  }
  const type = /_(?:total|count|sum|bucket)$/.test(name) ? 'counter' : 'unknown';
  sink.sample(name, labels, point.value, { atMs: point.atMs, type, line });
  sink.understood();
}

/** `[1772964000.5, "50"]`: seconds and a text. */
function pointOf(pair: unknown): { readonly atMs: number; readonly value: number } | undefined {
  if (!isList(pair)) return undefined;
  const [at, written] = pair;
  if (typeof at !== 'number' || (typeof written !== 'string' && typeof written !== 'number')) return undefined;
  return { atMs: at * 1000, value: numberOf(written) };
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function numberOf(written: string | number): number {
  if (typeof written === 'number') return written;
  if (/^\+?Inf$/.test(written)) return Number.POSITIVE_INFINITY;
  if (written === '-Inf') return Number.NEGATIVE_INFINITY;
  return written.trim() === '' ? Number.NaN : Number(written);
}
