// Results as one JSON object, of the tools that write one: oha, autocannon, Fortio, bombardier. Which it is, its keys tell.
//
//   oha          summary.requestsPerSec, latencyPercentiles.p99 (seconds), statusCodeDistribution
//   autocannon   requests.total, latency.p99 (milliseconds), connections, non2xx, timeouts
//   Fortio       ActualQPS, DurationHistogram.Percentiles (seconds), RetCodes
//   bombardier   spec.numberOfConnections, result.latency.percentiles (microseconds), result.req2xx

import { firstLines, type WholeFormat } from '../format.ts';
import { isJsonWith, jsonTree, numberAt, numbersIn } from '../json-tree.ts';
import { parseNumber, parseSeconds } from '../quantities.ts';
import type { Sink } from '../sink.ts';
import { itemsAt, textAt, type Tree, under, valueAt } from '../tree.ts';
import { latenciesOf, type LoadDraft, put, quantileKey, runOf, scaled } from './draft.ts';
import { errorKind } from './tally.ts';

interface Tool {
  readonly name: string;
  readonly keys: readonly string[];
  read(tree: Tree | undefined, draft: LoadDraft): void;
}

const tools: readonly Tool[] = [
  { name: 'oha', keys: ['summary', 'requestsPerSec'], read: readOha },
  { name: 'autocannon', keys: ['latency', 'throughput', 'non2xx'], read: readAutocannon },
  { name: 'fortio', keys: ['DurationHistogram', 'ActualQPS'], read: readFortio },
  { name: 'bombardier', keys: ['spec', 'result', 'req2xx'], read: readBombardier },
];

export const jsonResults: WholeFormat = {
  kind: 'whole',
  name: 'load result as JSON',
  recognise: (head) => (tools.some((tool) => isJsonWith(head, ...tool.keys)) ? 1 : 0),
  read(text, sink) {
    const tool = tools.find((one) => isJsonWith(text, ...one.keys));
    const tree = jsonTree(text);
    if (tool === undefined || tree?.kind !== 'map') {
      sink.foreign(1, firstLines(text, 1)[0] ?? '');
      return;
    }
    const draft: LoadDraft = { tool: tool.name, run: runOf(sink) };
    tool.read(tree, draft);
    if (Object.keys(draft).length <= 2) {
      sink.foreign(1, firstLines(text, 1)[0] ?? '');
      return;
    }
    sink.understood();
    sink.result(draft);
    writeSettings(draft, tree, sink);
  },
};

function writeSettings(draft: LoadDraft, tree: Tree, sink: Sink): void {
  const setting = { program: 'load-generator', scope: draft.run };
  sink.setting({ ...setting, key: 'load.tool', value: draft.tool });
  const model = draft.plannedRatePerSecond === undefined ? 'closed' : 'open';
  sink.setting({ ...setting, key: 'load.model', value: model, implied: true });
  if (draft.connections !== undefined) {
    sink.setting({ ...setting, key: 'load.connections', value: draft.connections });
  }
  if (draft.plannedRatePerSecond !== undefined) {
    sink.setting({ ...setting, key: 'load.rate', value: draft.plannedRatePerSecond });
  }
  const keepAlive = valueAt(tree, 'spec', 'keepAlive') ?? valueAt(tree, 'DisableKeepAlive');
  if (typeof keepAlive === 'boolean') {
    const reuses = valueAt(tree, 'DisableKeepAlive') === undefined ? keepAlive : !keepAlive;
    sink.setting({ ...setting, key: 'load.reuses-connections', value: reuses });
  }
}

function readOha(tree: Tree | undefined, draft: LoadDraft): void {
  const summary = under(tree, 'summary');
  put(draft, 'seconds', numberAt(summary, 'total'));
  put(draft, 'ratePerSecond', numberAt(summary, 'requestsPerSec'));
  const { slowest, fastest, average } = numbersIn(summary);
  const ends = latenciesOf({ ...known('max', slowest), ...known('min', fastest), ...known('mean', average) }, 1);
  put(draft, 'latency', { ...ends, ...latenciesOf(numbersIn(under(tree, 'latencyPercentiles')), 1) });
  const statuses = numbersIn(under(tree, 'statusCodeDistribution'));
  const kinds = byKind(numbersIn(under(tree, 'errorDistribution')));
  put(draft, 'statuses', statuses);
  put(draft, 'errorsByKind', kinds);
  put(draft, 'requests', sum(statuses) + sum(kinds));
  put(draft, 'errors', sum(kinds) + failedAnswers(statuses));
  const bars = Object.entries(numbersIn(under(tree, 'responseTimeHistogram')));
  const ordered = bars.map(([upper, count]) => ({ seconds: Number(upper), count })).toSorted(bySeconds);
  if (ordered.length > 0)
    put(
      draft,
      'histogram',
      ordered.map((one, index) => lowered(ordered[index - 1], one.count)),
    );
}

