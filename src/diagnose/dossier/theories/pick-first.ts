// A client that was given a list of replicas, or one address for all of them, and stays with the first.

import { digits, percent } from '../../wording.ts';
import type { Fleet } from '../fleet.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { isReachedByGenerator, loadTool } from '../load-facts.ts';
import type { View } from '../view.ts';

export const pickFirst: DossierTheory = {
  slug: 'pick-first',
  title: 'Pick first: one replica gets everything, because the client has one channel to one address',
  mechanism:
    'The client takes element 0 of the list that the registry returns, or opens one long-lived HTTP/2 connection to an address ' +
    'that stands for all replicas. Either way every request goes to one of them. More replicas change nothing, larger ones ' +
    'help, and when the client restarts another replica may be the one.',
  refutedBy: 'A second replica with a share of the requests, or others that were not fit for traffic.',
  provedBy:
    'All connections that exist lead to the one replica, or it is the first of the list, or the curse moves when the client restarts.',
  lookAlikes: ['slow-replica', 'connection-pinning', 'generator-single-connection', 'rr-parity-lock'],
  fix:
    'Give the client all replicas (headless service, registry list) and a policy that uses them (round robin, least-request, random), ' +
    'in code where the library reads no variable; or a layer-7 proxy or mesh. Limit the age of connections on the server.',
  decidedBy: 'open connections by replica, or the order of the list that the client was given',
  explains: ['slow-replica', 'cpu-throttling', 'connection-pinning', 'sticky-session', 'hot-key'],

  examine(view) {
    const only = onlyOne(view);
    const policy = policyOf(view);
    if (only === undefined) return undefined;
    const found = only.spread;
    const { fleet, hot } = found;
    const connections = connectionsIn(fleet);
    const moved = movedBetweenReadings(view, found);
    const clients = clientsIn(view);
    const fit = fleet.members.filter((member) => member.id !== hot.id && member.healthy !== false).length;
    const first = fleet.listed && fleet.members[0]?.id === hot.id;
    const hint = view.setting('client.policy-hint');
    const address = view.setting('upstream.address-kind', ({ value }) => value === 'cluster-ip' || value === 'dns');
    const runtime = view.setting('program.runtime', ({ value }) =>
      /grpc|node|go|java|python|dubbo|thrift/i.test(String(value)),
    );
    const generator = loadTool(view);
    return {
      claims: [
        claim('One replica gets (nearly) all requests.', {
          bearing: 'necessary',
          predicted: 'at least 95 %',
          refutes: 'a second replica with a share',
          seen:
            only.of === 'cpu'
              ? undefined
              : {
                  text: `${hot.id}: ${percent(found.share)} of ${digits(found.total)}`,
                  holds: found.share >= 0.95 && found.total >= 20,
                  origins: fleet.origins,
                },
          missing: 'requests by replica',
        }),
        claim('One replica works, and the others idle.', {
          bearing: 'necessary',
          predicted: 'the others at a fifth of its processor time or less',
          refutes: 'a second replica that works',
          seen:
            only.of === 'cpu'
              ? {
                  text: `${hot.id}: ${percent(found.share)} of the processor time`,
                  holds: true,
                  origins: fleet.origins,
                }
              : undefined,
          missing: 'processor time by replica',
        }),
        claim('Others were fit for traffic.', {
          bearing: 'necessary',
          predicted: 'at least one more that is up',
          refutes: 'a fleet of which only this one is up',
          seen: { text: `${fit} others`, holds: fit >= 1 },
        }),
        claim('It is a client of the service, not a load generator with one connection.', {
          bearing: 'necessary',
          predicted: 'no load generator behind it',
          refutes: 'a load test through a layer-4 balancer',
          seen:
            generator === undefined
              ? undefined
              : { text: generator, holds: !throughTcp(view) && isReachedByGenerator(view, found) !== true },
          missing: 'who sends the requests',
        }),
        claim('The client’s policy is pick-first.', {
          bearing: 'sufficient',
          predicted: 'pick-first, written or by default',
          refutes: 'a policy that uses the whole list',
          seen:
            policy === undefined
              ? undefined
              : {
                  text: `${policy.program} ${policy.scope}: ${policy.value}${policy.implied ? ' (default)' : ''}`,
                  holds: true,
                  origins: [policy.origin],
                },
          missing: 'the balancing policy of the client',
        }),
        claim('All connections there are lead to that replica.', {
          bearing: 'sufficient',
          predicted: 'no connection anywhere else',
          refutes: 'connections to other replicas',
          seen:
            connections === undefined
              ? undefined
              : {
                  text: `${digits(connections.most)} on ${connections.hot.id}, ${digits(connections.total - connections.most)} elsewhere`,
                  holds: connections.hot.id === hot.id && connections.most === connections.total,
                },
          missing: 'open connections by replica',
        }),
        claim('It is the first of the list that the client was given.', {
          bearing: fleet.members.length >= 3 ? 'sufficient' : 'supporting',
          predicted: 'element 0',
          refutes: 'another place in the list',
          seen: fleet.listed
            ? {
                text: `place ${fleet.members.findIndex(({ id }) => id === hot.id) + 1} of ${fleet.members.length}`,
                holds: first,
              }
            : undefined,
          missing: 'the order of the list that the client was given',
        }),
        claim('When the client restarts, another replica is the one.', {
          bearing: 'sufficient',
          predicted: 'a different replica, alone again',
          refutes: 'the same replica after every restart of the client',
          seen: moved,
          missing: 'the load by replica after a restart of the client',
        }),
        claim('Every client stays with the one replica.', {
          bearing: 'supporting',
          predicted: 'one replica for each client',
          refutes: 'a client that uses several',
          seen: clients,
          missing: 'a log with client and replica',
        }),
      ],
      culprit: `${clientOf(view, runtime?.scope ?? hint?.scope)}: one channel to one address (pick_first${address === undefined ? '' : ` over ${address.value === 'cluster-ip' ? 'the ClusterIP' : 'DNS'} ${address.scope}`})`,
      sentence:
        `${hot.id} ${only.of === 'cpu' ? 'does all the work' : `gets ${percent(found.share)} of the requests`} and ${fleet.members.length - 1} others get nothing: the client keeps one channel to one address.` +
        (hint === undefined
          ? ''
          : ` The variable that asks for ${hint.value} changes nothing where the library does not read it.`),
      arithmetic: fleet.members.map(({ id, requests, connections: open, cpu }) =>
        `${id}: ${requests === undefined ? '' : `${digits(requests)} requests`}${open === undefined ? '' : `, ${digits(open)} connections`}${cpu === undefined ? '' : `, processor ${Number(cpu.toPrecision(2))}`}`.replace(
          ': ,',
          ':',
        ),
      ),
    };
  },
};

