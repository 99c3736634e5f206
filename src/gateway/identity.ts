// How a request is known elsewhere: its id, kept when the caller gave one and made otherwise, and its place in a trace. Where
// neither is configured there is no identity, and both fields pass as they came.
//
//   client ── x-request-id: 7f, traceparent: 00-T-a-01 ──► gateway (span b) ── x-request-id: 7f, traceparent: 00-T-b-01 ──► endpoint
//
// An id that is not plain text of a sensible length is replaced: it will stand in logs and in a path of the admin API. Ids that
// are made are unpredictable in front and count behind; trace and span ids are random, whatever the seed of the gateway says,
// since two gateways with one seed must not make the same.
//
// Hot where configured.

import { randomBytes } from 'node:crypto';
import { dice, type Dice } from '../base.ts';
import { formatTraceParent, parseTraceParent, type RequestHead, traceStateForwarded } from '../wire.ts';
import type { GrowingBytes } from './growing-bytes.ts';

export interface IdentityConfig {
  /** A trace is begun, and those under way are continued. Undefined: `traceparent` passes as it came. */
  readonly trace: { readonly sample: number } | undefined;
}

/** Fields that are written anew where identities are given. */
export const identityFields: readonly string[] = ['x-request-id'];
export const traceFields: readonly string[] = ['traceparent', 'tracestate'];

export class Identity {
  requestId = '';
  traceId = '';
  spanId = '';
  /** Of the caller; empty: the trace begins here. */
  parentSpanId = '';
  traceState: string | undefined;
  sampled = false;
}

const poolBytes = 4096;

export class Identities {
  readonly config: IdentityConfig;
  readonly #prefix = randomBytes(6).toString('hex');
  readonly #dice: Dice;
  #count = 0;
  #pool = '';
  #used = 0;

  constructor(config: IdentityConfig, seed: number) {
    this.config = config;
    this.#dice = dice(seed, 'gateway/trace');
  }

  give(into: Identity, head: RequestHead): void {
    const given = head.header('x-request-id');
    into.requestId = given !== undefined && isRequestId(given) ? given : this.#newRequestId();
    const { trace } = this.config;
    if (trace === undefined) return;
    const parent = parseTraceParent(head.header('traceparent') ?? '');
    into.spanId = this.#hex(16);
    into.traceId = parent?.traceId ?? this.#hex(32);
    into.parentSpanId = parent?.spanId ?? '';
    // Without its parent a state means nothing.
    into.traceState = parent === undefined ? undefined : traceStateForwarded(head.header('tracestate'));
    into.sampled = parent?.sampled ?? this.#dice.next() < trace.sample;
  }

  /** The lines of a request head. */
  write(out: GrowingBytes, identity: Identity): void {
    writeRequestId(out, identity.requestId);
    if (this.config.trace === undefined) return;
    out.text(`traceparent: ${formatTraceParent(identity)}\r\n`);
    if (identity.traceState !== undefined) out.text(`tracestate: ${identity.traceState}\r\n`);
  }

  #newRequestId(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count.toString(36)}`;
  }

  /** So many random hexadecimal digits. A run of zeros would mean nothing: it does not happen. */
  #hex(digits: number): string {
    if (this.#used + digits > this.#pool.length) {
      this.#pool = randomBytes(poolBytes).toString('hex');
      this.#used = 0;
    }
    this.#used += digits;
    return this.#pool.slice(this.#used - digits, this.#used);
  }
}

export function writeRequestId(out: GrowingBytes, requestId: string): void {
  out.text(`x-request-id: ${requestId}\r\n`);
}

/** What may stand in a log and in a path. */
export function isRequestId(text: string): boolean {
  return /^[A-Za-z0-9._:~@+=-]{1,128}$/.test(text);
}
