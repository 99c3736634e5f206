// Where a run is told besides the screen: files, an OpenTelemetry collector, an endpoint for Prometheus. Everything that can be wrong
// with an address or a file is found before the run; what goes wrong in it is told at the end and stops nothing.
//
//   open ─► begin ─► second, second, second, …, ─► end
//
// Files grow as the run goes, so that a run that is killed leaves its seconds.

import { appendFileSync, writeFileSync } from 'node:fs';
import { assert, inSeconds, ns } from '../../base.ts';
import { RecordFile } from '../../host.ts';
import { RecordWriter } from '../../record.ts';
import { Histogram, hlogHead, type HlogInterval, hlogLine } from '../../stats.ts';
import type { LoadPlan, LoadResult, LoadSnapshot } from '../contract.ts';
import { csvHead, csvRows } from './csv.ts';
import { hgrmText, hlogIntervals } from './hdr-files.ts';
import { LoadRecord } from './load-record.ts';
import { type MetricsEndpoint, metricsEndpoint } from './metrics-endpoint.ts';
import { otlpRequest, type OtlpRequest } from './otlp.ts';
import { OtlpSender } from './otlp-sender.ts';
import { prometheusText } from './prometheus-text.ts';
import { RunningTotals } from './running-totals.ts';

export interface OutputsWanted {
  /** Names of files. */
  readonly csv?: string | undefined;
  readonly hgrm?: string | undefined;
  readonly hlog?: string | undefined;
  readonly otlp?: { readonly address: URL; readonly headers: Readonly<Record<string, string>> } | undefined;
  readonly prometheus?: { readonly host: string; readonly port: number } | undefined;
  readonly record?: { readonly file: string; readonly plan: LoadPlan; readonly where: string } | undefined;
  /** Client groups, so that they are told of before their first second is over. */
  readonly groups: readonly string[];
  /** What tells a run from another, for OpenTelemetry: `service.name` and the like. */
  readonly resource: Readonly<Record<string, string>>;
  /** Of this program. */
  readonly version: string;
}

export class Outputs {
  readonly #wanted: OutputsWanted;
  readonly #totals: RunningTotals;
  readonly #endpoint: MetricsEndpoint | undefined;
  readonly #record: { readonly file: RecordFile; readonly lines: LoadRecord } | undefined;
  readonly #sender: OtlpSender | undefined;
  /** Nanoseconds since 1970. */
  #start = wallClock();
  #elapsed = ns(0);
  /** Lines of the log are made one after another. */
  #writing: Promise<void> = Promise.resolve();
  readonly #trouble: string[] = [];

  private constructor(
    wanted: OutputsWanted,
    endpoint: MetricsEndpoint | undefined,
    totals: RunningTotals,
    file: RecordFile | undefined,
  ) {
    this.#wanted = wanted;
    this.#endpoint = endpoint;
    this.#record = file === undefined ? undefined : { file, lines: recordInto(file, wanted) };
    this.#totals = totals;
    this.#sender = wanted.otlp === undefined ? undefined : new OtlpSender(wanted.otlp.address, wanted.otlp.headers);
  }

  /** Makes the files and listens. What cannot be done comes back in words, with the flag's name first. */
  static async open(wanted: OutputsWanted): Promise<Outputs | { readonly problems: readonly string[] }> {
    const problems: string[] = [];
    const create = (flag: string, name: string | undefined, text: string): void => {
      if (name === undefined) return;
      try {
        writeFileSync(name, text);
      } catch (error) {
        problems.push(`${flag} ${name}: it cannot be written (${codeOf(error)}): give a file in a folder that exists`);
      }
    };
    create('--csv', wanted.csv, csvHead);
    create('--hgrm', wanted.hgrm, '');
    create('--hlog', wanted.hlog, hlogHead(Date.now() / 1000));
    let file: RecordFile | undefined;
    if (wanted.record !== undefined) {
      try {
        file = new RecordFile(wanted.record.file);
      } catch (error) {
        const code = codeOf(error);
        const why =
          code === 'EEXIST' ? 'it is there already, and no record is written over' : `it cannot be written (${code})`;
        problems.push(`--record ${wanted.record.file}: ${why}: give another file`);
      }
    }
    const totals = new RunningTotals(wanted.groups);
    let endpoint: MetricsEndpoint | undefined;
    if (wanted.prometheus !== undefined) {
      const { host, port } = wanted.prometheus;
      try {
        endpoint = await metricsEndpoint(host, port, () => prometheusText(totals));
      } catch (error) {
        problems.push(`--prometheus ${host}:${port}: nobody can listen there (${codeOf(error)}): give another port`);
      }
    }
    // A first line loads the library for it before the load needs the processor.
    if (wanted.hlog !== undefined || wanted.hgrm !== undefined) await hlogLine(emptyInterval());
    if (problems.length === 0) return new Outputs(wanted, endpoint, totals, file);
    file?.close();
    await endpoint?.close();
    return { problems };
  }

