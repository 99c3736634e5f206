// vegeta's reports (text and JSON) and its single results (`vegeta encode`, JSON lines or CSV).
//
//   Requests      [total, rate, throughput]         6000, 100.02, 99.98
//   Latencies     [min, mean, 50, 90, 95, 99, max]  1ms, 12ms, 11ms, 20ms, 25ms, 40ms, 90ms
//   Status Codes  [code:count]                      0:12  200:5988
//
// vegeta sends by a clock: its load is open. A status of 0 is a request without an answer.

import { type LineFormat, type LineReader, shareOfLines, type WholeFormat } from '../format.ts';
import { parseInstant } from '../instants.ts';
import { isJsonWith, jsonTree, numberAt, numbersIn, objectOf } from '../json-tree.ts';
import { withoutQuery } from '../access-row.ts';
import { splitCells } from '../plain-table.ts';
import { parseNumber, parseSeconds } from '../quantities.ts';
import { blankRow, clearRow } from '../request-table.ts';
import type { Sink } from '../sink.ts';
import { itemsAt, under } from '../tree.ts';
import { latenciesOf, type LoadDraft, put, runOf, scaled } from './draft.ts';
import { errorKind, LoadTally } from './tally.ts';

const tool = 'vegeta';
const reportRow = /^(Requests|Duration|Latencies|Bytes In|Bytes Out|Success|Status Codes)\s+\[([^\]]*)\]\s+(.*)$/;

