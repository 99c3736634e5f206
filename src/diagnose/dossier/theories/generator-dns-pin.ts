// The service has several addresses, and the generator stays with the one that it looked up first.

import { digits, percent } from '../../wording.ts';
import { isReachedByGenerator, loadConnections, loadTool } from '../load-facts.ts';
import type { Fleet } from '../fleet.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const generatorDnsPin: DossierTheory = {
  slug: 'generator-dns-pin',
  title: 'Generator pinned by DNS: it resolves once and uses one of several addresses',
  mechanism:
    'A name with several addresses spreads users, who each look it up for themselves. A generator looks it up once, when it ' +
    'starts, and sends the whole load to one address: one node of the balancer carries it, and added nodes are never found.',
  refutedBy: 'Load on the other addresses, or a name with a single address.',
  provedBy: 'Several addresses, many connections of the generator, and all of them to one address.',
  lookAlikes: ['generator-single-connection', 'zone-imbalance', 'pick-first', 'slow-replica'],
  fix: 'Let the generator resolve anew (no DNS cache, all addresses in turn), run it from several hosts, or give it every address.',
  decidedBy: 'connections of the generator by remote address, and the addresses that the name has',
  explains: [
    'pick-first',
    'zone-imbalance',
    'connection-pinning',
    'generator-saturated',
    'slow-replica',
    'sticky-session',
  ],

  examine(view) {
    const tool = loadTool(view);
    if (tool === undefined) return undefined;
    const dns = view.setting('upstream.address-kind', ({ value, program }) => value === 'dns' && program !== 'haproxy');
    const found = onOneAddress(view);
    const resolves = view.setting('dns.hold', ({ program, scope }) =>
      /load|generator|jmeter|k6|wrk|gatling|locust/i.test(`${program} ${scope}`),
    );
    if (found === undefined) return undefined;
    const messages = view.messagesLike(/resolv\w* (?:once|cached)|dns cache|cached (?:dns|address)/i);
    const connections = loadConnections(view);
    const same = isReachedByGenerator(view, found);
    const tcp = view.setting('balance.layer', ({ value }) => value === 'tcp');
    return {
      claims: [
        claim('The name has several addresses.', {
          bearing: 'necessary',
          predicted: 'at least two',
          refutes: 'one address',
          seen: { text: `${found.members.length}`, holds: found.members.length >= 2, origins: found.fleet.origins },
        }),
        claim('One address gets (nearly) everything.', {
          bearing: 'necessary',
          predicted: 'at least 95 %',
          refutes: 'load on the others',
          seen: { text: `${found.hot.id}: ${percent(found.share)}`, holds: found.share >= 0.95 },
        }),
        claim('The others are up.', {
          bearing: 'necessary',
          predicted: 'healthy',
          refutes: 'addresses that are down',
          seen: found.members.every(({ healthy }) => healthy === undefined)
            ? undefined
            : {
                text: `${found.members.filter(({ healthy }) => healthy !== false).length} of ${found.members.length}`,
                holds: found.members.filter(({ healthy, id }) => healthy !== false && id !== found.hot.id).length > 0,
              },
          missing: 'the health of the other addresses',
        }),
        claim('The generator had several connections: it is not one that carries all.', {
          bearing: 'necessary',
          predicted: 'at least two',
          refutes: 'a single connection',
          seen: connections === undefined ? undefined : { text: digits(connections), holds: connections >= 2 },
          missing: 'connections of the generator',
        }),
        claim('Many connections and several addresses, yet one address: only the lookup chose.', {
          bearing: 'sufficient',
          predicted: 'by chance ½ⁿ⁻¹ at most',
          refutes: 'addresses in turn',
          seen:
            connections === undefined ||
            (dns === undefined && resolves === undefined && messages.length === 0 && !/:\d+$|^\d/.test(found.hot.id)) ||
            tcp !== undefined
              ? undefined
              : {
                  text: `${digits(connections)} connections, all to ${found.hot.id}`,
                  holds: connections >= 8 && found.share >= 0.95,
                },
          missing: 'connections of the generator by address',
        }),
        claim('The connections at that address are those of the generator.', {
          bearing: 'sufficient',
          predicted: connections === undefined ? 'as many as it opened' : `${digits(connections)}, within 10 %`,
          refutes: 'connections of somebody else',
          seen:
            same === undefined || tcp !== undefined
              ? undefined
              : { text: digits(found.hot.connections ?? 0), holds: same && found.share >= 0.95 },
          missing: 'connections by address',
        }),
        claim('The generator keeps what it looked up.', {
          bearing: 'sufficient',
          predicted: 'it resolves once, or caches for the whole run',
          refutes: 'a lookup for each connection',
          seen:
            resolves === undefined
              ? messages.length === 0
                ? undefined
                : {
                    text: messages[0]?.text.slice(0, 80) ?? '',
                    holds: true,
                    origins: messages.map(({ origin }) => origin).slice(0, 2),
                  }
              : {
                  text: `${digits(Number(resolves.value))} s`,
                  holds: Number(resolves.value) >= 30 || resolves.value === 'forever',
                  origins: [resolves.origin],
                },
          missing: 'how long the generator keeps an address',
        }),
      ],
      culprit: `load generator ${tool === 'load generator' ? '' : `${tool} `}(resolves the name once, uses ${found.hot.id} of ${found.members.length} addresses)`,
      sentence: `The name has ${found.members.length} addresses, but the generator looked it up once and sent ${percent(found.share)} of the load to ${found.hot.id}: what was measured is one node.`,
      arithmetic: found.members.map((member) => `${member.id}: ${digits(member.requests ?? member.connections ?? 0)}`),
    };
  },
};

function onOneAddress(view: View): Spread | undefined {
  const [peers] = peersOf(view);
  return [...view.fleets, ...(peers === undefined ? [] : [peers])]
    .flatMap((fleet) => spreadOf(fleet, 'requests') ?? spreadOf(fleet, 'connections') ?? [])
    .toSorted((one, other) => other.share - one.share)
    .find(({ share }) => share >= 0.8);
}

/** The generator's own sockets by remote address, beside the other addresses that the name has. */
function peersOf(view: View): Fleet[] {
  const sockets = view.dossier.samples.filter(({ name, labels }) => name === 'sockets_to_peer' && 'peer' in labels);
  const [first] = sockets;
  if (first === undefined) return [];
  return view.settings('upstream.endpoint-list').flatMap(({ value }): Fleet[] => {
    const addresses = String(value)
      .split(',')
      .map((address) => address.trim());
    const members = addresses.map((id) => ({
      id,
      connections: sockets
        .filter(({ labels }) => [labels['peer'], labels['peer']?.replace(/:\d+$/, '')].includes(id))
        .reduce((sum, sample) => sum + sample.value, 0),
    }));
    return members.some(({ connections }) => connections > 0)
      ? [{ by: 'peer', of: '', members, listed: true, origins: [first.origin] }]
      : [];
  });
}
