// Many tries for one request: the load is made by repairing.

import { digits, percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { rowsWhere, type View } from '../view.ts';
import { type Amplification, amplificationOf, triesAllowed } from '../view-retries.ts';
import { sayTime } from '../view-words.ts';
import { greatestOf, leastOf } from '../view-rows.ts';

export const retryStorm: DossierTheory = {
  slug: 'retry-storm',
  title: 'Retry storm: many tries for one request',
  mechanism:
    'What failed is tried again, also what can never succeed, without a bound on the number, without a pause, and on after the ' +
    'caller has gone; several tiers that each retry multiply. The load behind grows while the demand in front stays, and what ' +
    'breaks under it (a database that fills, servers that fall over) comes later and is a consequence.',
  refutedBy: 'About one try for each request, or demand that grew as much as the tries.',
  provedBy:
    'Many tries for requests that fail and about one for those that succeed, with demand unchanged; or tries of one request long after its caller gave up.',
  lookAlikes: ['metastable-retry', 'a growth of traffic', 'an outage of the database', 'closed-loop-artifact'],
  fix: 'Treat what cannot succeed (4xx) as final, bound the tries, stop when the caller has gone, one tier only, and a budget: 10–20 % of the requests.',
  decidedBy: 'requests in front and tries behind over the same time, by how they ended',
  explains: [
    'discovery-outage',
    'all-ejected-no-panic',
    'dependency-pool-exhaustion',
    'overload-open-loop',
    'proxy-port-exhaustion',
    'drain-race',
    'cold-start',
  ],

  examine(view) {
    const found = amplificationOf(view);
    if (found === undefined) return undefined;
    const allowed = triesAllowed(view);
    // As many tries as there are servers is passing over those that are down.
    const many = Math.max(3, found.places + 1);
    const bad = found.byOutcome
      .filter((one) => !one.success)
      .toSorted((one, other) => other.ratio * other.requests - one.ratio * one.requests);
    const good = found.byOutcome.find((one) => one.success);
    const worst = bad[0];
    const beyond = beyondCaller(view, found);
    const consequences = consequencesOf(view);
    const most = Math.max(found.ratio, worst?.ratio ?? 0, found.most ?? 0);
    return {
      claims: [
        claim('There are more tries than requests.', {
          bearing: 'necessary',
          predicted: 'at least 1.5 for each request, over all or for those that fail',
          refutes: 'about one',
          seen: {
            text: `${found.text}: ${digits(found.ratio)} for each`,
            holds: found.ratio >= 1.5 || (worst?.ratio ?? 0) >= 2,
            origins: found.origins,
          },
        }),
        claim('Requests that fail make the tries; those that succeed make one.', {
          bearing: 'sufficient',
          predicted: `below 1.5 for successes, above ${many} for failures`,
          refutes: 'the same number for both',
          seen:
            worst === undefined || good === undefined
              ? undefined
              : {
                  text: `${good.outcome}: ${digits(good.ratio)}; ${bad
                    .slice(0, 3)
                    .map((one) => `${one.outcome}: ${digits(one.ratio)}`)
                    .join(', ')}`,
                  holds: good.ratio < 1.5 && worst.ratio > many && found.ratio >= 1.5,
                  origins: found.origins,
                },
          missing: 'tries and requests by how they ended',
        }),
        claim('The tries of all requests together are a multiple of the requests.', {
          bearing: 'sufficient',
          predicted: allowed === undefined ? `at least ${many}` : `up to ${allowed.text}, at least ${many}`,
          refutes: 'below 2',
          seen: { text: digits(found.ratio), holds: found.ratio >= many, origins: found.origins },
        }),
        claim('Tries went on after the caller had given up.', {
          bearing: 'sufficient',
          predicted:
            beyond === undefined
              ? 'tries after the caller’s deadline'
              : `none after ${sayTime(beyond.deadline)}, if they were for somebody`,
          refutes: 'tries that end with the caller',
          seen: beyond === undefined ? undefined : { text: beyond.text, holds: beyond.holds, origins: beyond.origins },
          missing: 'the caller’s deadline and the times of a request’s tries',
        }),
        claim('What broke came after the tries.', {
          bearing: 'supporting',
          predicted: 'tries first',
          refutes: 'an outage first',
          seen: consequences.length < 2 ? undefined : { text: consequences.join(' → '), holds: true },
          missing: 'times of what happened',
        }),
      ],
      culprit: `retry policy: ${
        bad.length === 0
          ? 'errors'
          : bad
              .slice(0, 2)
              .map((one) => one.outcome.replace(/^error_/, ''))
              .join('/')
      } retried${allowed === undefined ? ', no attempt cap' : ` (${allowed.text})`}${beyond?.holds === true ? ', ignores disconnect' : ''}`,
      sentence:
        `${digits(found.ratio)} tries are made for each request` +
        (worst === undefined || good === undefined
          ? ''
          : `: ${digits(good.ratio)} where it succeeds, ${digits(worst.ratio)} where it ends as ${worst.outcome}`) +
        `. The demand did not grow, the repairing did${consequences.length > 1 ? '; what broke afterwards is a consequence' : ''}.`,
      arithmetic: [
        `${digits(found.tries)} ÷ ${digits(found.requests)} = ${digits(found.ratio)}`,
        ...bad
          .slice(0, 3)
          .map(
            (one) =>
              `${one.outcome}: ${digits(one.ratio)} tries each (${percent((one.ratio * one.requests) / found.tries)} of all tries)`,
          ),
        ...(beyond === undefined ? [] : [beyond.text]),
        ...(consequences.length < 2 ? [] : [consequences.join(' → ')]),
        ...(most > found.ratio && found.most !== undefined ? [`one request: ${found.most} tries`] : []),
      ],
    };
  },
};

/** The log of one request's tries: how long after its first the last came, against what the caller allows. */
function beyondCaller(
  view: View,
  found: Amplification,
): { text: string; holds: boolean; deadline: number; origins: readonly { file: string; line?: number }[] } | undefined {
  const deadline = view.number('downstream.request-timeout');
  if (deadline === undefined || (found.most === undefined && view.tables.length === 0)) return undefined;
  for (const table of view.tables) {
    const rows = rowsWhere(
      table,
      (row) => (table.attempts[row] ?? -1) > 1 && !Number.isNaN(table.startMs[row] ?? Number.NaN),
    );
    if (rows.length < 2) continue;
    const times = rowsWhere(table, (row) => (table.attempts[row] ?? -1) >= 1).map((row) => table.startMs[row] ?? 0);
    const seconds = (greatestOf(times) - leastOf(times)) / 1000;
    const tries = greatestOf(rows.map((row) => table.attempts[row] ?? 0));
    if (tries < 10) continue;
    return {
      text: `${tries} tries over ${sayTime(seconds)}, ${digits(tries / seconds)}/s, for a caller that waits ${sayTime(deadline)}`,
      holds: seconds > 2 * deadline,
      deadline,
      origins: [table.origin],
    };
  }
  return undefined;
}

/** What happened in its order, in short. */
function consequencesOf(view: View): string[] {
  return view
    .events(({ atMs }) => atMs !== undefined)
    .slice(0, 8)
    .map(({ event, subject, detail }) =>
      [event === 'note' ? undefined : event, subject, detail].filter((part) => part !== undefined).join(' '),
    );
}
