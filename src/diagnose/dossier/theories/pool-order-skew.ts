// Every replica has its connections, but the pool always takes the same free one first.

import { digits, percent } from '../../wording.ts';
import { measureOf } from '../metric-names.ts';
import { rangeOf, type Spread, spreadOf, timesOf } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const poolOrderSkew: DossierTheory = {
  slug: 'pool-order-skew',
  title: 'Pool order: connections are spread evenly, but the pool prefers the same free ones',
  mechanism:
    'A pool hands out free connections in a fixed order: the oldest first, or the one that came back last. As long as it has ' +
    'more connections than requests at a time, those at the head do all the work and those at the tail none. Balancing the ' +
    'connections does not help, they are balanced already.',
  refutedBy: 'Requests that are even where connections are, or that follow an uneven spread of connections.',
  provedBy: 'As many connections on each replica, far from as many requests, and a pool whose order is fixed.',
  lookAlikes: ['connection-pinning', 'sticky-session', 'hot-key', 'slow-replica'],
  fix:
    'Let the pool choose by load or at random (least busy, round robin over connections), or make it no larger than the ' +
    'requests at a time; balance each request where possible.',
  decidedBy: 'requests by connection, and in which order the pool hands out free ones',
  explains: ['slow-replica'],

  examine(view) {
    const found = candidate(view);
    if (found === undefined) return undefined;
    const { requests, connections } = found;
    const order = view.setting('pool.order', ({ value }) =>
      /lifo|fifo|oldest|newest|first|last|recent|mru|stack/i.test(String(value)),
    );
    const times = rangeOf(timesOf(requests.members));
    const free = freeShare(view, connections.total);
    const byPlace = fallsWithPlace(view);
    return {
      claims: [
        claim('Connections are spread evenly.', {
          bearing: 'necessary',
          predicted: 'the busiest has at most 1.3 times its share',
          refutes: 'connections that are as uneven as requests',
          seen: {
            text: `${digits(connections.times)} times its share of ${digits(connections.total)} connections`,
            holds: connections.times <= 1.3,
            origins: connections.fleet.origins,
          },
        }),
        claim('Requests are not.', {
          bearing: 'necessary',
          predicted: 'the busiest has at least 1.5 times its share',
          refutes: 'an even spread of requests',
          seen: {
            text: `${requests.hot.id}: ${percent(requests.share)}, ${digits(requests.times)} times its share`,
            holds: requests.times >= 1.5 && requests.luck < 0.01,
          },
        }),
        claim('No balancer ties requests to replicas by client or by key.', {
          bearing: 'necessary',
          predicted: 'neither stickiness nor hashing',
          refutes: 'a cookie or a hash that chooses',
          seen: stickySeen(view),
          missing: 'how the balancer chooses',
        }),
        claim('The pool takes free connections in a fixed order.', {
          bearing: 'sufficient',
          predicted: 'oldest first, or last returned first',
          refutes: 'a pool that chooses by load or at random',
          seen:
            order === undefined
              ? undefined
              : { text: `${order.program} ${order.scope}: ${order.value}`, holds: true, origins: [order.origin] },
          missing: 'the order in which the pool hands out free connections',
        }),
        claim('Requests fall with the place of a connection in the pool.', {
          bearing: 'sufficient',
          predicted: 'each connection has at most as many as the one before it',
          refutes: 'requests that have nothing to do with the place',
          seen: byPlace,
          missing: 'requests by connection',
        }),
        claim('None is slower than the others.', {
          bearing: 'necessary',
          predicted: 'mean times within a factor of 2',
          refutes: 'a replica that is slow, which a pool avoids',
          seen:
            times === undefined
              ? undefined
              : { text: `${digits(times.least * 1000)} to ${digits(times.most * 1000)} ms`, holds: times.times <= 2 },
          missing: 'times by replica',
        }),
        claim('With connections this even, only the choice of a connection can make requests so uneven.', {
          bearing: 'sufficient',
          predicted:
            'connections within 15 %, requests at least 1.8 times the share, most connections free where that is known',
          refutes: 'a pool that is busy, or connections that are uneven',
          seen: {
            text: `${digits(connections.times)} and ${digits(requests.times)} times${free === undefined ? '' : `; ${percent(free)} of the connections free`}`,
            holds: connections.times <= 1.15 && requests.times >= 1.8 && (free ?? 1) >= 0.3,
          },
        }),
      ],
      culprit:
        order === undefined
          ? 'the client’s connection pool: always the same free connection first'
          : `${order.program} ${order.scope}: pool order ${order.value}`,
      sentence: `Every replica has its connections, but ${requests.hot.id} gets ${percent(requests.share)} of the requests: the pool hands out the same free connections first.`,
      arithmetic: requests.members.map(
        (member) => `${member.id}: ${digits(member.requests ?? 0)} requests on ${member.connections ?? 0} connections`,
      ),
    };
  },
};

