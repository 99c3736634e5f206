// Clients ask replicas of their own zone, and the zones are not as large as what comes from them.
//
//   load_z = λ_z ÷ n_z          flat within a zone, different between zones
//
// The fleet as a whole has room, and nobody balances across.

import { counted } from '../course.ts';
import { type Evidence, replicaOf, utilisationOf } from '../evidence.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { listed, percent, say, wholePercent } from '../wording.ts';

const needed = 'in which zone each replica and each client group stands, from the settings';

export const zoneImbalance: Theory = {
  slug: 'zone-imbalance',
  pattern: 'zone-imbalance',
  title: 'Zone imbalance: each zone carries what comes from it, whatever its size',
  mechanism:
    'Clients prefer replicas of their own zone, or traffic is split evenly over zones of unequal size. A replica then carries its ' +
    'zone’s share divided by the replicas of that zone: those of one zone are full while those of another have room.',
  lookAlikes: ['skewed-balancer', 'overload', 'slow-replica'],
  predict: (evidence) =>
    zonesOf(evidence).length < 2
      ? [cannotTell]
      : [evenWithin(evidence), staysAtHome(evidence), hurtsThere(evidence), unevenBetween(evidence)],
  foresee: () => [],
  refutedBy:
    'Clients that are answered from several zones, or replicas of one zone that differ as much as those of two.',
  provedBy: 'Load that is level within each zone and half as much again, or more, in one of them than in another.',
  fix:
    'Let clients ask other zones when theirs is full (weighted localities, or no preference), or size each zone for what comes ' +
    'from it. More replicas in the wrong zone change nothing.',
  experiments: [],
  verdict,
};

const cannotTell: Claim = {
  key: 'zones',
  says: 'The replicas stand in several zones.',
  predicted: { missing: needed },
  measure: () => ({ missing: needed }),
  refutes: 'One zone for all.',
  bearing: 'necessary',
};

interface Zone {
  readonly name: string;
  readonly ids: readonly string[];
  /** Requests a second that each of its replicas is handed. */
  readonly each: readonly number[];
}

/** Fullest first. */
function zonesOf({ topology, ids, baseline }: Evidence): readonly Zone[] {
  const zoned = (topology?.services ?? []).flatMap(({ replicas }) =>
    replicas.flatMap(({ id, zone }) => (zone === undefined || !ids.includes(id) ? [] : [{ id, zone }])),
  );
  const names = [...new Set(zoned.map(({ zone }) => zone))];
  return names
    .map((name): Zone => {
      const own = zoned.filter(({ zone }) => zone === name).map(({ id }) => id);
      return { name, ids: own, each: own.map((id) => (replicaOf(baseline, id)?.handed ?? 0) / baseline.seconds) };
    })
    .toSorted((one, other) => mean(other.each) - mean(one.each));
}

const mean = (values: readonly number[]): number => sum(values) / Math.max(1, values.length);

function evenWithin(evidence: Evidence): Claim {
  return {
    key: 'spread within a zone',
    says: 'Within each zone the replicas are handed about the same: none differs from its zone’s mean by a quarter.',
    predicted: { high: 0.25, unit: 'share' },
    measure: () =>
      counted(
        Math.max(
          ...zonesOf(evidence).flatMap(({ each }) =>
            each.map((rate) => Math.abs(rate / Math.max(1e-9, mean(each)) - 1)),
          ),
        ),
      ),
    refutes: 'Replicas of one zone that differ much: then the zone is not what tells them apart.',
    bearing: 'necessary',
  };
}

/** The least share, over groups that stand in a zone, of their answers that came from it. */
function staysAtHome(evidence: Evidence): Claim {
  return {
    key: 'answers from the own zone',
    says: 'Clients are answered from their own zone: nine of ten answers or more.',
    predicted: { low: 0.9, unit: 'share' },
    measure: () => {
      const zones = zonesOf(evidence);
      const shares = (evidence.topology?.clients ?? []).flatMap(({ group, zone }) => {
        const home = new Set(zones.find(({ name }) => name === zone)?.ids);
        if (home.size === 0) return [];
        const answers = evidence.baseline.ticks.flatMap((tick) =>
          Object.entries(tick.clients.find((client) => client.group === group)?.answered_by ?? {}),
        );
        const all = sum(answers.map(([, count]) => count));
        return all === 0 ? [] : [sum(answers.filter(([id]) => home.has(id)).map(([, count]) => count)) / all];
      });
      return shares.length === 0 ? { missing: 'who answered the clients of each zone' } : counted(Math.min(...shares));
    },
    refutes: 'Clients that are answered from everywhere.',
    bearing: 'necessary',
  };
}

/** Utilisation where it is known, else time inside: fullest zone ÷ emptiest. */
function hurtsThere(evidence: Evidence): Claim {
  const zones = zonesOf(evidence);
  const used = zones.map(({ ids }) =>
    mean(ids.map((id) => utilisationOf(evidence, evidence.baseline, id)?.value ?? Number.NaN)),
  );
  const full = used[0] ?? Number.NaN;
  return {
    key: 'utilisation of the fullest zone',
    says: `Zone ${zones[0]?.name ?? ''} is full or nearly so: its workers are busy four fifths of the time or more.`,
    predicted: Number.isNaN(full) ? { missing: 'busy workers and pool sizes' } : { low: 0.8, unit: 'share' },
    measure: () => counted(full),
    refutes: 'A zone that has room: then the difference hurts nobody.',
    bearing: 'necessary',
  };
}

function unevenBetween(evidence: Evidence): Claim {
  const zones = zonesOf(evidence);
  const [first] = zones;
  const last = zones.at(-1);
  return {
    key: 'load between zones',
    says: `A replica of zone ${first?.name ?? ''} is handed at least half as much again as one of zone ${last?.name ?? ''}.`,
    predicted: { low: 1.5, unit: 'times' },
    measure: () => counted(mean(first?.each ?? []) / Math.max(1e-9, mean(last?.each ?? []))),
    refutes: 'Zones that carry about the same.',
    bearing: 'sufficient',
  };
}

function verdict(evidence: Evidence): Finding {
  const zones = zonesOf(evidence);
  const first = zones[0];
  const name = first?.name ?? '';
  const used = (ids: readonly string[]): number =>
    mean(ids.map((id) => utilisationOf(evidence, evidence.baseline, id)?.value ?? 0));
  return {
    culprit: `zone ${name}`,
    sentence: `The replicas of zone ${name} (${listed(first?.ids ?? [])}) are ${wholePercent(used(first?.ids ?? []))} busy, all replicas together ${wholePercent(used(evidence.ids))}: clients ask only their own zone, and more come from ${name} than it is sized for.`,
    arithmetic: zones.map(
      (zone) =>
        `zone ${zone.name}: ${say(sum(zone.each), 'requests/s')} ÷ ${zone.ids.length} replicas = ${say(mean(zone.each), 'requests/s')} each, ${percent(used(zone.ids))} busy`,
    ),
    fix: zoneImbalance.fix,
  };
}