  /** Whether seconds must be taken with their histograms. */
  get wantsSeconds(): boolean {
    const { csv, hlog, otlp, prometheus, record } = this.#wanted;
    return [csv, hlog, otlp, prometheus, record].some((each) => each !== undefined);
  }

  /** Where Prometheus finds us. */
  get prometheusPort(): number | undefined {
    return this.#endpoint?.port;
  }

  /** What is judged begins now. */
  begin(): void {
    this.#start = wallClock();
    if (this.#wanted.hlog !== undefined) this.#write('--hlog', this.#wanted.hlog, hlogHead(Number(this.#start) / 1e9));
  }

  /** One more second, taken with its histograms where they are wanted. */
  second(snapshot: LoadSnapshot): void {
    if (!this.wantsSeconds) return;
    this.#totals.add(snapshot);
    const from = inSeconds(this.#elapsed);
    this.#elapsed = ns(this.#elapsed + snapshot.span);
    if (this.#wanted.csv !== undefined)
      this.#append('--csv', this.#wanted.csv, csvRows(snapshot, inSeconds(this.#elapsed)));
    if (this.#wanted.hlog !== undefined) {
      this.#writing = this.#log(this.#wanted.hlog, snapshot, from, this.#writing);
    }
    this.#record?.lines.second(snapshot);
    this.#sender?.offer(() => this.#otlp());
  }

  /** The end: what drained has been given to `second`. Resolves with what went wrong, in words. */
  async end(result: LoadResult, reason: 'finished' | 'objective'): Promise<readonly string[]> {
    await this.#writing;
    this.#record?.lines.end(result, reason);
    this.#record?.file.close();
    if (this.#wanted.hgrm !== undefined) this.#write('--hgrm', this.#wanted.hgrm, await hgrmText(result));
    await this.#sender?.finish(this.#otlp());
    await this.#endpoint?.close();
    const sent = this.#sender?.trouble;
    return sent === undefined ? this.#trouble : [...this.#trouble, sent];
  }

  async #log(name: string, snapshot: LoadSnapshot, from: number, before: Promise<void>): Promise<void> {
    await before;
    let lines = '';
    for (const interval of hlogIntervals(snapshot, from, inSeconds(snapshot.span))) lines += await hlogLine(interval);
    this.#append('--hlog', name, lines);
  }

  #otlp(): OtlpRequest {
    const { resource, version } = this.#wanted;
    return otlpRequest(this.#totals, { start: this.#start, now: wallClock() }, resource, version);
  }

  #write(flag: string, name: string, text: string): void {
    this.#try(flag, name, () => writeFileSync(name, text));
  }

  #append(flag: string, name: string, text: string): void {
    this.#try(flag, name, () => appendFileSync(name, text));
  }

  #try(flag: string, name: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      const told = `${flag} ${name}: it could not be written (${codeOf(error)})`;
      if (!this.#trouble.includes(told)) this.#trouble.push(told);
    }
  }
}

/** Who writes a record's lines into a file that grows as the run goes. */
function recordInto(file: RecordFile, { record, version }: OutputsWanted): LoadRecord {
  assert(record !== undefined, 'there is a file because one was wanted');
  const { plan, where } = record;
  const writer = new RecordWriter((text) => file.append(text));
  const startedAt = new Date().toISOString();
  return new LoadRecord({ plan, where, startedAt, version }, (line) => writer.write(line));
}

const emptyInterval = (): HlogInterval => ({
  startSeconds: 0,
  lengthSeconds: 1,
  tag: undefined,
  histogram: new Histogram(),
});

const wallClock = (): bigint => BigInt(Date.now()) * 1_000_000n;

const codeOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error);