/** A fleet of which one member has nearly all requests; where those are not counted, nearly all of the processor time. */
function onlyOne(view: View): { spread: Spread; of: 'requests' | 'cpu' } | undefined {
  const all = (['requests', 'cpu'] as const).flatMap((of) =>
    view.fleets.flatMap((fleet) => {
      const spread = spreadOf(fleet, of);
      return spread === undefined ? [] : [{ spread, of }];
    }),
  );
  return (
    all
      .filter(({ of }) => of === 'requests')
      .toSorted((one, other) => other.spread.share - one.spread.share)
      .find(({ spread }) => spread.share >= 0.8) ??
    all.find(
      ({ of, spread }) =>
        of === 'cpu' && idleBeside(spread) && spread.fleet.members.every(({ requests }) => requests === undefined),
    )
  );
}

/** One busy, and every other at a fifth of it or less: what probes alone cost. */
function idleBeside({ members, hot, most }: Spread): boolean {
  return members.length >= 2 && members.every((member) => member === hot || (member.cpu ?? 0) <= most / 5);
}

function policyOf(view: View) {
  return view.setting('balance.policy', ({ value }) => value === 'pick-first' || value === 'first');
}

function connectionsIn(fleet: Fleet): Spread | undefined {
  return spreadOf(fleet, 'connections');
}

function throughTcp(view: View): boolean {
  return view.settings('balance.layer').some(({ value, program }) => value === 'tcp' && program !== 'kubernetes');
}

/** Two readings in which different members lead, each far ahead. */
function movedBetweenReadings(view: View, found: Spread): { text: string; holds: boolean } | undefined {
  const leaders: string[] = [];
  for (let reading = 0; reading < view.readings; reading++) {
    const lead = view
      .fleetsAt(reading)
      .filter((fleet) => fleet.members.every(({ id }) => found.fleet.members.some((member) => member.id === id)))
      .flatMap((fleet) => spreadOf(fleet, 'cpu') ?? spreadOf(fleet, 'requests') ?? [])[0];
    if (lead !== undefined && lead.share >= 0.6 && lead.times >= 2) leaders.push(lead.hot.id);
  }
  const different = new Set(leaders);
  if (leaders.length < 2) return undefined;
  return { text: leaders.join(', then '), holds: different.size >= 2 };
}

function clientsIn(view: View): { text: string; holds: boolean } | undefined {
  const [table] = view.tables.filter(({ replicas, clients }) => replicas.length > 0 && clients.length > 0);
  if (table === undefined) return undefined;
  const seen = new Map<number, Set<number>>();
  for (let row = 0; row < table.count; row++) {
    const client = table.client[row] ?? -1;
    const replica = table.replica[row] ?? -1;
    if (client < 0 || replica < 0) continue;
    const own = seen.get(client) ?? new Set<number>();
    seen.set(client, own.add(replica));
  }
  if (seen.size === 0) return undefined;
  const faithful = [...seen.values()].filter((own) => own.size === 1).length;
  return { text: `${faithful} of ${seen.size} clients`, holds: faithful === seen.size };
}

/** `frontend client`, from the scope of a setting that only a client has. */
function clientOf(view: View, scope: string | undefined): string {
  const runtime = view.text('program.runtime') ?? '';
  const kind = /grpc/i.test(runtime) ? 'gRPC client channel' : 'client';
  return scope === undefined ? `the ${kind}` : `${scope.replace(/^(?:deployment|pod|container) /, '')} ${kind}`;
}
