// An overload that outlives its cause, because what timed out is tried again.
//
//   vulnerable      λ·(1 + r) ≥ capacity       although λ alone is below it
//   sustained by    tries that are above capacity, every one of which takes longer than its client waits
//
// What tells it from a plain overload: the demand has not risen, and work takes no longer than before.

import { counted, courseOf, firstQuarter, lastQuarter, meanOf, median, usualCapacity } from '../course.ts';
import type { Evidence } from '../evidence.ts';
import { tickOf } from '../phase-evidence.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { percent, say } from '../wording.ts';

const needed = 'how often clients try, second by second, beside how many requests came due, and worker times';
/** Tries for each request, from which on one speaks of a storm. */
const triesMin = 1.5;

export const metastableRetry: Theory = {
  slug: 'metastable-retry',
  pattern: 'metastable-retry',
  title: 'Metastable retries: the trigger is gone, the overload stays',
  mechanism:
    'Something short makes requests slower than their clients wait. Each is tried again, so the tries exceed what the fleet can do; ' +
    'the queue grows, every try waits longer than its timeout, and all work is for clients that have given up. The trigger ' +
    'ends and nothing changes: the tries alone are above capacity, though the demand never was.',
  lookAlikes: ['overload', 'slow-replica', 'worker-pool-exhaustion'],
  predict: (evidence) =>
    triesForEach(evidence) === undefined
      ? [cannotTell]
      : [manyTries, fewGoodAnswers, workIsAsBefore(evidence), demandBelow(evidence), triesAbove(evidence)],
  foresee: () => [],
  refutedBy: 'One try for each request; demand above capacity; or work that still takes longer than before.',
  provedBy:
    'At the end of the run the demand is below capacity, the tries are above it, and next to nothing is answered in time.',
  fix:
    'Bound the tries by a budget (one retry for ten requests, all clients together), bound the queue so that what is accepted is ' +
    'answered in time, and shed load once to come out of it. Longer back-off alone, or more processors, do not help.',
  experiments: ['less-load'],
  verdict,
};

const cannotTell: Claim = {
  key: 'tries for each request',
  says: 'Requests are tried several times.',
  predicted: { missing: needed },
  measure: () => ({ missing: needed }),
  refutes: 'One try for each request.',
  bearing: 'necessary',
};

/** In the last quarter of the run. */
function triesForEach(evidence: Evidence): number | undefined {
  const last = lastQuarter(courseOf(evidence));
  const tries = meanOf(last, (moment) => moment.tries);
  const asked = meanOf(last, (moment) => moment.asked);
  return tries === undefined || asked === undefined || asked === 0 || usualCapacity(evidence) === undefined
    ? undefined
    : tries / asked;
}

const manyTries: Claim = {
  key: 'tries for each request',
  says: `At the end of the run there are ${triesMin} tries or more for each request.`,
  predicted: { low: triesMin, unit: 'times' },
  measure: (evidence) => counted(triesForEach(evidence) ?? 0),
  refutes: 'About one try for each request.',
  bearing: 'necessary',
};

const fewGoodAnswers: Claim = {
  key: 'answered at the end',
  says: 'At the end of the run less than half of what is asked is answered in time.',
  predicted: { high: 0.5, unit: 'share' },
  measure: (evidence) => {
    const last = lastQuarter(courseOf(evidence));
    const asked = meanOf(last, (moment) => moment.asked) ?? 0;
    return asked === 0
      ? { missing: 'requests at the end' }
      : counted((meanOf(last, ({ answered }) => answered) ?? 0) / asked);
  },
  refutes: 'A fleet that answers what it is asked.',
  bearing: 'necessary',
};

function workIsAsBefore(evidence: Evidence): Claim {
  const before = meanOf(firstQuarter(courseOf(evidence)).slice(0, 3), ({ service }) => service);
  return {
    key: 'worker time, end ÷ beginning',
    says: 'What slowed the work down is over: at the end a piece of work takes as long as at the beginning.',
    predicted: before === undefined ? { missing: 'worker times second by second' } : { high: 1.25, unit: 'times' },
    measure: () => {
      const last = meanOf(lastQuarter(courseOf(evidence)), ({ service }) => service);
      return last === undefined || before === undefined
        ? { missing: 'worker times second by second' }
        : counted(last / before);
    },
    refutes: 'Work that still takes longer: then the cause is still there.',
    bearing: 'necessary',
  };
}

function ratioToCapacity(evidence: Evidence, of: 'asked' | 'tries'): number | undefined {
  const capacity = usualCapacity(evidence);
  const value = meanOf(lastQuarter(courseOf(evidence)), (moment) => moment[of]);
  return capacity === undefined || value === undefined ? undefined : value / (capacity * evidence.ids.length);
}

function demandBelow(evidence: Evidence): Claim {
  return {
    key: 'demand ÷ capacity at the end',
    says: 'The demand itself is below what the fleet can do.',
    predicted: { high: 0.97, unit: 'times' },
    measure: () => counted(ratioToCapacity(evidence, 'asked') ?? 0),
    refutes: 'Demand above capacity: a plain overload.',
    bearing: 'necessary',
  };
}

function triesAbove(evidence: Evidence): Claim {
  return {
    key: 'tries ÷ capacity at the end',
    says: 'The tries alone are as much as the fleet can do, or more.',
    predicted: { low: 0.97, unit: 'times' },
    measure: () => counted(ratioToCapacity(evidence, 'tries') ?? 0),
    refutes: 'Tries that the fleet could serve.',
    bearing: 'sufficient',
  };
}

function verdict(evidence: Evidence): Finding {
  const course = courseOf(evidence);
  const last = lastQuarter(course);
  const asked = meanOf(last, (moment) => moment.asked) ?? 0;
  const tries = meanOf(last, (moment) => moment.tries) ?? 0;
  const answered = meanOf(last, (moment) => moment.answered) ?? 0;
  const whole = (usualCapacity(evidence) ?? 0) * evidence.ids.length;
  const retries = evidence.topology?.clients.flatMap((client) => client.retries ?? [])[0];
  const waiting = median(
    last.map(({ tick }) => evidence.ids.reduce((total, id) => total + (tickOf(tick, id)?.queue_mean ?? 0), 0)),
  );
  return {
    sentence: `Clients try ${(tries / Math.max(1e-9, asked)).toFixed(1)} times for each request: ${say(tries, 'requests/s')} where the fleet can do ${say(whole, 'requests/s')} and only ${say(asked, 'requests/s')} are asked. ${percent(answered / Math.max(1e-9, asked))} are answered in time, and it stays so although nothing is slow any more.`,
    arithmetic: [
      `asked ${say(asked, 'requests/s')} < capacity ${say(whole, 'requests/s')} ≤ tried ${say(tries, 'requests/s')}`,
      ...(retries === undefined
        ? []
        : [
            `safe from this below capacity ÷ (1 + retries) = ${say(whole, 'requests/s')} ÷ ${1 + retries} = ${say(whole / (1 + retries), 'requests/s')}`,
          ]),
      ...(waiting === undefined || whole === 0
        ? []
        : [
            `the queue of ${waiting.toFixed(0)} takes ${say(waiting / whole, 's')} to work off, longer than anybody waits`,
          ]),
    ],
    fix: metastableRetry.fix,
  };
}
