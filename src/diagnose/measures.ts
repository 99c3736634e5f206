// What can be read off a phase, each in one place, so that rival theories look at the same number. A measure never guesses:
// what the record does not hold comes back as the name of what is missing.

import type { Measure, Missing, Reading } from './theory.ts';
import { type Estimate, high, low, meanOverTime, quotient, sum } from './quantity.ts';
import {
  type Evidence,
  kneeOf,
  meanService,
  othersOf,
  replicaOf,
  rotationLimit,
  slownessFor,
  utilisationOf,
} from './evidence.ts';
import { type PhaseEvidence, spanOf, tickOf } from './phase-evidence.ts';
import { criticalZ } from './slowness.ts';
import { percent, say } from './wording.ts';

export const missing = {
  service:
    'worker time per request, without queueing: a histogram from each replica (in the lab `plimsoll_replica_service_seconds`)',
  workers: 'the size of each worker pool, from the replicas’ settings',
  busy: 'busy workers and pool size of each replica, from its metrics and settings',
  capacity:
    'what one replica can do: its worker time per request and the size of its pool, from its metrics and settings',
  inFlight:
    'how many requests are inside each replica: its own gauge, `scur` of HAProxy’s or `rq_active` of Envoy’s statistics',
  latency: 'latency per replica, from an access log with times',
  loop: 'whether the clients wait for their answers before they ask again, from the settings of the load or of the clients',
  choice: 'the balancer’s policy, from its configuration',
  throttling: '`nr_throttled` and `throttled_usec` in cpu.stat of the replica’s cgroup, before and after',
  lag: 'how late the generator sends (due against sent time), and its CPU time',
  stop: 'a whole second during which the stopped replica stood still',
  clients: 'what the clients saw: requests due, answered, failed',
} as const;

/** Good answers a second. */
export const throughput: Measure = (_, phase) => reading(phase.throughput);

/** Good answers a second ÷ those of the baseline. */
export const throughputGain: Measure = (evidence, phase) =>
  reading(quotient(phase.throughput, evidence.baseline.throughput) ?? { value: 0, error: 0 });

/** Work done a second ÷ that of the baseline, whether its answer was still wanted or not. */
export const workGain: Measure = (evidence, phase) => {
  const done = (one: PhaseEvidence): number => sum(one.replicas.map((replica) => replica.served ?? replica.rate.value));
  const before = done(evidence.baseline);
  return before === 0 ? { missing: missing.clients } : settled(done(phase) / before);
};

/** How far the most or least favoured replica is from an equal share of the requests, as a share of it. */
export const shareSpread: Measure = (_, phase) => {
  const equal = 1 / phase.replicas.length;
  const worst = Math.max(...phase.replicas.map((replica) => Math.abs(replica.share / equal - 1)));
  return settled(worst);
};

/** The largest share of the requests that any replica was handed. */
export const largestShare: Measure = (_, phase) => {
  const largest = phase.replicas.toSorted((one, other) => other.share - one.share)[0];
  if (largest === undefined) return { missing: missing.clients };
  return { ...settled(largest.share), text: `${percent(largest.share)}, ${largest.id}` };
};

export const shareOf =
  (id: string | undefined): Measure =>
  (_, phase) => {
    const replica = replicaOf(phase, id);
    return replica === undefined ? { missing: missing.clients } : settled(replica.share);
  };

/** Share of the requests that went to replicas which the baseline did not have. */
export const newcomersShare: Measure = (evidence, phase) => {
  const fresh = phase.replicas.filter((replica) => !evidence.ids.includes(replica.id));
  return fresh.length === 0
    ? { missing: 'requests by replica, the new ones included' }
    : settled(sum(fresh.map((one) => one.share)));
};

/** Users in a closed loop; 0 where demand is open. */
export const loopUsers: Measure = ({ loop }) => {
  switch (loop.model) {
    case 'unknown':
      return { missing: missing.loop };
    case 'open':
      return {
        ...settled(0),
        text: loop.from === 'setting' ? 'open loop (setting)' : 'open loop (in flight swings as it likes)',
      };
    case 'closed': {
      const users = loop.users ?? 1;
      const how = loop.from === 'setting' ? 'setting' : 'in flight never changes';
      return { ...settled(users), text: `closed loop, ${users} users (${how})` };
    }
  }
};

