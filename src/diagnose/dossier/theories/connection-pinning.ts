// Requests follow connections, and connections were placed once, by a hop that does not see requests.

import { digits, percent } from '../../wording.ts';
import type { Fleet } from '../fleet.ts';
import { rangeOf, type Spread, spreadOf, timesOf, unevenest } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const connectionPinning: DossierTheory = {
  slug: 'connection-pinning',
  title: 'Connection pinning: an L4 hop places connections, and requests follow them',
  mechanism:
    'A balancer on layer 4 chooses once for each connection. A pool in front of it keeps few connections for long and sends ' +
    'thousands of requests over each, so the replicas that happened to get a connection get everything. Replicas without one ' +
    'are idle, new ones stay idle, and an autoscaler that looks at the mean sees nothing.',
  refutedBy: 'Requests that are not spread as the connections are, or an upstream that balances each request.',
  provedBy:
    'The same number of requests on every connection, while connections are spread unevenly through one address.',
  lookAlikes: ['pick-first', 'slow-replica', 'zone-imbalance', 'accept-imbalance'],
  fix:
    'Recycle the connections (a limit of requests or of age for each), or balance every request: resolve the replicas ' +
    'themselves (headless service) with least-request, or put a layer-7 proxy in between. Scale on the busiest, not on the mean.',
  decidedBy: 'open connections and requests by replica at the same time',
  explains: ['cpu-throttling', 'slow-replica', 'sticky-session'],

  examine(view) {
    const found = pinned(view);
    const address = view.setting('upstream.address-kind', ({ value }) => value === 'cluster-ip');
    const pool = poolOf(view);
    const layer = view.setting('balance.layer', ({ value }) => value === 'tcp');
    const single = address ?? layer;
    if (found === undefined && (single === undefined || pool === undefined)) return undefined;
    const shared = found ?? unevenest(view.fleets, 'requests');
    const each = found === undefined ? undefined : rangeOf(perConnection(found.fleet));
    const times = found === undefined ? undefined : rangeOf(timesOf(found.fleet.members));
    const connected = found?.fleet.members.filter(({ connections = 0 }) => connections > 0).length ?? 0;
    return {
      claims: [
        claim('Requests are spread unevenly over the replicas.', {
          bearing: 'necessary',
          predicted: 'the busiest has at least twice its share, or a fit one less than a fifth of its',
          refutes: 'an even spread',
          seen:
            shared === undefined
              ? undefined
              : {
                  text: `${shared.hot.id}: ${percent(shared.share)}, ${digits(shared.times)} times its share`,
                  holds: shared.times >= 1.9 || starved(shared.fleet),
                  origins: shared.fleet.origins,
                },
          missing: 'requests by replica',
        }),
        claim('Several replicas have connections: it is not one client on one address.', {
          bearing: 'necessary',
          predicted: 'at least two replicas with connections',
          refutes: 'a single connection',
          seen:
            found === undefined
              ? undefined
              : { text: `${connected} of ${found.members.length}`, holds: connected >= 2 },
          missing: 'open connections by replica',
        }),
        claim('Every connection carries about the same number of requests, whoever it leads to.', {
          bearing: 'sufficient',
          predicted: 'within a factor of 1.6',
          refutes: 'requests that do not follow connections',
          seen:
            each === undefined
              ? undefined
              : {
                  text: `${digits(each.least)} to ${digits(each.most)} on a connection`,
                  holds: each.times <= 1.6 && connectionsUneven(found),
                },
          missing: 'connections and requests by replica at the same time',
        }),
        claim(
          'A pool of long-lived connections stands before one address of several replicas: the load must follow it.',
          {
            bearing: 'sufficient',
            predicted: 'a pool, one address, no recycling below 1,000 requests',
            refutes: 'a pool that knows the replicas, or connections that end soon',
            seen:
              found !== undefined || pool === undefined || address === undefined
                ? undefined
                : {
                    text: `${pool.program} ${pool.scope}: ${pool.addresses ?? '?'} address, ${pool.recycling ?? 'no limit of'} requests`,
                    holds: pool.addresses === 1 && (pool.recycling ?? Number.POSITIVE_INFINITY) >= 1000,
                    origins: [...pool.origins, address.origin],
                  },
            missing: 'the configuration of the pool in front and of the address behind it',
          },
        ),
        claim('The pool in front knows one address, not the replicas.', {
          bearing: 'supporting',
          predicted: 'one address, or a hop on layer 4',
          refutes: 'an upstream that lists the replicas',
          seen:
            single === undefined
              ? undefined
              : {
                  text: `${single.program} ${single.scope}: ${single.value}`,
                  holds: true,
                  origins: [single.origin],
                },
          missing: 'the configuration of the proxy in front',
        }),
        claim('Connections that are reused for long.', {
          bearing: 'supporting',
          predicted: 'no limit below 1,000 requests',
          refutes: 'connections that end after few requests',
          seen:
            pool?.recycling === undefined
              ? undefined
              : {
                  text: `${pool.recycling}${pool.implied ? ' requests (the default)' : ' requests'}`,
                  holds: pool.recycling >= 1000,
                  origins: pool.origins,
                },
          missing: 'how long a pooled connection is kept',
        }),
        claim('No replica is slower for each request: the busy ones only have more of them.', {
          bearing: 'supporting',
          predicted: 'mean times within a factor of 2',
          refutes: 'a busy replica that is slow',
          seen:
            times === undefined
              ? undefined
              : {
                  text: `${digits(times.least * 1000)} to ${digits(times.most * 1000)} ms`,
                  holds: times.times <= 2,
                },
          missing: 'the time of a request by replica',
        }),
      ],
      culprit: culpritOf(pool, single?.value === 'cluster-ip', single?.scope),
      sentence:
        found === undefined
          ? 'A pool of long-lived connections stands before an address on layer 4: requests will follow connections, and those are balanced only once.'
          : `${found.hot.id} gets ${percent(found.share)} of the requests because it has the connections: requests follow connections, and those were balanced only once.`,
      arithmetic:
        found === undefined
          ? []
          : found.members.map(
              ({ id, requests, bytes, connections = 0 }) =>
                `${id}: ${digits(requests ?? bytes ?? 0)} ${requests === undefined ? 'bytes' : 'requests'} on ${connections} connections` +
                (connections > 0 ? ` = ${digits((requests ?? bytes ?? 0) / connections)} on each` : ''),
            ),
      basis: found === undefined ? 'configured' : 'seen',
    };
  },
};

