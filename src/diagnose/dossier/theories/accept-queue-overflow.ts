// Connections are complete, and nobody may take them: the queue before `accept` is full and the kernel drops.

import type { LoadResultFact } from '../../../record.ts';
import { percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { rowsWhere, type View } from '../view.ts';
import { growthOfCounter, names } from '../view-kernel.ts';
import { ownerOf, sayTime } from '../view-words.ts';

export const acceptQueueOverflow: DossierTheory = {
  slug: 'accept-queue-overflow',
  title: 'Accept queue overflow: the listen backlog is full',
  mechanism:
    'A finished handshake waits in the queue of the listening socket until the program accepts it. The queue holds the smaller of ' +
    'the program’s backlog and net.core.somaxconn; beyond it the kernel drops, and the client tries again after 1 s, 3 s, 7 s. ' +
    'So requests take seconds while the program looks idle, even those that it answers at once.',
  refutedBy: 'A counter of overflows that stands still.',
  provedBy:
    'A counter of overflows that grows while the queue stands at its limit, or by as much as requests took a retransmission longer.',
  lookAlikes: ['cpu-throttling', 'a slow handler', 'a pause for garbage collection', 'a blocked event loop'],
  fix: 'Raise the backlog in the program (and net.core.somaxconn with it), keep connections alive so that fewer are made, accept faster.',
  decidedBy: 'growth of ListenOverflows during the symptom, and Recv-Q and Send-Q of the listening socket',
  explains: ['retry-storm', 'unreachable-target'],

  examine(view) {
    const overflows = growthOfCounter(view, names.listenOverflows) ?? growthOfCounter(view, names.listenDrops);
    const queue = queueOf(view);
    const refused = view.messages('upstream-backlog-full');
    if (overflows === undefined && queue === undefined && refused.length === 0) return undefined;
    const late = lateOf(view);
    const idle = idleOf(view);
    const backlog = view.setting('listen.backlog');
    const limit = queue?.limit ?? (typeof backlog?.value === 'number' ? backlog.value : undefined);
    const somaxconn = view.number('kernel.somaxconn');
    const concurrency = Math.max(0, ...view.results.flatMap((result) => result.connections ?? result.users ?? []));
    const bySystem = somaxconn !== undefined && limit !== undefined && limit >= somaxconn;
    return {
      claims: [
        claim('The kernel counted connections that found the queue full.', {
          bearing: 'necessary',
          predicted: 'growth',
          refutes: 'a counter that stands still',
          seen:
            overflows === undefined
              ? undefined
              : {
                  text:
                    overflows.readings > 1
                      ? `+${overflows.value} (${overflows.text})`
                      : `${overflows.value} since the start`,
                  holds: overflows.value > 0,
                  origins: overflows.origins,
                },
          missing: 'ListenOverflows before and after',
        }),
        claim('The queue stood at its limit.', {
          bearing: 'sufficient',
          predicted: limit === undefined ? 'Recv-Q at Send-Q' : `at least ${limit}`,
          refutes: 'a queue with room',
          seen:
            queue === undefined
              ? undefined
              : {
                  text: `${queue.waiting} waiting, limit ${queue.limit}`,
                  holds: queue.waiting >= queue.limit && (overflows?.value ?? 1) > 0,
                  origins: queue.origins,
                },
          missing: 'Recv-Q and Send-Q of the listening socket (ss -ltn)',
        }),
        claim('As many requests took a retransmission longer as connections were dropped.', {
          bearing: 'sufficient',
          predicted:
            overflows === undefined
              ? 'a step at 1 s, 3 s or 7 s'
              : `about ${overflows.value} at 1 s, 3 s or 7 s plus the usual time, few between`,
          refutes: 'a tail without steps',
          seen:
            late === undefined
              ? undefined
              : {
                  text: late.text,
                  holds:
                    late.steps &&
                    (overflows === undefined
                      ? false
                      : late.count >= 0.3 * overflows.value && late.count <= 3 * overflows.value + 3),
                  origins: late.origins,
                },
          missing: 'the distribution of response times',
        }),
        claim('A socket on the same host said that its queue is full.', {
          bearing: 'sufficient',
          predicted: 'at least one message',
          refutes: 'none',
          seen:
            refused.length === 0
              ? undefined
              : {
                  text: `${refused.length} × ${refused[0]?.text.slice(0, 80) ?? ''}`,
                  holds: true,
                  origins: refused.slice(0, 2).map((one) => one.origin),
                },
          missing: 'the error log of the proxy',
        }),
        claim('More connections at once were asked for than the queue holds.', {
          bearing: 'supporting',
          predicted: limit === undefined ? 'more than the backlog' : `more than ${limit}`,
          refutes: 'fewer clients than the queue holds',
          seen:
            concurrency === 0 || limit === undefined
              ? undefined
              : { text: String(concurrency), holds: concurrency > limit },
          missing: 'how many clients connect at once',
        }),
        claim('The program itself was idle.', {
          bearing: 'supporting',
          predicted: 'nothing in it takes seconds',
          refutes: 'a blocked or busy program',
          seen: idle,
          missing: 'processor use, event-loop lag or requests in flight of the program',
        }),
      ],
      culprit: bySystem
        ? `net.core.somaxconn ${somaxconn}`
        : `${backlog === undefined || backlog.program === 'kernel' ? `listener${queue?.name === undefined ? '' : ` ${queue.name}`}` : ownerOf(backlog)}: listen backlog ${limit ?? 'too small'}${somaxconn === undefined ? '' : ` (somaxconn ${somaxconn})`}`,
      sentence:
        `The queue of finished handshakes holds ${limit ?? 'too few'}` +
        (queue === undefined ? '' : ` and had ${queue.waiting}`) +
        `; the kernel dropped ${overflows?.value ?? 'the'} more, and those clients came again a second or more later. The program never saw them.`,
      arithmetic: [
        ...(limit === undefined || somaxconn === undefined
          ? []
          : [`min(backlog ${limit}, somaxconn ${somaxconn}) = ${Math.min(limit, somaxconn)}`]),
        ...(late === undefined ? [] : [late.text]),
      ],
    };
  },
};

interface Queue {
  readonly waiting: number;
  readonly limit: number;
  readonly name: string | undefined;
  readonly origins: readonly { file: string; line?: number }[];
}

/** The listening socket nearest to its limit. */
function queueOf(view: View): Queue | undefined {
  const limits = new Map<
    string,
    { waiting: number; limit: number; name: string | undefined; origin: { file: string; line?: number } }[]
  >();
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  for (const sample of view.dossier.samples) {
    const name = plain(sample.name);
    const isQueue = names.acceptQueue.test(name);
    if (!isQueue && !names.acceptLimit.test(name)) continue;
    if (/estab/i.test(sample.labels['state'] ?? '')) continue;
    const key = `${sample.reading} ${JSON.stringify(sample.labels)}`;
    const own = limits.get(key) ?? [];
    own.push({
      waiting: isQueue ? sample.value : Number.NaN,
      limit: isQueue ? Number.NaN : sample.value,
      name: sample.labels['local'] ?? sample.labels['address'] ?? sample.labels['socket'] ?? sample.labels['listener'],
      origin: sample.origin,
    });
    limits.set(key, own);
  }
  const written = view.number('listen.backlog');
  const found = [...limits.values()].flatMap((own): Queue[] => {
    const waiting = own.find((one) => !Number.isNaN(one.waiting));
    const limit = own.find((one) => !Number.isNaN(one.limit))?.limit ?? written;
    if (waiting === undefined || limit === undefined || limit <= 0) return [];
    return [{ waiting: waiting.waiting, limit, name: waiting.name, origins: [waiting.origin] }];
  });
  return found.toSorted((one, other) => other.waiting / other.limit - one.waiting / one.limit)[0];
}

/** Retransmissions of a lost handshake: 1 s, then twice as long each time. */
const ladder = [1, 3, 7, 15];

/** Requests that took a step of the ladder longer than usual, with a gap before the first. */
function lateOf(view: View):
  | {
      readonly count: number;
      readonly steps: boolean;
      readonly text: string;
      readonly origins: readonly { file: string; line?: number }[];
    }
  | undefined {
  for (const result of view.results) {
    const bars = (result.histogram ?? []).toSorted((one, other) => one.seconds - other.seconds);
    // A bar reaches from its lower bound to that of the next, the last one to the slowest request.
    const upper = (index: number): number =>
      bars[index + 1]?.seconds ?? Math.max(result.latency?.['1'] ?? 0, (bars[index]?.seconds ?? 0) * 1.2);
    const countOf = (accepts: (lower: number, above: number) => boolean): number =>
      bars.reduce((sum, bar, index) => sum + (accepts(bar.seconds, upper(index)) ? bar.count : 0), 0);
    const late = countOf((lower, above) => lower >= 0.45 && above >= 0.97);
    const between = countOf((lower, above) => lower >= 0.3 && above < 0.97);
    if (bars.length === 0) {
      const told = lateByQuantiles(result);
      if (told !== undefined) return told;
    }
    if (late === 0) continue;
    const text = `${late} at about a second or more, ${between} between 0.3 s and that`;
    return { count: late, steps: between <= 0.1 * late, text, origins: [result.origin] };
  }
  for (const table of view.tables) {
    const slow = rowsWhere(table, (row) => (table.seconds[row] ?? 0) >= 0.95);
    if (slow.length < 3) continue;
    const onSteps = slow.filter((row) =>
      ladder.some((step) => Math.abs((table.seconds[row] ?? 0) - step) <= 0.12 * step + 0.05),
    );
    return {
      count: slow.length,
      steps: onSteps.length >= 0.8 * slow.length,
      text: `${onSteps.length} of ${slow.length} slow requests at ${ladder.map(sayTime).join(', ')} (${percent(onSteps.length / slow.length)})`,
      origins: [table.origin],
    };
  }
  return undefined;
}

/** Where only quantiles were printed: between the last quick one and the first on a step lie those that came again. */
function lateByQuantiles(result: LoadResultFact): ReturnType<typeof lateOf> {
  const points = Object.entries(result.latency ?? {})
    .flatMap(([key, seconds]) => (Number(key) > 0 ? [{ share: Number(key), seconds }] : []))
    .toSorted((one, other) => one.share - other.share);
  const quick = points.findLast(({ seconds }) => seconds < 0.3);
  const slow = points.filter(({ seconds }) => seconds >= 0.3);
  const first = slow[0];
  if (quick === undefined || first === undefined || slow.length < 2 || result.requests === undefined) return undefined;
  const onSteps = slow.filter(({ seconds }) =>
    ladder.some((step) => seconds >= 0.97 * step && seconds <= 1.12 * step + 0.05),
  );
  // The middle of what the two quantiles allow.
  const count = Math.round(result.requests * (1 - (quick.share + first.share) / 2));
  return {
    count,
    steps: onSteps.length === slow.length,
    text: `${percent(1 - first.share)} to ${percent(1 - quick.share)} of ${result.requests} late, at ${slow.map(({ seconds }) => sayTime(seconds)).join(', ')}`,
    origins: [result.origin],
  };
}

function idleOf(view: View): { text: string; holds: boolean } | undefined {
  const lag = view.greatest((name) => /event_?loop_?lag/.test(name));
  const cpu = view.greatest((name) => /process_cpu\w*(ratio|percent)|cpu_(ratio|utili[sz]ation)/.test(name));
  if (lag === undefined && cpu === undefined) return undefined;
  return {
    text: [
      lag === undefined ? undefined : `event-loop lag ${sayTime(lag.value)}`,
      cpu === undefined ? undefined : `${cpu.name} ${cpu.value}`,
    ]
      .filter((text) => text !== undefined)
      .join(', '),
    holds: (lag?.value ?? 0) < 0.2 && (cpu?.value ?? 0) < 0.7,
  };
}
