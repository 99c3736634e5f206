// A lost question to the resolver, and a timer until it is asked again.

import type { Origin } from '../../../record.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { medianOf, rowsWhere, type View } from '../view.ts';
import { growthOfCounter, names } from '../view-kernel.ts';
import { sayTime } from '../view-words.ts';
import { greatestOf } from '../view-rows.ts';

export const dnsQuantisedDelay: DossierTheory = {
  slug: 'dns-quantised-delay',
  title: 'Quantised DNS delay: a resolver’s timer, not load',
  mechanism:
    'A name is asked for in one UDP packet, and a lost packet is asked for again only when the resolver’s timer ends: 5 s by ' +
    'default, 2.5 s or others where it was set. Two questions sent together over one port can race in connection tracking, ' +
    'and one is dropped. So some calls are late by a multiple of the timer, and nothing else about them is slow.',
  refutedBy: 'Delays that spread, or lookups that were quick in the slow calls.',
  provedBy:
    'Slow lookups at whole multiples of one timer, with nothing between, and the rest of the call as quick as ever.',
  lookAlikes: ['accept-queue-overflow', 'overload-open-loop', 'a slow service'],
  fix: 'A cache on the node, questions over TCP or one at a time (single-request-reopen), fewer search domains. Where insert_failed stays 0, look for packet loss or a dead resolver.',
  decidedBy:
    'the time of the lookup alone in the slow calls, and insert_failed of connection tracking before and after',
  explains: [],

  examine(view) {
    const lookups = lookupsOf(view);
    const told = view.messages('dns-timeout');
    if (lookups === undefined && told.length === 0) return undefined;
    const inserts = growthOfCounter(view, names.insertFailed);
    const set = view.setting('dns.timeout');
    const timer = typeof set?.value === 'number' ? set.value : undefined;
    const steps = lookups === undefined ? undefined : stepsOf(lookups.seconds, timer);
    const rest = lookups?.rest;
    const dots = view.number('dns.search-dots');
    return {
      claims: [
        claim('Some lookups are late.', {
          bearing: 'necessary',
          predicted: 'a few above 0.9 s among quick ones',
          refutes: 'lookups that are all quick',
          seen:
            lookups === undefined || steps === undefined
              ? undefined
              : {
                  text: `${steps.late.length} of ${lookups.seconds.length}, the others usually ${sayTime(steps.usual)}`,
                  holds: steps.late.length > 0 && steps.late.length < lookups.seconds.length / 2,
                  origins: lookups.origins,
                },
          missing: 'the time of the lookup in each call',
        }),
        claim('They are late by whole multiples of one timer.', {
          bearing: 'sufficient',
          predicted: `multiples of ${timer === undefined ? '5 s, 2.5 s, 2 s or 1 s' : sayTime(timer)}, within 2 %, and nothing between`,
          refutes: 'delays that spread',
          seen:
            steps === undefined || steps.late.length === 0
              ? undefined
              : {
                  text: `${steps.late.map((one) => sayTime(one)).join(', ')}${steps.timer === undefined ? '' : `: multiples of ${sayTime(steps.timer)}`}`,
                  holds: steps.timer !== undefined && steps.late.length >= 2,
                  origins: lookups?.origins ?? [],
                },
          missing: 'at least two late lookups',
        }),
        claim('The rest of the slow calls was as quick as ever.', {
          bearing: 'necessary',
          predicted: rest === undefined ? 'the usual time' : `about ${sayTime(rest.usual)}`,
          refutes: 'slow calls beyond the lookup',
          seen:
            rest === undefined
              ? undefined
              : {
                  text: `${sayTime(rest.late)} after the lookup`,
                  holds: rest.late <= Math.max(3 * rest.usual, rest.usual + 0.1),
                },
          missing: 'connecting and answering times of the same calls',
        }),
        claim('Connection tracking failed to insert about as many entries as lookups were late.', {
          bearing: 'supporting',
          predicted: steps === undefined ? 'growth' : `at least ${steps.late.length}`,
          refutes: 'no growth: then packets are lost elsewhere',
          seen:
            inserts === undefined || inserts.readings < 2
              ? undefined
              : { text: `+${inserts.value}`, holds: inserts.value > 0, origins: inserts.origins },
          missing: 'conntrack -S before and after',
        }),
        claim('The resolver said that it got no answer in time.', {
          bearing: 'supporting',
          predicted: 'timeouts of the resolver',
          refutes: 'none',
          seen:
            told.length === 0
              ? undefined
              : { text: `${told.length} messages`, holds: true, origins: told.slice(0, 2).map((one) => one.origin) },
          missing: 'the resolver’s or proxy’s log',
        }),
      ],
      culprit: `DNS path: resolver timeout ${sayTime(steps?.timer ?? timer ?? 5)}${(inserts?.value ?? 0) > 0 ? ', UDP race in conntrack' : ''}${dots !== undefined && dots >= 5 ? `, ndots ${dots}` : ''}`,
      sentence: `Some lookups take ${steps?.late.map((one) => sayTime(one)).join(', ') ?? 'seconds'}: ${steps?.timer === undefined ? 'a timer' : `multiples of ${sayTime(steps.timer)}`}, so a packet to the resolver was lost and asked for again. The called service is not slow.`,
      arithmetic:
        steps?.timer === undefined
          ? []
          : steps.late.map(
              (one) =>
                `${sayTime(one)} = ${Math.round(one / (steps.timer ?? 1))} × ${sayTime(steps.timer ?? 0)} + ${sayTime(one - Math.round(one / (steps.timer ?? 1)) * (steps.timer ?? 0))}`,
            ),
    };
  },
};

