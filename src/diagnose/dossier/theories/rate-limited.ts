// A limiter refuses what comes faster than it was told to let through.

import { digits, percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { rowsWhere, type View } from '../view.ts';
import { ownerOf, sayPart } from '../view-words.ts';

export const rateLimited: DossierTheory = {
  slug: 'rate-limited',
  title: 'A rate limiter refuses',
  mechanism:
    'A limiter lets through so many requests a second, and refuses or delays the rest. What is served is constant, however much ' +
    'is asked and however idle the servers are; where it delays, the queue grows in a straight line.',
  refutedBy: 'Refusals that a server answered after work, or a served rate that varies with what is asked.',
  provedBy: 'Refusals that name a limit, as a part of the requests that matters.',
  lookAlikes: ['circuit-breaker-overflow', 'overload-open-loop'],
  fix: 'Raise the limit if the servers bear it, spread the demand in time, or let clients pace themselves; refuse early rather than queue.',
  decidedBy: 'refusals with their reason, and the rate that is served while they happen',
  explains: [],

  examine(view) {
    const refused = refusedIn(view);
    const told = view.messages('rate-limited');
    if (refused === undefined && told.length === 0) return undefined;
    const limit = view.setting('limit.rate');
    const burst = view.number('limit.burst');
    return {
      claims: [
        claim('Refusals take no time: no server worked for them.', {
          bearing: 'necessary',
          predicted: 'below 0.1 s',
          refutes: 'refusals after work',
          seen:
            refused?.slow === undefined
              ? undefined
              : { text: `${refused.slow} of ${refused.count} took longer`, holds: refused.slow <= 0.1 * refused.count },
          missing: 'how long refusals take',
        }),
        claim('They say that a limit refused them, and they are many.', {
          bearing: 'sufficient',
          predicted: 'at least three, and 1 % of the requests',
          refutes: 'a few',
          seen: {
            text:
              refused === undefined
                ? `${told.length} messages of the limiter`
                : `${sayPart(refused.count, refused.of)} with 429 or a limiter’s flag`,
            holds: refused === undefined ? told.length >= 3 : refused.count >= 3 && refused.count >= 0.01 * refused.of,
            origins: refused?.origins ?? told.slice(0, 2).map(({ origin }) => origin),
          },
        }),
        claim('What is served comes at the rate of the limit.', {
          bearing: 'supporting',
          predicted: limit === undefined ? 'the limit' : `${say(Number(limit.value), 'requests/s')}, within 20 %`,
          refutes: 'another rate',
          seen:
            limit === undefined || refused?.served === undefined
              ? undefined
              : {
                  text: say(refused.served, 'requests/s'),
                  holds: Math.abs(refused.served - Number(limit.value)) <= 0.2 * Number(limit.value),
                },
          missing: 'the limit, and times of the requests',
        }),
      ],
      culprit:
        limit === undefined
          ? 'a rate limiter'
          : `${ownerOf(limit)}: limit of ${say(Number(limit.value), 'requests/s')}${burst === undefined ? '' : `, burst ${digits(burst)}`}`,
      sentence: `A limiter refuses ${refused === undefined ? 'requests' : percent(refused.count / refused.of)}${limit === undefined ? '' : `, because it lets through ${say(Number(limit.value), 'requests/s')}`}; the servers behind it are not asked.`,
      arithmetic:
        refused === undefined
          ? [`${told.length} refusals logged`]
          : [`${refused.count} ÷ ${refused.of} = ${percent(refused.count / refused.of)} refused`],
    };
  },
};

interface Refused {
  readonly count: number;
  readonly of: number;
  readonly slow: number | undefined;
  /** Requests a second that were let through. */
  readonly served: number | undefined;
  readonly origins: readonly { file: string; line?: number }[];
}

function refusedIn(view: View): Refused | undefined {
  for (const table of view.tables) {
    const limited = table.flags.map((flag) => /(?:^|,)RL(?:SE)?\b|rate_limited/.test(flag));
    const rows = rowsWhere(table, (row) => table.status[row] === 429 || limited[table.flag[row] ?? -1] === true);
    if (rows.length === 0) continue;
    const timed = rows.filter((row) => !Number.isNaN(table.seconds[row] ?? Number.NaN));
    const first = table.startMs[0] ?? Number.NaN;
    const last = table.startMs[table.count - 1] ?? Number.NaN;
    const span = (last - first) / 1000;
    return {
      count: rows.length,
      of: table.count,
      slow: timed.length === 0 ? undefined : timed.filter((row) => (table.seconds[row] ?? 0) >= 0.1).length,
      served: span > 1 ? (table.count - rows.length) / span : undefined,
      origins: [table.origin],
    };
  }
  return undefined;
}
