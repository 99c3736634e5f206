// A cache is empty, and everybody asks behind it at once.

import type { SeriesFact } from '../../../record.ts';
import { percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
import { level, shiftOf, spellOf } from '../view-series.ts';

export const cacheStampede: DossierTheory = {
  slug: 'cache-stampede',
  title: 'Cache stampede: everybody asks behind an empty cache',
  mechanism:
    'A cache answers most requests, so what stands behind it is built for the few that miss. When the cache is emptied, restarted, or many ' +
    'entries end together, all of them miss at once: the demand is as before, the load behind is many times what it was.',
  refutedBy: 'Misses as before, or demand that rose as much as the load behind.',
  provedBy: 'Misses that rose, and the load behind with them, while the demand did not.',
  lookAlikes: ['overload-open-loop', 'retry-storm', 'a growth of traffic'],
  fix: 'One question for each key at a time (single flight), spread the ends of entries, serve stale ones meanwhile, warm a cache before it takes traffic.',
  decidedBy: 'hits and misses over time beside the demand and the load behind',
  explains: ['overload-open-loop', 'dependency-pool-exhaustion', 'worker-pool-exhaustion'],

  examine(view) {
    const misses = missesOf(view);
    if (misses === undefined) return undefined;
    const { series, before, after, atMs, endMs } = misses;
    const demand = view.series((name) =>
      /(client|offered|inbound|incoming|front)\w*(requests?|rps)|^(?:http_)?(?:server_)?requests?(_per_s\w*|_rate)$/.test(
        name,
      ),
    )[0];
    const behind = view.series((name) =>
      /(database|db|origin|backend|store|dependency)\w*(quer|requests?|calls?|rps|per_s)/.test(name),
    )[0];
    const firstMs = series.atMs[0] ?? 0;
    const growth = (one: typeof demand): number | undefined => {
      const was = level(one, firstMs, atMs);
      const is = level(one, atMs, endMs + 1);
      return was === undefined || is === undefined || was === 0 ? undefined : is / was;
    };
    const demanded = growth(demand);
    const loaded = growth(behind);
    const load = behind === undefined ? undefined : riseOf(behind);
    return {
      claims: [
        claim('Demand did not rise.', {
          bearing: 'necessary',
          predicted: 'within 30 %',
          refutes: 'more demand',
          seen: demanded === undefined ? undefined : { text: `× ${demanded.toFixed(2)}`, holds: demanded <= 1.3 },
          missing: 'requests in front over time',
        }),
        claim('The load behind did not rise before the misses.', {
          bearing: 'necessary',
          predicted: 'misses first, or together',
          refutes: 'load that rose before',
          seen:
            load === undefined
              ? undefined
              : { text: load.toMs >= misses.fromMs ? 'not before' : 'before', holds: load.toMs >= misses.fromMs },
          missing: 'the load behind over time',
        }),
        claim('Misses rose, and the load behind with them.', {
          bearing: 'sufficient',
          predicted: 'both at least doubled, the demand not',
          refutes: 'a load behind that stayed',
          seen:
            loaded === undefined || demanded === undefined
              ? undefined
              : {
                  text: `misses ${percent(before)} → ${percent(after)}, load behind × ${loaded.toFixed(1)}`,
                  holds: loaded >= 2 && after >= 2 * before && demanded <= 1.3,
                  origins: [series.origin],
                },
          missing: 'demand and load behind over time',
        }),
      ],
      culprit: `the cache: misses ${percent(before)} → ${percent(after)}, no single flight behind it`,
      sentence: `The cache misses ${percent(after)} instead of ${percent(before)}, so ${behind === undefined ? 'what stands behind it' : behind.name} has ${loaded === undefined ? 'many times' : `${loaded.toFixed(1)} times`} the load at the same demand.`,
      arithmetic: [
        `misses ${percent(before)} → ${percent(after)}: × ${(after / Math.max(before, 1e-9)).toFixed(1)}`,
        ...(demand === undefined ? [] : [`demand ${say(demand.values.at(-1) ?? 0, 'requests/s')}`]),
      ],
    };
  },
};

/** Share of misses before and after it changed for the worse, from a ratio of hits or of misses. */
function missesOf(view: View) {
  const [hits] = view.series((name) => /cache\w*hit\w*(ratio|rate|share)|hit_ratio/.test(name));
  const [misses] = view.series((name) => /cache\w*miss\w*(ratio|rate|share)|miss_ratio/.test(name));
  const series = misses ?? hits;
  if (series === undefined || series.values.some((value) => value > 1)) return undefined;
  const share = misses === undefined ? series.values.map((value) => 1 - value) : series.values;
  const rise = riseOf({ ...series, values: share });
  return rise === undefined || rise.after <= rise.before
    ? undefined
    : { series, before: rise.before, after: rise.after, atMs: rise.toMs, fromMs: rise.fromMs, endMs: rise.endMs };
}

/** A change for good, or one that has passed again, as a cache fills. */
function riseOf(series: SeriesFact) {
  const shift = shiftOf(series);
  if (shift !== undefined) return { ...shift, endMs: series.atMs.at(-1) ?? 0 };
  const spell = spellOf(series);
  return spell === undefined ? undefined : { ...spell, after: spell.during };
}
