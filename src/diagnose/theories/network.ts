// Something between the clients and the replicas takes the time: the network, the balancer's own queue, a full link.
//
// Little's law settles it: of what the clients wait for, so much is inside replicas, and the rest is in between.

import { type Evidence, meanService } from '../evidence.ts';
import { mostThrottled, outsideShare, stretch } from '../measures.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { digits, percent, say } from '../wording.ts';

export const network: Theory = {
  slug: 'network',
  pattern: 'undecided',
  title: 'Network or balancer: the time passes between clients and replicas',
  mechanism:
    'Packets are lost or queued, a link is full, or the balancer holds requests back. The clients wait, the replicas do not ' +
    'know it: what is in flight is mostly on its way.',
  lookAlikes: ['generator-saturated', 'overload'],
  predict: () => [mostlyOutside, clearlyOutside, waits, replicasRun],
  foresee: () => [],
  refutedBy: 'Requests that are inside replicas while the clients wait for them.',
  provedBy: 'More than half of what is in flight being in no replica, while requests take much longer than their work.',
  fix: 'Measure the link alone, look at retransmissions and at the balancer’s own queue and CPU.',
  experiments: [],
  verdict,
};

const mostlyOutside: Claim = {
  key: 'outside share',
  says: 'Of what the clients wait for, at least a quarter is in no replica.',
  predicted: { low: 0.25, unit: 'share' },
  measure: outsideShare,
  refutes: 'Requests that are all inside replicas.',
  bearing: 'necessary',
};

const clearlyOutside: Claim = {
  key: 'outside share, most',
  says: 'More than half is in no replica.',
  predicted: { low: 0.5, unit: 'share' },
  measure: outsideShare,
  refutes: 'Most of the time passing inside replicas.',
  bearing: 'sufficient',
};

const waits: Claim = {
  key: 'stretch',
  says: 'Latency is at least twice the worker time.',
  predicted: { low: 2, unit: 'times' },
  measure: stretch,
  refutes: 'Latency that is nearly all work: then there is nothing to explain.',
  bearing: 'necessary',
};

const replicasRun: Claim = {
  key: 'most throttled',
  says: 'The replicas run meanwhile: none is stopped by a quota for more than 5 % of the time.',
  predicted: { high: 0.05, unit: 'share' },
  measure: mostThrottled,
  refutes: 'A replica that stands still: what comes then waits at its door, and is not yet inside.',
  bearing: 'necessary',
};

function verdict(evidence: Evidence): Finding {
  const { baseline } = evidence;
  const inside = sum(baseline.replicas.map((replica) => replica.inFlight?.value ?? 0)) + (baseline.insideVisitors ?? 0);
  const all = baseline.inFlight?.value ?? 0;
  const service = meanService(evidence);
  return {
    sentence: `The time passes between the clients and the replicas: of ${digits(all)} requests in flight only ${digits(inside)} are inside a replica.`,
    arithmetic: [
      `in no replica: ${digits(all)} − ${digits(inside)} = ${digits(all - inside)} (${percent(1 - inside / Math.max(1e-9, all))})`,
      ...(service === undefined
        ? []
        : [`worker time ${say(service, 's')}, latency ${say(baseline.latency?.value ?? 0, 's')}`]),
    ],
    fix: network.fix,
    missing: 'the balancer’s own timings (time in its queue, time to connect) and retransmissions on the link',
  };
}
