// Results of a load test of which only the single requests were written down: counted and put into a histogram one by one, so
// that a result of any size needs 32 KB. Quantiles are within 0.55 % (see the histogram).

import { inSeconds, seconds as secondsOf } from '../../../base.ts';
import { Histogram } from '../../../stats.ts';
import { messageCode } from '../message-codes.ts';
import { type LoadDraft, put } from './draft.ts';

const kindsMax = 200;
const quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999] as const;

export class LoadTally {
  readonly #histogram = new Histogram();
  readonly #connect = new Histogram();
  readonly #statuses = new Map<string, number>();
  readonly #kinds = new Map<string, number>();
  #requests = 0;
  #errors = 0;
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** One request. `error`: what went wrong in the tool's words; an empty text: something did. */
  add(startMs: number, seconds: number, status: number, error: string | undefined): void {
    this.#requests += 1;
    if (seconds >= 0 && Number.isFinite(seconds)) {
      this.#histogram.record(secondsOf(seconds));
      if (Number.isFinite(startMs)) {
        this.#firstMs = Math.min(this.#firstMs, startMs);
        this.#lastMs = Math.max(this.#lastMs, startMs + seconds * 1000);
      }
    }
    if (status > 0) addTo(this.#statuses, String(status));
    if (error === undefined) return;
    this.#errors += 1;
    addTo(this.#kinds, errorKind(error, status));
  }

  /** How long a connection took; 0 where one was used again. */
  addConnect(seconds: number): void {
    if (seconds > 0 && Number.isFinite(seconds)) this.#connect.record(secondsOf(seconds));
  }

  get requests(): number {
    return this.#requests;
  }

  finish(tool: string, run: string): LoadDraft {
    const draft: LoadDraft = { tool, run, requests: this.#requests, errors: this.#errors };
    if (this.#statuses.size > 0) put(draft, 'statuses', Object.fromEntries(this.#statuses));
    if (this.#kinds.size > 0) put(draft, 'errorsByKind', Object.fromEntries(this.#kinds));
    const spread = (this.#lastMs - this.#firstMs) / 1000;
    if (spread > 0) {
      put(draft, 'seconds', spread);
      put(draft, 'ratePerSecond', this.#requests / spread);
    }
    put(draft, 'latency', quantilesOf(this.#histogram));
    put(draft, 'connectSeconds', quantilesOf(this.#connect));
    return draft;
  }
}

function quantilesOf(histogram: Histogram): Record<string, number> | undefined {
  const { count, mean, min, max } = histogram;
  if (count === 0 || mean === undefined || min === undefined || max === undefined) return undefined;
  const found: Record<string, number> = { mean: inSeconds(mean), '0': inSeconds(min), '1': inSeconds(max) };
  for (const q of quantiles) {
    const value = histogram.quantile(q)?.value;
    if (value !== undefined) found[String(q)] = inSeconds(value);
  }
  return found;
}

/** Tools put addresses into their errors; what is counted is the kind: `refused`, `timeout`, `status-503`, … */
export function errorKind(error: string, status = 0): string {
  const known = messageCode(error);
  if (known !== undefined) return known;
  const answered = status >= 400 ? String(status) : /^\s*([45]\d\d)\b/.exec(error)?.[1];
  return answered === undefined ? 'request-failed' : `status-${answered}`;
}

function addTo(counts: Map<string, number>, key: string): void {
  const kept = counts.has(key) || counts.size < kindsMax ? key : '(others)';
  counts.set(kept, (counts.get(kept) ?? 0) + 1);
}