interface Pool {
  readonly program: string;
  readonly scope: string;
  /** How many addresses it is given. */
  readonly addresses: number | undefined;
  readonly recycling: number | undefined;
  readonly implied: boolean;
  readonly origins: Spread['fleet']['origins'];
}

/** The pool that keeps connections to one address. */
function poolOf(view: View): Pool | undefined {
  const kept = view.setting('upstream.keepalive-connections', ({ value }) => value !== 0);
  if (kept === undefined) return undefined;
  const same = ({ program, scope }: { program: string; scope: string }): boolean =>
    program === kept.program && scope === kept.scope;
  const recycling = view.setting('upstream.keepalive-requests', same);
  return {
    program: kept.program,
    scope: kept.scope,
    addresses: view.number('upstream.endpoints', same),
    recycling: typeof recycling?.value === 'number' ? recycling.value : undefined,
    implied: recycling?.implied ?? false,
    origins: [kept.origin, ...(recycling === undefined ? [] : [recycling.origin])],
  };
}

function culpritOf(pool: Pool | undefined, clusterIp: boolean, scope: string | undefined): string {
  const over = clusterIp
    ? `the ClusterIP ${scope ?? 'service'}`
    : `a layer-4 hop${scope === undefined ? '' : ` (${scope})`}`;
  if (pool === undefined) return `the clients' connection pools over ${over}`;
  const limit =
    pool.recycling === undefined ? '' : `, keepalive_requests ${pool.recycling}${pool.implied ? ' (default)' : ''}`;
  return `front ${pool.program} ${pool.scope}: keepalive pool over ${over}${limit}`;
}

/** The fleet that counts requests and connections and is spread least evenly. */
function pinned(view: View): Spread | undefined {
  return view.fleets
    .filter(({ members }) => members.some(({ connections = 0 }) => connections > 0))
    .flatMap((fleet) => spreadOf(fleet, 'requests') ?? spreadOf(fleet, 'bytes') ?? [])
    .toSorted((one, other) => other.times - one.times)[0];
}

/** What goes over each connection: requests, or bytes where a layer-4 hop counts no requests. */
function perConnection(fleet: Fleet): number[] {
  return fleet.members.flatMap(({ requests, bytes, connections = 0 }) => {
    const carried = requests ?? bytes;
    return carried === undefined || connections <= 0 ? [] : [carried / connections];
  });
}

function connectionsUneven(found: Spread | undefined): boolean {
  const spread = found === undefined ? undefined : spreadOf(found.fleet, 'connections');
  return spread !== undefined && (spread.times >= 1.5 || starved(spread.fleet));
}

/** Of three replicas the busiest cannot have twice its share before the third has nothing: then it is the idle one that tells. */
function starved(fleet: Fleet): boolean {
  const fit = fleet.members.filter(({ healthy }) => healthy !== false);
  // Of whom nothing was counted nothing is known: a host beside the fleet may stand in the same table.
  const loads = fit.flatMap(({ requests, bytes }) => requests ?? bytes ?? []);
  const mean = loads.reduce((sum, load) => sum + load, 0) / Math.max(1, loads.length);
  return loads.length >= 3 && loads.some((load) => load < mean / 5);
}
