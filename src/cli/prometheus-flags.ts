// `--prometheus URL --from --to`: where to ask for the metrics of an incident, and over which time.

import { inSeconds, parseDuration } from '../base.ts';
import { now, wallClockAt } from '../host.ts';
import { fetchPrometheus, type PrometheusQuery } from '../observe.ts';
import { UsageError } from './exit.ts';
import { FlagReader } from './flag-reader.ts';
import type { OpenedFile } from './open-files.ts';

export interface PrometheusFlags {
  readonly prometheus?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly step?: string | undefined;
}

/** What was asked for; undefined without `--prometheus`. Throws `UsageError` with every mistake at once. */
export function prometheusQuery(
  flags: PrometheusFlags,
  nowMs = wallClockAt(now()).getTime(),
): PrometheusQuery | undefined {
  const reader = new FlagReader();
  const { prometheus, from = '-1h', to = 'now', step } = flags;
  if (prometheus === undefined) {
    for (const name of ['from', 'to', 'step'] as const) {
      if (flags[name] !== undefined) reader.wrong(`--${name} is a time for --prometheus, which is missing`);
    }
    reader.finish();
    return undefined;
  }
  const url = reader.url(prometheus, '--prometheus', 'http://prometheus:9090');
  const [fromMs, toMs] = [instantIn('--from', from, nowMs, reader), instantIn('--to', to, nowMs, reader)];
  const every = step === undefined ? undefined : parseDuration(step);
  if (step !== undefined && (every === undefined || every <= 0))
    reader.wrong(`--step: found "${step}", expected a time such as 15s`);
  if (reader.isFine && fromMs >= toMs) {
    reader.wrong(`--from ${new Date(fromMs).toISOString()} is not before --to ${new Date(toMs).toISOString()}`);
  }
  reader.finish();
  return { url: url?.href ?? '', fromMs, toMs, ...(every === undefined ? {} : { stepSeconds: inSeconds(every) }) };
}

/** `now`, `-90m` before it, an instant such as 2026-03-04T14:00:00Z, or an epoch in seconds or milliseconds. */
function instantIn(flag: string, text: string, nowMs: number, reader: FlagReader): number {
  if (text === 'now') return nowMs;
  const before = text.startsWith('-') ? parseDuration(text.slice(1)) : undefined;
  if (before !== undefined) return nowMs - inSeconds(before) * 1000;
  if (/^\d{9,13}(?:\.\d+)?$/.test(text)) return Number(text) * (text.split('.')[0]?.length === 13 ? 1 : 1000);
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  reader.wrong(`${flag}: found "${text}", expected a time such as 2026-03-04T14:00:00Z, an epoch, -90m or now`);
  return nowMs;
}

/** What Prometheus has, as a file among the others. Throws `UsageError` where it has nothing to give. */
export async function prometheusFile(query: PrometheusQuery): Promise<OpenedFile> {
  const fetched = await fetchPrometheus(query);
  if ('problem' in fetched) throw new UsageError(`--prometheus: ${fetched.problem}`);
  const bytes = Buffer.from(fetched.answer.text);
  return {
    path: query.url,
    head: bytes.subarray(0, 512),
    pieces: once(bytes),
    remarks: fetched.answer.remarks.map((remark) => `${query.url}: ${remark}`),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
