// The rate is the clients' doing: they ask again as soon as they have an answer.

import type { Origin, SampleFact } from '../../../record.ts';
import { say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { medianOf, rowsWhere, type View } from '../view.ts';
import { runsOf } from '../view-load.ts';
import { level, shiftOf } from '../view-series.ts';
import { sayTime } from '../view-words.ts';

export const closedLoopArtifact: DossierTheory = {
  slug: 'closed-loop-artifact',
  title: 'Closed-loop artefact: the rate follows the response time',
  mechanism:
    'A fixed number of clients each send the next request when the last was answered, so rate × response time is their number ' +
    '(Little), whatever the service does. When answers become quick because they are refusals, the rate explodes; when they become slow, ' +
    'it falls and the overload hides. Neither says anything about demand or capacity.',
  refutedBy: 'A rate that stays while the response time changes, or a product that is not constant.',
  provedBy:
    'Rate × response time equal to the same number of clients in two states whose rates differ by a factor of three or more.',
  lookAlikes: ['overload-open-loop', 'retry-storm', 'a spike of traffic', 'generator-saturated'],
  fix: 'Use a generator with a rate (an open loop); make refusals cost a pause on the client’s side, or delay them; then mend what made the answers slow or instant.',
  decidedBy: 'rate and response time in two states, and whether the generator has a rate or only connections',
  explains: ['generator-saturated'],

  examine(view) {
    const states = statesOf(view);
    const clients = clientsOf(view);
    const paced = view.setting('load.rate');
    const open = view.text('load.model') === 'open' || typeof paced?.value === 'number';
    if (clients === undefined && states.length < 2) return undefined;
    if (states.length === 0) return undefined;
    const rates = states.map((state) => state.rate);
    const ratio = Math.max(...rates) / Math.min(...rates);
    const products = states.map((state) => state.rate * state.seconds);
    const number = clients?.value ?? medianOf(products) ?? 0;
    const apart =
      Math.max(...states.map((state) => state.seconds)) /
      Math.max(1e-9, Math.min(...states.map((state) => state.seconds)));
    const fast = states.toSorted((one, other) => other.rate - one.rate)[0];
    // Two runs of one generator may differ because the service was mended; refusals mend nothing.
    const same = states.every((state) => state.same);
    const slow = states.toSorted((one, other) => one.rate - other.rate)[0];
    return {
      claims: [
        claim('Nobody gave the clients a rate.', {
          bearing: 'necessary',
          predicted: 'users or connections in a loop, no rate',
          refutes: 'a generator with a rate',
          seen:
            clients === undefined && !open
              ? undefined
              : {
                  text: open ? `a rate of ${String(paced?.value ?? 'its own')}` : (clients?.text ?? ''),
                  holds: !open,
                  origins: paced === undefined ? (clients?.origins ?? []) : [paced.origin],
                },
          missing: 'how the generator was started',
        }),
        claim('Rate × response time is the number of clients, in every state.', {
          bearing: 'necessary',
          predicted: `${number.toFixed(0)}, within 20 %`,
          refutes: 'another product',
          seen: {
            text: states
              .map(
                (state) =>
                  `${state.name}: ${say(state.rate, 'requests/s')} × ${sayTime(state.seconds)} = ${(state.rate * state.seconds).toFixed(0)}`,
              )
              .join('; '),
            holds: products.every((product) => Math.abs(product - number) <= 0.2 * number),
            origins: states.flatMap((state) => state.origins).slice(0, 4),
          },
        }),
        claim('The rate changed by as much as the response time did, the other way.', {
          bearing: 'sufficient',
          predicted: `× ${apart.toFixed(0)}, as the response time changed`,
          refutes: 'a rate that stays',
          seen:
            states.length < 2
              ? undefined
              : {
                  text: `× ${ratio.toFixed(0)}${same || fast?.refused === true ? '' : ', with answers that succeed'}`,
                  holds:
                    ratio >= 3 &&
                    Math.abs(Math.log(ratio / apart)) <= Math.log(1.3) &&
                    (same || fast?.refused === true),
                },
          missing: 'rate and response time in a second state',
        }),
        claim('What is quick is no work: refusals of the proxy itself.', {
          bearing: 'supporting',
          predicted: 'no server behind the quick answers',
          refutes: 'quick answers of a server',
          seen: refusals(view),
          missing: 'an access log of the quick state',
        }),
      ],
      culprit: `load generator without pacing: ${number.toFixed(0)} clients in a loop${refusals(view)?.holds === true ? ' on instant refusals' : ''}`,
      sentence:
        fast === undefined || slow === undefined || fast === slow
          ? `The rate is ${number.toFixed(0)} clients divided by the response time; it says nothing about demand or capacity.`
          : `${number.toFixed(0)} clients in a loop make ${say(slow.rate, 'requests/s')} when an answer takes ${sayTime(slow.seconds)} and ${say(fast.rate, 'requests/s')} when it takes ${sayTime(fast.seconds)}: the jump is the clients’, not traffic.`,
      arithmetic: states.map(
        (state) =>
          `${state.name}: ${say(state.rate, 'requests/s')} × ${sayTime(state.seconds)} = ${(state.rate * state.seconds).toFixed(0)} clients`,
      ),
    };
  },
};

interface State {
  readonly name: string;
  /** Most of its answers are failures; undefined: not known. */
  readonly refused: boolean | undefined;
  /** A stretch of the same time, not a run of its own. */
  readonly same: boolean;
  readonly rate: number;
  readonly seconds: number;
  readonly origins: readonly Origin[];
}

/** States of the service with a rate and a response time each: runs of a generator, readings of a proxy, stretches of time. */
function statesOf(view: View): State[] {
  const runs = runsOf(view).flatMap((run): State[] => {
    const seconds = run.mean ?? run.median;
    return run.achieved === undefined || seconds === undefined || run.planned !== undefined
      ? []
      : [
          {
            name: run.name,
            refused: run.failedShare === undefined ? undefined : run.failedShare >= 0.5,
            same: false,
            rate: run.achieved,
            seconds,
            origins: [run.origin],
          },
        ];
  });
  const all = [runs, readingsOf(view), stretchesOf(view)];
  return all.find((states) => states.length >= 2) ?? runs;
}

/** HAProxy’s statistics have the rate of a frontend and the average time of a backend in each reading. */
function readingsOf(view: View): State[] {
  const of = (file: string, name: string, type: string): SampleFact | undefined =>
    view.dossier.samples
      .filter((sample) => sample.origin.file === file && sample.name === name && sample.labels['type'] === type)
      .toSorted((one, other) => other.value - one.value)[0];
  const files = new Set(
    view.dossier.samples.filter(({ name }) => name === 'haproxy_rate').map(({ origin }) => origin.file),
  );
  return [...files].flatMap((file): State[] => {
    const rate = of(file, 'haproxy_req_rate', 'frontend') ?? of(file, 'haproxy_rate', 'frontend');
    const time = of(file, 'haproxy_ttime', 'backend') ?? of(file, 'haproxy_ttime', 'server');
    const up = of(file, 'haproxy_up', 'server');
    if (rate === undefined || time === undefined || rate.value <= 0 || time.value <= 0) return [];
    const name = up === undefined ? file : up.value === 1 ? 'servers up' : 'servers down';
    const refused = up === undefined ? undefined : up.value !== 1;
    return [{ name, refused, same: true, rate: rate.value, seconds: time.value / 1000, origins: [rate.origin] }];
  });
}

/** A rate over time that changes level, and the response time before and after. */
function stretchesOf(view: View): State[] {
  const rate = view.series(
    (name) =>
      /(requests?|rps|throughput|hits)\w*(per_s\w*|rate|ps)$|^rps$|^throughput$/.test(name) &&
      !/error|attempt/.test(name),
  )[0];
  const time = view.series(
    (name) =>
      /(latency|response_time|duration|time)\w*(mean|avg|average|p50|seconds|ms)?$/.test(name) &&
      !/p9\d|max|queue/.test(name),
  )[0];
  const shift = rate === undefined ? undefined : shiftOf(rate);
  if (rate === undefined || time === undefined || shift === undefined) return [];
  const unit = /_ms$|millis/.test(time.name.toLowerCase()) ? 0.001 : 1;
  const firstMs = rate.atMs[0] ?? 0;
  const lastMs = (rate.atMs.at(-1) ?? 0) + 1;
  return [['before', firstMs, shift.toMs] as const, ['after', shift.toMs, lastMs] as const].flatMap(
    ([name, fromMs, toMs]): State[] => {
      const made = level(rate, fromMs, toMs);
      const took = level(time, fromMs, toMs);
      return made === undefined || took === undefined || took <= 0
        ? []
        : [
            {
              name,
              refused: undefined,
              same: true,
              rate: made,
              seconds: took * unit,
              origins: [rate.origin, time.origin],
            },
          ];
    },
  );
}

function clientsOf(
  view: View,
): { readonly value: number; readonly text: string; readonly origins: readonly Origin[] } | undefined {
  const setting = view.setting('load.connections') ?? view.setting('load.users');
  if (typeof setting?.value === 'number')
    return { value: setting.value, text: `${setting.value} connections or users`, origins: [setting.origin] };
  const used = runsOf(view).flatMap((run) =>
    run.closed && run.used !== undefined ? [{ value: run.used, origin: run.origin }] : [],
  )[0];
  return used === undefined
    ? undefined
    : { value: used.value, text: `${used.value} connections or users`, origins: [used.origin] };
}

function refusals(view: View): { readonly text: string; readonly holds: boolean } | undefined {
  for (const table of view.tables) {
    const quick = rowsWhere(table, (row) => (table.status[row] ?? -1) >= 500 && (table.replica[row] ?? -1) < 0);
    if (quick.length >= 3) return { text: `${quick.length} answers of the proxy without a server`, holds: true };
  }
  return undefined;
}
