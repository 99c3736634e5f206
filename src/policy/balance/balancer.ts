// Who gets the next request. A balancer reads one immutable Fleet, replaced as a whole when something changes, and counts
// what it has handed out. It is the same code in the gateway, in the simulator and in a registry client of the load room.
//
// Hot: `pick`, `started` and `finished` run once a request and allocate nothing. `rebuild` may take its time.

import type { Duration, Instant } from '../../base.ts';

export interface Endpoint {
  /** Unique in its fleet; what people see: `api-2`. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** Relative share, 1 by default. 0: gets nothing. */
  readonly weight: number;
  readonly zone: string | undefined;
  /** Level on which it stands, 0 by default: higher levels wait until lower ones cannot carry the load. */
  readonly priority?: number;
}

/** One snapshot. An endpoint's index in `endpoints` is what `pick` returns; it is valid for this snapshot only. */
export interface Fleet {
  readonly version: number;
  readonly endpoints: readonly Endpoint[];
  /** Fit for traffic, by index. */
  readonly healthy: readonly boolean[];
}

/** What a balancer may look at to choose. All optional: a plain request has none. */
export interface PickRequest {
  /** Hash of what the request should stick to, 32 bits unsigned. */
  readonly hash?: number;
  /** Indices already tried for this request: avoided while another is left. */
  readonly tried?: readonly number[];
}

export interface PickOutcome {
  readonly ok: boolean;
  readonly latency: Duration;
}

export interface Balancer {
  readonly name: string;
  /** Index into the current fleet's endpoints, or undefined when none is fit. */
  pick(request: PickRequest, now: Instant): number | undefined;
  started(endpoint: number, now: Instant): void;
  finished(endpoint: number, outcome: PickOutcome, now: Instant): void;
  /** Requests now inside this endpoint as this balancer counts them. */
  inFlight(endpoint: number): number;
  /** For whoever asks why: what this balancer holds against an endpoint now, the lower the sooner picked. Undefined where nothing
   * is known of it. Left out by balancers that do not compare. */
  score?(endpoint: number, now: Instant): number | undefined;
  /** For whoever asks why: who was compared in the last pick, where that is not everybody. */
  drawn?(): readonly number[];
  /** Takes a new snapshot. What is known of endpoints that stay (same id) is kept. */
  rebuild(fleet: Fleet): void;
}
