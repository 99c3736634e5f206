// A gateway that serves somebody: what can be read of it, and the few things that may be changed and put back.

import { parsePrometheus, type Sample } from '../../observe.ts';

/** Counters of one endpoint since the gateway started. */
export interface EndpointCounts {
  readonly id: string;
  readonly requests: number;
  readonly errors: number;
  readonly inFlight: number;
  /** The integral of what is in flight, in request seconds. */
  readonly inFlightSeconds: number;
  readonly healthy: boolean;
}

export interface LiveTarget {
  /** What it is called in reports. */
  readonly name: string;
  scrape(): Promise<readonly EndpointCounts[]>;
  policy(): Promise<string>;
  setPolicy(policy: string): Promise<void>;
  weightOf(endpoint: string): Promise<number>;
  setWeight(endpoint: string, weight: number): Promise<void>;
}

const patienceMs = 5000;

/** Our own gateway behind its admin API at `url`. Every method rejects with a sentence when the gateway does not answer as it should. */
export function gatewayTarget(url: string): LiveTarget {
  const base = url.replace(/\/+$/, '');
  const ask = async (path: string, body?: unknown): Promise<string> => {
    const response = await fetch(`${base}${path}`, {
      signal: AbortSignal.timeout(patienceMs),
      ...(body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }).catch((error: unknown) => {
      throw new Error(`${base}${path}: no answer (${error instanceof Error ? error.message : String(error)})`);
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${base}${path}: answered ${response.status}: ${text.slice(0, 200)}`);
    return text;
  };
  return {
    name: base,
    scrape: async () => countsIn(parsePrometheus(await ask('/metrics')).samples),
    policy: async () => textIn(await ask('/policy'), 'policy'),
    setPolicy: async (policy) => {
      await ask('/policy', { policy });
    },
    weightOf: async (endpoint) => Number(textIn(await ask(`/endpoints/${encodeURIComponent(endpoint)}`), 'weight')),
    setWeight: async (endpoint, weight) => {
      await ask(`/endpoints/${encodeURIComponent(endpoint)}/weight`, { weight });
    },
  };
}

/** A text or a number under a key. Throws a sentence for whatever is no answer of our gateway. */
function textIn(json: string, key: string): string {
  const found: unknown = memberOf(json, key);
  if (typeof found === 'string' || typeof found === 'number') return String(found);
  throw new Error(`expected the admin API of a plimsoll gateway, found ${json.slice(0, 60)}`);
}

function memberOf(json: string, key: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  } catch {
    return undefined;
  }
}

const prefix = 'plimsoll_gateway_endpoint_';

/** Endpoint by endpoint, in the order in which they stand. Empty: these are not the metrics of our gateway. */
export function countsIn(samples: readonly Sample[]): EndpointCounts[] {
  const own = samples.filter(({ name, labels }) => name.startsWith(prefix) && labels['endpoint'] !== undefined);
  const ids = [...new Set(own.map(({ labels }) => labels['endpoint'] ?? ''))];
  const sum = (id: string, name: string): number =>
    own.reduce((all, one) => all + (one.name === prefix + name && one.labels['endpoint'] === id ? one.value : 0), 0);
  return ids.map((id) => ({
    id,
    requests: sum(id, 'requests_total'),
    errors: sum(id, 'errors_total'),
    inFlight: sum(id, 'in_flight'),
    inFlightSeconds: sum(id, 'in_flight_seconds_total'),
    healthy: sum(id, 'healthy') > 0,
  }));
}
