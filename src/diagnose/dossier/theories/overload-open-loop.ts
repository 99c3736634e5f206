// More is asked than can be served, and the asking does not slow down.

import { percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { sumOf, type View } from '../view.ts';
import { type LoadRun, runsOf, serverCpu } from '../view-load.ts';
import { sayTime } from '../view-words.ts';
import { greatestOf } from '../view-rows.ts';

export const overloadOpenLoop: DossierTheory = {
  slug: 'overload-open-loop',
  title: 'Overload: more is offered than can be served',
  mechanism:
    'Requests come due whether or not the last were answered. Beyond capacity the backlog grows by the difference for as long ' +
    'as it lasts, and with it the time that each waits from the instant at which it was due. A look at single exchanges on the wire ' +
    'shows quick answers: the waiting is before them.',
  refutedBy: 'The offered rate reached, or latency that does not grow while the load lasts.',
  provedBy: 'Latency that has grown by the length of the run times the part that could not be served.',
  lookAlikes: ['generator-saturated', 'closed-loop-artifact', 'a slow network'],
  fix: 'Find the highest rate at which what is served equals what is offered, and report latency there; add capacity or shed early.',
  decidedBy: 'offered and served rates over time, and latency from the planned instant',
  explains: ['closed-loop-artifact'],

  examine(view) {
    const run = runsOf(view)
      .filter(
        (one) =>
          one.planned !== undefined &&
          one.achieved !== undefined &&
          (one.uncorrected !== undefined || (one.dropped ?? 0) === 0),
      )
      .toSorted((one, other) => shareOf(one) - shareOf(other))[0];
    if (run?.planned === undefined || run.achieved === undefined) return fromSeries(view);
    const share = run.achieved / run.planned;
    const seconds = run.seconds;
    // Cut off at its end the run shows requests that were due at share × its length; served to the end, the last of all.
    const expected = seconds === undefined ? undefined : seconds * (run.drained ? 1 / share - 1 : 1 - share);
    const formula = run.drained ? `(1 ÷ ${percent(share)} − 1)` : `(1 − ${percent(share)})`;
    const wire = run.uncorrected;
    const wireMedian = wire?.['0.5'] ?? wire?.['mean'];
    const connections = run.used;
    const busy = connections === undefined || wireMedian === undefined ? undefined : run.achieved * wireMedian;
    const server = serverTime(view);
    const cpu = serverCpu(view);
    return {
      claims: [
        claim('Less was served than was offered.', {
          bearing: 'necessary',
          predicted: `below ${say(run.planned * 0.97, 'requests/s')}`,
          refutes: 'the offered rate',
          seen: { text: say(run.achieved, 'requests/s'), holds: share < 0.97, origins: [run.origin] },
        }),
        claim('The last request waited for as long as the backlog had grown.', {
          bearing: 'sufficient',
          predicted:
            expected === undefined || seconds === undefined
              ? 'length of the run × part not served'
              : `${sayTime(seconds)} × ${formula} = ${sayTime(rounded(expected))}, within 15 %`,
          refutes: 'latency that did not grow so',
          seen:
            expected === undefined || run.max === undefined || share >= 0.97
              ? undefined
              : {
                  text: `${sayTime(rounded(run.max))} at the most, ${sayTime(rounded(run.median ?? Number.NaN))} in the middle`,
                  holds: Math.abs(run.max - expected) <= 0.15 * expected && expected > 0.5,
                  origins: [run.origin],
                },
          missing: 'the length of the run and latency counted from the planned instant',
        }),
        claim('On the wire exchanges were quick: the waiting was before them.', {
          bearing: 'supporting',
          predicted: expected === undefined ? 'far below the latency' : `far below ${sayTime(expected)}`,
          refutes: 'slow exchanges',
          seen:
            wireMedian === undefined
              ? undefined
              : { text: sayTime(wireMedian), holds: expected === undefined || wireMedian < expected / 5 },
          missing: 'latency counted from the sending',
        }),
        claim('All connections were in use all the time (Little): the service held them.', {
          bearing: 'supporting',
          predicted: connections === undefined ? 'as many as there are' : `about ${connections}`,
          refutes: 'idle connections',
          seen:
            busy === undefined || connections === undefined || wireMedian === undefined
              ? undefined
              : {
                  text: `${say(run.achieved, 'requests/s')} × ${sayTime(wireMedian)} = ${busy.toFixed(1)}`,
                  holds: Math.abs(busy - connections) <= 0.2 * connections,
                },
          missing: 'connections, and time on the wire',
        }),
        claim('The service had nothing left to give.', {
          bearing: 'supporting',
          predicted: 'above 90 % of its processors, or requests that queue in it',
          refutes: 'an idle service',
          seen:
            cpu !== undefined
              ? { text: cpu.text, holds: cpu.value >= 0.9, origins: cpu.origins }
              : server === undefined || wireMedian === undefined
                ? undefined
                : {
                    text: `${sayTime(server)} of work in ${sayTime(wireMedian)} on the wire`,
                    holds: wireMedian > 2 * server,
                  },
          missing: 'processor time of the service',
        }),
      ],
      culprit: `the service: capacity about ${say(run.achieved, 'requests/s')} at ${say(run.planned, 'requests/s')} offered`,
      sentence: `${say(run.planned, 'requests/s')} were offered and ${say(run.achieved, 'requests/s')} served${expected === undefined ? '' : `: after ${sayTime(rounded(seconds ?? 0))} the last request waits ${sayTime(rounded(expected))}`}. The latency is measured rightly; the rate is above capacity.`,
      arithmetic:
        expected === undefined || seconds === undefined
          ? []
          : [
              `${sayTime(seconds)} × (1 − ${run.achieved.toFixed(0)} ÷ ${run.planned.toFixed(0)}) = ${sayTime(expected)}`,
            ],
    };
  },
};

/** To a tenth of a second. */
function rounded(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}

function shareOf(run: LoadRun): number {
  return (run.achieved ?? 1) / (run.planned ?? 1);
}

function serverTime(view: View): number | undefined {
  return view.gauge(
    (name, labels) => /(duration|latency|service_time)\w*seconds$|seconds$/.test(name) && labels['quantile'] === '0.5',
  )?.value;
}

const offeredName =
  /(offered|arriv|incoming|inbound|received|requests_in|client_requests)\w*(per_s|_rate|per_second|rps)/;
const servedName = /(served|complet|success|goodput|responses|requests_out|processed)\w*(per_s|_rate|per_second|rps)/;

/** Without a generator: rates and a queue over time. */
function fromSeries(view: View): ReturnType<DossierTheory['examine']> {
  const [offered] = view.series((name) => offeredName.test(name));
  const [served] = view.series((name) => servedName.test(name));
  const [queue] = view.series(
    (name) => /queue(_depth|_length|_size|d)?$|backlog$/.test(name) && !/seconds|wait/.test(name),
  );
  if (offered === undefined || served === undefined) return undefined;
  const over = offered.values.map((value, index) => value - (served.values[index] ?? value));
  const lasting = over.filter((value, index) => value > 0.03 * (offered.values[index] ?? 0)).length;
  const span =
    offered.atMs.length < 2
      ? 0
      : ((offered.atMs.at(-1) ?? 0) - (offered.atMs[0] ?? 0)) / 1000 / (offered.atMs.length - 1);
  const predicted = sumOf(over.map((value) => Math.max(0, value))) * span;
  const grown = queue === undefined ? undefined : (queue.values.at(-1) ?? 0) - (queue.values[0] ?? 0);
  const before = offered.values[0] ?? 0;
  return {
    claims: [
      claim('More was offered than served for most of the time.', {
        bearing: 'necessary',
        predicted: 'at least half of the readings',
        refutes: 'a served rate that keeps up',
        seen: {
          text: `${lasting} of ${over.length} readings`,
          holds: lasting >= over.length / 2,
          origins: [offered.origin, served.origin],
        },
      }),
      claim('The queue grew by what was not served.', {
        bearing: 'sufficient',
        predicted: `${predicted.toFixed(0)}, within 30 %`,
        refutes: 'a queue that did not grow',
        seen:
          grown === undefined || predicted <= 0
            ? undefined
            : { text: grown.toFixed(0), holds: Math.abs(grown - predicted) <= 0.3 * predicted && grown > 0 },
        missing: 'the length of the queue over time',
      }),
    ],
    culprit: `the service: capacity about ${say(greatestOf(served.values), 'requests/s')}`,
    sentence: `${say(offered.values.at(-1) ?? before, 'requests/s')} are offered, ${say(served.values.at(-1) ?? 0, 'requests/s')} served: the queue grows by the difference.`,
    arithmetic: [],
  };
}
