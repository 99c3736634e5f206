// Requests follow connections, and connections were placed once, by a hop that does not see requests.

import { claim, type DossierTheory } from '../theory.ts';
import type { Vector, View } from '../view.ts';
import { percent } from '../../wording.ts';

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
  decidedBy: 'connections and requests by replica at the same time',
  explains: ['cpu-throttling', 'slow-replica'],

  examine(view) {
    const pair = pairOf(view);
    const clusterIp = view.setting('upstream.address-kind', ({ value }) => value === 'cluster-ip');
    const oneAddress = view.setting('upstream.endpoints', ({ value }) => value === 1);
    const keepalive = view.setting('upstream.keepalive-connections');
    const recycling = view.setting('upstream.keepalive-requests');
    if (pair === undefined && clusterIp === undefined) return undefined;
    const single = clusterIp ?? oneAddress;
    const spread = pair === undefined ? undefined : perConnection(pair);
    const pool = keepalive ?? recycling;
    return {
      claims: [
        claim('Requests are spread unevenly over replicas that are all ready.', {
          bearing: 'necessary',
          predicted: 'the busiest has at least twice its share',
          refutes: 'an even spread',
          seen:
            pair === undefined
              ? undefined
              : {
                  text: `${pair.hot}: ${percent(pair.hotShare)} of the requests over ${pair.requests.ids.length} replicas`,
                  holds: pair.hotShare * pair.requests.ids.length >= 2,
                  origins: pair.requests.origins,
                },
          missing: 'requests by replica',
        }),
        claim('Several replicas have connections: it is not one client on one address.', {
          bearing: 'necessary',
          predicted: 'at least two replicas with connections',
          refutes: 'a single connection',
          seen:
            pair === undefined
              ? undefined
              : {
                  text: `${pair.connections.values.filter((value) => value > 0).length} replicas with connections`,
                  holds: pair.connections.values.filter((value) => value > 0).length >= 2,
                  origins: pair.connections.origins,
                },
          missing: 'open connections by replica',
        }),
        claim('Every connection carries about the same number of requests, whoever it leads to.', {
          bearing: 'sufficient',
          predicted: 'within a factor of 1.5',
          refutes: 'requests that do not follow connections',
          seen:
            spread === undefined
              ? undefined
              : {
                  text: `${spread.least.toFixed(0)} to ${spread.most.toFixed(0)} requests on a connection`,
                  holds: spread.most <= 1.5 * spread.least,
                },
          missing: 'connections and requests by replica at the same time',
        }),
        claim('The pool in front knows one address, not the replicas.', {
          bearing: 'supporting',
          predicted: 'one upstream address',
          refutes: 'an upstream that lists the replicas',
          seen:
            single === undefined
              ? undefined
              : { text: `${single.program} ${single.scope}: one address`, holds: true, origins: [single.origin] },
          missing: 'the configuration of the proxy in front',
        }),
        claim('Its connections are not recycled soon.', {
          bearing: 'supporting',
          predicted: 'no limit of requests below 1,000',
          refutes: 'connections that end after few requests',
          seen:
            recycling === undefined || typeof recycling.value !== 'number'
              ? undefined
              : {
                  text: `${recycling.value} requests a connection${recycling.implied ? ' (default)' : ''}`,
                  holds: recycling.value >= 1000,
                  origins: [recycling.origin],
                },
          missing: 'how long a pooled connection is kept',
        }),
      ],
      culprit:
        `${pool?.program ?? single?.program ?? 'the proxy in front'} ${pool?.scope ?? ''}: keep-alive pool over one address`.replace(
          '  ',
          ' ',
        ),
      sentence:
        pair === undefined
          ? 'Connections are balanced once, when they are made, and requests follow them.'
          : `${pair.hot} gets ${percent(pair.hotShare)} of the requests because it has the connections: requests follow connections, and those were balanced only once.`,
      arithmetic:
        pair === undefined || spread === undefined
          ? []
          : pair.requests.ids.map(
              (id, index) => `${id}: ${pair.requests.values[index]} requests on ${connectionsOf(pair, id)} connections`,
            ),
    };
  },
};

interface Pair {
  readonly requests: Vector;
  readonly connections: Vector;
  readonly hot: string;
  readonly hotShare: number;
}

/** Requests and connections of the same things. */
function pairOf(view: View): Pair | undefined {
  for (const requests of [...view.vectors('requests'), ...view.requestVectors()]) {
    const connections = view.vectors('connections').find((one) => requests.ids.every((id) => one.ids.includes(id)));
    const whole = requests.values.reduce((sum, value) => sum + value, 0);
    if (connections === undefined || whole === 0) continue;
    const most = Math.max(...requests.values);
    return { requests, connections, hot: requests.ids[requests.values.indexOf(most)] ?? '', hotShare: most / whole };
  }
  return undefined;
}

function connectionsOf(pair: Pair, id: string): number {
  return pair.connections.values[pair.connections.ids.indexOf(id)] ?? 0;
}

function perConnection(pair: Pair): { least: number; most: number } | undefined {
  const ratios = pair.requests.ids.flatMap((id, index) => {
    const connections = connectionsOf(pair, id);
    return connections > 0 ? [(pair.requests.values[index] ?? 0) / connections] : [];
  });
  return ratios.length < 2 ? undefined : { least: Math.min(...ratios), most: Math.max(...ratios) };
}
