// What wrk and wrk2 print at the end. The two share a shape; wrk2 adds the rate it was to keep up and two kinds of latency:
//
//   Latency Distribution (HdrHistogram - Recorded Latency)      from when a request was due
//   Latency Distribution (HdrHistogram - Uncorrected Latency …) from when it was sent
//
// wrk waits for each answer before it asks again: what it calls latency knows nothing of requests that were not sent.

import { shareOfLines, type WholeFormat } from '../format.ts';
import { parseSeconds } from '../quantities.ts';
import type { Sink } from '../sink.ts';
import { countOf, type LoadDraft, put, quantileKey, runOf, scaled } from './draft.ts';

const running = /^Running (\S+) test @ (\S+)/;
const size = /^\s*(\d+) threads? and (\d+) connections?$/;
const threadLatency = /^\s*Latency\s+(\S+)\s+\S+\s+(\S+)\s+\S+%$/;
const percentile = /^\s*(\d+(?:\.\d+)?)%\s+(\d\S*)$/;
const total = /^\s*(\d+) requests in (\S+?)(?:, \S+ read)?$/;
const socketErrors = /^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$/;
const badStatus = /^\s*Non-2xx or 3xx responses: (\d+)$/;
const rate = /^Requests\/sec:\s*(\S+)$/;
const meanLine = /^#\[Mean\s+=\s+([\d.]+),/;
const maxLine = /^#\[Max\s+=\s+([\d.]+),/;
/** Lines that say nothing that is asked for here. */
const passedOver =
  /^\s*(?:Thread Stats\s|Thread calibration|Req\/Sec\s|Initialised \d|Detailed Percentile spectrum|Value\s+Percentile|[\d.]+\s+[\d.]+\s+\d+\s+(?:[\d.]+|inf)$|[\d.]+\s+1\.0+\s+\d+|#\[Buckets|-{5,}|Transfer\/sec:)/;

export const wrk: WholeFormat = {
  kind: 'whole',
  name: 'wrk result',
  recognise(head) {
    const opened = /^Running \S+ test @ /m.test(head);
    const counted = /^\s*\d+ requests in \S+/m.test(head) || /^Requests\/sec:\s*[\d.]+/m.test(head);
    const sized = shareOfLines(head, (line) => size.test(line), 10) > 0;
    return (opened && (counted || sized)) || (counted && sized) ? 1 : opened ? 0.7 : 0;
  },
  read(text, sink) {
    let run: WrkRun | undefined;
    let runs = 0;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const begun = running.exec(line);
      if (begun !== null || run === undefined) {
        run?.finish();
        runs += 1;
        run = new WrkRun(sink, `${runOf(sink)}${runs > 1 ? ` ${runs}` : ''}`, index + 1, text.includes('HdrHistogram'));
      }
      if (run.line(line, index + 1)) sink.understood();
      else sink.foreign(index + 1, line);
    }
    run?.finish();
  },
};

class WrkRun {
  readonly #sink: Sink;
  readonly #draft: LoadDraft;
  readonly #line: number;
  readonly #latency: Record<string, number> = {};
  readonly #uncorrected: Record<string, number> = {};
  #block: Record<string, number>;
  #reached = false;

  constructor(sink: Sink, run: string, line: number, corrected: boolean) {
    this.#sink = sink;
    this.#line = line;
    this.#draft = { tool: corrected ? 'wrk2' : 'wrk', run };
    this.#block = this.#latency;
  }

  line(text: string, line: number): boolean {
    const begun = running.exec(text);
    if (begun !== null) {
      this.#reached = true;
      this.#setting('load.seconds', parseSeconds(begun[1]), line);
      return true;
    }
    const sized = size.exec(text);
    if (sized !== null) {
      this.#setting('load.threads', Number(sized[1]), line);
      this.#setting('load.connections', Number(sized[2]), line);
      put(this.#draft, 'connections', Number(sized[2]));
      return true;
    }
    if (/^\s*Latency Distribution/.test(text)) {
      this.#block = text.includes('Uncorrected') ? this.#uncorrected : this.#latency;
      return true;
    }
    return this.#times(text) || this.#counts(text) || passedOver.test(text);
  }

  #times(text: string): boolean {
    const quantile = percentile.exec(text);
    const time = parseSeconds(quantile?.[2]);
    if (quantile !== null && time !== undefined) {
      this.#block[quantileKey(Number(quantile[1]))] = time;
      return true;
    }
    const threads = threadLatency.exec(text);
    if (threads !== null) {
      this.#note(this.#latency, 'mean', parseSeconds(threads[1]));
      this.#note(this.#latency, '1', parseSeconds(threads[2]));
      return true;
    }
    // The spectrum counts milliseconds.
    const mean = meanLine.exec(text);
    const max = maxLine.exec(text);
    if (mean !== null) this.#note(this.#block, 'mean', scaled(Number(mean[1]), 1e-3));
    if (max !== null) this.#note(this.#block, '1', scaled(Number(max[1]), 1e-3));
    return mean !== null || max !== null;
  }

  #counts(text: string): boolean {
    const counted = total.exec(text);
    if (counted !== null) {
      this.#reached = true;
      put(this.#draft, 'requests', Number(counted[1]));
      put(this.#draft, 'seconds', parseSeconds(counted[2]));
      return true;
    }
    const broken = socketErrors.exec(text);
    if (broken !== null) {
      const [connect = 0, read = 0, write = 0, timeout = 0] = broken.slice(1).map(Number);
      put(this.#draft, 'errorsByKind', { ...this.#draft.errorsByKind, connect, read, write, timeout });
      put(this.#draft, 'errors', (this.#draft.errors ?? 0) + connect + read + write + timeout);
      return true;
    }
    const refused = badStatus.exec(text);
    if (refused !== null) {
      put(this.#draft, 'errorsByKind', { ...this.#draft.errorsByKind, status: Number(refused[1]) });
      put(this.#draft, 'errors', (this.#draft.errors ?? 0) + Number(refused[1]));
      return true;
    }
    const reached = rate.exec(text);
    if (reached === null) return false;
    put(this.#draft, 'ratePerSecond', countOf(reached[1]));
    return true;
  }

  finish(): void {
    if (!this.#reached) return;
    if (Object.keys(this.#latency).length > 0) put(this.#draft, 'latency', this.#latency);
    if (Object.keys(this.#uncorrected).length > 0) put(this.#draft, 'uncorrected', this.#uncorrected);
    // No line of errors means that there were none.
    if (this.#draft.requests !== undefined) put(this.#draft, 'errors', this.#draft.errors ?? 0);
    this.#sink.result(this.#draft, this.#line);
    const tool = this.#draft.tool;
    this.#sink.setting({ ...this.#where(), key: 'load.tool', value: tool, line: this.#line });
    this.#sink.setting({
      ...this.#where(),
      key: 'load.model',
      value: tool === 'wrk2' ? 'open' : 'closed',
      implied: true,
      line: this.#line,
    });
  }

  #note(block: Record<string, number>, key: string, value: number | undefined): void {
    if (value !== undefined) block[key] ??= value;
  }

  #setting(key: 'load.seconds' | 'load.threads' | 'load.connections', value: number | undefined, line: number): void {
    if (value !== undefined) this.#sink.setting({ ...this.#where(), key, value, line });
  }

  #where(): { readonly program: string; readonly scope: string } {
    return { program: 'load-generator', scope: this.#draft.run };
  }
}
