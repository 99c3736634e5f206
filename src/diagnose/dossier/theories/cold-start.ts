// A new replica is given a full share before it is warm.

import type { SeriesFact } from '../../../record.ts';
import { digits } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { medianOf, type View } from '../view.ts';

export const coldStart: DossierTheory = {
  slug: 'cold-start',
  title: 'Cold start: new replicas get a full share before they are warm',
  mechanism:
    'A replica is ready as soon as its port answers, but its code is not compiled, its caches are empty and its connections are ' +
    'not made. A balancer that gives it its whole share at once makes users pay for the warm-up, each time replicas start: in a ' +
    'rollout, a scale-out, a rollback.',
  refutedBy: 'Old replicas that are as slow as new ones, or trouble that stays after the new ones have warmed up.',
  provedBy: 'Long times or errors on young replicas only, while old ones are flat; they come and go with each start.',
  lookAlikes: ['a bad release', 'drain-race', 'an outage of the database', 'overload-open-loop'],
  fix:
    'Be ready only when warm (a probe that asks for real work), make connections beforehand (pool minimum above 0), slow start ' +
    'in the balancer, fewer new replicas at a time.',
  decidedBy: 'latency or errors by the age of the replica over a rollout',
  explains: ['slow-replica', 'overload-open-loop', 'dependency-pool-exhaustion', 'cpu-throttling', 'drain-race'],

  examine(view) {
    const starts = startsIn(view);
    const byAge = byAgeIn(view);
    const inWindows = inWindowsOf(view, starts);
    const young = youngRequests(view);
    const pool = view.setting('pool.min-idle');
    const unready = pool?.value === 0 || view.setting('health.kind', isTcpReadiness) !== undefined;
    if (byAge === undefined && young === undefined && (starts.length === 0 || (inWindows === undefined && !unready)))
      return undefined;
    const probe = view.setting('health.kind', ({ scope }) => /readiness/.test(scope));
    const slowStart = view.setting('balance.slow-start');
    const rate = steadyRate(view);
    const filled = filledUp(view);
    return {
      claims: [
        claim('Young replicas are slow, old ones are not.', {
          bearing: 'sufficient',
          predicted:
            'at least 3 times the time of the old at the same moment, and the old within 2 times of their usual time',
          refutes: 'old replicas that are slow as well',
          seen:
            byAge === undefined
              ? undefined
              : {
                  text: `young ${digits(byAge.young)} s, old ${digits(byAge.old)} s`,
                  holds: byAge.young >= 3 * byAge.old && byAge.oldFlat,
                  origins: byAge.origins,
                },
          missing: 'latency by the age of the replica',
        }),
        claim('A replica is slow in its first minute and quick afterwards.', {
          bearing: 'sufficient',
          predicted: 'at least 3 times its later time, for at least half of those that started',
          refutes: 'a time that does not depend on age',
          seen: young === undefined ? undefined : { text: young.text, holds: young.holds, origins: young.origins },
          missing: 'requests by replica with the start of each replica',
        }),
        claim('The old ones are not slow as well.', {
          bearing: 'necessary',
          predicted: 'at most half of the young ones’ time',
          refutes: 'a fleet that is slow as a whole',
          seen:
            byAge === undefined ? undefined : { text: `${digits(byAge.old)} s`, holds: byAge.old <= byAge.young / 2 },
          missing: 'latency of replicas that did not start',
        }),
        claim('It begins with the start of replicas and ends with it.', {
          bearing: byAge === undefined && young === undefined ? 'necessary' : 'supporting',
          predicted: 'bad while replicas start, good otherwise',
          refutes: 'trouble at other times',
          seen:
            inWindows === undefined
              ? undefined
              : { text: inWindows.text, holds: inWindows.holds, origins: inWindows.origins },
          missing: 'when replicas started, and a series of errors or latency',
        }),
        claim('The same load as before.', {
          bearing: 'supporting',
          predicted: 'a rate that is steady within 20 %',
          refutes: 'more load',
          seen: rate,
          missing: 'the rate of requests over time',
        }),
        claim('Ready says nothing about warm.', {
          bearing:
            byAge === undefined &&
            young === undefined &&
            inWindows !== undefined &&
            // Once may be chance, unless it came and went with the start while nothing else changed.
            (inWindows.windows >= 2 || (inWindows.passes && rate?.holds === true))
              ? 'sufficient'
              : 'supporting',
          predicted: 'a probe of the port, or a pool that begins empty, and no slow start',
          refutes: 'a warm-up before ready',
          seen:
            pool === undefined && probe === undefined
              ? undefined
              : {
                  text: [
                    pool === undefined ? '' : `pool minimum ${pool.value}`,
                    probe === undefined ? '' : `readiness by ${probe.value}`,
                  ]
                    .filter((one) => one !== '')
                    .join(', '),
                  holds:
                    (pool?.value === 0 || probe?.value === 'tcp') &&
                    slowStart === undefined &&
                    inWindows?.holds !== false,
                  origins: [pool, probe].flatMap((one) => one?.origin ?? []),
                },
          missing: 'what readiness asks, and what a new replica begins with',
        }),
        claim('Something fills up in the same minute: connections, caches.', {
          bearing: 'supporting',
          predicted: 'from (nearly) nothing to its level after the start',
          refutes: 'a level that was there at once',
          seen: filled,
          missing: 'connections of young replicas over time',
        }),
      ],
      culprit: `new ${scopeOf(view)}: ready before warm${pool?.value === 0 ? ' (pool minimum 0' : probe === undefined ? '' : ` (readiness by ${probe.value}`}${pool?.value === 0 && probe !== undefined ? `, readiness by ${probe.value})` : pool?.value === 0 || probe !== undefined ? ')' : ''}`,
      sentence:
        'New replicas get a full share of the traffic while they are still cold; old ones serve as before, and it passes when the new ones have warmed up.',
      arithmetic: [
        ...(byAge === undefined
          ? []
          : [`young ${digits(byAge.young)} s ÷ old ${digits(byAge.old)} s = ${digits(byAge.young / byAge.old)}`]),
        ...(young === undefined ? [] : [young.text]),
        ...(inWindows === undefined ? [] : [inWindows.text]),
      ],
    };
  },
};

