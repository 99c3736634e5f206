// The generator is the limit: the ruler bends, so the result says nothing about the thing measured.
//
//   lag ≫ 0, sent < due, its CPU full or a cap of its own reached; while the replicas have room
//
// Its latency counts from due time, so what the generator itself delays shows as latency; the replicas' own times do not
// have it.

import type { ExperimentFacts } from '../../record.ts';
import { type Evidence, utilisationOf } from '../evidence.ts';
import { generatorCpu, lagShare, leastUtilisation, missing, mostUtilisation, sentShare } from '../measures.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { percent, say, wholePercent } from '../wording.ts';

export const generatorSaturated: Theory = {
  slug: 'generator-saturated',
  pattern: 'generator-saturated',
  title: 'Generator saturated: the load generator is the limit, not the service',
  mechanism:
    'The program that makes the load cannot keep up with its own plan: it has no CPU left, or a cap on connections, or a ' +
    'blocked event loop. Requests leave late or not at all, and the time they spend in the generator looks like latency of the ' +
    'service. What was measured is a lower bound on what the service can do.',
  lookAlikes: ['overload', 'network'],
  predict: (evidence) => [sendsLate, repliesHaveRoom, fallsBehind(evidence), cpuIsFull, mostlyLag],
  foresee,
  refutedBy: 'A generator that sends on time, or replicas that are full.',
  provedBy: 'More than half of the latency passing in the generator while every replica has room.',
  fix: 'Give the generator more CPU, processes or machines, or plan less; then measure again. No statement about the service is possible.',
  experiments: ['less-load'],
  verdict,
};

const sendsLate: Claim = {
  key: 'lag share',
  says: 'Requests leave late: the generator’s own delay is at least a fifth of the latency.',
  predicted: { low: 0.2, unit: 'share' },
  measure: lagShare,
  refutes: 'Requests that leave when they are due.',
  bearing: 'necessary',
};

const repliesHaveRoom: Claim = {
  key: 'least utilisation',
  says: 'Not all replicas are full: it is not the whole fleet that is waited for.',
  predicted: { high: 0.95, unit: 'share' },
  measure: leastUtilisation,
  refutes: 'Full replicas.',
  bearing: 'necessary',
};

function fallsBehind(evidence: Evidence): Claim {
  const due = evidence.baseline.offered?.value;
  return {
    key: 'sent share',
    says:
      due === undefined
        ? 'It sends less than is due.'
        : `It sends less than the ${say(due, 'requests/s')} that are due.`,
    predicted: { high: 0.98, unit: 'share' },
    measure: sentShare,
    refutes: 'Everything sent.',
    bearing: 'supporting',
  };
}

const cpuIsFull: Claim = {
  key: 'generator cpu',
  says: 'The generator’s process has no CPU left: at least 85 % of a core.',
  predicted: { low: 0.85, unit: 'share' },
  measure: generatorCpu,
  refutes: 'A generator that idles.',
  bearing: 'supporting',
};

const mostlyLag: Claim = {
  key: 'lag share, most',
  says: 'More than half of what looks like latency passes in the generator.',
  predicted: { low: 0.5, unit: 'share' },
  measure: lagShare,
  refutes: 'Latency that passes in the service.',
  bearing: 'sufficient',
};

function foresee(evidence: Evidence, experiment: ExperimentFacts): readonly Claim[] {
  if (experiment.kind !== 'less-load') return [];
  const used = evidence.ids.flatMap((id) => utilisationOf(evidence, evidence.baseline, id)?.value ?? []);
  return [
    {
      key: 'lag share',
      says: `At ${wholePercent(experiment.factor ?? 0.5)} of the plan it keeps up: hardly any lag.`,
      predicted: { high: 0.1, unit: 'share' },
      measure: lagShare,
      refutes: 'Lag that stays.',
      bearing: 'supporting',
    },
    {
      key: 'most utilisation',
      says: 'The replicas have as much room as before.',
      predicted: used.length === 0 ? { missing: missing.workers } : { high: Math.max(...used) + 0.1, unit: 'share' },
      measure: mostUtilisation,
      refutes: 'Replicas that fill up.',
      bearing: 'supporting',
    },
  ];
}

function verdict(evidence: Evidence): Finding {
  const { generator, offered, latency, throughput } = evidence.baseline;
  const group = evidence.topology?.clients[0]?.group ?? 'generator';
  const lag = say(generator.lag ?? 0, 's');
  const due =
    offered === undefined
      ? ''
      : ` of ${say(offered.value, 'requests/s')} due it sent ${say(generator.sent ?? 0, 'requests/s')};`;
  const cpu = generator.cpuShare === undefined ? '' : `, its CPU ${wholePercent(generator.cpuShare)} used`;
  return {
    culprit: group,
    sentence: `The load generator could not keep up:${due} requests left ${lag} late on average${cpu}, while the replicas had room. Nothing can be said about the service beyond ${say(throughput.value, 'requests/s')}.`,
    arithmetic: [
      `latency ${say(latency?.value ?? 0, 's')} from due time, of which ${lag} (${percent((generator.lag ?? 0) / Math.max(1e-9, latency?.value ?? 1))}) passed before the request was sent`,
    ],
    fix: generatorSaturated.fix,
  };
}
