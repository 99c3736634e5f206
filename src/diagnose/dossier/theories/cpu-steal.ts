// The host gives the processor to somebody else.

import { percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const cpuSteal: DossierTheory = {
  slug: 'cpu-steal',
  title: 'A noisy neighbour: the host takes the processor away',
  mechanism:
    'A virtual machine waits for a processor that its host has lent to another. Inside it everything is slower than it was, ' +
    'replica by replica of the same host, while its own use of the processor is as before.',
  refutedBy: 'Hardly any stolen time.',
  provedBy: 'A tenth of the time or more stolen while requests are slow.',
  lookAlikes: ['cpu-throttling', 'slow-replica', 'overload-open-loop'],
  fix: 'Another host or dedicated processors; balance on what is in flight, which sees the effect.',
  decidedBy: 'stolen time of each host (steal), before and during',
  explains: ['slow-replica'],

  examine(view) {
    const share = stolen(view);
    if (share === undefined) return undefined;
    const robbed = robbedHosts(view);
    const host = robbed.length === 0 || robbed.length > 3 ? 'the host' : robbed.join(', ');
    return {
      claims: [
        claim('Time is stolen.', {
          bearing: 'necessary',
          predicted: 'at least 3 %',
          refutes: 'hardly any',
          seen: { text: percent(share), holds: share >= 0.03 },
        }),
        claim('So much that requests must feel it.', {
          bearing: 'sufficient',
          predicted: 'at least 10 %',
          refutes: 'less',
          seen: { text: percent(share), holds: share >= 0.1 },
        }),
      ],
      culprit: `${host}: processor time stolen by others on it`,
      sentence: `${percent(share)} of the processor time is stolen by others on the same host${robbed.length === 0 ? '' : ` (${host})`}.`,
      arithmetic: [`stolen ÷ all = ${percent(share)}`],
    };
  },
};

/** Stolen part of all processor time between two readings; since the start where there is one. */
function stolen(view: View): number | undefined {
  const all = view.total((name, labels) => name === 'node_cpu_seconds_total' && labels['mode'] !== undefined);
  const taken = view.total((name, labels) => name === 'node_cpu_seconds_total' && labels['mode'] === 'steal');
  const counted = all !== undefined && taken !== undefined && all.value > 0 ? taken.value / all.value : undefined;
  const told = view.greatest((name) => /(^|_)steal(_percent|_pct|_ratio|_share)?$/.test(name));
  const present = told === undefined ? undefined : told.value > 1 ? told.value / 100 : told.value;
  // Counters of one reading tell of all the time since the machine was started.
  return counted === undefined || present === undefined ? (counted ?? present) : Math.max(counted, present);
}

/** Hosts of which a tenth or more was taken, where the counters tell hosts apart. */
function robbedHosts(view: View): string[] {
  const hosts = new Set(
    view.dossier.samples.flatMap(({ name, labels }) =>
      name === 'node_cpu_seconds_total' ? (labels['instance'] ?? labels['node'] ?? []) : [],
    ),
  );
  return [...hosts].filter((host) => {
    const secondsOf = (mode?: string): number =>
      view.total(
        (name, labels) =>
          name === 'node_cpu_seconds_total' &&
          (labels['instance'] ?? labels['node']) === host &&
          (mode === undefined ? labels['mode'] !== undefined : labels['mode'] === mode),
      )?.value ?? 0;
    return secondsOf('steal') >= 0.1 * secondsOf() && secondsOf('steal') > 0;
  });
}
