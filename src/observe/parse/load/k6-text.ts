// What k6 prints: the summary at the end of a test, and what it complains of on the way. Both may stand in one file.
//
//   time="2026-03-12T10:00:31Z" level=warning msg="Request Failed" error="… cannot assign requested address"
//   WARN[0030] Insufficient VUs, reached 137 active VUs and cannot initialize more  executor=constant-arrival-rate
//        http_req_duration..............: avg=17.49ms min=1.2ms med=16ms max=402ms p(90)=30ms p(95)=40ms
//        http_req_failed................: 0.52%  ✓ 69540      ✗ 56460
//              * burst: 1000.00 iterations/s for 1m0s (maxVUs: 137, gracefulStop: 30s)

import { type LineFormat, type LineReader, shareOfLines } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import { messageCode } from '../message-codes.ts';
import { parseNumber, parseSeconds } from '../quantities.ts';
import type { Sink } from '../sink.ts';
import { put, runOf } from './draft.ts';
import { resultOf, writeSamples } from './k6-summary.ts';

const metricLine = /^\s*([a-z_][\w ]*?|\{\s*[^}]*\}\s*)\.{2,}:\s*(.+)$/i;
const knownMetric =
  /^\s*(?:[✓✗]\s*)?(?:http_req|http_reqs|iteration|vus|data_(?:sent|received)|checks|grpc_|ws_|dropped_)\w*\.{2,}:/;
