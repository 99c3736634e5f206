// One replica fails its probes, its load goes to the others, and they cannot carry it: they follow, one after the other.
//
//   condition     n·c ≥ λ > (n − 1)·c       all together can, without one they cannot
//   detection     interval × (fall − 1) + timeout
//
// Unlike a dependency that stands still, the workers go on working all the while; it is the balancer that takes the fleet apart.

import { counted, courseOf, type Moment, meanOf, usualCapacity } from '../course.ts';
import type { Evidence } from '../evidence.ts';
import { spanOf, tickOf } from '../phase-evidence.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { numeral, say } from '../wording.ts';

const needed = 'which replicas the balancer holds for healthy, second by second, with what each is asked and does';

export const evictionCascade: Theory = {
  slug: 'eviction-cascade',
  pattern: 'eviction-cascade',
  title: 'Eviction cascade: the balancer takes out one replica, and the others cannot carry its load',
  mechanism:
    'A replica that is merely full answers its health check too late and is taken out. Its share goes to the others; where all ' +
    'together could just carry the load, without one they cannot, so their probes are late too, and they follow. Emptied, they ' +
    'come back together, and it begins again.',
  lookAlikes: ['worker-pool-exhaustion', 'overload', 'slow-replica'],
  predict: (evidence) =>
    outages(evidence) === undefined
      ? [cannotTell]
      : [severalAreOut(evidence), withoutOneTooFew(evidence), workGoesOn, survivorsGetMore(evidence)],
  foresee: () => [],
  refutedBy: 'Replicas that leave because they are dead, or workers that finish nothing while they leave.',
  provedBy: 'Replicas that answer and work, taken out one after the other, each after the others had got its share.',
  fix:
    'Let probes be answered apart from the workers; keep a panic threshold of a half, below which all are asked; have a replica more ' +
    'than the load needs; refuse early, before probes fail.',
  experiments: [],
  verdict,
};

const cannotTell: Claim = {
  key: 'replicas out although alive',
  says: 'Replicas are taken out that still answer.',
  predicted: { missing: needed },
  measure: () => ({ missing: needed }),
  refutes: 'Replicas that are never taken out.',
  bearing: 'necessary',
};

/** By second: how many replicas were out of rotation although they answered. Undefined where nobody observed rotation. */
function outages(
  evidence: Evidence,
): readonly { readonly moment: Moment; readonly out: readonly string[] }[] | undefined {
  const course = courseOf(evidence);
  const seen = course.some(({ tick }) => evidence.ids.some((id) => tickOf(tick, id)?.in_rotation !== undefined));
  if (!seen) return undefined;
  return course.map((moment) => ({
    moment,
    out: evidence.ids.filter((id) => {
      const replica = tickOf(moment.tick, id);
      return replica?.in_rotation === false && replica.state !== 'silent' && replica.state !== 'stopped';
    }),
  }));
}

function severalAreOut(evidence: Evidence): Claim {
  const half = Math.max(2, Math.ceil(evidence.ids.length / 2));
  return {
    key: 'replicas out although alive',
    says: `At one time ${numeral(half)} or more of ${numeral(evidence.ids.length)} replicas were out of rotation although they answered.`,
    predicted: { low: half, unit: 'requests' },
    measure: () => counted(Math.max(0, ...(outages(evidence) ?? []).map(({ out }) => out.length))),
    refutes: 'Replicas that stay in rotation, or that are dead.',
    bearing: 'necessary',
  };
}

/** λ ÷ what all but one can do. */
function withoutOneTooFew(evidence: Evidence): Claim {
  const capacity = usualCapacity(evidence);
  const others = evidence.ids.length - 1;
  const rest = capacity === undefined ? undefined : capacity * others;
  return {
    key: 'demand ÷ capacity of all but one',
    says: `Without one the others have nothing to spare: they can do ${say(rest ?? 0, 'requests/s')}.`,
    predicted: rest === undefined ? { missing: 'worker times and the size of the pools' } : { low: 0.9, unit: 'times' },
    measure: (_, phase) =>
      phase.offered === undefined || rest === undefined
        ? { missing: 'how much was asked' }
        : counted(phase.offered.value / rest),
    refutes: 'Others that could carry the load of the one that left.',
    bearing: 'necessary',
  };
}

