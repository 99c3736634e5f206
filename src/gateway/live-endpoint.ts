// One endpoint as the data plane knows it: what was configured, how it is, what has been sent to it, and the connections kept
// open to it. It outlives any single fleet snapshot; `index` is its place in the present one.

import { assert, type Instant } from '../base.ts';
import type { Endpoint } from '../policy.ts';
import { Level } from '../stats.ts';
import { EndpointPool } from './endpoint-pool.ts';

export type EndpointErrorKind =
  | 'refused'
  | 'connect-timeout'
  | 'connect-other'
  | 'closed'
  | 'reset'
  | 'protocol'
  | 'timeout'
  | 'cut-off';

export const endpointErrorKinds: readonly EndpointErrorKind[] = [
  'refused',
  'connect-timeout',
  'connect-other',
  'closed',
  'reset',
  'protocol',
  'timeout',
  'cut-off',
];

/** `drain`: no further request, those inside are finished. `up`, `down`: fit or unfit whatever else is known. */
export type OperatorOrder = 'drain' | 'up' | 'down';

/** Why an endpoint is not among the candidates, the strongest reason first. */
export const exclusions = [
  'drained',
  'set-down',
  'no-weight',
  'outside-subset',
  'checks-fail',
  'ejected',
  'breaker-open',
] as const;

export type Exclusion = (typeof exclusions)[number];

/** `index` of an endpoint that has left the fleet: its requests go on, and no balancer hears of them any more. */
export const retired = -1;

export class LiveEndpoint {
  /** Its configuration: the weight may change, the address never does. */
  endpoint: Endpoint;
  readonly pool: EndpointPool;
  index: number = retired;
  /** Its active checks pass, as far as is known. */
  passes = true;
  /** Taken out for a while because of what it answered. */
  ejected = false;
  /** Its breaker is open, or a trial request is out. */
  tripped = false;
  /** What an operator said, whatever checks and answers say; undefined: nothing. */
  order: OperatorOrder | undefined;
  /** When it last became fit; undefined for those that were from the start. */
  fitSince: Instant | undefined;
  /** In the part of the fleet that this gateway talks to. */
  member = true;
  ejections = 0;
  /** Times that its checks took it out. */
  falls = 0;
  /** Times that its breaker opened, and requests that were sent to find out whether it may close. */
  trips = 0;
  trials = 0;
  /** Ejections that did not happen because too many others were out. */
  spared = 0;
  /** Attempts sent here since the start, each retry counted. */
  requests = 0;
  /** Connections open or being opened. */
  connections = 0;
  readonly errors: Record<EndpointErrorKind, number> = {
    refused: 0,
    'connect-timeout': 0,
    'connect-other': 0,
    closed: 0,
    reset: 0,
    protocol: 0,
    timeout: 0,
    'cut-off': 0,
  };
  readonly #inFlight: Level;

  constructor(endpoint: Endpoint, now: Instant) {
    this.endpoint = endpoint;
    this.pool = new EndpointPool();
    this.#inFlight = new Level(0, now);
  }

  get healthy(): boolean {
    if (this.order !== undefined) return this.order === 'up';
    return this.passes && !this.ejected && !this.tripped;
  }

  /** Would it be picked? */
  get fit(): boolean {
    return this.healthy && this.member && this.endpoint.weight > 0;
  }

  /** Why it would not be picked; undefined when it would. */
  get excludedBy(): Exclusion | undefined {
    if (this.order === 'drain') return 'drained';
    if (this.order === 'down') return 'set-down';
    if (this.endpoint.weight === 0) return 'no-weight';
    if (!this.member) return 'outside-subset';
    if (this.order === 'up') return undefined;
    if (!this.passes) return 'checks-fail';
    if (this.ejected) return 'ejected';
    return this.tripped ? 'breaker-open' : undefined;
  }

  get inFlight(): number {
    return this.#inFlight.value;
  }

  started(now: Instant): void {
    this.#inFlight.change(1, now);
    this.requests += 1;
  }

  finished(now: Instant): void {
    assert(this.inFlight > 0, 'an attempt ends once');
    this.#inFlight.change(-1, now);
  }

  count(kind: EndpointErrorKind): void {
    this.errors[kind] += 1;
  }

  /** The time integral of `inFlight`, in seconds: the difference of two readings ÷ their distance is the exact mean. */
  inFlightSeconds(now: Instant): number {
    return this.#inFlight.integralSecondsAt(now);
  }
}