/** 1 when the choice of a replica does not look at its load, 0 when it does. */
export const blindness: Measure = ({ choice }) => {
  if (choice.blind === undefined) return { missing: missing.choice };
  const how = choice.from === 'setting' ? 'setting' : 'equal turns every second';
  return { ...settled(choice.blind ? 1 : 0), text: `${choice.name ?? 'blind'} (${how})` };
};

/** 1 when blind choice and a closed loop tie the replicas together. */
export const coupling: Measure = (evidence, phase) => {
  const users = loopUsers(evidence, phase);
  if ('missing' in users) return users;
  if (users.value === 0) return { ...settled(0), text: users.text ?? 'open loop' };
  const blind = blindness(evidence, phase);
  if ('missing' in blind) return blind;
  return { ...settled(blind.value), text: `${users.text ?? 'closed loop'}; ${blind.text ?? ''}` };
};

/** Users who do not think ÷ how many the workers hold at the knee: (N − X·Z) / (X·S), which without thinking is N ÷ N*. Of a
 * thousand users who mostly think, fifty too many are three times what sixteen workers hold, though the knee is near a thousand.
 * What rotation lets through is not known exactly, and thinkers multiply its error. */
export const kneeRatio: Measure = (evidence) => {
  const knee = kneeOf(evidence);
  const users = evidence.loop.users ?? evidence.baseline.inFlight?.value;
  if (knee === undefined || users === undefined || knee <= 0) return { missing: missing.capacity };
  const text = `${say(users, 'users')} at a knee of ${say(knee, 'users')}`;
  const think = evidence.loop.thinkSeconds ?? 0;
  const limit = rotationLimit(evidence);
  const service = meanService(evidence);
  if (think === 0 || limit === undefined || service === undefined) return { ...settled(users / knee), text };
  const value = (users - limit.value * think) / (limit.value * service);
  const error = (users / (limit.value * service)) * (limit.error / limit.value);
  return { ...reading({ value, error }), text: `${text}: ${say(value, 'times')} what the workers hold` };
};

/** Mean number inside one replica. */
export const insideOf =
  (id: string | undefined): Measure =>
  (_, phase) =>
    readingOr(replicaOf(phase, id)?.inFlight, missing.inFlight);

/** Share of what the replicas hold that stands at this one. */
export const heldBy =
  (id: string | undefined): Measure =>
  (_, phase) =>
    readingOr(replicaOf(phase, id)?.held, missing.inFlight);

/** What the fullest replica holds ÷ its fair share. */
export const lopsidedness: Measure = (evidence, phase) => {
  const held = replicaOf(phase, evidence.hottest)?.held;
  const text = evidence.hottest ?? '';
  if (held === undefined) return { missing: missing.inFlight };
  const times = reading({ value: held.value * evidence.ids.length, error: held.error * evidence.ids.length });
  return { ...times, text: `${say(times.value, 'times')}, ${text}` };
};

/** Share of the seconds in which this replica held more than any other. */
export const fullestTime =
  (id: string | undefined): Measure =>
  (_, phase) => {
    const fullest = replicaOf(phase, id)?.fullest;
    return fullest === undefined ? { missing: missing.inFlight } : settled(fullest);
  };

/** Requests inside all replicas but one. */
export const insideOthers =
  (id: string | undefined): Measure =>
  (_, phase) => {
    const inside = othersOf(phase, id).flatMap((replica) => replica.inFlight ?? []);
    if (inside.length === 0) return { missing: missing.inFlight };
    return reading({
      value: sum(inside.map((one) => one.value)),
      error: Math.hypot(...inside.map((one) => one.error)),
    });
  };

/** Worker time of one replica ÷ the others', pooled over all phases that left it alone. */
export const slowness =
  (id: string | undefined): Measure =>
  (evidence) => {
    const found = slownessFor(evidence, id);
    if (found === undefined) return { missing: missing.service };
    const reachOf = criticalZ(evidence.ids.length) * found.ratio.error;
    return {
      value: found.ratio.value,
      low: found.ratio.value * Math.exp(-reachOf),
      high: found.ratio.value * Math.exp(reachOf),
    };
  };

