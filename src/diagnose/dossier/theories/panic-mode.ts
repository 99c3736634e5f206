// Below the panic threshold a balancer ignores health: it looks as if nothing were ever ejected.

import { digits, percent } from '../../wording.ts';
import { memberships, refusedForLack } from '../membership.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const panicMode: DossierTheory = {
  slug: 'panic-mode',
  title: 'Panic mode: too few hosts are fit, so health is ignored and traffic goes to all',
  mechanism:
    'When fewer than a threshold of the hosts are fit, a balancer assumes that its view of health is wrong, and spreads over ' +
    'all of them so that the few are not crushed. Ejection still counts, and changes nothing: requests go on reaching hosts ' +
    'that are out, and no request is refused for want of one.',
  refutedBy: 'Enough hosts that are fit, a threshold of 0, or requests refused for want of a host.',
  provedBy: 'A share of fit hosts below the threshold, and choices counted as made in panic.',
  lookAlikes: ['all-ejected-no-panic', 'outlier detection that is off', 'stale endpoints', 'fast-fail-blackhole'],
  fix: 'Nothing is wrong with the ejection: repair the hosts. To fail closed instead, set the panic threshold to 0.',
  decidedBy: 'healthy and total members of the cluster and the count of choices in panic (lb_healthy_panic)',
  explains: ['fast-fail-blackhole', 'sticky-session'],

  examine(view) {
    const found = memberships(view).find(
      ({ panics, healthy, total }) =>
        (panics ?? 0) > 0 || (healthy !== undefined && total !== undefined && total > 0 && healthy < total),
    );
    if (found === undefined) return undefined;
    const { cluster, total, healthy, panics, ejected } = found;
    const setting = view.setting('balance.panic-threshold');
    const threshold = typeof setting?.value === 'number' ? setting.value : 0.5;
    const fit = total === undefined || healthy === undefined || total === 0 ? undefined : healthy / total;
    const refused = refusedForLack(view);
    return {
      claims: [
        claim('Fewer hosts are fit than the threshold.', {
          bearing: 'necessary',
          predicted: `below ${percent(threshold)}${setting === undefined || setting.implied ? ' (the default)' : ''}`,
          refutes: 'enough hosts that are fit',
          seen:
            fit === undefined
              ? undefined
              : {
                  text: `${digits(healthy ?? 0)} of ${digits(total ?? 0)}`,
                  holds: fit < threshold,
                  origins: found.origins,
                },
          missing: 'how many hosts are fit, and how many there are',
        }),
        claim('No request is refused for want of a host.', {
          bearing: 'necessary',
          predicted: '0',
          refutes: 'refusals (UH)',
          seen: {
            text: String((found.noneHealthy ?? 0) + refused.count),
            holds: (found.noneHealthy ?? 0) + refused.count === 0,
            origins: refused.origins,
          },
        }),
        claim('Choices are counted as made in panic.', {
          bearing: 'sufficient',
          predicted: 'more than 0',
          refutes: 'a count of 0',
          seen: panics === undefined ? undefined : { text: digits(panics), holds: panics > 0 },
          missing: 'the count of choices in panic',
        }),
        claim('Hosts that are out go on getting requests.', {
          bearing: 'sufficient',
          predicted: 'more requests at the second reading, on hosts that were out at both',
          refutes: 'hosts that get nothing while they are out',
          seen: servedWhileOut(view, cluster),
          missing: 'requests and health of the hosts, read twice',
        }),
      ],
      culprit: `cluster ${cluster}: ${healthy === 0 ? 'all' : `${digits((total ?? 0) - (healthy ?? 0))} of ${digits(total ?? 0)}`} hosts ${(ejected ?? 0) > 0 ? 'ejected' : 'unhealthy'}, panic threshold ${percent(threshold)}${setting === undefined || setting.implied ? ' (default)' : ''}`,
      sentence: `Ejection works, but only ${digits(healthy ?? 0)} of ${digits(total ?? 0)} hosts of ${cluster} are fit, which is below the panic threshold of ${percent(threshold)}: the balancer ignores health and uses all of them.`,
      arithmetic: [
        ...(fit === undefined
          ? []
          : [`${digits(healthy ?? 0)} ÷ ${digits(total ?? 0)} = ${percent(fit)} < ${percent(threshold)}`]),
        ...(panics === undefined ? [] : [`${digits(panics)} choices in panic`]),
      ],
    };
  },
};

function servedWhileOut(view: View, cluster: string): { text: string; holds: boolean } | undefined {
  if (view.readings < 2) return undefined;
  const [first, last] = [0, view.readings - 1].map((reading) =>
    view
      .fleetsAt(reading)
      .find(({ of, members }) => of === cluster && members.some(({ healthy }) => healthy === false)),
  );
  if (first === undefined || last === undefined) return undefined;
  const grown = last.members.map((member) => {
    const before = first.members.find(({ id }) => id === member.id);
    return member.healthy === false && before?.healthy === false ? (member.requests ?? 0) - (before.requests ?? 0) : 0;
  });
  const all = grown.reduce((sum, one) => sum + one, 0);
  return { text: `${digits(all)} more requests`, holds: all > 0 };
}
