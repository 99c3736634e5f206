// What Gatling prints at its end.
//
//   ---- Global Information ------------------------------
//   > request count                 10000 (OK=9000   KO=1000  )
//   > response time 99th percentile 30000 (OK=29000  KO=60000 )
//   ---- Errors ------------------------------------------
//   > j.n.ConnectException: Cannot assign requested address   1000 (100.0%)
//
// Times are milliseconds. Newer versions separate the three columns by bars.

import type { WholeFormat } from '../format.ts';
import { parseNumber } from '../quantities.ts';
import { type LoadDraft, put, quantileKey, runOf } from './draft.ts';
import { errorKind } from './tally.ts';

const tool = 'gatling';
const figure =
  /^> (request count|min response time|max response time|mean response time|std deviation|response time \d+(?:\.\d+)?th percentile|mean (?:requests|throughput)\S*(?: \([^)]*\))?)\s+\|?\s*([\d,.-]+)\s*(?:\(OK=\s*([\d,.-]+)\s+KO=\s*([\d,.-]+)\s*\)|\|\s*([\d,.-]+)\s*\|\s*([\d,.-]+))/;
const fault = /^> (.+?)\s{2,}([\d,]+)\s*\(\s*[\d.]+ ?%\)/;

export const gatling: WholeFormat = {
  kind: 'whole',
  name: 'Gatling result',
  recognise: (head) => (/^-{4} Global Information -/m.test(head) && /^> request count/m.test(head) ? 1 : 0),
  read(text, sink) {
    const draft: LoadDraft = { tool, run: runOf(sink) };
    const latency: Record<string, number> = {};
    const kinds: Record<string, number> = {};
    let errors = false;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      if (/^-{4} /.test(line)) errors = line.startsWith('---- Errors');
      const found = figure.exec(line);
      const failed = errors ? fault.exec(line) : null;
      if (found !== null) {
        const value = numberOf(found[2]);
        const name = found[1] ?? '';
        const percent = /(\d+(?:\.\d+)?)th percentile/.exec(name)?.[1];
        if (name === 'request count') {
          put(draft, 'requests', value);
          put(draft, 'errors', numberOf(found[4] ?? found[6]));
        } else if (name.startsWith('mean requests') || name.startsWith('mean throughput'))
          put(draft, 'ratePerSecond', value);
        else if (value !== undefined && percent !== undefined) latency[quantileKey(Number(percent))] = value / 1000;
        else if (value !== undefined && name.startsWith('min')) latency['0'] = value / 1000;
        else if (value !== undefined && name.startsWith('max')) latency['1'] = value / 1000;
        else if (value !== undefined && name.startsWith('mean')) latency['mean'] = value / 1000;
        sink.understood();
      } else if (failed !== null) {
        const kind = errorKind(failed[1] ?? '');
        kinds[kind] = (kinds[kind] ?? 0) + (numberOf(failed[2]) ?? 0);
        sink.understood();
      } else if (/^(?:[=>-]|Simulation |Reports? |Parsing|Generated|Please|\d{4}-)/.test(line)) sink.understood();
      else sink.foreign(index + 1, line);
    }
    if (Object.keys(latency).length > 0) put(draft, 'latency', latency);
    if (Object.keys(kinds).length > 0) put(draft, 'errorsByKind', kinds);
    if (draft.requests === undefined) return;
    sink.result(draft);
    sink.setting({ program: 'load-generator', scope: draft.run, key: 'load.tool', value: tool });
  },
};

function numberOf(text: string | undefined): number | undefined {
  return parseNumber((text ?? '').replaceAll(',', ''));
}