/** Time inside one replica ÷ mean time inside the others. */
export const residenceRatio =
  (id: string | undefined): Measure =>
  (_, phase) => {
    const own = replicaOf(phase, id)?.residence;
    const others = othersOf(phase, id).flatMap((replica) => replica.residence ?? []);
    if (own === undefined || others.length === 0) return { missing: missing.inFlight };
    const mean = {
      value: sum(others.map((one) => one.value)) / others.length,
      error: Math.hypot(...others.map((one) => one.error)) / others.length,
    };
    return readingOr(quotient(own, mean), missing.inFlight);
  };

/** Mean rate of work done by the other replicas ÷ this one's. */
export const paceOfOthers =
  (id: string | undefined): Measure =>
  (_, phase) => {
    const own = replicaOf(phase, id);
    const others = othersOf(phase, id).map((replica) => replica.served ?? replica.rate.value);
    if (own === undefined || others.length === 0 || own.rate.value === 0) return { missing: missing.clients };
    const value = own.served ?? own.rate.value;
    const error = (own.rate.error * value) / own.rate.value;
    const mean = { value: sum(others) / others.length, error: error / Math.sqrt(others.length) };
    return readingOr(quotient(mean, { value, error }), missing.clients);
  };

/** Of the least busy replica: 0–1. */
export const leastUtilisation: Measure = (evidence, phase) => extremeUtilisation(evidence, phase, 'least');
/** Of the busiest replica: 0–1. */
export const mostUtilisation: Measure = (evidence, phase) => extremeUtilisation(evidence, phase, 'most');

export const utilisation =
  (id: string | undefined): Measure =>
  (evidence, phase) =>
    readingOr(id === undefined ? undefined : utilisationOf(evidence, phase, id), missing.busy);

function extremeUtilisation(evidence: Evidence, phase: PhaseEvidence, which: 'least' | 'most'): Reading | Missing {
  const all = phase.replicas.flatMap((replica) => {
    const used = utilisationOf(evidence, phase, replica.id);
    return used === undefined ? [] : [{ id: replica.id, used }];
  });
  const sorted = all.toSorted((one, other) => one.used.value - other.used.value);
  const found = which === 'least' ? sorted[0] : sorted.at(-1);
  if (found === undefined || all.length < phase.replicas.length) return { missing: missing.busy };
  return { ...reading(found.used), text: `${percent(found.used.value)}, ${found.id}` };
}

/** Mean latency ÷ mean worker time: 1 is no waiting at all. */
export const stretch: Measure = (evidence, phase) => {
  const { latency } = phase;
  if (latency === undefined) return { missing: missing.latency };
  const service = meanService(evidence);
  return service === undefined || service <= 0
    ? { missing: missing.service }
    : reading({ value: latency.value / service, error: latency.error / service });
};

/** Mean latency ÷ the shortest mean latency of any replica in any second. Where something queues and the queue moves about,
 * some second of some replica has none of it. */
export const unrest: Measure = (_, phase) => {
  const quick = phase.replicas.flatMap((replica) => replica.quickest ?? []);
  const least = quick.length === 0 ? 0 : Math.min(...quick);
  return phase.latency === undefined || least === 0
    ? { missing: missing.latency }
    : settled(phase.latency.value / least);
};

export const failedShare: Measure = (_, phase) =>
  phase.failedShare === undefined ? { missing: missing.clients } : settled(phase.failedShare);

/** The least share of requests that were refused or waited in vain at any replica. Of a single one nothing can be alike; who breaks a
 * connection is not full; and a few timeouts are as well those of work that takes longer than somebody waits. */
export const leastFailedShare: Measure = (_, phase) => {
  if (phase.replicas.length < 2) return { missing: 'failures at two replicas or more' };
  const shares = phase.replicas.map(({ id, failedShare: all }) => {
    const kinds = phase.ticks.flatMap((tick) => Object.entries(tickOf(tick, id)?.errors ?? {}));
    const countOf = (kind: RegExp): number => sum(kinds.filter(([name]) => kind.test(name)).map(([, count]) => count));
    const failed = countOf(/./);
    if (failed === 0) return all;
    const timedOut = (all * countOf(/^timeout$/)) / failed;
    const broken = (all * countOf(/^(?:reset|client-left|no-server)$/)) / failed;
    return all - broken - (timedOut < 0.5 ? timedOut : 0);
  });
  return settled(Math.min(...shares));
};

/** Growth of the number in flight from the first quarter of the phase to the last, as a share of its mean, beyond what more answers
 * a second explain. */
