// A fixed pool of workers, blocked on a dependency that nobody stops waiting for.
//
//   needed workers  L = λ · W      200/s × 40 ms = 8;  200/s × 20 s = 4,000
//   time to fill    t = free workers ÷ λ
//
// What gives it away is workers that are all taken while nothing is finished: busy and idle at once. Probes that wait for the same
// workers then fail at every replica together, and the balancer has nobody left, although no replica is broken.

import { counted, courseOf, type Moment, median, meanOf } from '../course.ts';
import type { Evidence } from '../evidence.ts';
import { workersOf } from '../evidence.ts';
import { spanOf, tickOf } from '../phase-evidence.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Measure, Theory } from '../theory.ts';
import { say } from '../wording.ts';

const held = 0.95;
/** Of what the fleet usually finishes. */
const littleDone = 0.2;
const secondsMin = 1.5;

const needed =
  'busy workers and finished work of each replica, second by second, and the calls that a service makes, with their timeouts';

export const workerPoolExhaustion: Theory = {
  slug: 'worker-pool-exhaustion',
  pattern: 'worker-pool-exhaustion',
  title: 'Worker pool exhausted: every worker waits for a dependency, and nobody stops waiting',
  mechanism:
    'A worker that waits for a dependency serves nobody meanwhile. When the dependency stands still, rate × waiting exceeds the ' +
    'number of workers within moments (Little), and everything queues. Health checks that wait for the same workers fail, so ' +
    'the balancer takes out replicas that are not broken, until it has none: 503, no healthy upstream. It heals by itself when ' +
    'the dependency goes on.',
  lookAlikes: ['overload', 'cpu-throttling', 'eviction-cascade'],
  predict: (evidence) =>
    stalls(evidence) === undefined
      ? [cannotTell]
      : [allAreHeld, nobodyStopsWaiting(evidence), dependencyIsStill(evidence), filledAtOnce(evidence), noneIsLeft],
  foresee: () => [],
  refutedBy: 'Workers that finish what they begin, or a call that is given up before the outer deadline.',
  provedBy:
    'All workers taken while next to nothing is finished, in the very seconds in which the dependency finishes nothing.',
  fix:
    'Give the call a timeout, tries included, that is shorter than the balancer’s; refuse early when all workers are taken; give retries a ' +
    'budget. Let probes be answered apart from the pool only together with these: alone that keeps a full fleet in rotation. More ' +
    'processors change nothing.',
  experiments: [],
  verdict,
};

const cannotTell: Claim = {
  key: 'seconds with all workers held',
  says: 'Every worker is taken while next to nothing is finished.',
  predicted: { missing: needed },
  measure: () => ({ missing: needed }),
  refutes: 'Workers that finish what they begin.',
  bearing: 'necessary',
};

/** The seconds in which all workers were taken and next to nothing was finished; undefined where nobody observed that. */
function stalls(evidence: Evidence): readonly Moment[] | undefined {
  const course = courseOf(evidence);
  const usual = median(course.map(({ done }) => done));
  if (usual === undefined || usual === 0 || course.every(({ busy }) => busy === undefined)) return undefined;
  return course.filter(({ busy, done }) => busy !== undefined && busy >= held && (done ?? 0) <= littleDone * usual);
}

const allAreHeld: Claim = {
  key: 'seconds with all workers held',
  says: `For ${secondsMin} s or longer every worker is taken (95 % and more), while the fleet finishes less than a fifth of the usual.`,
  predicted: { low: secondsMin, unit: 's' },
  measure: (evidence) => counted(sum((stalls(evidence) ?? []).map(({ seconds }) => seconds))),
  refutes: 'Workers that finish what they begin: then they are busy, not blocked.',
  bearing: 'necessary',
};

/** Calls that may take longer than the balancer waits, tries included. */
function endlessCalls({ topology }: Evidence): readonly string[] {
  const outer = topology?.gateway?.timeout_ns ?? Infinity;
  return (topology?.services ?? []).flatMap(({ calls }) =>
    (calls ?? [])
      .filter(({ timeout_ns: timeout, retries }) => timeout === undefined || timeout * (1 + (retries ?? 0)) >= outer)
      .map(({ to }) => to),
  );
}

function nobodyStopsWaiting(evidence: Evidence): Claim {
  const calls = endlessCalls(evidence);
  return {
    key: 'calls without end',
    says: 'A call has no timeout, or one that is longer than the balancer waits.',
    predicted: { low: 1, unit: 'yes' },
    measure: () => ({
      ...counted(Math.min(1, calls.length)),
      text: calls.length === 0 ? 'every call ends in time' : `calls to ${[...new Set(calls)].join(', ')}`,
    }),
    refutes: 'Calls that are all given up before the outer deadline.',
    bearing: 'necessary',
  };
}

