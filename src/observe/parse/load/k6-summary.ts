// k6's summary as JSON: `--summary-export` (numbers right under a metric), what `handleSummary` is given (under `values`), and
// the list of metrics of later versions. Times are milliseconds.
//
//   "http_req_duration": {"avg": 121.4, "med": 121.4, "p(95)": 183.2, "max": 402}
//   "http_req_failed":   {"value": 0.9, "passes": 3496, "fails": 368}      passes: so many times it was true that one failed
//   "dropped_iterations": {"count": 11760, "rate": 146.7}                  nobody was free to make them
//
// Beside the result every number becomes a sample, `k6_<metric>` with the label `stat`.

import { firstLines, type WholeFormat } from '../format.ts';
import { isJsonWith, jsonTree, numberAt, numbersIn } from '../json-tree.ts';
import type { Sink } from '../sink.ts';
import { itemsAt, textAt, type Tree, under } from '../tree.ts';
import { latenciesOf, type LoadDraft, put, runOf, scaled } from './draft.ts';

const metricNames = ['http_reqs', 'http_req_duration', 'iterations', 'iteration_duration', 'vus', 'data_sent'];

export const k6Summary: WholeFormat = {
  kind: 'whole',
  name: 'k6 summary',
  recognise(head) {
    if (!isJsonWith(head, 'metrics')) return 0;
    const named = metricNames.filter((name) => head.includes(`"${name}"`)).length;
    return named === 0 ? 0 : head.includes('"root_group"') || named > 1 ? 1 : 0.8;
  },
  read(text, sink) {
    const tree = jsonTree(text);
    const metrics = metricsOf(tree);
    if (metrics.size === 0) {
      sink.foreign(1, firstLines(text, 1)[0] ?? '');
      return;
    }
    sink.understood(metrics.size);
    const draft = resultOf(metrics, runOf(sink));
    put(draft, 'seconds', draft.seconds ?? secondsOf(tree));
    sink.result(draft);
    for (const [name, numbers] of metrics) writeSamples(sink, name, numbers, draft.run);
  },
};

type Numbers = Readonly<Record<string, number>>;

function metricsOf(tree: Tree | undefined): Map<string, Numbers> {
  const found = new Map<string, Numbers>();
  const metrics = under(tree, 'metrics');
  if (metrics?.kind === 'map') {
    for (const [name, metric] of metrics.entries) {
      const numbers = numbersIn(under(metric, 'values') ?? metric);
      if (Object.keys(numbers).length > 0) found.set(name, numbers);
    }
  }
  for (const metric of [...itemsAt(tree, 'results', 'metrics'), ...itemsAt(tree, 'metrics')]) {
    const name = textAt(metric, 'name');
    if (name !== undefined) found.set(name, numbersIn(under(metric, 'values')));
  }
  return found;
}

function secondsOf(tree: Tree | undefined): number | undefined {
  return scaled(numberAt(tree, 'state', 'testRunDurationMs'), 1e-3) ?? numberAt(tree, 'config', 'duration');
}

/** The result that k6's metrics tell, whether they came as JSON or as text. */
export function resultOf(metrics: ReadonlyMap<string, Numbers>, run: string): LoadDraft {
  const draft: LoadDraft = { tool: 'k6', run };
  const requests = metrics.get('http_reqs') ?? metrics.get('grpc_reqs') ?? metrics.get('iterations');
  put(draft, 'requests', requests?.['count']);
  put(draft, 'ratePerSecond', requests?.['rate']);
  if (requests?.['count'] !== undefined && (requests['rate'] ?? 0) > 0) {
    put(draft, 'seconds', Number((requests['count'] / (requests['rate'] ?? 1)).toPrecision(6)));
  }
  put(draft, 'errors', failedOf(metrics.get('http_req_failed'), requests?.['count']));
  put(draft, 'dropped', metrics.get('dropped_iterations')?.['count']);
  const users = metrics.get('vus');
  put(draft, 'users', users?.['max'] ?? users?.['value']);
  const most = metrics.get('vus_max');
  put(draft, 'usersMax', most?.['max'] ?? most?.['value']);
  const times =
    metrics.get('http_req_duration') ??
    metrics.get('http_req_duration{expected_response:true}') ??
    metrics.get('grpc_req_duration');
  put(draft, 'latency', times === undefined ? undefined : latenciesOf(times, 1e-3));
  const connecting = metrics.get('http_req_connecting');
  put(draft, 'connectSeconds', connecting === undefined ? undefined : latenciesOf(connecting, 1e-3));
  return draft;
}

function failedOf(failed: Numbers | undefined, requests: number | undefined): number | undefined {
  const share = failed?.['value'] ?? failed?.['rate'];
  const { passes, fails } = failed ?? {};
  if (passes !== undefined && fails !== undefined) {
    // Which of the two counts failures is told by the share; versions have differed.
    const wanted = share === undefined ? passes : share * (passes + fails);
    return Math.abs(passes - wanted) <= Math.abs(fails - wanted) ? passes : fails;
  }
  return share === undefined || requests === undefined ? undefined : Math.round(share * requests);
}

/** Every number as a sample. `{expected_response:true}` behind a name is a label. */
export function writeSamples(sink: Sink, name: string, numbers: Numbers, run: string): void {
  const [, stem = name, tags = ''] = /^([^{]*)(?:\{(.*)\})?$/.exec(name) ?? [];
  const labels = Object.fromEntries(
    tags.split(',').flatMap((tag) => {
      const at = tag.indexOf(':');
      return at === -1 ? [] : [[tag.slice(0, at).trim(), tag.slice(at + 1).trim()]];
    }),
  );
  const isTime = /_duration$|^http_req_(?:blocked|connecting|tls_handshaking|sending|waiting|receiving)$/.test(stem);
  for (const [stat, value] of Object.entries(numbers)) {
    const seconds = isTime ? (scaled(value, 1e-3) ?? value) : value;
    sink.sample(`k6_${stem}${isTime ? '_seconds' : ''}`, { run, ...labels, stat }, seconds);
  }
}
