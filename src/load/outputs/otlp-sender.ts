// Sends what a run has come to so far to an OpenTelemetry collector, over HTTP with JSON. One request at a time: while one is under
// way the next second is left out, and since sums are cumulative nothing is lost by that. What went wrong is counted and told at
// the end; the run does not stop for it.

import type { OtlpRequest } from './otlp.ts';

/** A collector that does not answer within this is given up on, each time anew. */
const timeoutMs = 5_000;

export class OtlpSender {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #underWay: Promise<void> | undefined;
  #sent = 0;
  #failed = 0;
  #lastFailure = '';

  /** `address`: the collector, to which `/v1/metrics` is added unless the address has a path. */
  constructor(address: URL, headers: Readonly<Record<string, string>>) {
    const url = new URL(address);
    if (url.pathname === '/') url.pathname = '/v1/metrics';
    this.#url = url.href;
    this.#headers = headers;
  }

  /** Sends it, unless an earlier one is still under way. */
  offer(request: () => OtlpRequest): void {
    this.#underWay ??= this.#send(request());
  }

  /** Sends the last one, and resolves when it is over. */
  async finish(request: OtlpRequest): Promise<void> {
    await this.#underWay;
    await this.#send(request);
  }

  /** In words, when something went wrong. */
  get trouble(): string | undefined {
    if (this.#failed === 0) return undefined;
    return `OTLP: ${this.#failed} of ${this.#failed + this.#sent} exports to ${this.#url} failed, the last with ${this.#lastFailure}`;
  }

  async #send(request: OtlpRequest): Promise<void> {
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...this.#headers },
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if (response.ok) this.#sent += 1;
      else this.#fail(`status ${response.status} ${text.slice(0, 200)}`);
    } catch (error) {
      this.#fail(reasonOf(error));
    }
    this.#underWay = undefined;
  }

  #fail(why: string): void {
    this.#failed += 1;
    this.#lastFailure = why;
  }
}

/** What `fetch` throws says little; its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return cause.message === '' ? cause.name : cause.message;
  return error.message;
}
