// What Artillery prints: a name, dots, a number; the report of the whole run stands last and wins.
//
//   http.codes.200: ........................................... 9000
//   http.response_time:
//     p99: .................................................... 5010
//   errors.ECONNREFUSED: ...................................... 12
//
// Its virtual users arrive at a rate, whatever the answers do: an open loop. Times are milliseconds.

import type { WholeFormat } from '../format.ts';
import { latenciesOf, type LoadDraft, put, runOf } from './draft.ts';
import { errorKind } from './tally.ts';

const tool = 'artillery';
const figure = /^(\s*)([\w.]+): \.{3,} ([\d.]+)(\/sec)?\s*$/;
const heading = /^([\w.]+):\s*$/;

export const artillery: WholeFormat = {
  kind: 'whole',
  name: 'Artillery result',
  recognise: (head) => (/^(?:http|vusers|errors)\.[\w.]+: \.{3,} /m.test(head) ? 1 : 0),
  read(text, sink) {
    const draft: LoadDraft = { tool, run: runOf(sink) };
    const times: Record<string, number> = {};
    const statuses: Record<string, number> = {};
    const kinds: Record<string, number> = {};
    let under = '';
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const found = figure.exec(line);
      under = heading.exec(line)?.[1] ?? (found?.[1] === '' ? '' : under);
      if (found === null) {
        // Phases, times and rules between the reports.
        if (/^(?:[-=*\w]|\s+at |Metrics|All VUs|Summary|Test run)/.test(line)) sink.understood();
        else sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
      const name = found[2] ?? '';
      const value = Number(found[3]);
      const code = /^http\.codes\.(\d{3})$/.exec(name)?.[1];
      const error = /^errors\.(.+)$/.exec(name)?.[1];
      if (code !== undefined) statuses[code] = value;
      else if (error !== undefined) kinds[errorKind(error)] = value;
      else if (name === 'http.requests') put(draft, 'requests', value);
      else if (name === 'http.request_rate') put(draft, 'ratePerSecond', value);
      else if (under === 'http.response_time') times[name] = value;
    }
    put(draft, 'latency', latenciesOf(times, 1e-3));
    if (Object.keys(statuses).length > 0) put(draft, 'statuses', statuses);
    if (Object.keys(kinds).length > 0) {
      put(draft, 'errorsByKind', kinds);
      put(
        draft,
        'errors',
        Object.values(kinds).reduce((sum, count) => sum + count, 0),
      );
    }
    if (draft.requests === undefined) return;
    sink.result(draft);
    const setting = { program: 'load-generator', scope: draft.run };
    sink.setting({ ...setting, key: 'load.tool', value: tool });
    sink.setting({ ...setting, key: 'load.model', value: 'open', implied: true });
  },
};
