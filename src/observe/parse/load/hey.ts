// What hey and oha print at the end: the same sections in nearly the same words.
//
//   Summary:                       Response time histogram:         Status code distribution:
//     Total:        3.0121 secs      0.010 [1500] |■■■■               [200] 3 responses
//     Requests/sec: 1.9920           0.030 [2000] |■■■■■■           Error distribution:
//   Latency distribution:                                             [12] Get "http://…": connection refused
//     99% in 0.2310 secs
//
// A bar of the histogram is named by its upper bound; facts keep lower bounds, so each takes the name of the bar before it.

import type { WholeFormat } from '../format.ts';
import { parseSeconds } from '../quantities.ts';
import type { Sink } from '../sink.ts';
import { countOf, type LoadDraft, put, quantileKey, runOf } from './draft.ts';
import { errorKind } from './tally.ts';

const pair = /^\s*([A-Za-z][\w /+.-]*?):\s+(.+?)\s*$/;
const bar = /^\s*(\d+(?:\.\d+)?)\s*([a-zµ]*)\s*\[(\d+)\]/;
const quantile = /^\s*(\d+(?:\.\d+)?)%+ in (\d[\d.]*\s*[a-zµ]*)/;
const statusLine = /^\s*\[(\d{3})\]\s+(\d+) responses?/;
const errorLine = /^\s*\[(\d+)\]\s+(.+)$/;

export const hey: WholeFormat = {
  kind: 'whole',
  name: 'hey result',
  recognise(head) {
    const opened = /^Summary:\s*$/m.test(head);
    const told =
      /^\s+(?:Requests\/sec|Slowest|Fastest|Success rate|Total requests):\s/m.test(head) ||
      /^(?:Status code|Latency|Response time) (?:distribution|histogram)/m.test(head);
    return opened && told ? 1 : 0;
  },
  read(text, sink) {
    let run: HeyRun | undefined;
    let runs = 0;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      if (line.startsWith('Summary:') || run === undefined) {
        run?.finish();
        runs += 1;
        run = new HeyRun(sink, `${runOf(sink)}${runs > 1 ? ` ${runs}` : ''}`, index + 1);
      }
      if (run.line(line, index + 1)) sink.understood();
      else sink.foreign(index + 1, line);
    }
    run?.finish();
  },
};

class HeyRun {
  readonly #sink: Sink;
  readonly #draft: LoadDraft;
  readonly #line: number;
  readonly #latency: Record<string, number> = {};
  readonly #statuses: Record<string, number> = {};
  readonly #kinds: Record<string, number> = {};
  readonly #bars: { seconds: number; count: number }[] = [];
  #section = '';
  #total: number | undefined;

  constructor(sink: Sink, run: string, line: number) {
    this.#sink = sink;
    this.#line = line;
    this.#draft = { tool: 'hey', run };
  }

  line(text: string, line: number): boolean {
    if (/^[A-Z][^:]*:\s*$/.test(text)) {
      this.#section = text.trim().toLowerCase();
      return true;
    }
    if (this.#section.startsWith('status')) return this.#status(text);
    if (this.#section.startsWith('error')) return this.#error(text);
    if (this.#section.includes('histogram')) return this.#bar(text);
    const at = quantile.exec(text);
    const time = parseSeconds(at?.[2]);
    if (at !== null && time !== undefined) {
      this.#latency[quantileKey(Number(at[1]))] = time;
      return true;
    }
    const found = pair.exec(text);
    return found !== null && this.#pair(found[1] ?? '', found[2] ?? '', line);
  }

  #pair(name: string, value: string, line: number): boolean {
    if (this.#section.startsWith('details')) return this.#detail(name, value);
    switch (name.toLowerCase()) {
      case 'total':
        put(this.#draft, 'seconds', parseSeconds(value));
        return true;
      case 'slowest':
        this.#time('1', value);
        return true;
      case 'fastest':
        this.#time('0', value);
        return true;
      case 'average':
        this.#time('mean', value);
        return true;
      case 'requests/sec':
        put(this.#draft, 'ratePerSecond', countOf(value));
        return true;
      case 'total requests':
        this.#total = countOf(value);
        return true;
      case 'concurrency': {
        const users = countOf(value);
        put(this.#draft, 'connections', users);
        if (users !== undefined) this.#setting('load.connections', users, line);
        return true;
      }
      case 'keep-alive':
        this.#setting('load.reuses-connections', !/^(?:disabled|off|false|no)/i.test(value), line);
        return true;
      case 'success rate':
        put(this.#draft, 'tool', 'oha');
        return true;
      default:
        return /^(?:total data|size\/)/i.test(name);
    }
  }

  /** `DNS+dialup: 0.0002 secs, 0.0000 secs, 0.0050 secs`: average, fastest, slowest. */
  #detail(name: string, value: string): boolean {
    const [mean, least, most] = value.split(',').map((part) => parseSeconds(part.trim()));
    if (mean === undefined) return false;
    if (/^dns\+dialup$/i.test(name)) {
      put(this.#draft, 'connectSeconds', { mean, '0': least ?? mean, '1': most ?? mean });
    }
    return true;
  }

  #time(key: string, value: string): void {
    const seconds = parseSeconds(value);
    if (seconds !== undefined) this.#latency[key] = seconds;
  }

  #bar(text: string): boolean {
    const found = bar.exec(text);
    const seconds = parseSeconds(`${found?.[1] ?? ''}${found?.[2] ?? ''}`);
    if (found === null || seconds === undefined) return false;
    this.#bars.push({ seconds, count: Number(found[3]) });
    return true;
  }

  #status(text: string): boolean {
    const found = statusLine.exec(text);
    if (found !== null) this.#statuses[found[1] ?? ''] = Number(found[2]);
    return found !== null;
  }

  #error(text: string): boolean {
    const found = errorLine.exec(text);
    if (found === null) return false;
    const kind = errorKind(found[2] ?? '');
    this.#kinds[kind] = (this.#kinds[kind] ?? 0) + Number(found[1]);
    this.#sink.message({ program: this.#draft.tool, atMs: undefined, code: kind, text: found[2] ?? '' });
    return true;
  }

  finish(): void {
    const answered = Object.values(this.#statuses).reduce((sum, count) => sum + count, 0);
    const broken = Object.values(this.#kinds).reduce((sum, count) => sum + count, 0);
    const refused = Object.entries(this.#statuses).reduce(
      (sum, [status, count]) => sum + (Number(status) >= 400 ? count : 0),
      0,
    );
    const requests = this.#total ?? (answered + broken > 0 ? answered + broken : undefined);
    put(this.#draft, 'requests', requests);
    if (answered > 0) put(this.#draft, 'statuses', this.#statuses);
    if (broken > 0) put(this.#draft, 'errorsByKind', this.#kinds);
    if (answered + broken > 0) put(this.#draft, 'errors', broken + refused);
    if (Object.keys(this.#latency).length > 0) put(this.#draft, 'latency', this.#latency);
    if (this.#bars.length > 0) {
      const lower = this.#bars.map((one, index) => ({
        seconds: this.#bars[index - 1]?.seconds ?? 0,
        count: one.count,
      }));
      put(this.#draft, 'histogram', lower);
    }
    if (Object.keys(this.#draft).length > 2) this.#sink.result(this.#draft, this.#line);
  }

  #setting(key: 'load.connections' | 'load.reuses-connections', value: number | boolean, line: number): void {
    this.#sink.setting({ program: 'load-generator', scope: this.#draft.run, key, value, line });
  }
}
