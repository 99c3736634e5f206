// Why did this request go there, and what became of it? One record of a request: at each pick who could have had it, what the
// balancer held against each, who was left out and for what reason; each attempt and its end; what was left of time and of
// the budgets. Plain data: it is served as JSON, and as words by `story-text.ts`.

import type { Instant } from '../base.ts';
import type { Exclusion } from './live-endpoint.ts';

export interface Story {
  readonly id: string;
  /** Wall clock, ISO 8601. */
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly authority: string | null;
  readonly client: string;
  /** Why it was written down. */
  readonly because: 'sampled' | 'asked' | 'failed';
  /** What it sticks to; null: nothing. */
  readonly hash: number | null;
  /** What the request was given from the caller and from us, at its beginning. */
  readonly given_ms: number;
  readonly picks: readonly PickStory[];
  readonly attempts: readonly AttemptStory[];
  /** How long it waited in the queue; null: not at all. */
  readonly queued_ms: number | null;
  readonly way: string;
  readonly flags: string;
  readonly status: number;
  readonly duration_ms: number;
  /** What was left at its end of its time, and of the retries of all. null: there is no budget. */
  readonly left_ms: number;
  readonly retries_left: number | null;
}

export interface PickStory {
  /** From the beginning of the request. */
  readonly at_ms: number;
  readonly policy: string;
  /** null: nobody was fit. */
  readonly chosen: string | null;
  /** Who was compared; empty: everybody, or nobody. */
  readonly drawn: readonly string[];
  /** Was it looked at after the request had failed, and not when it was picked? */
  readonly afterwards: boolean;
  readonly candidates: readonly Candidate[];
  /** Endpoints that the record has no room for. */
  readonly left_out: number;
}

export interface Candidate {
  readonly endpoint: string;
  /** Why it could not be picked; null: it could. */
  readonly excluded: Exclusion | 'tried' | null;
  readonly in_flight: number;
  readonly weight: number;
  readonly zone: string | null;
  readonly priority: number;
  /** What the balancer held against it, lower is better; null where it does not compare or knows nothing. */
  readonly score: number | null;
}

export interface AttemptStory {
  readonly endpoint: string;
  /** From the beginning of the request. */
  readonly at_ms: number;
  readonly kind: 'first' | 'retry' | 'reconnect' | 'hedge';
  readonly connection: 'kept' | 'new';
  /** `answered`, `broken-off`, or the kind of error. */
  readonly end: string;
  readonly took_ms: number;
}

/** An attempt while it is under way. */
interface OpenAttempt {
  readonly endpoint: string;
  readonly from: Instant;
  readonly kind: AttemptStory['kind'];
  readonly connection: AttemptStory['connection'];
  error: string | undefined;
}

/** Endpoints in one pick. */
export const candidatesMax = 20;
const picksMax = 8;
const attemptsMax = 12;
const textMax = 256;

/** Takes down what happens to one request; made only for those that are written down. */
export class StoryWriter {
  readonly because: Story['because'];
  readonly #from: Instant;
  readonly #picks: PickStory[] = [];
  readonly #attempts: AttemptStory[] = [];
  readonly #open = new Map<string, OpenAttempt>();
  #queuedFrom: Instant | undefined;
  #queued: number | undefined;
  givenMs = 0;
  hash: number | undefined;

  constructor(because: Story['because'], now: Instant) {
    this.because = because;
    this.#from = now;
  }

  get picks(): readonly PickStory[] {
    return this.#picks;
  }

  get attempts(): readonly AttemptStory[] {
    return this.#attempts;
  }

  get queuedMs(): number | null {
    return this.#queued ?? null;
  }

  get from(): Instant {
    return this.#from;
  }

  picked(pick: Omit<PickStory, 'at_ms'>, now: Instant): void {
    if (this.#picks.length < picksMax) this.#picks.push({ at_ms: millis(now - this.#from), ...pick });
  }

  attempted(endpoint: string, kind: AttemptStory['kind'], connection: AttemptStory['connection'], now: Instant): void {
    this.#open.set(endpoint, { endpoint, from: now, kind, connection, error: undefined });
  }

  /** Before its end is known: what went wrong. */
  failed(endpoint: string, error: string): void {
    const attempt = this.#open.get(endpoint);
    if (attempt !== undefined) attempt.error = error;
  }

  attemptEnded(endpoint: string, end: string, now: Instant): void {
    const attempt = this.#open.get(endpoint);
    if (attempt === undefined) return;
    this.#open.delete(endpoint);
    if (this.#attempts.length >= attemptsMax) return;
    this.#attempts.push({
      endpoint,
      at_ms: millis(attempt.from - this.#from),
      kind: attempt.kind,
      connection: attempt.connection,
      end: attempt.error ?? end,
      took_ms: millis(now - attempt.from),
    });
  }

  queuedAt(now: Instant): void {
    this.#queuedFrom = now;
  }

  queueLeftAt(now: Instant): void {
    if (this.#queuedFrom !== undefined) this.#queued = millis(now - this.#queuedFrom);
    this.#queuedFrom = undefined;
  }
}

/** Nanoseconds as milliseconds, to the microsecond. */
export function millis(nanoseconds: number): number {
  return Math.round(nanoseconds / 1e3) / 1e3;
}

/** So that one long path does not fill the memory of all. */
export function clipped(text: string): string {
  return text.length <= textMax ? text : `${text.slice(0, textMax - 1)}…`;
}