function isTcpReadiness({ scope, value }: { scope: string; value: unknown }): boolean {
  return /readiness/.test(scope) && value === 'tcp';
}

function scopeOf(view: View): string {
  const setting =
    view.setting('pool.min-idle') ??
    view.setting('health.kind', ({ scope }) => /readiness/.test(scope)) ??
    view.setting('replicas.count');
  return setting === undefined
    ? 'pods'
    : setting.scope.replace(/ readiness$/, '').replace(/^(?:deployment|statefulset) (.*)$/, 'pods of $1');
}

interface Window {
  readonly from: number;
  readonly to: number;
}

/** Stretches in which replicas started: rollouts from begin to end, single starts with the minute after them. */
function startsIn(view: View): Window[] {
  const windows: Window[] = [];
  let open: number | undefined;
  for (const { event, atMs } of view.events(() => true)) {
    if (atMs === undefined) continue;
    if (/^(?:rollout-start|deploy-start|deploy|rollback|rollback-start|scaled|scale-out|restart)$/.test(event)) {
      if (open !== undefined) windows.push({ from: open, to: open + 120_000 });
      open = atMs;
    } else if (/^(?:rollout-end|deploy-end|rollback-end)$/.test(event) && open !== undefined) {
      windows.push({ from: open, to: atMs });
      open = undefined;
    } else if (/^(?:pod-started|ready|started|pod-ready)$/.test(event)) {
      const last = windows.at(-1);
      if (last !== undefined && atMs <= last.to + 60_000)
        windows[windows.length - 1] = { from: last.from, to: atMs + 60_000 };
      else windows.push({ from: atMs, to: atMs + 60_000 });
    }
  }
  if (open !== undefined) windows.push({ from: open, to: open + 120_000 });
  return windows;
}

const isLatency = (name: string): boolean =>
  /latency|duration|p9\d|p50|response_time|seconds/.test(name) && !/cpu|timeout|interval/.test(name);
const isErrors = (name: string): boolean => /error|5\d\d|5xx|fail/.test(name);

/** Series that differ in the age of the replica alone. */
function byAgeIn(
  view: View,
): { young: number; old: number; oldFlat: boolean; origins: SeriesFact['origin'][] } | undefined {
  const aged = view.series((name, labels) => isLatency(name) && ageOf(labels) !== undefined);
  const young = aged.find(({ labels }) => ageOf(labels) === 'young');
  const old = aged.find((one) => ageOf(one.labels) === 'old' && one.name === young?.name);
  if (young === undefined || old === undefined) return undefined;
  // Compared where the young are worst: most of the time there may be none.
  const worst = young.values
    .filter((value) => Number.isFinite(value) && value > 0)
    .toSorted((one, other) => other - one);
  const youngTime = medianOf(worst.slice(0, Math.max(3, Math.ceil(worst.length / 4))));
  const oldTime = medianOf(old.values.filter((value) => Number.isFinite(value)));
  if (youngTime === undefined || oldTime === undefined) return undefined;
  const oldMost = Math.max(...old.values.filter((value) => Number.isFinite(value)));
  return { young: youngTime, old: oldTime, oldFlat: oldMost <= 2 * oldTime, origins: [young.origin] };
}

function ageOf(labels: Readonly<Record<string, string>>): 'young' | 'old' | undefined {
  const entry = Object.entries(labels).find(([key]) => /age|warm|cohort|generation|uptime/.test(key));
  if (entry === undefined) return undefined;
  if (/^(?:lt|<|under|young|new|cold|fresh|0-|below)/i.test(entry[1])) return 'young';
  return /^(?:ge|gt|>|over|old|warm|above|rest|mature)/i.test(entry[1]) ? 'old' : undefined;
}

