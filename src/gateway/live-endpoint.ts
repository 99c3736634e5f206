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
  ejections = 0;
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
    return this.passes && !this.ejected;
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
