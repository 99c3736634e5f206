// The same order of waking as in accept-imbalance, at a load at which one process is enough.

import { digits, percent } from '../../wording.ts';
import { acceptingIn } from '../accept.ts';
import { claim, type DossierTheory } from '../theory.ts';

export const benignAcceptOrder: DossierTheory = {
  slug: 'benign-accept-order',
  title: 'Benign accept order: one process does most of the work, because one is enough',
  mechanism:
    'The kernel wakes the process that became idle last, since its caches are warm. At a load that one process can carry, ' +
    'one process carries it. Nobody waits, and with more load the others join in by themselves.',
  refutedBy: 'A process that is full, requests that wait to be accepted, or errors.',
  provedBy: 'An uneven spread with an empty queue and idle processes beside the busy one.',
  lookAlikes: ['accept-imbalance', 'slow-replica', 'sticky-session'],
  fix: 'None is needed. If memory should grow evenly, give each process a socket of its own (reuseport).',
  decidedBy: 'the listen queue and the processor time of each worker process',
  explains: ['slow-replica', 'healthy'],
  kind: 'harmless',

  examine(view) {
    const found = acceptingIn(view);
    if (found === undefined) return undefined;
    const { spread, of, cpuMost, saturated, hostCpu, queue, errors, timeOfBusiest } = found;
    const calm = (cpuMost !== undefined && saturated === undefined) || (hostCpu !== undefined && hostCpu < 0.5);
    return {
      claims: [
        claim('The processes got unequal shares.', {
          bearing: 'necessary',
          predicted: 'at least 1.5 times its share for the busiest',
          refutes: 'an even spread',
          seen: {
            text: `${spread.hot.id}: ${percent(spread.share)} of the ${of}, ${digits(spread.times)} times its share`,
            holds: spread.times >= 1.5,
            origins: found.fleet.origins,
          },
        }),
        claim('None is full.', {
          bearing: 'necessary',
          predicted: 'every process below 90 % of a core',
          refutes: 'a full process',
          seen:
            cpuMost === undefined ? undefined : { text: `busiest ${percent(cpuMost)}`, holds: saturated === undefined },
          missing: 'processor time by process',
        }),
        claim('Nothing waits to be accepted.', {
          bearing: 'necessary',
          predicted: 'a queue of 0',
          refutes: 'a queue',
          seen: queue === undefined ? undefined : { text: digits(queue), holds: queue === 0 },
          missing: 'the length of the listen queue',
        }),
        claim('Nothing fails.', {
          bearing: 'necessary',
          predicted: 'no errors',
          refutes: 'errors',
          seen: errors === undefined ? undefined : { text: digits(errors), holds: errors <= 0.001 * spread.total },
          missing: 'errors by process',
        }),
        claim('The queue is empty, or processor time is left over: the busy one is not short of anything.', {
          bearing: 'sufficient',
          predicted: 'an empty queue, or every core below 90 %',
          refutes: 'a queue, or a full core',
          seen:
            queue === undefined && !calm
              ? undefined
              : {
                  text: [
                    queue === undefined ? '' : `queue ${digits(queue)}`,
                    hostCpu === undefined ? '' : `host ${percent(hostCpu)}`,
                    cpuMost === undefined ? '' : `busiest process ${percent(cpuMost)}`,
                  ]
                    .filter((one) => one !== '')
                    .join(', '),
                  holds: (queue ?? 0) === 0 && saturated === undefined,
                },
          missing: 'the listen queue, or processor time by process',
        }),
        claim('The busy one is no slower than others.', {
          bearing: 'supporting',
          predicted: 'its mean time within the range of the others',
          refutes: 'a busy process that is slow',
          seen:
            timeOfBusiest === undefined
              ? undefined
              : { text: `${digits(timeOfBusiest)} times the longest of the others`, holds: timeOfBusiest <= 1.2 },
          missing: 'the mean time by process',
        }),
      ],
      culprit: undefined,
      sentence: `${spread.hot.id} does ${percent(spread.share)} of the work because one process is enough at this load: nothing waits, and nothing is wrong.`,
      arithmetic: spread.members
        .slice(0, 8)
        .map(
          (member) =>
            `${member.id}: ${digits(member[of] ?? 0)} ${of}${member.meanSeconds === undefined ? '' : `, ${digits(member.meanSeconds * 1000)} ms`}`,
        ),
    };
  },
};