/** Errors or latency inside the stretches in which replicas started, against outside. */
function inWindowsOf(
  view: View,
  windows: readonly Window[],
): { text: string; holds: boolean; passes: boolean; windows: number; origins: SeriesFact['origin'][] } | undefined {
  if (windows.length === 0) return undefined;
  const [series] = [
    ...view.series((name, labels) => isErrors(name) && ageOf(labels) !== 'old'),
    ...view.series((name, labels) => isLatency(name) && ageOf(labels) !== 'old'),
  ];
  if (series === undefined) return undefined;
  const step = Math.max(1, (series.atMs[1] ?? 0) - (series.atMs[0] ?? 0));
  const inside: number[] = [];
  const outside: number[] = [];
  for (const [index, at] of series.atMs.entries()) {
    const value = series.values[index] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    if (windows.some(({ from, to }) => at >= from && at <= to)) inside.push(value);
    // Whether a reading one step or a minute beside the stretch belongs to it, nobody can say.
    else if (!windows.some(({ from, to }) => at >= from - step && at <= to + Math.max(step, 60_000)))
      outside.push(value);
  }
  // Replicas warm up while the stretch lasts, so it is its worse part that tells.
  const within = inside.toSorted((one, other) => one - other)[Math.floor(0.75 * (inside.length - 1))];
  const without = medianOf(outside);
  if (within === undefined || without === undefined) return undefined;
  return {
    text: `${series.name}: ${digits(within)} while replicas start, ${digits(without)} otherwise`,
    holds: within > 0 && within >= 3 * without,
    passes: passesIn(series, windows[0], without),
    windows: windows.length,
    origins: [series.origin],
  };
}

/** Whether a series was as usual before the first stretch, and is so again at its end. */
function passesIn(series: SeriesFact, window: Window | undefined, usual: number): boolean {
  if (window === undefined) return false;
  const before = series.values.filter((_, index) => (series.atMs[index] ?? 0) < window.from);
  const last = series.values.filter((_, index) => (series.atMs[index] ?? 0) >= window.from).slice(-2);
  return before.length >= 2 && last.length === 2 && [...before, ...last].every((value) => value <= 1.5 * usual);
}

/** Requests to replicas whose start is known, by whether they came in its first minute. */
function youngRequests(view: View): { text: string; holds: boolean; origins: SeriesFact['origin'][] } | undefined {
  const starts = view.events(({ event }) => /^(?:pod-started|ready|started|pod-ready)$/.test(event));
  const lines: string[] = [];
  let slow = 0;
  let judged = 0;
  for (const { subject, detail, atMs } of starts) {
    if (atMs === undefined) continue;
    for (const table of view.tables) {
      const index = table.replicas.findIndex(
        (id) =>
          id === subject ||
          [subject, ...(detail ?? '').split(/[\s,=]+/)].some((word) => word !== undefined && bare(word) === bare(id)),
      );
      if (index === -1) continue;
      const early: number[] = [];
      const late: number[] = [];
      for (let row = 0; row < table.count; row++) {
        if (table.replica[row] !== index) continue;
        const seconds = table.seconds[row] ?? Number.NaN;
        if (Number.isNaN(seconds)) continue;
        ((table.startMs[row] ?? 0) - atMs <= 60_000 ? early : late).push(seconds);
      }
      const first = medianOf(early);
      const then = medianOf(late);
      if (first === undefined || then === undefined || early.length < 3 || late.length < 3) continue;
      judged += 1;
      if (first >= 3 * then) slow += 1;
      lines.push(`${subject ?? '?'}: ${digits(first)} s in the first minute, ${digits(then)} s afterwards`);
    }
  }
  return judged === 0 ? undefined : { text: lines.slice(0, 3).join('; '), holds: slow * 2 >= judged, origins: [] };
}

function bare(id: string): string {
  return id.replace(/:\d+$/, '');
}

function steadyRate(view: View): { text: string; holds: boolean } | undefined {
  const [rate] = view.series(
    (name) => /requests?(_per_s|_per_second|_rate|_total)?$|rps$/.test(name) && !/error|5xx/.test(name),
  );
  const median = rate === undefined ? undefined : medianOf(rate.values);
  if (rate === undefined || median === undefined || median === 0) return undefined;
  const most = Math.max(...rate.values.map((value) => Math.abs(value / median - 1)));
  return { text: `within ${digits(100 * most)} % of ${digits(median)}`, holds: most <= 0.2 };
}

function filledUp(view: View): { text: string; holds: boolean } | undefined {
  const [level] = view.series((name, labels) => /connection|pool|cache/.test(name) && ageOf(labels) !== 'old');
  if (level === undefined || level.values.length < 3) return undefined;
  const least = Math.min(...level.values);
  const most = Math.max(...level.values);
  return { text: `${level.name}: ${digits(least)} to ${digits(most)}`, holds: least <= 0.2 * most && most > 0 };
}