interface Candidate {
  readonly requests: Spread;
  readonly connections: Spread;
}

function candidate(view: View): Candidate | undefined {
  for (const fleet of view.fleets) {
    const requests = spreadOf(fleet, 'requests');
    const connections = spreadOf(fleet, 'connections');
    if (requests === undefined || connections === undefined || connections.total < connections.members.length) continue;
    if (connections.members.length < requests.members.length) continue;
    return { requests, connections };
  }
  return joined(view);
}

/** Requests from one source and connections from another, such as a log and a list of sockets, of the same replicas. */
function joined(view: View): Candidate | undefined {
  const held = new Map<string, number>();
  for (const { members } of view.fleets) {
    for (const { id, connections } of members) if (connections !== undefined) held.set(id, connections);
  }
  for (const { name, labels, value } of view.dossier.samples) {
    const peer = labels['peer'];
    if (name === 'sockets_to_peer' && peer !== undefined) held.set(peer, value);
  }
  for (const fleet of view.fleets) {
    if (!fleet.members.some(({ requests }) => requests !== undefined)) continue;
    if (fleet.members.some(({ id }) => !held.has(id))) continue;
    const asked = new Map(fleet.members.map((member) => [member.id, member]));
    // A replica that was connected to and never asked is in no log: it is known by its port.
    const ports = new Set(fleet.members.map(({ id }) => portOf(id)));
    const members = [...held]
      .filter(([id]) => asked.has(id) || (portOf(id) !== undefined && ports.has(portOf(id))))
      .map(([id, connections]) => ({ id, requests: 0, ...asked.get(id), connections }));
    const requests = spreadOf({ ...fleet, members }, 'requests');
    const connections = spreadOf({ ...fleet, members }, 'connections');
    if (requests !== undefined && connections !== undefined) return { requests, connections };
  }
  return undefined;
}

const portOf = (address: string): string | undefined => /:(\d+)$/.exec(address)?.[1];

function stickySeen(view: View): { text: string; holds: boolean } | undefined {
  const sticky = view.setting('balance.sticky');
  const policy = view.setting('balance.policy', ({ value }) => value === 'hash' || value === 'cookie');
  if (policy !== undefined) return { text: `${policy.scope}: ${policy.value}`, holds: false };
  return sticky === undefined ? undefined : { text: String(sticky.value), holds: sticky.value === 'none' };
}

/** The share of connections that carries no request at a time, from in flight. */
function freeShare(view: View, connections: number): number | undefined {
  const inFlight = view.fleets.flatMap((fleet) => spreadOf(fleet, 'inFlight') ?? [])[0]?.total;
  return inFlight === undefined ? undefined : Math.max(0, 1 - inFlight / connections);
}

/** Counters by connection in the order of the pool: by age where that is known, else as they are listed. */
function fallsWithPlace(view: View): { text: string; holds: boolean } | undefined {
  const label = connectionLabels.find((one) => view.dossier.samples.some(({ labels }) => one in labels));
  if (label === undefined) return undefined;
  const counted = view.dossier.samples.filter(({ name, labels }) => label in labels && measureOf(name) === 'requests');
  const ages = new Map(
    view.dossier.samples
      .filter(({ name, labels }) => label in labels && /(?:^|_)age(?:_|$)|uptime|opened_for/.test(name.toLowerCase()))
      .map(({ labels, value }) => [labels[label] ?? '', value]),
  );
  const ordered = counted.toSorted(
    (one, other) => (ages.get(other.labels[label] ?? '') ?? 0) - (ages.get(one.labels[label] ?? '') ?? 0),
  );
  const counts = ordered.map(({ value }) => value);
  if (counts.length < 4) return undefined;
  // Falling one way or the other: the oldest first, or the one that came back last.
  const falls = counts.filter((count, index) => index > 0 && count <= (counts[index - 1] ?? 0)).length;
  const rises = counts.filter((count, index) => index > 0 && count >= (counts[index - 1] ?? 0)).length;
  const most = Math.max(falls, rises) / (counts.length - 1);
  const range = rangeOf([counts[0] ?? 0, counts.at(-1) ?? 0]);
  return {
    text: `${digits(counts[0] ?? 0)} on the ${ages.size > 0 ? 'oldest' : 'first'} to ${digits(counts.at(-1) ?? 0)} on the ${ages.size > 0 ? 'youngest' : 'last'} of ${counts.length}`,
    holds: most >= 0.9 && range !== undefined && range.times >= 3,
  };
}

const connectionLabels = ['connection', 'conn', 'connection_id', 'conn_id', 'socket', 'channel', 'slot'];