interface Lookups {
  readonly seconds: readonly number[];
  /** Time of the call after the lookup: usual, and in the slow calls. */
  readonly rest: { readonly usual: number; readonly late: number } | undefined;
  readonly origins: readonly Origin[];
}

const lookupName =
  /name_?lookup|(?:^|_)(?:dns|lookup|resolve|resolution)(?:_(?:lookup|resolution|query))?(?:_?(?:time|seconds|duration|ms|millis))*$/;

/** Lookup times as samples, as a series, or as a column of connecting in a log. */
function lookupsOf(view: View): Lookups | undefined {
  const samples = view.dossier.samples.filter(
    ({ name, labels }) =>
      lookupName.test(name.toLowerCase()) && labels['quantile'] === undefined && labels['le'] === undefined,
  );
  if (samples.length >= 5) {
    const file = Map.groupBy(samples, ({ origin, name }) => `${origin.file} ${name}`);
    const [own = []] = [...file.values()].toSorted((one, other) => other.length - one.length);
    const first = own[0];
    return {
      seconds: own.map(({ value }) => inSeconds(value, first?.name ?? '')),
      rest: restOf(view, own[0]?.origin.file),
      origins: first === undefined ? [] : [first.origin],
    };
  }
  const [series] = view.series((name) => lookupName.test(name));
  if (series !== undefined && series.values.length >= 5)
    return {
      seconds: series.values.map((value) => inSeconds(value, series.name)),
      rest: restOf(view, series.origin.file),
      origins: [series.origin],
    };
  return outsideUpstream(view);
}

/** A log that has the whole and the upstream’s part: what is left was spent before, on the name and on connecting. */
function outsideUpstream(view: View): Lookups | undefined {
  const known = view.setting('dns.timeout');
  for (const table of view.tables) {
    const rows = rowsWhere(
      table,
      (row) =>
        !Number.isNaN(table.seconds[row] ?? Number.NaN) && !Number.isNaN(table.upstreamSeconds[row] ?? Number.NaN),
    );
    const seconds = rows.map((row) => (table.seconds[row] ?? 0) - (table.upstreamSeconds[row] ?? 0));
    const late = seconds.filter((one) => one > 0.9);
    if (rows.length < 20 || late.length < 2) continue;
    // Lost handshakes wait in steps of a second as well: it takes the resolver’s own timer to tell them apart.
    const timer = typeof known?.value === 'number' && known.value > 1 ? [known.value] : [5, 2.5];
    if (!timer.some((step) => late.every((one) => Math.abs(one - Math.round(one / step) * step) <= 0.02 * step + 0.05)))
      continue;
    return { seconds, rest: restOf(view, undefined), origins: [table.origin] };
  }
  return undefined;
}

function inSeconds(value: number, name: string): number {
  return /_ms$|millis/.test(name) ? value / 1000 : value;
}

/** Whole call less lookup, where the same file has both. */
function restOf(view: View, file: string | undefined): Lookups['rest'] {
  const values = (pattern: RegExp): number[] => {
    const samples = view.dossier.samples
      .filter(({ name, origin }) => pattern.test(name.toLowerCase()) && origin.file === file)
      .map(({ name, value }) => inSeconds(value, name));
    if (samples.length > 0) return samples;
    const series = view.series((name) => pattern.test(name)).find((one) => one.origin.file === file);
    return (series?.values ?? []).map((value) => inSeconds(value, series?.name ?? ''));
  };
  const whole = values(/time_?total|total_?(time|seconds|ms)/);
  const lookup = values(lookupName);
  if (whole.length >= 5 && whole.length === lookup.length) {
    const rests = whole.map((value, index) => value - (lookup[index] ?? 0));
    const late = rests.filter((_, index) => (lookup[index] ?? 0) > 0.9);
    const usual = medianOf(rests.filter((_, index) => (lookup[index] ?? 0) <= 0.9));
    return late.length === 0 || usual === undefined ? undefined : { usual, late: greatestOf(late) };
  }
  for (const table of view.tables) {
    const slow = rowsWhere(
      table,
      (row) => (table.seconds[row] ?? 0) > 0.9 && !Number.isNaN(table.upstreamSeconds[row] ?? Number.NaN),
    );
    const quick = rowsWhere(
      table,
      (row) => (table.seconds[row] ?? 1) <= 0.9 && !Number.isNaN(table.upstreamSeconds[row] ?? Number.NaN),
    );
    const usual = medianOf(quick.map((row) => table.upstreamSeconds[row] ?? 0));
    if (slow.length >= 2 && usual !== undefined)
      return { usual, late: greatestOf(slow.map((row) => table.upstreamSeconds[row] ?? 0)) };
  }
  return undefined;
}

const timers = [5, 2.5, 2, 1, 3];

/** The late ones, and the largest timer of which all are multiples. */
function stepsOf(
  seconds: readonly number[],
  timer: number | undefined,
): { late: number[]; usual: number; timer: number | undefined } {
  const late = seconds.filter((one) => one > 0.9);
  const usual = medianOf(seconds.filter((one) => one <= 0.9)) ?? 0;
  const fits = (step: number): boolean =>
    late.length > 0 &&
    late.every(
      (one) => Math.round(one / step) >= 1 && Math.abs(one - Math.round(one / step) * step) <= 0.02 * step + 0.05,
    );
  return { late, usual, timer: [...(timer === undefined ? [] : [timer]), ...timers].find(fits) };
}
