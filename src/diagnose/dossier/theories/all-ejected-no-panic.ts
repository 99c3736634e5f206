// Every host is out, and the balancer will not use one that is.

import { digits, percent } from '../../wording.ts';
import { memberships, refusedForLack } from '../membership.ts';
import { claim, type DossierTheory } from '../theory.ts';

export const allEjectedNoPanic: DossierTheory = {
  slug: 'all-ejected-no-panic',
  title: 'All ejected, no panic: every host is out and requests are refused for want of one',
  mechanism:
    'Ejection or health checks take out the last host. With a panic threshold of 0 (or a balancer that has none) nobody is left ' +
    'to ask, so the proxy refuses every request at once, whether or not the hosts could serve it. It ends when the first host ' +
    'is let back in.',
  refutedBy: 'A host that is fit, an empty list of hosts, or choices made in panic.',
  provedBy: 'Hosts in the list, none of them fit, and requests refused by the proxy itself.',
  lookAlikes: ['panic-mode', 'discovery-outage', 'passive-eviction-last-peer', 'an outage of the backend'],
  fix: 'Bound the share that may be ejected (max_ejection_percent), set a panic threshold, and mend what made them fail.',
  decidedBy: 'total and healthy members of the cluster, and the panic threshold',
  explains: ['fast-fail-blackhole'],

  examine(view) {
    const refused = refusedForLack(view);
    const candidates = memberships(view);
    const found =
      candidates.find(
        ({ healthy, total, noneHealthy }) => (noneHealthy ?? 0) > 0 || (healthy === 0 && (total ?? 0) > 0),
      ) ?? candidates[0];
    const lacking = (found?.noneHealthy ?? 0) + refused.count;
    if (found === undefined && refused.count === 0) return undefined;
    if (lacking === 0 && found?.healthy !== 0) return undefined;
    const setting = view.setting('balance.panic-threshold');
    const threshold = typeof setting?.value === 'number' ? setting.value : undefined;
    const limit = view.setting('outlier.max-ejection-share');
    const discovered = view.messages('dns-timeout', 'dns-failure').length;
    const penalty = view.number('outlier.ejection-time');
    return {
      claims: [
        claim('The list has hosts.', {
          bearing: 'necessary',
          predicted: 'at least one member',
          refutes: 'an empty list',
          seen:
            found?.total === undefined
              ? undefined
              : { text: digits(found.total), holds: found.total > 0, origins: found.origins },
          missing: 'how many members the cluster has',
        }),
        claim('None of them is fit.', {
          bearing: 'necessary',
          predicted: '0',
          refutes: 'a host that is fit',
          seen:
            found?.healthy === undefined
              ? undefined
              : {
                  text: `${digits(found.healthy)}${(found.ejected ?? 0) > 0 ? `, ${digits(found.ejected ?? 0)} ejected` : ''}`,
                  holds:
                    found.healthy === 0 ||
                    (found.ejected ?? 0) >= (found.total ?? Number.POSITIVE_INFINITY) ||
                    lacking > 0,
                },
          missing: 'how many are fit',
        }),
        claim('The balancer does not choose in panic.', {
          bearing: 'necessary',
          predicted: '0 choices in panic',
          refutes: 'choices in panic',
          seen:
            found?.panics === undefined
              ? threshold === undefined
                ? undefined
                : { text: `threshold ${percent(threshold)}`, holds: threshold < 0.005 || lacking > 0 }
              : { text: digits(found.panics), holds: found.panics === 0 },
          missing: 'the count of choices in panic, or the panic threshold',
        }),
        claim('The hosts were taken out, not lost to the resolver.', {
          bearing: 'necessary',
          predicted: 'no failure of the resolver',
          refutes: 'names that did not resolve',
          seen: { text: `${discovered} failures of the resolver`, holds: discovered === 0 },
        }),
        claim('The proxy refuses requests for want of a host.', {
          bearing: 'sufficient',
          predicted: 'refusals (UH), though the list has hosts',
          refutes: 'no refusal',
          seen:
            found?.total === undefined && limit === undefined && threshold === undefined
              ? undefined
              : { text: digits(lacking), holds: lacking > 0 && (found?.total ?? 1) > 0, origins: refused.origins },
          missing: 'the members of the cluster at the time of the refusals',
        }),
        claim('As many may be ejected as there are.', {
          bearing: 'supporting',
          predicted: '100 %',
          refutes: 'a bound below that',
          seen:
            typeof limit?.value === 'number'
              ? { text: percent(limit.value), holds: limit.value >= 0.99, origins: [limit.origin] }
              : undefined,
          missing: 'the share that may be ejected',
        }),
      ],
      culprit: `cluster ${found?.cluster ?? ''}: all${found?.total === undefined ? '' : ` ${digits(found.total)}`} hosts ${(found?.ejected ?? 0) > 0 ? 'ejected' : 'out'}, panic threshold ${threshold === undefined ? 'off' : percent(threshold)}`,
      sentence: `Every host${found === undefined ? '' : ` of ${found.cluster}`} was taken out and the panic threshold is ${threshold === undefined ? 'off' : percent(threshold)}, so the proxy refused ${digits(lacking)} requests without asking anybody.`,
      arithmetic: [
        ...(found?.total === undefined ? [] : [`${digits(found.total)} members, ${digits(found.healthy ?? 0)} fit`]),
        `${digits(lacking)} requests refused for want of a host`,
        ...(penalty === undefined ? [] : [`the first host returns after ${digits(penalty)} s`]),
      ],
    };
  },
};