function readAutocannon(tree: Tree | undefined, draft: LoadDraft): void {
  put(draft, 'connections', numberAt(tree, 'connections'));
  put(draft, 'seconds', numberAt(tree, 'duration'));
  put(draft, 'requests', numberAt(tree, 'requests', 'sent') ?? numberAt(tree, 'requests', 'total'));
  put(draft, 'ratePerSecond', numberAt(tree, 'requests', 'average'));
  const { total: _, totalCount: __, stddev: ___, ...times } = numbersIn(under(tree, 'latency'));
  put(draft, 'latency', latenciesOf(times, 1e-3));
  const { errors = 0, timeouts = 0, resets = 0, non2xx = 0, mismatches = 0 } = numbersIn(tree);
  put(draft, 'errors', errors + non2xx + mismatches);
  put(draft, 'errorsByKind', { timeout: timeouts, reset: resets, status: non2xx, mismatch: mismatches });
  const codes = under(tree, 'statusCodeStats');
  const statuses: Record<string, number> = {};
  if (codes?.kind === 'map') {
    for (const [status, inner] of codes.entries) statuses[status] = numberAt(inner, 'count') ?? 0;
  }
  for (const group of ['1xx', '2xx', '3xx', '4xx', '5xx']) {
    const count = numberAt(tree, group);
    if (codes === undefined && count !== undefined) statuses[group] = count;
  }
  if (Object.keys(statuses).length > 0) put(draft, 'statuses', statuses);
}

function readFortio(tree: Tree | undefined, draft: LoadDraft): void {
  const histogram = under(tree, 'DurationHistogram');
  put(draft, 'requests', numberAt(histogram, 'Count'));
  put(draft, 'ratePerSecond', numberAt(tree, 'ActualQPS'));
  // `max`: as fast as the connections go.
  put(draft, 'plannedRatePerSecond', parseNumber(valueAt(tree, 'RequestedQPS')));
  put(draft, 'connections', numberAt(tree, 'NumThreads'));
  put(draft, 'seconds', scaled(numberAt(tree, 'ActualDuration'), 1e-9));
  const latency: Record<string, number> = {};
  for (const one of itemsAt(histogram, 'Percentiles')) {
    const percent = numberAt(one, 'Percentile');
    const value = numberAt(one, 'Value');
    if (percent !== undefined && value !== undefined) latency[quantileKey(percent)] = value;
  }
  const { Min, Max, Avg } = numbersIn(histogram);
  const ends = latenciesOf({ ...known('min', Min), ...known('max', Max), ...known('mean', Avg) }, 1);
  put(draft, 'latency', { ...latency, ...ends });
  const statuses = numbersIn(under(tree, 'RetCodes'));
  put(draft, 'statuses', statuses);
  put(draft, 'errors', failedAnswers(statuses));
  const bars = itemsAt(histogram, 'Data').flatMap((one) => {
    const start = numberAt(one, 'Start');
    const count = numberAt(one, 'Count');
    return start === undefined || count === undefined ? [] : [{ seconds: start, count }];
  });
  if (bars.length > 0) put(draft, 'histogram', bars);
}

function readBombardier(tree: Tree | undefined, draft: LoadDraft): void {
  const result = under(tree, 'result');
  put(draft, 'connections', numberAt(tree, 'spec', 'numberOfConnections'));
  put(draft, 'plannedRatePerSecond', numberAt(tree, 'spec', 'rate'));
  put(
    draft,
    'seconds',
    numberAt(result, 'timeTakenSeconds') ?? parseSeconds(textAt(tree, 'spec', 'testDurationSeconds')),
  );
  put(draft, 'ratePerSecond', numberAt(result, 'rps', 'mean'));
  const numbers = numbersIn(result);
  const statuses: Record<string, number> = {};
  for (const group of ['1xx', '2xx', '3xx', '4xx', '5xx']) statuses[group] = numbers[`req${group}`] ?? 0;
  const others = numbers['others'] ?? 0;
  put(draft, 'statuses', statuses);
  put(draft, 'requests', sum(statuses) + others);
  put(draft, 'errors', others + failedAnswers(statuses));
  const { stddev: _, ...times } = numbersIn(under(result, 'latency'));
  const percentiles = numbersIn(under(result, 'latency', 'percentiles'));
  put(draft, 'latency', latenciesOf({ ...times, ...percentiles }, 1e-6));
}

function known(name: string, value: number | undefined): Record<string, number> {
  return value === undefined ? {} : { [name]: value };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Answers of 400 and above, and whatever is no status at all. */
function failedAnswers(statuses: Readonly<Record<string, number>>): number {
  return Object.entries(statuses).reduce((total, [status, count]) => total + (/^[123]/.test(status) ? 0 : count), 0);
}

function byKind(errors: Readonly<Record<string, number>>): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const [error, count] of Object.entries(errors)) {
    const kind = errorKind(error);
    kinds[kind] = (kinds[kind] ?? 0) + count;
  }
  return kinds;
}

function bySeconds(one: { readonly seconds: number }, other: { readonly seconds: number }): number {
  return one.seconds - other.seconds;
}

/** A bar is named by its upper bound: its lower bound is the one before it. */
function lowered(
  before: { readonly seconds: number } | undefined,
  count: number,
): { readonly seconds: number; readonly count: number } {
  return { seconds: before?.seconds ?? 0, count };
}
