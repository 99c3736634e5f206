// What a balancer says of itself at one moment, whichever program it is. Its counters began when it was started, or when its log was
// turned; what it does not tell is absent.
//
//   ours       Prometheus text      who is in rotation, requests, retries, what is in flight at whom as a time integral
//   HAProxy    statistics as CSV    who is in rotation, requests, retries
//   Envoy      /clusters            who is in rotation
//   nginx      stub_status          nothing of its replicas

import type { LabScrape } from '../lab.ts';
import {
  type Exposition,
  type HaproxyRow,
  parseEnvoyClusters,
  parseHaproxyStats,
  parsePrometheus,
  statistic,
} from '../observe.ts';

export interface GatewayReading {
  /** Whether it would ask that replica now. Empty where it does not say. */
  readonly inRotation: ReadonlyMap<string, boolean>;
  readonly requests?: number;
  readonly retries?: number;
  /** Seconds in flight at each replica, summed over its requests. */
  readonly heldSeconds: ReadonlyMap<string, number>;
}

export function gatewayReading({ gateway }: LabScrape): GatewayReading | undefined {
  switch (gateway?.program) {
    case 'plimsoll':
      return ours(parsePrometheus(gateway.text));
    case 'haproxy':
      return haproxy(parseHaproxyStats(gateway.text).rows);
    case 'envoy':
      return { inRotation: envoyRotation(gateway.text), heldSeconds: new Map() };
    default:
      return undefined;
  }
}

function ours(exposition: Exposition): GatewayReading {
  const byEndpoint = (name: string): ReadonlyMap<string, number> =>
    new Map(
      exposition.samples.flatMap(({ name: own, labels, value }) =>
        own === name ? [[labels['endpoint'] ?? '', value] as const] : [],
      ),
    );
  const whole = (name: string): number | undefined => {
    const values = exposition.samples.filter((sample) => sample.name === name).map(({ value }) => value);
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  };
  const healthy = byEndpoint('plimsoll_gateway_endpoint_healthy');
  return told(new Map([...healthy].map(([id, value]) => [id, value === 1])), {
    requests: whole('plimsoll_gateway_requests_total'),
    retries: whole('plimsoll_gateway_retries_total'),
    heldSeconds: byEndpoint('plimsoll_gateway_endpoint_in_flight_seconds_total'),
  });
}

/** `UP`, `UP 1/2` on its way down, `no check`; out are `DOWN`, `DOWN 1/2` on its way up, `MAINT`, `DRAIN`, `NOLB`. */
function haproxy(rows: readonly HaproxyRow[]): GatewayReading {
  const servers = rows.filter(({ kind }) => kind === 'server');
  const frontend = rows.find(({ kind }) => kind === 'frontend');
  const isIn = ({ cells }: HaproxyRow): boolean => /^(?:UP|no check)/.test(cells.get('status') ?? '');
  // Passed on to another server, and sent again to the same one.
  const retried = (row: HaproxyRow): number => (statistic(row, 'wredis') ?? 0) + (statistic(row, 'wretr') ?? 0);
  return told(new Map(servers.map((row) => [row.server, isIn(row)])), {
    requests: frontend && statistic(frontend, 'req_tot'),
    retries: servers.length === 0 ? undefined : servers.reduce((sum, row) => sum + retried(row), 0),
  });
}

/** By the name that the configuration gives a host. */
function envoyRotation(text: string): ReadonlyMap<string, boolean> {
  return new Map(
    parseEnvoyClusters(text).flatMap(({ hostname, healthy }) => (hostname === '' ? [] : [[hostname, healthy]])),
  );
}

function told(
  inRotation: ReadonlyMap<string, boolean>,
  facts: {
    readonly requests: number | undefined;
    readonly retries: number | undefined;
    readonly heldSeconds?: ReadonlyMap<string, number>;
  },
): GatewayReading {
  const { requests, retries, heldSeconds = new Map<string, number>() } = facts;
  return {
    inRotation,
    heldSeconds,
    ...(requests === undefined ? {} : { requests }),
    ...(retries === undefined ? {} : { retries }),
  };
}