/** The seconds from the first that was taken out until most were. */
function falling(evidence: Evidence): readonly Moment[] {
  const all = outages(evidence) ?? [];
  const first = all.findIndex(({ out }) => out.length > 0);
  const most = Math.max(0, ...all.map(({ out }) => out.length));
  const last = all.findIndex(({ out }) => out.length === most);
  return first < 0 ? [] : all.slice(Math.max(0, first - 1), Math.max(first + 1, last)).map(({ moment }) => moment);
}

const workGoesOn: Claim = {
  key: 'work done while they leave',
  says: 'While they leave, the workers go on: they finish at least a third of what they did before.',
  predicted: { low: 1 / 3, unit: 'share' },
  measure: (evidence) => {
    const before = meanOf(courseOf(evidence).slice(0, 3), ({ done }) => done);
    const then = meanOf(falling(evidence), ({ done }) => done);
    return before === undefined || before === 0 || then === undefined
      ? { missing: 'finished work of each replica, second by second' }
      : counted(then / before);
  },
  refutes: 'Workers that finish nothing: then they wait for something, and the balancer only shows it.',
  bearing: 'necessary',
};

function survivorsGetMore(evidence: Evidence): Claim {
  return {
    key: 'share of the survivors',
    says: 'Before the last of them left, those that were left got a tenth more than before, or more.',
    predicted: { low: 1.1, unit: 'times' },
    measure: () => {
      const all = outages(evidence) ?? [];
      const early = courseOf(evidence).slice(0, 3);
      const before = sum(
        early.map(({ tick }) => sum(evidence.ids.map((id) => tickOf(tick, id)?.started ?? 0)) / spanOf(tick)),
      );
      const each = before / Math.max(1, early.length) / evidence.ids.length;
      const later = all.flatMap(({ moment, out }) => {
        const left = evidence.ids.filter((id) => !out.includes(id));
        if (out.length === 0 || left.length === 0) return [];
        return [sum(left.map((id) => tickOf(moment.tick, id)?.started ?? 0)) / spanOf(moment.tick) / left.length];
      });
      return each === 0 || later.length === 0
        ? { missing: 'a second in which some were out and others not' }
        : {
            ...counted(Math.max(...later) / each),
            text: `${say(Math.max(...later), 'requests/s')} each instead of ${say(each, 'requests/s')}`,
          };
    },
    refutes: 'Survivors that get no more than before.',
    bearing: 'sufficient',
  };
}

function verdict(evidence: Evidence): Finding {
  const all = outages(evidence) ?? [];
  const first = all.find(({ out }) => out.length > 0)?.out[0];
  const most = Math.max(0, ...all.map(({ out }) => out.length));
  const capacity = usualCapacity(evidence) ?? 0;
  const offered = evidence.baseline.offered?.value ?? 0;
  const count = evidence.ids.length;
  const health = evidence.topology?.gateway?.health;
  return {
    ...(first === undefined ? {} : { culprit: first }),
    sentence: `${first ?? 'One replica'} was taken out by its health checks, the others could not carry its share, and ${most === count ? 'all' : numeral(most)} of ${numeral(count)} were out at one time although they answered.`,
    arithmetic: [
      `all ${count} can do ${count} × ${say(capacity, 'requests/s')} = ${say(count * capacity, 'requests/s')}; asked: ${say(offered, 'requests/s')}; without one: ${say((count - 1) * capacity, 'requests/s')}`,
      ...(health === undefined
        ? []
        : [
            `out after interval × (fall − 1) + timeout = ${say((health.interval_ns * (health.fall - 1) + health.timeout_ns) / 1e9, 's')}`,
          ]),
    ],
    fix: evictionCascade.fix,
  };
}
