// A replica that was just started is slow, and gets its whole share at once.
//
//   worker time ÷ siblings'   ▇▆▅▄▃▂▁▁▁      from the start on; a bad machine or release would stay where it is
//
// Who was started is seen by whoever watches: it was silent, and then it answered again.

import { counted, median, serviceIn } from '../course.ts';
import type { Evidence } from '../evidence.ts';
import { tickOf } from '../phase-evidence.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { say } from '../wording.ts';

const needed = 'when replicas were started, and worker times of each replica second by second afterwards';
/** How long after a start one looks, in seconds: the first and the last of them are compared. */
const early = 3;

export const coldStart: Theory = {
  slug: 'cold-start',
  pattern: 'cold-start',
  title: 'Cold start: new replicas get a full share before they are warm',
  mechanism:
    'A replica is ready as soon as its port answers, but its code is not compiled and its caches are empty. A balancer that gives it ' +
    'its whole share at once makes users pay for the warm-up, each time replicas start: in a rollout, a scale-out, after a crash.',
  lookAlikes: ['slow-replica'],
  predict: (evidence) =>
    startsOf(evidence).length === 0
      ? [cannotTell(evidence)]
      : [slowAtFirst(evidence), warmInTheEnd(evidence), itWears(evidence)],
  foresee: () => [],
  refutedBy: 'A slowness that stays: a machine, a release.',
  provedBy: 'Worker time that is far above the siblings’ right after the start and falls to theirs.',
  fix:
    'Slow start at the balancer: a share that grows over the first seconds. Warm the replica up before it says that it is ready. Keep ' +
    'head room in rollouts.',
  experiments: [],
  verdict,
};

/** One start that was seen: whose, and the worker time ÷ siblings' in the seconds afterwards. */
interface Start {
  readonly id: string;
  readonly ratios: readonly number[];
}

function startsOf(evidence: Evidence): readonly Start[] {
  const { ticks } = evidence.baseline;
  return evidence.ids.flatMap((id): Start[] => {
    const silent = ticks.map((tick) => tickOf(tick, id)?.state === 'silent');
    const last = silent.lastIndexOf(true);
    if (last < 0 || last === ticks.length - 1) return [];
    const ratios = ticks.slice(last + 1).flatMap((tick) => {
      const own = serviceIn(tick, id);
      const others = median(evidence.ids.filter((other) => other !== id).map((other) => serviceIn(tick, other)));
      return own === undefined || others === undefined || others === 0 ? [] : [own / others];
    });
    return ratios.length < 2 * early ? [] : [{ id, ratios }];
  });
}

/** The start with the slowest first seconds. */
function worstOf(evidence: Evidence): Start | undefined {
  return startsOf(evidence).toSorted((one, other) => atFirst(other) - atFirst(one))[0];
}

const mean = (values: readonly number[]): number => sum(values) / Math.max(1, values.length);
const atFirst = ({ ratios }: Start): number => mean(ratios.slice(0, early));
const atLast = ({ ratios }: Start): number => mean(ratios.slice(-early));

function cannotTell(evidence: Evidence): Claim {
  const watched = evidence.baseline.ticks.some(({ replicas }) => replicas.some(({ state }) => state !== undefined));
  return {
    key: 'starts',
    says: 'A replica was started while we looked.',
    predicted: watched ? { low: 1, unit: 'requests' } : { missing: needed },
    measure: () => (watched ? counted(0) : { missing: needed }),
    refutes: 'Replicas that all stood from the beginning.',
    bearing: 'necessary',
  };
}

function slowAtFirst(evidence: Evidence): Claim {
  const start = worstOf(evidence);
  return {
    key: `worker time after start ${start?.id ?? ''}`,
    says: `In its first seconds ${start?.id ?? 'it'} takes at least half as long again as its siblings for the same work.`,
    predicted: { low: 1.5, unit: 'times' },
    measure: () => (start === undefined ? { missing: needed } : counted(atFirst(start))),
    refutes: 'A replica that is as fast as the others from the first second on.',
    bearing: 'necessary',
  };
}

function warmInTheEnd(evidence: Evidence): Claim {
  const start = worstOf(evidence);
  return {
    key: `worker time long after start ${start?.id ?? ''}`,
    says: 'In the end it is about as fast as they are.',
    predicted: { high: 1.5, unit: 'times' },
    measure: () => (start === undefined ? { missing: needed } : counted(atLast(start))),
    refutes: 'A slowness that stays.',
    bearing: 'necessary',
  };
}

function itWears(evidence: Evidence): Claim {
  const start = worstOf(evidence);
  return {
    key: `warming of ${start?.id ?? ''}`,
    says: 'Its worker time falls by a third or more from its first seconds to its last.',
    predicted: { low: 1.5, unit: 'times' },
    measure: () => (start === undefined ? { missing: needed } : counted(atFirst(start) / atLast(start))),
    refutes: 'Worker times that do not fall.',
    bearing: 'sufficient',
  };
}

function verdict(evidence: Evidence): Finding {
  const start = worstOf(evidence);
  const id = start?.id ?? 'a new replica';
  const first = start === undefined ? 1 : atFirst(start);
  const last = start === undefined ? 1 : atLast(start);
  const worst = Math.max(0, ...evidence.baseline.ticks.map((tick) => tickOf(tick, id)?.latency?.p99_ns ?? 0)) / 1e9;
  return {
    culprit: id,
    sentence: `${id} was started while it was under load: its work took ${first.toFixed(1)} times as long as its siblings’ at first and ${last.toFixed(1)} times in the end, and it got its full share at once${worst === 0 ? '' : `; its worst second had a p99 of ${say(worst, 's')}`}.`,
    arithmetic: [
      `worker time ÷ siblings’, second by second after the start: ${(start?.ratios ?? [])
        .slice(0, 12)
        .map((one) => one.toFixed(1))
        .join(', ')}`,
    ],
    fix: coldStart.fix,
  };
}