const scenarioLine = /^\s*\*\s+([\w.-]+): (.+?)(?: \(([^)]*)\))?\s*$/;
const logfmt = /^time="([^"]*)" level=(\w+) msg=(.*)$/;
const console = /^(TRAC|DEBU|INFO|WARN|ERRO|FATA)\[(\d{4,})\]\s+(.*)$/;
const complaint = /Request Failed|Insufficient VUs|GoError|thresholds on metrics|executor=|scenario=|source=console/;
const words: Readonly<Record<string, string>> = {
  warn: 'warning',
  erro: 'error',
  fata: 'fatal',
  debu: 'debug',
  trac: 'trace',
};
/** The banner, the tree of checks and groups, progress bars, thresholds, titles of sections. */
const passedOver =
  /^[\s/\\|‾_()~-]+$|Grafana|\/‾‾|\|\s+\||^\s*(?:execution|script|output|scenarios|web dashboard): |^\s*(?:█|✓|✗|↳|■)|^\s*[A-Z ]{5,}$|^running \(|^(?:Init|Setup|Teardown)\b|^[\w.-]+\s+[✓✗]?\s*\[[=>\- ]+\]|^\s*\w+\s+[✓✗]\s+\[/;

export const k6Text: LineFormat = {
  kind: 'lines',
  name: 'k6 output',
  recognise(head) {
    const metrics = shareOfLines(head, (line) => knownMetric.test(line), 400);
    if (metrics > 0) return 0.97;
    const said = shareOfLines(head, (line) => (logfmt.test(line) || console.test(line)) && complaint.test(line));
    return said === 0 ? 0 : 0.2 + 0.7 * said;
  },
  open: k6TextReader,
};

function k6TextReader(sink: Sink): LineReader {
  const metrics = new Map<string, Record<string, number>>();
  let last = '';
  return {
    line(text, number) {
      const said = saidIn(text);
      if (said !== undefined) {
        const code = /Insufficient VUs/.test(said.text)
          ? 'generator-out-of-users'
          : (messageCode(said.text) ?? `log-${said.level}`);
        const subject = /\bdial (?:tcp|udp) (\S+?):? /.exec(said.text)?.[1];
        sink.message({
          program: 'k6',
          atMs: said.atMs,
          code,
          ...(subject === undefined ? {} : { subject }),
          text: said.text,
          line: number,
        });
        return true;
      }
      const metric = metricLine.exec(text);
      if (metric !== null) {
        const name = (metric[1] ?? '').trim();
        const numbers = numbersOf(metric[2] ?? '');
        if (numbers === undefined) return passedOver.test(text);
        if (name.startsWith('{')) metrics.set(`${last}${name.replaceAll(' ', '')}`, numbers);
        else {
          last = name;
          metrics.set(name, numbers);
        }
        return true;
      }
      const scenario = scenarioLine.exec(text);
      return (scenario !== null && readScenario(scenario, number, sink)) || passedOver.test(text);
    },
    end() {
      if (metrics.size === 0) return;
      const draft = resultOf(metrics, runOf(sink));
      // A summary without a line of failures or dropped iterations had none.
      if (metrics.has('http_reqs') && metrics.has('iterations')) put(draft, 'dropped', draft.dropped ?? 0);
      sink.result(draft);
      for (const [name, numbers] of metrics) writeSamples(sink, name, numbers, draft.run);
    },
  };
}

interface Said {
  readonly atMs: number | undefined;
  readonly level: string;
  readonly text: string;
}

function saidIn(line: string): Said | undefined {
  const pairs = logfmt.exec(line);
  if (pairs !== null) {
    const said = [...line.matchAll(/\b(?:msg|error)=(?:"((?:\\.|[^"\\])*)"|(\S+))/g)];
    const text = said.map((found) => (found[1] ?? found[2] ?? '').replaceAll(String.raw`\"`, '"')).join(': ');
    return { atMs: leadingInstant(pairs[1] ?? '')?.ms, level: (pairs[2] ?? '').toLowerCase(), text };
  }
  const printed = console.exec(line);
  if (printed === null) return undefined;
  const level = (printed[1] ?? '').toLowerCase();
  // In brackets stand seconds since the start: no point in time.
  return { atMs: undefined, level: words[level] ?? level, text: (printed[3] ?? '').replaceAll(/\s{2,}/g, ' ') };
}

/** `avg=17.49ms max=1s`, `137064 4568.8/s`, `0.52% ✓ 69540 ✗ 56460`, `0.52% 69540 out of 126000`, `80 min=80 max=80`. */
function numbersOf(text: string): Record<string, number> | undefined {
  const found: Record<string, number> = {};
  for (const [, name = '', value = ''] of text.matchAll(/([a-z]+|p\([\d.]+\))=(\S+)/g)) {
    const bare = parseNumber(value);
    const seconds = parseSeconds(value);
    if (bare !== undefined) found[name] = bare;
    // In the summary as JSON times are milliseconds: here the same.
    else if (seconds !== undefined) found[name] = seconds * 1000;
  }
  const share = /^\s*(\d+(?:\.\d+)?)%/.exec(text);
  if (share !== null) {
    found['value'] = Number(share[1]) / 100;
    const marks = /[✓✔]\s*(\d+)\s+[✗✘]\s*(\d+)/.exec(text);
    const parts = /(\d+) out of (\d+)/.exec(text);
    if (marks !== null) {
      found['passes'] = Number(marks[1]);
      found['fails'] = Number(marks[2]);
    } else if (parts !== null) {
      found['passes'] = Number(parts[1]);
      found['fails'] = Number(parts[2]) - Number(parts[1]);
    }
    return found;
  }
  const counted = /^\s*(\d+(?:\.\d+)?)(?:\s+(\d+(?:\.\d+)?)\/s)?(?=\s|$)/.exec(text);
  if (counted !== null) {
    if (counted[2] === undefined) found['value'] = Number(counted[1]);
    else {
      found['count'] = Number(counted[1]);
      found['rate'] = Number(counted[2]);
    }
  }
  // `12 MB 200 kB/s`: bytes are not asked for.
  return Object.keys(found).length > 0 ? found : undefined;
}

/** `320 looping VUs for 1m0s`, `1000.00 iterations/s for 1m0s`, `Up to 50 looping VUs for 2m0s over 3 stages`. */
function readScenario(found: RegExpExecArray, line: number, sink: Sink): boolean {
  const [, scope = '', what = '', more = ''] = found;
  const rate = /(?:^|Up to )(\d+(?:\.\d+)?) iterations\/s/.exec(what)?.[1];
  const users = /(\d+) (?:looping )?VUs/.exec(what)?.[1];
  const duration = parseSeconds(/ (?:for|over|maxDuration:) (\d[\w.]*)/.exec(what)?.[1]);
  if (rate === undefined && users === undefined) return false;
  const setting = { program: 'load-generator', scope, line };
  sink.setting({ ...setting, key: 'load.model', value: rate === undefined ? 'closed' : 'open' });
  if (rate !== undefined) sink.setting({ ...setting, key: 'load.rate', value: Number(rate) });
  if (users !== undefined) sink.setting({ ...setting, key: 'load.users', value: Number(users) });
  if (duration !== undefined) sink.setting({ ...setting, key: 'load.seconds', value: duration });
  const most = /maxVUs: (?:\d+-)?(\d+)/.exec(more)?.[1];
  if (most !== undefined) sink.setting({ ...setting, key: 'load.users-max', value: Number(most) });
  return true;
}