/** What the dependency finished a second in the stalled seconds ÷ in the others. One that cannot even be asked finishes nothing. */
const dependencyPace =
  (name: string | undefined): Measure =>
  (evidence) => {
    const ids = dependencyIds(evidence, name);
    const stalled = stalls(evidence) ?? [];
    const usual = courseOf(evidence).filter((moment) => !stalled.some(({ at }) => at === moment.at));
    const paceIn = (moments: readonly Moment[]): number | undefined =>
      meanOf(moments, ({ tick }) => {
        const own = ids.map((id) => tickOf(tick, id)).filter((replica) => replica !== undefined);
        if (own.length === 0) return undefined;
        return sum(own.map((replica) => replica.service_count ?? replica.started ?? 0)) / spanOf(tick);
      });
    const then = paceIn(stalled);
    const before = paceIn(usual);
    if (then === undefined || before === undefined || before === 0) {
      return { missing: `what ${name ?? 'the dependency'} finishes, second by second` };
    }
    return { ...counted(then / before), text: `${say(then, 'requests/s')} instead of ${say(before, 'requests/s')}` };
  };

function dependencyIds({ topology }: Evidence, name: string | undefined): readonly string[] {
  return topology?.services.find((service) => service.name === name)?.replicas.map(({ id }) => id) ?? [];
}

function dependencyIsStill(evidence: Evidence): Claim {
  const [name] = endlessCalls(evidence);
  return {
    key: `pace of ${name ?? 'the dependency'}`,
    says: `In those seconds ${name ?? 'what is called'} finishes next to nothing: less than a fifth of what it does otherwise.`,
    predicted: { high: littleDone, unit: 'share' },
    measure: dependencyPace(name),
    refutes: 'A dependency that answers as usual.',
    bearing: 'sufficient',
  };
}

function filledAtOnce(evidence: Evidence): Claim {
  const workers = sum(evidence.ids.map((id) => workersOf(evidence, id) ?? 0));
  const rate = evidence.baseline.offered?.value;
  const free = workers * (1 - (median(courseOf(evidence).map(({ busy }) => busy)) ?? 0));
  return {
    key: 'requests for each worker in a stall',
    says:
      rate === undefined
        ? 'The pool fills within moments.'
        : `The pool fills within moments: ${free.toFixed(0)} free workers ÷ ${say(rate, 'requests/s')} = ${say(free / rate, 's')}.`,
    predicted: rate === undefined ? { missing: 'how much was asked' } : { high: 3, unit: 's' },
    measure: () => counted(rate === undefined ? 0 : free / rate),
    refutes: 'A pool that takes longer to fill than the dependency stood still.',
    bearing: 'supporting',
  };
}

const noneIsLeft: Claim = {
  key: 'fewest in rotation',
  says: 'Where probes wait for the same workers, the balancer is left without any replica.',
  predicted: { high: 0, unit: 'requests' },
  measure: (evidence) => {
    const fewest = courseOf(evidence).flatMap(({ inRotation }) => inRotation ?? []);
    return fewest.length === 0
      ? { missing: 'how many replicas the balancer holds for healthy' }
      : counted(Math.min(...fewest));
  },
  refutes: 'Replicas that stay in rotation all the time.',
  bearing: 'supporting',
};

function verdict(evidence: Evidence): Finding {
  const stalled = stalls(evidence) ?? [];
  const [name = 'its dependency'] = endlessCalls(evidence);
  const seconds = sum(stalled.map((moment) => moment.seconds));
  const course = courseOf(evidence);
  const workers = sum(evidence.ids.map((id) => workersOf(evidence, id) ?? 0));
  const rate = evidence.baseline.offered?.value ?? 0;
  const usual = meanOf(
    course.filter((moment) => !stalled.some(({ at }) => at === moment.at)),
    ({ service }) => service,
  );
  const fewest = Math.min(...course.flatMap(({ inRotation }) => inRotation ?? []));
  const evicted =
    fewest === 0
      ? ' The probes wait for the same workers, so all replicas were taken out although none is broken.'
      : '';
  return {
    culprit: name,
    sentence: `For ${say(seconds, 's')} all ${workers} workers waited for ${name}, and nobody stopped waiting: the call has no timeout below the balancer’s.${evicted}`,
    arithmetic: [
      `usually ${say(rate, 'requests/s')} × ${say(usual ?? 0, 's')} = ${(rate * (usual ?? 0)).toFixed(1)} of ${workers} workers (Little: L = λ·W)`,
      `while ${name} stands still for ${say(seconds, 's')}: ${say(rate, 'requests/s')} × ${say(seconds, 's')} = ${(rate * seconds).toFixed(0)} would be needed`,
    ],
    fix: workerPoolExhaustion.fix,
  };
}
