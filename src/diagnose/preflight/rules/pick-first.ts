// Clients that take the first of a list.

import { ownerOf } from '../../dossier/view-words.ts';
import type { Finding, Rule } from '../rule.ts';

export const pickFirst: Rule = {
  name: 'pick-first',
  holds: 'A client of several replicas uses more than the first.',
  because:
    'A client that takes the first of a list, or keeps one channel to one address, gives everything to one replica: more replicas change ' +
    'nothing. It is the default of gRPC in every language.',
  check({ view }) {
    const chosen = view
      .settings('balance.policy')
      .filter(({ value }) => value === 'pick-first' || value === 'first')
      .map((setting): Finding => ({
        rule: 'pick-first',
        severity: 'error',
        where: setting.origin,
        also: [],
        because: `${ownerOf(setting)} takes the first of its list: of n replicas n − 1 are idle`,
        instead: 'round-robin or least-request over the whole list',
      }));
    const written = view.settings('balance.policy', 'client.policy-hint').length > 0;
    const several = (view.number('replicas.count') ?? view.number('upstream.endpoints') ?? 0) > 1;
    const grpc = view
      .settings('program.runtime')
      .filter(({ value }) => /grpc/i.test(String(value)) && !written && several)
      .map((setting): Finding => ({
        rule: 'pick-first',
        severity: 'warning',
        where: setting.origin,
        also: [],
        because: `${ownerOf(setting)} speaks gRPC (${String(setting.value)}), and nothing sets its policy: pick_first is the default`,
        instead: 'a service config with round_robin, over a name that resolves to all replicas (a headless service)',
      }));
    return { findings: [...chosen, ...grpc] };
  },
};
