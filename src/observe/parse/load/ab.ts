// What ApacheBench prints. It waits for each answer before it asks again: a closed loop of `Concurrency Level` connections.

import type { WholeFormat } from '../format.ts';
import { messageCode } from '../message-codes.ts';
import type { Sink } from '../sink.ts';
import { type LoadDraft, put, quantileKey, runOf, scaled } from './draft.ts';

const tool = 'ab';
const pair = /^([A-Z][A-Za-z0-9 /-]*?):\s+(.+)$/;
const kinds = /^\s+\((?:(?:Connect|Receive|Length|Exceptions|Write): \d+,? ?)+\)/;
const times = /^(Connect|Processing|Waiting|Total):\s+(\d+)\s+(\d+)\s+[\d.]+\s+(\d+)\s+(\d+)/;
const served = /^\s+(\d+)%\s+(\d+)(?: \(longest request\))?\s*$/;
const passedOver =
  /^(?:This is ApacheBench|Copyright|Licensed|Benchmarking|Completed|Finished|Server |Document |Connection Times|Percentage of|\s+min\s+mean|WARNING|Total of|SSL|TLS)/;

export const ab: WholeFormat = {
  kind: 'whole',
  name: 'ApacheBench result',
  recognise: (head) =>
    /^This is ApacheBench/m.test(head) || (/^Concurrency Level:/m.test(head) && /^Time taken for tests:/m.test(head))
      ? 1
      : 0,
  read(text, sink) {
    const draft: LoadDraft = { tool, run: runOf(sink) };
    const latency: Record<string, number> = {};
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      if (readLine(line, index + 1, draft, latency, sink) || passedOver.test(line)) sink.understood();
      else sink.foreign(index + 1, line);
    }
    if (Object.keys(latency).length > 0) put(draft, 'latency', latency);
    if (draft.requests === undefined && draft.latency === undefined) return;
    sink.result(draft);
    const setting = { program: 'load-generator', scope: draft.run };
    sink.setting({ ...setting, key: 'load.tool', value: tool });
    sink.setting({ ...setting, key: 'load.model', value: 'closed', implied: true });
  },
};

function readLine(
  line: string,
  number: number,
  draft: LoadDraft,
  latency: Record<string, number>,
  sink: Sink,
): boolean {
  const percent = served.exec(line);
  if (percent !== null) {
    latency[quantileKey(Number(percent[1]))] = Number(percent[2]) / 1000;
    return true;
  }
  const part = times.exec(line);
  if (part !== null) {
    const [least = 0, mean = 0, median = 0, most = 0] = part.slice(2).map((text) => Number(text) / 1000);
    const found = { '0': least, mean, '0.5': median, '1': most };
    if (part[1] === 'Total') Object.assign(latency, { ...found, ...latency });
    if (part[1] === 'Connect') put(draft, 'connectSeconds', found);
    return true;
  }
  const code = /^apr_\w+\(?\)?:/.test(line) ? messageCode(line) : undefined;
  if (code !== undefined) {
    sink.message({ program: tool, atMs: undefined, code, text: line, line: number });
    put(draft, 'errorsByKind', { ...draft.errorsByKind, [code]: 1 });
    return true;
  }
  const completed = /^Total of (\d+) requests completed/.exec(line);
  if (completed !== null) put(draft, 'requests', Number(completed[1]));
  if (kinds.test(line)) {
    const found = [...line.matchAll(/(\w+): (\d+)/g)].map(
      (one) => [(one[1] ?? '').toLowerCase(), Number(one[2])] as const,
    );
    put(draft, 'errorsByKind', { ...draft.errorsByKind, ...Object.fromEntries(found) });
    return true;
  }
  const found = pair.exec(line);
  return found !== null && readPair(found[1] ?? '', found[2] ?? '', number, draft, latency, sink);
}

function readPair(
  name: string,
  text: string,
  line: number,
  draft: LoadDraft,
  latency: Record<string, number>,
  sink: Sink,
): boolean {
  const value = Number(/^[\d.]+/.exec(text)?.[0] ?? Number.NaN);
  const setting = { program: 'load-generator', scope: draft.run, line };
  switch (name) {
    case 'Concurrency Level':
      put(draft, 'connections', value);
      sink.setting({ ...setting, key: 'load.connections', value });
      return true;
    case 'Time taken for tests':
      put(draft, 'seconds', value);
      return true;
    case 'Complete requests':
      put(draft, 'requests', value);
      return true;
    case 'Failed requests':
      put(draft, 'errors', value);
      return true;
    case 'Non-2xx responses':
      put(draft, 'errorsByKind', { ...draft.errorsByKind, status: value });
      return true;
    case 'Keep-Alive requests':
      sink.setting({ ...setting, key: 'load.reuses-connections', value: value > 0 });
      return true;
    case 'Requests per second':
      put(draft, 'ratePerSecond', value);
      return true;
    case 'Time per request':
      if (!text.includes('across all')) latency['mean'] = scaled(value, 1e-3) ?? value;
      return true;
    default:
      return /^(?:Total|HTML) transferred|^Transfer rate|^Total body sent|^Write errors/.test(name);
  }
}
