// The kernel stops a container for the rest of a period, because it has used its share of it.

import type { Origin } from '../../../record.ts';
import { percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { medianOf, rowsWhere, type View } from '../view.ts';
import { growthOfCounter } from '../view-kernel.ts';
import { isConcerned } from '../view-symptoms.ts';
import { nativeName, ownerOf, sayTime } from '../view-words.ts';
import { greatestOf, leastOf } from '../view-rows.ts';

export const cpuThrottling: DossierTheory = {
  slug: 'cpu-throttling',
  title: 'CPU throttling: the quota of a period is used up',
  mechanism:
    'A limit of processors is a quota in each period, usually 100 ms. Several threads that run at once use it up in a part of the ' +
    'period, and then all of them stand still until the next begins. The mean use looks low all the while, and requests that met the ' +
    'stop are late by up to a period.',
  refutedBy:
    'Counters of throttled periods that stand still; a competitor outside the group, whose use cannot throttle it; times that do not line up.',
  provedBy:
    'Throttled periods that grow during the symptom, where requests lose their time in the throttled program and by about a period.',
  lookAlikes: [
    'health-check-on-shared-workers',
    'dependency-pool-exhaustion',
    'overload-open-loop',
    'a slow dependency',
  ],
  fix: 'Raise or remove the limit and keep the request; run fewer threads at once; a shorter period or a burst allowance.',
  decidedBy: 'growth of nr_throttled and nr_periods of the very container during the symptom',
  explains: [],

  examine(view) {
    const counters = throttleOf(view);
    const suspected = view.events(({ event, detail }) =>
      /batch|cron|job|throttl|cpu/i.test(`${event} ${detail ?? ''}`),
    );
    const accused = suspected.length > 0 || view.messagesLike(/throttl/i).length > 0;
    const limit = view.setting('cpu.limit');
    if (counters === undefined && !accused && limit === undefined) return undefined;
    const period = view.number('cpu.quota-period') ?? 0.1;
    const lost = lostInside(view, period);
    const elsewhere = otherHosts(view, suspected);
    const timing = timesOf(view);
    const better = improvedOf(view);
    const share = counters === undefined || counters.periods === 0 ? undefined : counters.throttled / counters.periods;
    const use = usageOf(view);
    const concerned = counters?.who === undefined ? undefined : isConcerned(view, counters.who);
    return {
      claims: [
        claim('Periods were throttled during the symptom.', {
          bearing: 'necessary',
          predicted: 'at least 1 % of the periods',
          refutes: 'flat counters',
          seen:
            counters === undefined || share === undefined
              ? undefined
              : {
                  text: `${counters.throttled} of ${counters.periods} periods (${percent(share)})${share < 0.01 ? ': flat counters' : ''}`,
                  holds: share >= 0.01,
                  origins: counters.origins,
                },
          missing: 'nr_throttled and nr_periods of the container, before and after',
        }),
        claim('Who used the processors stood in the same group.', {
          bearing: 'necessary',
          predicted: 'the suspected work on the same host and in the same container',
          refutes: 'work on other hosts, which cannot use this quota',
          seen: elsewhere,
          missing: 'where the suspected work ran',
        }),
        claim('Throttling and symptom line up in time.', {
          bearing: 'necessary',
          predicted: 'throttled when requests are late, and not otherwise',
          refutes: 'times that do not line up',
          seen: timing,
          missing: 'throttled periods and latency over time',
        }),
        claim(
          'Many periods were throttled, and requests lost their time inside the program, by up to a period or two.',
          {
            bearing: 'sufficient',
            predicted: `at least 5 % of the periods; late requests lose up to ${sayTime(2 * period)} outside the upstream`,
            refutes: 'time that is lost upstream, or much more than a period',
            seen:
              share === undefined || lost === undefined
                ? undefined
                : {
                    text: `${percent(share)} of the periods; ${lost.text}`,
                    holds: share >= 0.05 && lost.holds && concerned !== false,
                    origins: [...(counters?.origins ?? []), ...lost.origins].slice(0, 4),
                  },
            missing: 'an access log with the time of the upstream beside the whole',
          },
        ),
        claim('Without the limit it was gone.', {
          bearing: 'sufficient',
          predicted: 'no throttled period and a latency far below',
          refutes: 'the same latency without a limit',
          seen:
            share === undefined || better === undefined
              ? undefined
              : { text: better.text, holds: better.holds && share >= 0.01 },
          missing: 'the same load without the limit',
        }),
        claim('Half of the periods or more were throttled.', {
          bearing: 'sufficient',
          predicted: 'at least 50 %',
          refutes: 'few',
          seen:
            share === undefined
              ? undefined
              : {
                  text: `${percent(share)}${concerned === false ? `, but ${counters?.who ?? 'it'} serves nobody here` : ''}`,
                  holds: share >= 0.5 && concerned !== false,
                },
          missing: 'nr_throttled and nr_periods',
        }),
        claim('The mean use was below the limit all the same.', {
          bearing: 'supporting',
          predicted: typeof limit?.value === 'number' ? `below ${limit.value} cores` : 'below the limit',
          refutes: 'a program at its limit throughout',
          seen:
            use === undefined || typeof limit?.value !== 'number'
              ? undefined
              : {
                  text: `${use.toFixed(3)} cores (${percent(use / limit.value)} of the limit)`,
                  holds: use < limit.value,
                },
          missing: 'seconds of processor used, and the limit',
        }),
      ],
      culprit: `${counters?.who ?? (limit === undefined || limit.program === 'kernel' ? 'the container' : ownerOf(limit))}: ${limit === undefined ? 'CPU limit' : `${nativeName(limit)} ${sayCores(Number(limit.value))}`} (CFS quota)`,
      sentence:
        share === undefined
          ? 'Nothing shows whether the container was throttled.'
          : share < 0.01
            ? 'The container was not throttled: its counters are flat.'
            : `The container was stopped in ${percent(share)} of its periods, for the rest of ${sayTime(period)} each time${use === undefined || typeof limit?.value !== 'number' ? '' : `, although on average it used ${percent(use / limit.value)} of its limit`}.`,
      arithmetic: [
        ...(counters === undefined || share === undefined
          ? []
          : [`${counters.throttled} ÷ ${counters.periods} = ${percent(share)} of the periods`]),
        ...(counters?.seconds === undefined || counters.throttled === 0
          ? []
          : [
              `${counters.seconds.toFixed(1)} s ÷ ${counters.throttled} = ${sayTime(counters.seconds / counters.throttled)} a stop`,
            ]),
        ...(typeof limit?.value === 'number'
          ? [`${sayCores(limit.value)} = ${sayTime(limit.value * period)} in every ${sayTime(period)}`]
          : []),
      ],
    };
  },
};

function sayCores(cores: number): string {
  return cores < 1 ? `${(cores * 1000).toFixed(0)}m` : `${cores} cores`;
}

interface Throttle {
  readonly periods: number;
  readonly throttled: number;
  readonly seconds: number | undefined;
  readonly who: string | undefined;
  readonly origins: readonly Origin[];
}

/** Of the container that was throttled most. */
function throttleOf(view: View): Throttle | undefined {
  const throttledSamples = view.dossier.samples.filter(({ name }) =>
    /throttled_periods(_total)?$|nr_throttled$/.test(name),
  );
  const groups = Map.groupBy(
    throttledSamples,
    ({ labels }) =>
      labels['pod'] ?? labels['container'] ?? labels['instance'] ?? labels['target'] ?? labels['cgroup'] ?? '',
  );
  const found = [...groups].flatMap(([who, own]): Throttle[] => {
    const mine = (pattern: RegExp): number | undefined => {
      const samples = view.dossier.samples.filter(
        ({ name, labels }) => pattern.test(name) && (who === '' || Object.values(labels).includes(who)),
      );
      return samples.length === 0 ? undefined : growth(samples);
    };
    const periods = mine(/cfs_periods(_total)?$|nr_periods$/);
    const throttled = growth(own);
    if (periods === undefined) return [];
    const seconds = mine(/throttled_seconds(_total)?$|throttled_usec$|throttled_time$/);
    return [
      {
        periods,
        throttled,
        seconds,
        who: who === '' ? undefined : who,
        origins: own.slice(0, 2).map(({ origin }) => origin),
      },
    ];
  });
  // Those that the incident is about before others, then the one that was stopped most.
  const concern = ({ who }: Throttle): number => {
    const concerned = who === undefined ? undefined : isConcerned(view, who);
    return concerned === true ? 2 : concerned === undefined ? 1 : 0;
  };
  const most = found.toSorted(
    (one, other) =>
      concern(other) - concern(one) ||
      other.throttled / Math.max(1, other.periods) - one.throttled / Math.max(1, one.periods),
  )[0];
  if (most !== undefined) return most;
  const throttled = growthOfCounter(view, /nrthrottled$|throttledperiods(total)?$/);
  const periods = growthOfCounter(view, /nrperiods$|cfsperiods(total)?$/);
  return throttled === undefined || periods === undefined
    ? undefined
    : {
        periods: periods.value,
        throttled: throttled.value,
        seconds: undefined,
        who: undefined,
        origins: throttled.origins,
      };
}

function growth(samples: readonly { readonly reading: number; readonly value: number }[]): number {
  const ordered = samples.toSorted((one, other) => one.reading - other.reading);
  const first = ordered[0]?.value ?? 0;
  const last = ordered.at(-1)?.value ?? 0;
  return ordered.length > 1 ? Math.max(0, last - first) : last;
}

/** Late requests: how much of their time was not the upstream’s. */
function lostInside(
  view: View,
  period: number,
): { text: string; holds: boolean; origins: readonly Origin[] } | undefined {
  for (const table of view.tables) {
    const rows = rowsWhere(
      table,
      (row) =>
        !Number.isNaN(table.seconds[row] ?? Number.NaN) && !Number.isNaN(table.upstreamSeconds[row] ?? Number.NaN),
    );
    if (rows.length < 10) continue;
    const inside = rows.map((row) => (table.seconds[row] ?? 0) - (table.upstreamSeconds[row] ?? 0));
    const usual = medianOf(inside) ?? 0;
    const late = inside.filter((one) => one > Math.max(0.1 * period, 5 * usual));
    if (late.length === 0) return { text: 'no request lost time inside', holds: false, origins: [table.origin] };
    const most = greatestOf(late);
    return {
      text: `${late.length} of ${rows.length} requests lost ${sayTime(leastOf(late))} to ${sayTime(most)} inside, usually ${sayTime(usual)}`,
      holds: most <= 2.5 * period,
      origins: [table.origin],
    };
  }
  return undefined;
}

/** What was suspected ran on hosts that have none of the containers. */
function otherHosts(
  view: View,
  suspected: ReturnType<View['events']>,
): { text: string; holds: boolean; origins: readonly Origin[] } | undefined {
  const nodesOf = (accepts: (name: string, labels: Readonly<Record<string, string>>) => boolean): Set<string> =>
    new Set(
      view.dossier.samples
        .filter(({ name, labels }) => accepts(name, labels))
        .flatMap(({ labels }) => labels['node'] ?? labels['host'] ?? []),
    );
  const job = (labels: Readonly<Record<string, string>>): boolean =>
    /batch|cron|job|etl|report/i.test(`${labels['pod'] ?? ''} ${labels['job'] ?? ''} ${labels['container'] ?? ''}`);
  const ours = nodesOf((name, labels) => /cpu|throttl|restarts|ready/.test(name) && !job(labels));
  const theirs = nodesOf((name, labels) => /cpu/.test(name) && job(labels));
  for (const { subject, detail } of suspected) {
    for (const word of `${subject ?? ''} ${detail ?? ''}`.match(/\b(?:node|host|worker|vm)-?[\w.-]*\d[\w.-]*/gi) ?? [])
      theirs.add(word);
  }
  if (ours.size === 0 || theirs.size === 0) return undefined;
  const shared = [...theirs].filter((node) => ours.has(node));
  return {
    text:
      shared.length === 0
        ? `the other work ran on other hosts (${[...theirs].join(', ')}), the service on ${[...ours].join(', ')}`
        : `both on ${shared.join(', ')}`,
    holds: shared.length > 0,
    origins: suspected.slice(0, 2).map(({ origin }) => origin),
  };
}

/** Correlation in time of throttling with latency or errors, by the minute or whatever the series have. */
function timesOf(view: View): { text: string; holds: boolean; origins: readonly Origin[] } | undefined {
  const [throttle] = view.series((name) => /throttl/.test(name));
  const [symptom] = view.series(
    (name) => /latency|duration|p9\d|response_time|error|5xx/.test(name) && !/throttl/.test(name),
  );
  if (throttle === undefined || symptom === undefined) return undefined;
  const high = (values: readonly number[]): boolean[] => {
    const usual = medianOf(values) ?? 0;
    const most = greatestOf(values);
    const line = usual + 0.3 * (most - usual);
    return values.map((value) => most > usual && value > line);
  };
  const rate = growthBetween(throttle.values);
  // Throttled all the time and late all the time leaves nothing to compare.
  if (greatestOf(rate) < 2 * leastOf(rate) && greatestOf(symptom.values) < 2 * leastOf(symptom.values))
    return undefined;
  const throttled = high(rate);
  const late = high(symptom.values);
  const at = (atMs: number): boolean => {
    let nearest = -1;
    for (const [index, other] of throttle.atMs.entries())
      if (nearest === -1 || Math.abs(other - atMs) < Math.abs((throttle.atMs[nearest] ?? 0) - atMs)) nearest = index;
    return throttled[nearest] ?? false;
  };
  const lateAt = symptom.atMs.filter((_, index) => late[index] === true);
  if (lateAt.length === 0) return undefined;
  const both = lateAt.filter(at).length;
  return {
    text: `throttled in ${both} of ${lateAt.length} readings with the symptom${both < 0.3 * lateAt.length ? ': times that do not line up' : ''}`,
    holds: both >= 0.3 * lateAt.length,
    origins: [throttle.origin, symptom.origin],
  };
}

/** A counter by how much it grew up to each reading; anything else as it is. */
function growthBetween(values: readonly number[]): number[] {
  if (values.some((value, index) => index > 0 && value < (values[index - 1] ?? 0))) return [...values];
  const grown = values.slice(1).map((value, index) => value - (values[index] ?? 0));
  return [grown[0] ?? 0, ...grown];
}

function usageOf(view: View): number | undefined {
  const seconds = growthOfCounter(view, /cpuusageseconds(total)?$/);
  const periods = growthOfCounter(view, /cfsperiods(total)?$|nrperiods$/);
  if (seconds === undefined || periods === undefined || seconds.readings < 2) return undefined;
  // Periods are counted while something runs; at 100 ms each they are the shortest the window can be.
  return seconds.value / (periods.value * (view.number('cpu.quota-period') ?? 0.1));
}

/** Somebody measured again without the limit. */
function improvedOf(view: View): { text: string; holds: boolean } | undefined {
  const after = view.events(({ event, detail }) =>
    /limit[- ]removed|without[- ]limit|unlimited/i.test(`${event} ${detail ?? ''}`),
  );
  const sample = view.dossier.samples.find(
    ({ name, origin }) =>
      /throttled_periods_delta/.test(name) ||
      (/limit.?removed|without.?limit|no.?limit/i.test(origin.file) && /throttl/.test(name)),
  );
  if (sample === undefined && after.length === 0) return undefined;
  const p99 = view.dossier.samples.find(({ name, origin }) => origin.file === sample?.origin.file && /p99/.test(name));
  return {
    text: `${sample?.value ?? 0} periods throttled${p99 === undefined ? '' : `, p99 ${p99.value}`} without the limit`,
    holds: (sample?.value ?? 0) === 0,
  };
}