export const vegetaReport: WholeFormat = {
  kind: 'whole',
  name: 'vegeta report',
  recognise: (head) => (/^Requests\s+\[total, rate/m.test(head) && /^Latencies\s+\[/m.test(head) ? 1 : 0),
  read(text, sink) {
    const draft: LoadDraft = { tool, run: runOf(sink) };
    const kinds: Record<string, number> = {};
    let inErrors = false;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const row = reportRow.exec(line);
      if (row !== null) {
        inErrors = false;
        readRow(row[1] ?? '', row[2] ?? '', row[3] ?? '', draft);
      } else if (line.startsWith('Error Set:')) inErrors = true;
      else if (inErrors) {
        // Each different error once, without a count.
        const kind = errorKind(line);
        kinds[kind] = (kinds[kind] ?? 0) + 1;
        sink.message({ program: tool, atMs: undefined, code: kind, text: line, line: index + 1 });
      } else {
        sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
    }
    finish(draft, sink);
  },
};

function readRow(name: string, columns: string, values: string, draft: LoadDraft): void {
  const cells = values.split(/,\s*/);
  const [first] = cells;
  if (name === 'Requests') {
    put(draft, 'requests', parseNumber(first));
    put(draft, 'ratePerSecond', parseNumber(cells[1]));
  } else if (name === 'Duration') put(draft, 'seconds', parseSeconds(first));
  else if (name === 'Success') {
    const share = parseNumber((first ?? '').replace('%', ''));
    if (share !== undefined && draft.requests !== undefined) {
      put(draft, 'errors', Math.round(draft.requests * (1 - share / 100)));
    }
  } else if (name === 'Latencies') {
    const times: Record<string, number> = {};
    for (const [index, column] of columns.split(/,\s*/).entries()) {
      const seconds = parseSeconds(cells[index]);
      if (seconds !== undefined) times[column] = seconds;
    }
    put(draft, 'latency', latenciesOf(times, 1));
  } else if (name === 'Status Codes') {
    const counts = [...values.matchAll(/(\d+):(\d+)/g)].map((found) => [found[1] ?? '', Number(found[2])] as const);
    put(draft, 'statuses', Object.fromEntries(counts));
  }
}

function finish(draft: LoadDraft, sink: Sink): void {
  sink.result(draft);
  const setting = { program: 'load-generator', scope: draft.run };
  sink.setting({ ...setting, key: 'load.tool', value: tool });
  sink.setting({ ...setting, key: 'load.model', value: 'open', implied: true });
}

export const vegetaJson: WholeFormat = {
  kind: 'whole',
  name: 'vegeta report as JSON',
  recognise: (head) => (isJsonWith(head, 'latencies', 'bytes_in', 'throughput') ? 1 : 0),
  read(text, sink) {
    // `-every` leaves one report a line: the last holds all.
    const lines = text.split('\n').filter((line) => line.trim().startsWith('{"latencies"'));
    const tree = jsonTree(lines.at(-1) ?? text);
    const draft: LoadDraft = { tool, run: runOf(sink) };
    put(draft, 'requests', numberAt(tree, 'requests'));
    put(draft, 'ratePerSecond', numberAt(tree, 'rate'));
    put(draft, 'seconds', scaled(numberAt(tree, 'duration'), 1e-9));
    const success = numberAt(tree, 'success');
    if (success !== undefined && draft.requests !== undefined) {
      put(draft, 'errors', Math.round(draft.requests * (1 - success)));
    }
    const { total: _, ...times } = numbersIn(under(tree, 'latencies'));
    put(draft, 'latency', latenciesOf(times, 1e-9));
    put(draft, 'statuses', numbersIn(under(tree, 'status_codes')));
    const buckets = Object.entries(numbersIn(under(tree, 'buckets')));
    if (buckets.length > 0) {
      put(
        draft,
        'histogram',
        buckets.map(([from, count]) => ({ seconds: Number(from) / 1e9, count })),
      );
    }
    for (const error of itemsAt(tree, 'errors')) {
      const words = error.kind === 'scalar' ? String(error.value) : '';
      sink.message({ program: tool, atMs: undefined, code: errorKind(words), text: words });
    }
    sink.understood();
    finish(draft, sink);
  },
};

export const vegetaResults: LineFormat = {
  kind: 'lines',
  name: 'vegeta results',
  recognise(head) {
    const json = shareOfLines(head, (line) => /^\{"attack":.*"latency":\d+/.test(line));
    const csv = shareOfLines(head, (line) => /^\d{19},\d{1,3},\d+,\d+,\d+,/.test(line));
    const share = Math.max(json, csv);
    return share === 0 ? 0 : 0.7 + 0.3 * share;
  },
  open: vegetaResultsReader,
};

function vegetaResultsReader(sink: Sink): LineReader {
  const tally = new LoadTally();
  const row = blankRow();
  const add = (startMs: number, nanoseconds: number, status: number, error: string, asked: string): void => {
    const seconds = nanoseconds / 1e9;
    tally.add(startMs, seconds, status, error !== '' ? error : status >= 400 ? '' : undefined);
    const table = sink.requests(tool);
    if (!table.wants()) return;
    clearRow(row);
    row.startMs = startMs;
    row.seconds = seconds;
    row.status = status > 0 && status < 1000 ? status : -1;
    row.route = asked === '' ? undefined : asked;
    row.flag = error === '' ? undefined : errorKind(error);
    table.add(row);
  };
  return {
    line(text) {
      const object = objectOf(text);
      if (object !== undefined) {
        const at = parseInstant(object['timestamp']);
        const latency = parseNumber(object['latency']);
        if (at === undefined || latency === undefined) return false;
        const { method, url, error } = object;
        const asked =
          typeof url === 'string' ? `${typeof method === 'string' ? method : 'GET'} ${withoutQuery(url)}` : '';
        add(at.ms, latency, parseNumber(object['code']) ?? 0, typeof error === 'string' ? error : '', asked);
        return true;
      }
      const [time = '', code, latency, , , error = '', , , , method = '', url = ''] = splitCells(text, ',');
      const nanoseconds = parseNumber(latency);
      if (!/^\d{19}$/.test(time) || nanoseconds === undefined) return false;
      const asked = url === '' ? '' : `${method} ${withoutQuery(url)}`;
      add(Number(time) / 1e6, nanoseconds, parseNumber(code) ?? 0, error, asked);
      return true;
    },
    end() {
      if (tally.requests > 0) finish(tally.finish(tool, runOf(sink)), sink);
    },
  };
}
