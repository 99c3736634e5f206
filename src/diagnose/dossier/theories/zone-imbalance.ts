// The traffic is split evenly over zones, and the zones are not alike.

import { digits, listed, percent } from '../../wording.ts';
import type { Fleet, Member } from '../fleet.ts';
import { measureOf } from '../metric-names.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const zoneImbalance: DossierTheory = {
  slug: 'zone-imbalance',
  title: 'Zone imbalance: an even split over zones of unequal size',
  mechanism:
    'Each zone gets its share of the traffic (by DNS, or because clients prefer their own zone), and within a zone only its own ' +
    'targets are asked. A replica then carries its zone’s share divided by the replicas of that zone: with Z zones and n_z ' +
    'replicas in one, 1 / (Z·n_z) of everything.',
  refutedBy: 'Replicas of one zone that differ from each other, or a balancer that spreads across zones.',
  provedBy: 'A flat spread within each zone, and between zones the ratio that their sizes say.',
  lookAlikes: ['slow-replica', 'sticky-session', 'a balancing algorithm', 'connection-pinning'],
  fix: 'Balance across zones, or keep the capacity of the zones equal.',
  decidedBy: 'requests by replica with the zone of each, and whether the balancer crosses zones',
  explains: [
    'slow-replica',
    'sticky-session',
    'connection-pinning',
    'hot-key',
    'cpu-throttling',
    'rr-synchronised-start',
  ],

  examine(view) {
    const found = zonesIn(view);
    const crossing = view.setting('balance.cross-zone');
    const aware = view.setting('balance.zone-aware');
    const layout = layoutOf(view);
    if (found === undefined && (layout === undefined || (crossing === undefined && aware === undefined)))
      return undefined;
    const between = crossing?.value === false || aware?.value === true;
    const predicted = found === undefined ? undefined : found.predictedRatio;
    return {
      claims: [
        claim('The zones are of different size.', {
          bearing: 'necessary',
          predicted: 'at least 1.3 times as many in one as in another',
          refutes: 'equal zones',
          seen: sizesSeen(found, layout),
          missing: 'the zones of the replicas',
        }),
        claim('The balancer stays within a zone.', {
          bearing: 'necessary',
          predicted: 'cross-zone balancing is off',
          refutes: 'cross-zone balancing that is on',
          seen:
            crossing === undefined && aware === undefined
              ? undefined
              : {
                  text:
                    crossing === undefined
                      ? `zone-aware: ${String(aware?.value)}`
                      : `cross-zone: ${String(crossing.value)}`,
                  holds: between,
                  origins: [crossing, aware].flatMap((one) => one?.origin ?? []),
                },
          missing: 'whether the balancer crosses zones',
        }),
        claim('Within a zone all have the same.', {
          bearing: 'necessary',
          predicted: 'within 10 % of their mean',
          refutes: 'a replica that stands out in its own zone',
          seen:
            found?.withinMost === undefined
              ? undefined
              : {
                  text: `at most ${percent(found.withinMost)} off`,
                  holds: found.withinMost <= 0.1,
                  origins: found.origins,
                },
          missing: 'requests by replica',
        }),
        claim('Between zones the load is as their sizes say when each gets an equal part.', {
          bearing: 'sufficient',
          predicted:
            predicted === undefined ? 'n of the larger ÷ n of the smaller' : `${digits(predicted)} times, within 15 %`,
          refutes: 'another ratio',
          seen:
            found === undefined || predicted === undefined
              ? undefined
              : {
                  text: `${digits(found.ratio)} times`,
                  holds: Math.abs(found.ratio / predicted - 1) <= 0.15 && found.ratio >= 1.3,
                },
          missing: 'requests by replica with their zones',
        }),
        claim('The zones are unequal and nothing crosses them: the load must be.', {
          bearing: 'sufficient',
          predicted: 'cross-zone off over unequal zones',
          refutes: 'balancing across zones',
          seen:
            layout === undefined || (crossing === undefined && aware === undefined) || found !== undefined
              ? undefined
              : {
                  text: `${listed(layout.map(({ zone, count }) => `${zone} ${count}`))}, cross-zone off`,
                  holds: between,
                },
          missing: 'the layout of the zones',
        }),
        claim('The load goes by zone, not by replica.', {
          bearing: 'sufficient',
          predicted: 'between zones at least 1.3 times, within them at most 10 %, and the balancer stays within',
          refutes: 'replicas that differ within a zone',
          seen:
            found?.withinMost === undefined || !between
              ? undefined
              : {
                  text: `${digits(found.ratio)} times between, ${percent(found.withinMost)} within`,
                  holds: found.ratio >= 1.3 && found.withinMost <= 0.1,
                },
          missing: 'whether the balancer crosses zones',
        }),
      ],
      culprit: culpritOf(view, found, layout),
      sentence:
        found === undefined
          ? 'The balancer does not cross zones, and the zones are of different size: the replicas of the small one will carry more.'
          : `Each zone gets its part of the traffic whatever its size: the ${found.hotZone.count} replicas of ${found.hotZone.zone} carry ${digits(found.ratio)} times as much as those of ${found.coldZone.zone}.`,
      arithmetic:
        found === undefined
          ? []
          : found.zones.map(
              ({ zone, count, requests }) =>
                `${zone}: ${percent(requests / found.total)} of the requests over ${count} replicas = ${digits(requests / count)} each`,
            ),
      basis: found === undefined ? 'configured' : 'seen',
    };
  },
};

