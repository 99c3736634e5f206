// A load test over one connection measures one server, however many stand behind the balancer.

import { digits, listed } from '../../wording.ts';
import { loadRequests, loadTool } from '../load-facts.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const generatorSingleConnection: DossierTheory = {
  slug: 'generator-single-connection',
  title: 'Single connection: the generator multiplexes everything on one connection through layer 4',
  mechanism:
    'HTTP/2 carries all requests of a client on one connection. A balancer on layer 4 places connections, so it chose once, and ' +
    'the whole test went to that server. The others are up and idle, and the result is the capacity of one.',
  refutedBy: 'As many connections as servers or more, or a balancer that sees requests.',
  provedBy: 'Far more requests than connections, and fewer connections than servers that are up.',
  lookAlikes: ['a broken round robin', 'servers that are not healthy', 'pick-first', 'connection-pinning'],
  fix: 'Open several connections (or switch HTTP/2 off in the generator), or put a layer-7 balancer in between.',
  decidedBy: 'connections at the balancer during the run, and how many requests the generator made',
  explains: [
    'pick-first',
    'connection-pinning',
    'generator-saturated',
    'slow-replica',
    'h2-stream-cap',
    'generator-dns-pin',
    'sticky-session',
  ],

  examine(view) {
    const tool = loadTool(view);
    const found = fewestConnections(view);
    if (found === undefined) return undefined;
    // What servers counted is the generator’s only where the connections are known to be.
    const requests =
      loadRequests(view) ?? (view.number('load.connections') === found.total ? served(found) : undefined);
    const layer = view.setting('balance.layer', ({ value }) => value === 'tcp');
    const http2 = view.setting('load.http2');
    const up = found.members.filter(({ healthy }) => healthy !== false).length;
    // A service of Kubernetes is on layer 4 as well, and its clients are seldom load tests.
    const placed = layer !== undefined && layer.program !== 'kubernetes' && found.total < up;
    if (tool === undefined && !placed) return undefined;
    const idle = found.members
      .filter(({ connections = 0, healthy }) => connections === 0 && healthy !== false)
      .map(({ id }) => id);
    const other = otherRun(view, found);
    return {
      claims: [
        claim('A load generator makes the requests.', {
          bearing: 'necessary',
          predicted: 'a load test',
          refutes: 'users',
          seen: tool === undefined ? undefined : { text: tool, holds: true },
          missing: 'who makes the requests, and how many over how many connections',
        }),
        claim('The balancer places connections.', {
          bearing: 'necessary',
          predicted: 'layer 4',
          refutes: 'a balancer of requests',
          seen:
            view.setting('balance.layer') === undefined
              ? undefined
              : {
                  text: `${layer?.scope ?? 'every balancer'}: ${layer === undefined ? 'http' : 'tcp'}`,
                  holds: layer !== undefined,
                  origins: layer === undefined ? [] : [layer.origin],
                },
          missing: 'on which layer the balancer works',
        }),
        claim('There were fewer connections than servers that are up.', {
          bearing: 'necessary',
          predicted: `fewer than ${up}`,
          refutes: 'a connection for each server',
          seen: { text: digits(found.total), holds: found.total < up, origins: found.fleet.origins },
        }),
        claim('The generator made far more requests than connections.', {
          bearing: 'sufficient',
          predicted: 'at least 100 for each',
          refutes: 'a connection for each request',
          seen:
            requests === undefined
              ? undefined
              : {
                  text: `${digits(requests)} requests on ${digits(found.total)} connection${found.total === 1 ? '' : 's'}`,
                  holds: requests >= 100 * found.total && found.total < up && tool !== undefined,
                },
          missing: 'how many requests the generator made',
        }),
        claim('It multiplexes.', {
          bearing: requests === undefined ? 'sufficient' : 'supporting',
          predicted: 'HTTP/2, or one connection',
          refutes: 'HTTP/1.1 over many connections',
          seen:
            http2 === undefined
              ? undefined
              : {
                  text: `HTTP/2 ${http2.value === true ? 'on' : 'off'}`,
                  holds: http2.value === true,
                  origins: [http2.origin],
                },
          missing: 'whether the generator uses HTTP/2',
        }),
        claim('With more connections the same balancer spreads.', {
          bearing: 'supporting',
          predicted: 'all servers in the run with more connections',
          refutes: 'one server again',
          seen: other,
          missing: 'a run with several connections',
        }),
      ],
      culprit: `load generator ${tool === undefined || tool === 'load generator' ? '' : `${tool} `}(${found.total === 1 ? 'one multiplexed connection' : `${digits(found.total)} connections`}) through a layer-4 balancer`,
      sentence: `The generator sent everything over ${found.total === 1 ? 'one connection' : `${digits(found.total)} connections`}, and the balancer places connections: ${listed(idle.slice(0, 4))} had nothing to do, so the result is that of ${found.members.length - idle.length} server${found.members.length - idle.length === 1 ? '' : 's'}.`,
      arithmetic: [
        ...(requests === undefined
          ? []
          : [
              `${digits(requests)} requests ÷ ${digits(found.total)} connections = ${digits(requests / found.total)} on each`,
            ]),
        ...found.members.map(({ id, connections = 0 }) => `${id}: ${digits(connections)} connections`),
      ],
    };
  },
};

/** Requests that the servers counted, where they did. */
function served({ members }: Spread): number | undefined {
  const counts = members.flatMap(({ requests }) => requests ?? []);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

/** Of all readings, the fleet with the fewest connections that has any. */
function fewestConnections(view: View): Spread | undefined {
  return everyRun(view).toSorted((one, other) => one.total - other.total)[0];
}

function everyRun(view: View): Spread[] {
  return Array.from({ length: view.readings }, (_, reading) => view.fleetsAt(reading)).flatMap((fleets) =>
    fleets.flatMap((fleet) => spreadOf(fleet, 'connections') ?? []),
  );
}

function otherRun(view: View, found: Spread): { text: string; holds: boolean } | undefined {
  const [most] = everyRun(view)
    .filter(({ members, total }) => members.length === found.members.length && total > found.total)
    .toSorted((one, other) => other.total - one.total);
  if (most === undefined) return undefined;
  return {
    text: listed(most.members.map(({ id, connections = 0 }) => `${id} ${digits(connections)}`)),
    holds: most.members.filter(({ connections = 0 }) => connections > 0).length > 1,
  };
}
