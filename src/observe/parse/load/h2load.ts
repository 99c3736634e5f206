// What h2load prints: counts in sentences, times as a small table whose columns differ between versions.
//
//   requests: 1000 total, 1000 started, 1000 done, 990 succeeded, 10 failed, 0 errored, 0 timeout
//                        min         max         mean         sd        +/- sd
//   time for request:    1.20ms      40.1ms      11.2ms      3.40ms    72.10%

import type { WholeFormat } from '../format.ts';
import { parseSeconds } from '../quantities.ts';
import { latenciesOf, type LoadDraft, put, runOf } from './draft.ts';

const tool = 'h2load';
const finished = /^finished in (\S+), ([\d.]+) req\/s/;
const requests = /^requests: (.*)$/;
const statuses = /^status codes: (.*)$/;
const spawned = /(\d+) total client\(s\)/;
const columns = /^\s+min\s+max\s+/;
const times = /^(time for request|time for connect|time to 1st byte|request\s+|connect\s+|TTFB\s+)\s*:\s+(.*)$/;
const passedOver =
  /^(?:starting benchmark|Warm-up|spawning thread|TLS Protocol|Cipher|Server Temp Key|Application protocol|progress:|traffic:|req\/s\s|min RTT|smoothed RTT|UDP|Main benchmark|Stopped all)/;

export const h2load: WholeFormat = {
  kind: 'whole',
  name: 'h2load result',
  recognise: (head) =>
    /^finished in \S+, [\d.]+ req\/s/m.test(head) && /^requests: \d+ total/m.test(head)
      ? 1
      : /^spawning thread #\d+: \d+ total client/m.test(head)
        ? 0.8
        : 0,
  read(text, sink) {
    const draft: LoadDraft = { tool, run: runOf(sink) };
    let names: string[] = [];
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const spawn = spawned.exec(line);
      if (spawn !== null) put(draft, 'connections', (draft.connections ?? 0) + Number(spawn[1]));
      if (columns.test(line)) names = line.trim().split(/\s{2,}/);
      else if (!readLine(line, names, draft) && !passedOver.test(line)) {
        sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
    }
    if (draft.requests === undefined) return;
    sink.result(draft);
    const setting = { program: 'load-generator', scope: draft.run };
    sink.setting({ ...setting, key: 'load.tool', value: tool });
    sink.setting({ ...setting, key: 'load.model', value: 'closed', implied: true });
    if (draft.connections !== undefined) {
      sink.setting({ ...setting, key: 'load.connections', value: draft.connections });
    }
  },
};

function readLine(line: string, names: readonly string[], draft: LoadDraft): boolean {
  const over = finished.exec(line);
  if (over !== null) {
    put(draft, 'seconds', parseSeconds(over[1]));
    put(draft, 'ratePerSecond', Number(over[2]));
    return true;
  }
  const counted = requests.exec(line);
  if (counted !== null) {
    const counts = countsOf(counted[1] ?? '');
    put(draft, 'requests', counts['total']);
    put(draft, 'errors', counts['failed']);
    const { errored = 0, timeout = 0 } = counts;
    put(draft, 'errorsByKind', { errored, timeout });
    return true;
  }
  const coded = statuses.exec(line);
  if (coded !== null) {
    put(draft, 'statuses', countsOf(coded[1] ?? ''));
    return true;
  }
  const timed = times.exec(line);
  if (timed === null) return false;
  const cells = (timed[2] ?? '').trim().split(/\s+/);
  const found: Record<string, number> = {};
  for (const [index, name] of names.entries()) {
    const seconds = parseSeconds(cells[index]);
    if (seconds !== undefined && !name.includes('sd')) found[name] = seconds;
  }
  const seconds = latenciesOf(found, 1);
  if (/request/.test(timed[1] ?? '')) put(draft, 'latency', seconds);
  if (/connect/.test(timed[1] ?? '')) put(draft, 'connectSeconds', seconds);
  return true;
}

/** `990 2xx, 0 3xx` → by the word. */
function countsOf(text: string): Record<string, number> {
  return Object.fromEntries([...text.matchAll(/(\d+) (\w+)/g)].map((found) => [found[2] ?? '', Number(found[1])]));
}