interface Zone {
  readonly zone: string;
  readonly count: number;
  readonly requests: number;
}

interface Zones {
  readonly origins: Fleet['origins'];
  readonly zones: readonly Zone[];
  readonly total: number;
  readonly hotZone: Zone;
  readonly coldZone: Zone;
  /** Load of a replica in the busiest zone over one in the idlest. */
  readonly ratio: number;
  readonly predictedRatio: number;
  /** The farthest that a replica is from the mean of its zone; undefined where there are only sums. */
  readonly withinMost: number | undefined;
}

function zonesIn(view: View): Zones | undefined {
  return view.fleets.flatMap((fleet) => zonesOf(fleet) ?? [])[0] ?? countedByZone(view);
}

/** Where there are only sums by zone: requests from a metric, replicas from another or from the layout. */
function countedByZone(view: View): Zones | undefined {
  const sums = new Map<string, number>();
  const counts = new Map((layoutOf(view) ?? []).map(({ zone, count }) => [zone, count]));
  const origins: Zones['origins'][number][] = [];
  for (const { name, labels, value, origin } of view.dossier.samples) {
    const zone = labels['zone'] ?? labels['availability_zone'] ?? labels['az'];
    if (zone === undefined) continue;
    if (measureOf(name) === 'requests') {
      sums.set(zone, (sums.get(zone) ?? 0) + value);
      origins.push(origin);
    } else if (
      /(?:^|_)(?:targets|hosts|instances|endpoints|replicas|pods|servers|host_count|healthyhostcount)(?:_|$)/i.test(
        name,
      )
    ) {
      counts.set(zone, value);
    }
  }
  if (sums.size < 2 || ![...sums.keys()].every((zone) => (counts.get(zone) ?? 0) > 0)) return undefined;
  const zones = [...sums].map(([zone, requests]): Zone => ({ zone, count: counts.get(zone) ?? 1, requests }));
  return compared(zones, origins.slice(0, 4), undefined);
}

function zonesOf(fleet: Fleet): Zones | undefined {
  const groups = new Map<string, Member[]>();
  for (const member of fleet.members) {
    if (member.zone === undefined || member.requests === undefined) continue;
    const own = groups.get(member.zone);
    if (own === undefined) groups.set(member.zone, [member]);
    else own.push(member);
  }
  if (groups.size < 2) return undefined;
  const zones = [...groups].map(([zone, members]): Zone => ({ zone, count: members.length, requests: sum(members) }));
  const within = [...groups.values()].flatMap((members) => {
    const mean = sum(members) / members.length;
    return members.map(({ requests = 0 }) => (mean === 0 ? 0 : Math.abs(requests / mean - 1)));
  });
  return compared(zones, fleet.origins, Math.max(...within));
}

function compared(
  zones: readonly Zone[],
  origins: Zones['origins'],
  withinMost: number | undefined,
): Zones | undefined {
  const sorted = zones.toSorted((one, other) => other.requests / other.count - one.requests / one.count);
  const [hotZone] = sorted;
  const coldZone = sorted.at(-1);
  const total = zones.reduce((all, { requests }) => all + requests, 0);
  if (hotZone === undefined || coldZone === undefined || coldZone.requests === 0) return undefined;
  return {
    origins,
    zones,
    total,
    hotZone,
    coldZone,
    ratio: hotZone.requests / hotZone.count / (coldZone.requests / coldZone.count),
    predictedRatio: coldZone.count / hotZone.count,
    withinMost,
  };
}

function sum(members: readonly Member[]): number {
  return members.reduce((all, { requests = 0 }) => all + requests, 0);
}

/** `zone-a=8,zone-b=2`. */
function layoutOf(view: View): { zone: string; count: number }[] | undefined {
  const text = view.text('replicas.zone-layout');
  const zones = text?.split(',').flatMap((part) => {
    const [zone = '', count] = part.split(/[=:]/);
    return count === undefined || Number.isNaN(Number(count)) ? [] : [{ zone: zone.trim(), count: Number(count) }];
  });
  return zones === undefined || zones.length < 2 ? undefined : zones;
}

function sizesSeen(found: Zones | undefined, layout: { zone: string; count: number }[] | undefined) {
  const sizes = found?.zones ?? layout;
  if (sizes === undefined) return undefined;
  const counts = sizes.map(({ count }) => count);
  return {
    text: listed(sizes.map(({ zone, count }) => `${zone} ${count}`)),
    holds: Math.max(...counts) >= 1.3 * Math.min(...counts),
  };
}

function culpritOf(
  view: View,
  found: Zones | undefined,
  layout: { zone: string; count: number }[] | undefined,
): string {
  const counts = (found?.zones ?? layout ?? []).map(({ count }) => count).toSorted((one, other) => other - one);
  const setting = view.setting('balance.cross-zone') ?? view.setting('balance.zone-aware');
  const who = setting === undefined ? 'the balancer' : `balancer (${setting.program} ${setting.scope})`;
  return `${who} with cross-zone routing disabled, ${counts.join(':')} zone layout`;
}