export const growth: Measure = (_, phase) =>
  phase.growth === undefined ? { missing: missing.inFlight } : settled(phase.growth);

/** The same of the replica where it grew least. */
export const leastGrowth: Measure = (_, phase) => {
  const grown = phase.replicas.flatMap((replica) => replica.growth ?? []);
  return grown.length < phase.replicas.length ? { missing: missing.inFlight } : settled(Math.min(...grown));
};

/** Requests due a second ÷ what the whole fleet can do. */
export const demandRatio =
  (capacity: number | undefined): Measure =>
  (_, phase) =>
    phase.offered === undefined || capacity === undefined
      ? { missing: missing.capacity }
      : reading({ value: phase.offered.value / capacity, error: phase.offered.error / capacity });

/** The generator's own lateness ÷ mean latency. */
export const lagShare: Measure = (_, phase) => {
  const { lag } = phase.generator;
  if (lag === undefined || phase.latency === undefined) return { missing: missing.lag };
  return { ...settled(lag / phase.latency.value), text: `${say(lag, 's')} late on average` };
};

/** Requests sent ÷ requests that came due. */
export const sentShare: Measure = (_, phase) => {
  const { sent } = phase.generator;
  return sent === undefined || phase.offered === undefined || phase.offered.value === 0
    ? { missing: missing.lag }
    : settled(sent / phase.offered.value);
};

export const generatorCpu: Measure = (_, phase) =>
  phase.generator.cpuShare === undefined ? { missing: missing.lag } : settled(phase.generator.cpuShare);

export const throttledShare =
  (id: string | undefined): Measure =>
  (_, phase) => {
    const throttled = replicaOf(phase, id)?.throttledShare;
    return throttled === undefined ? { missing: missing.throttling } : settled(throttled);
  };

/** Of the replica that its quota stopped longest. */
export const mostThrottled: Measure = (_, phase) => {
  const shares = phase.replicas.flatMap(({ throttledShare: share }) => share ?? []);
  return shares.length === 0 ? { missing: missing.throttling } : settled(Math.max(...shares));
};

/** Of what the clients wait for, the share that is in no replica: on the network, in the balancer, in the generator. */
export const outsideShare: Measure = (_, phase) => {
  const counted = phase.replicas.filter((replica) => replica.inFlightFrom === 'replica');
  const waiting = phase.ticks.flatMap((tick) =>
    tick.clients.length === 0 ? [] : [sum(tick.clients.map((one) => one.in_flight_mean))],
  );
  const all = meanOverTime(waiting);
  if (counted.length < phase.replicas.length || all === undefined || all.value === 0) {
    return { missing: `${missing.inFlight}, counted apart from what the clients wait for` };
  }
  const inside = sum(counted.map((replica) => replica.inFlight?.value ?? 0)) + (phase.insideVisitors ?? 0);
  return settled(Math.max(0, 1 - inside / all.value));
};

/** While one replica stood still: answers a second from all others in the worst whole second after the first, ÷ the same in
 * the baseline. */
export const paceWhileStopped: Measure = (evidence, phase) => {
  const window = evidence.stops.get(phase.name);
  const target = window?.target;
  const before = sum(othersOf(evidence.baseline, target).map((replica) => replica.rate.value));
  if (window === undefined || before === 0) return { missing: missing.stop };
  const whole = phase.ticks.filter(
    (tick) => tick.at_ns >= window.fromNs + 0.9e9 && tick.at_ns + tick.span_ns <= window.toNs + 0.1e9,
  );
  if (whole.length === 0) return { missing: missing.stop };
  const paces = whole.map((tick) => {
    const ids = othersOf(phase, target).map((replica) => replica.id);
    return sum(ids.map((id) => tickOf(tick, id)?.finished ?? 0)) / spanOf(tick);
  });
  const worst = Math.min(...paces);
  return { ...settled(worst / before), text: `${say(worst, 'requests/s')} of ${say(before, 'requests/s')}` };
};

/** A number without an error of its own: a setting, or a count over the whole phase. */
function settled(value: number): Reading {
  return { value, low: value, high: value };
}

export function reading(estimate: Estimate): Reading {
  return { value: estimate.value, low: low(estimate), high: high(estimate) };
}

function readingOr(estimate: Estimate | undefined, otherwise: string): Reading | Missing {
  return estimate === undefined ? { missing: otherwise } : reading(estimate);
}
