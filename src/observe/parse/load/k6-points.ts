// k6's output of single measurements, as JSON lines (`--out json=…`) or as CSV (`--out csv=…`). A request is written as some
// points, one a metric, all stamped with its end; the point of its duration carries the tags that say what it was.
//
//   {"type":"Point","metric":"http_req_duration","data":{"time":"…","value":44.1,"tags":{"method":"GET","status":"200",…}}}
//   metric_name,timestamp,metric_value,check,error,error_code,…,method,name,…,status,…
//
// Requests become a table, users and dropped iterations series, all of it together one result.

import { type LineFormat, type LineReader, shareOfLines } from '../format.ts';
import { leadingInstant, parseInstant } from '../instants.ts';
import { isObject, objectOf } from '../json-tree.ts';
import { splitCells } from '../plain-table.ts';
import { Points } from '../points.ts';
import { parseNumber } from '../quantities.ts';
import { blankRow, clearRow } from '../request-table.ts';
import type { Sink } from '../sink.ts';
import { withoutQuery } from '../access-row.ts';
import { put, runOf } from './draft.ts';
import { LoadTally } from './tally.ts';

type Tags = Readonly<Record<string, unknown>>;

export const k6Json: LineFormat = {
  kind: 'lines',
  name: 'k6 JSON output',
  recognise(head) {
    const share = shareOfLines(
      head,
      (line) => /^\{.*"type":"(?:Point|Metric)"/.test(line) && line.includes('"metric"'),
    );
    return share === 0 ? 0 : 0.7 + 0.3 * share;
  },
  open(sink) {
    const points = new K6Points(sink);
    return {
      line(text) {
        const object = objectOf(text);
        const data = object?.['data'];
        if (object === undefined || !isObject(data)) return false;
        if (object['type'] !== 'Point') return object['type'] === 'Metric';
        const { time, value, tags } = data;
        const at = typeof time === 'string' ? leadingInstant(time)?.ms : undefined;
        if (at === undefined || typeof value !== 'number') return false;
        points.add(String(object['metric']), at, value, isObject(tags) ? tags : {});
        return true;
      },
      end: () => points.finish(),
    };
  },
};

export const k6Csv: LineFormat = {
  kind: 'lines',
  name: 'k6 CSV output',
  recognise: (head) => (/^metric_name,timestamp,metric_value,/m.test(head.slice(0, 2000)) ? 1 : 0),
  open: k6CsvReader,
};

function k6CsvReader(sink: Sink): LineReader {
  const points = new K6Points(sink);
  let columns: string[] = [];
  return {
    line(text) {
      if (text.startsWith('metric_name,')) {
        columns = text.split(',');
        return true;
      }
      const cells = splitCells(text, ',');
      const [metric = '', time, value] = cells;
      const at = parseInstant(time)?.ms;
      const number = parseNumber(value);
      if (columns.length === 0 || at === undefined || number === undefined) return false;
      const tags: Record<string, string> = {};
      for (const [index, cell] of cells.entries()) if (index > 2 && cell !== '') tags[columns[index] ?? ''] = cell;
      points.add(metric, at, number, tags);
      return true;
    },
    end: () => points.finish(),
  };
}

class K6Points {
  readonly #sink: Sink;
  readonly #points = new Points();
  readonly #tally = new LoadTally();
  readonly #row = blankRow();
  #usersMax: number | undefined;
  #users: number | undefined;
  #dropped = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  add(metric: string, atMs: number, value: number, tags: Tags): void {
    switch (metric) {
      case 'http_req_duration':
      case 'grpc_req_duration':
        this.#request(atMs, value / 1000, tags);
        return;
      case 'http_req_connecting':
        this.#tally.addConnect(value / 1000);
        return;
      case 'vus':
        this.#users = Math.max(this.#users ?? 0, value);
        this.#points.add('k6_vus', {}, atMs, value);
        return;
      case 'vus_max':
        this.#usersMax = Math.max(this.#usersMax ?? 0, value);
        this.#points.add('k6_vus_max', {}, atMs, value);
        return;
      case 'dropped_iterations':
        this.#dropped += value;
        this.#points.add('k6_dropped_iterations', {}, atMs, value);
        return;
      default:
    }
  }

  #request(endMs: number, seconds: number, tags: Tags): void {
    const status = Number(tagOf(tags, 'status') ?? -1);
    const error = tagOf(tags, 'error') ?? tagOf(tags, 'error_code');
    const failed = error !== undefined || tagOf(tags, 'expected_response') === 'false';
    const startMs = endMs - seconds * 1000;
    this.#tally.add(startMs, seconds, status, failed ? (error ?? '') : undefined);
    const table = this.#sink.requests('k6');
    if (!table.wants()) return;
    const row = this.#row;
    clearRow(row);
    row.startMs = startMs;
    row.seconds = seconds;
    row.status = Number.isInteger(status) && status > 0 && status < 1000 ? status : -1;
    const target = tagOf(tags, 'name') ?? tagOf(tags, 'url');
    row.route = target === undefined ? undefined : `${tagOf(tags, 'method') ?? ''} ${withoutQuery(target)}`.trim();
    row.client = tagOf(tags, 'scenario');
    row.flag = error?.slice(0, 120);
    table.add(row);
  }

  finish(): void {
    this.#points.write(this.#sink);
    if (this.#tally.requests === 0) return;
    const draft = this.#tally.finish('k6', runOf(this.#sink));
    put(draft, 'dropped', this.#dropped);
    put(draft, 'users', this.#users);
    put(draft, 'usersMax', this.#usersMax);
    this.#sink.result(draft);
  }
}

function tagOf(tags: Tags, name: string): string | undefined {
  const value = tags[name];
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
}
