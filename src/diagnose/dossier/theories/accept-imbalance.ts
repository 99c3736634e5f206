// One listening socket for several processes: the kernel favours one of them, and that one is full.

import { digits, percent } from '../../wording.ts';
import { acceptingIn } from '../accept.ts';
import { claim, type DossierTheory } from '../theory.ts';

export const acceptImbalance: DossierTheory = {
  slug: 'accept-imbalance',
  title: 'Accept imbalance: processes share one listening socket, and one of them is full',
  mechanism:
    'Processes that wait on one socket are woken in an order that is not fair. With short requests it evens out; with long ' +
    'connections the skew stays, until one process has its core full while others have nothing to do and the machine looks idle.',
  refutedBy: 'A socket for each process (reuseport), or no process that is full.',
  provedBy:
    'One process with a full core and many times its share of the connections, beside idle ones, on one socket.',
  lookAlikes: ['benign-accept-order', 'a slow backend', 'overload-open-loop', 'connection-pinning'],
  fix: 'Give each process a listening socket of its own (reuseport), or let them take turns (accept_mutex); then measure again.',
  decidedBy: 'connections and processor time by worker process at the same time',
  explains: ['connection-pinning', 'slow-replica', 'benign-accept-order'],

  examine(view) {
    const found = acceptingIn(view);
    if (found === undefined) return undefined;
    const { spread, of, cpuMost, saturated, idle } = found;
    const own = view.setting('workers.reuse-port');
    const processes = view.number('workers.processes');
    const waiting = (found.queue ?? 0) > 0;
    return {
      claims: [
        claim('The processes share one listening socket.', {
          bearing: 'necessary',
          predicted: 'no reuseport',
          refutes: 'a socket for each process',
          seen:
            own === undefined
              ? undefined
              : {
                  text: `${own.scope}: reuseport ${own.value === true ? 'on' : 'off'}${own.implied ? ' (default)' : ''}`,
                  holds: own.value !== true,
                  origins: [own.origin],
                },
          missing: 'how the processes listen',
        }),
        claim('One has far more than its share.', {
          bearing: 'necessary',
          predicted: `at least 2 times its share of the ${of}`,
          refutes: 'an even spread',
          seen: {
            text: `${spread.hot.id}: ${digits(spread.most)} of ${digits(spread.total)} (${percent(spread.share)}), ${digits(spread.times)} times its share`,
            holds: spread.times >= 2,
            origins: found.fleet.origins,
          },
        }),
        claim('It is full, while others are idle.', {
          bearing: 'necessary',
          predicted: 'a core at 90 % or more, or a queue that waits, beside at least one idle process',
          refutes: 'no process that is full',
          seen:
            cpuMost === undefined && found.queue === undefined
              ? undefined
              : {
                  text: `${cpuMost === undefined ? `queue ${digits(found.queue ?? 0)}` : `busiest ${percent(cpuMost)} of a core`}, ${idle} idle`,
                  holds: (saturated !== undefined || waiting) && idle >= 1,
                },
          missing: 'processor time by process',
        }),
        claim('The full one is the one with the connections.', {
          bearing: 'sufficient',
          predicted: `${spread.hot.id} at 90 % of a core or more`,
          refutes: 'a full process with few connections',
          seen:
            cpuMost === undefined
              ? undefined
              : {
                  text: saturated === undefined ? 'none is full' : `${saturated.id} at ${percent(cpuMost)}`,
                  holds: saturated?.id === spread.hot.id,
                },
          missing: 'processor time by process',
        }),
        claim('Requests wait to be accepted while processes are idle.', {
          bearing: 'sufficient',
          predicted: 'a listen queue above 0',
          refutes: 'an empty queue',
          seen: found.queue === undefined ? undefined : { text: digits(found.queue), holds: waiting && idle >= 1 },
          missing: 'the length of the listen queue',
        }),
      ],
      culprit: `${own?.program ?? 'the server'} workers sharing one listen socket (no reuseport${processes === undefined ? '' : `, ${processes} processes`})`,
      sentence: `${spread.hot.id} holds ${percent(spread.share)} of the ${of} and is full, while ${idle} of ${spread.members.length} processes are idle: they all accept from one socket.`,
      arithmetic: spread.members
        .slice(0, 8)
        .map(
          (member) =>
            `${member.id}: ${digits(member[of] ?? 0)} ${of}${member.cpu === undefined ? '' : `, processor ${digits(member.cpu)}`}`,
        ),
    };
  },
};
