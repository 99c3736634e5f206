// The pool is the capacity: more uses are asked of it than it can hold.

import type { Origin } from '../../../record.ts';
import { percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { plateauOf, rowsWhere, type View } from '../view.ts';
import { runsOf, serverCpu } from '../view-load.ts';
import { type Pool, poolOf } from '../view-pools.ts';
import { ownerOf, sayTime } from '../view-words.ts';

export const dependencyPoolExhaustion: DossierTheory = {
  slug: 'dependency-pool-exhaustion',
  title: 'Dependency pool exhausted: the pool is the capacity',
  mechanism:
    'Every request needs one connection of a pool for a while, so the pool serves size ÷ hold a second and no more. What comes ' +
    'beyond waits for a connection, until it gives up after the acquire timeout: the failures all take that long, processors ' +
    'are idle, and the database is not busy. Retries make more uses of the same few connections.',
  refutedBy: 'A pool with free connections while requests fail, or a demand that fits into it.',
  provedBy: 'All connections in use and failures at the acquire timeout, with a demand above size ÷ hold.',
  lookAlikes: ['acquire-timeout-too-short', 'a slow database', 'cpu-throttling', 'overload-open-loop'],
  fix: 'Size the pool from rate × hold time, shorten the hold, refuse early what cannot get a connection; a budget and jitter for retries, and one deadline for the whole call.',
  decidedBy:
    'connections in use against the pool’s size during the failures, the time one use holds a connection, and the rate of uses',
  explains: ['retry-storm', 'overload-open-loop', 'closed-loop-artifact', 'timeout-inversion', 'default-route-timeout'],

  examine(view) {
    const pool = poolOf(view);
    if (pool === undefined) return undefined;
    const rate = rateOf(view);
    const needed = rate === undefined || pool.hold === undefined ? undefined : rate.value * pool.hold;
    const capacity = pool.size === undefined || pool.hold === undefined ? undefined : pool.size / pool.hold;
    const inUse = pool.readings.filter(({ active }) => active !== undefined);
    const full = inUse.filter(({ active, size }) => (active ?? 0) >= (size ?? pool.size ?? Number.POSITIVE_INFINITY));
    const free = pool.readings.filter(
      ({ active, size, waiting }) => active !== undefined && active < (size ?? pool.size ?? 0) && (waiting ?? 0) === 0,
    );
    const refused = pool.readings.filter(({ failure }) => failure);
    const at = failuresAt(view, pool);
    const cpu = serverCpu(view);
    const goodput = goodputsOf(view);
    const queued = pool.readings.flatMap(({ waiting }) => waiting ?? []);
    const crowd = Math.max(0, ...queued);
    const longest = pool.longestWait;
    const unserved = pool.timedOut !== undefined && pool.timedOut > 0;
    return {
      claims: [
        claim('All connections of the pool were in use.', {
          bearing: 'necessary',
          predicted: pool.size === undefined ? 'as many as the pool has' : `${pool.size} of ${pool.size}`,
          refutes: 'free connections while requests fail',
          seen:
            inUse.length === 0
              ? undefined
              : {
                  text: `${full.length} of ${inUse.length} readings with all in use`,
                  holds: full.length > 0,
                  origins: pool.origins,
                },
          missing: 'connections in use at the time of the failures',
        }),
        claim('It did not come free again in between: demand is above it for good.', {
          bearing: 'necessary',
          predicted:
            pool.size === undefined
              ? 'no free connection'
              : `rate × hold above ${pool.size}, or no reading with a free connection`,
          refutes: 'a pool that is idle between the failures, or a demand that fits',
          seen:
            needed !== undefined && pool.size !== undefined
              ? {
                  text: `${say(rate?.value ?? 0, 'requests/s')} × ${sayTime(pool.hold ?? 0)} = ${needed.toFixed(1)} connections needed`,
                  holds: needed > 0.9 * pool.size,
                }
              : inUse.length < 2
                ? undefined
                : {
                    text: `${free.length} of ${inUse.length} readings with free connections and nobody waiting`,
                    holds: free.length <= 0.1 * inUse.length,
                  },
          missing: 'the rate of uses and how long one holds a connection',
        }),
        claim('Failures take the acquire timeout: it is the pool that they waited for.', {
          bearing: 'sufficient',
          predicted:
            pool.acquireTimeout === undefined ? 'one time in common' : `${sayTime(pool.acquireTimeout)}, within 5 %`,
          refutes: 'another time',
          seen:
            at === undefined ? undefined : { text: at.text, holds: at.holds && full.length > 0, origins: at.origins },
          missing: 'how long the failures took, and the acquire timeout',
        }),
        claim('The pool said so at every failure: all in use, for the whole acquire timeout.', {
          bearing: 'sufficient',
          predicted: 'at least three failures after a second or more, and never a free connection',
          refutes: 'free connections, or an acquire timeout that no burst could bear',
          seen:
            refused.length === 0
              ? undefined
              : {
                  text: `${refused.length} failures${pool.acquireTimeout === undefined ? '' : ` after ${sayTime(pool.acquireTimeout)}`}, ${free.length} readings with free connections`,
                  holds: refused.length >= 3 && (pool.acquireTimeout ?? 1) >= 1 && free.length === 0 && full.length > 0,
                  origins: refused.slice(0, 2).map(({ origin }) => origin),
                },
          missing: 'what the pool said at the failures',
        }),
        claim('Many wait for one, and whoever waits longest has waited for long: it is no burst.', {
          bearing: 'sufficient',
          predicted: 'more than there are connections, for a second or more, at a database that is not busy',
          refutes: 'a short queue, or one that is served at once',
          seen:
            longest === undefined || crowd === 0 || pool.size === undefined
              ? undefined
              : {
                  text: `${crowd} waiting for one of ${pool.size}, the first of them for ${sayTime(longest)}`,
                  holds: crowd > pool.size && longest >= 1 && full.length > 0 && (cpu?.value ?? 0) < 0.7,
                  origins: pool.origins,
                },
          missing: 'how many wait for a connection, and for how long',
        }),
        claim('Many wait for one in every reading, and there is never a free one: it is no burst.', {
          bearing: 'sufficient',
          predicted: 'more than there are connections, in three readings or more, at a database that is not busy',
          refutes: 'a reading in which nobody waits',
          seen:
            queued.length < 3 || pool.size === undefined
              ? undefined
              : {
                  text: `at least ${Math.min(...queued)} waiting for one of ${pool.size} in ${queued.length} readings`,
                  holds:
                    Math.min(...queued) > 0 &&
                    crowd > pool.size &&
                    full.length >= 3 &&
                    free.length === 0 &&
                    (cpu?.value ?? 0) < 0.7,
                  origins: pool.origins,
                },
          missing: 'how many wait for a connection, reading by reading',
        }),
        claim('More uses gave up than got a connection.', {
          bearing: 'sufficient',
          predicted:
            capacity === undefined
              ? 'more than those that got one'
              : `beyond ${say(capacity, 'requests/s')} = ${pool.size} ÷ ${sayTime(pool.hold ?? 0)} all give up`,
          refutes: 'hardly any gave up',
          seen:
            pool.timedOut === undefined || pool.acquired === undefined
              ? undefined
              : {
                  text: `${pool.timedOut} gave up, ${pool.acquired} got one`,
                  holds: unserved && pool.timedOut > 0.5 * pool.acquired && full.length > 0,
                },
          missing: 'counts of uses that got a connection and that gave up',
        }),
        claim('Processors were idle meanwhile.', {
          bearing: 'supporting',
          predicted: 'below 70 %',
          refutes: 'busy processors',
          seen: cpu === undefined ? undefined : { text: cpu.text, holds: cpu.value < 0.7, origins: cpu.origins },
          missing: 'processor use of the service',
        }),
        claim('What was served stayed the same, whatever was offered or retried.', {
          bearing: 'supporting',
          predicted: 'within a factor of 1.3 between the runs that failed',
          refutes: 'more served with retries',
          seen:
            goodput.length < 2
              ? undefined
              : {
                  text: goodput.map((value) => say(value, 'requests/s')).join(', '),
                  holds: Math.max(...goodput) <= 1.3 * Math.min(...goodput),
                },
          missing: 'two runs with failures',
        }),
      ],
      culprit:
        `${nameOf(pool)}: ${pool.size ?? 'too few'} connections` +
        (pool.hold === undefined ? '' : `, ${sayTime(pool.hold)} hold`),
      sentence:
        `The pool${pool.name === '' ? '' : ` of ${pool.name}`} has ${pool.size ?? 'too few'} connections` +
        (capacity === undefined
          ? ''
          : `, each held for ${sayTime(pool.hold ?? 0)}, so it serves ${say(capacity, 'requests/s')}`) +
        (needed === undefined
          ? '.'
          : `; ${needed.toFixed(1)} would be needed. Everybody else waits ${pool.acquireTimeout === undefined ? '' : sayTime(pool.acquireTimeout)} and fails; retries only add to it.`),
      arithmetic: [
        ...(needed === undefined || rate === undefined
          ? []
          : [
              `${say(rate.value, 'requests/s')} × ${sayTime(pool.hold ?? 0)} = ${needed.toFixed(1)} connections needed, ${pool.size ?? '?'} there`,
            ]),
        ...(capacity === undefined
          ? []
          : [`${pool.size} ÷ ${sayTime(pool.hold ?? 0)} = ${say(capacity, 'requests/s')} at the most`]),
        ...(goodput.length === 0 ? [] : [`served: ${goodput.map((value) => say(value, 'requests/s')).join(', ')}`]),
      ],
    };
  },
};

/** `payment pool`, `pool of order.env`; never `pool pool`. */
function nameOf(pool: Pool): string {
  const owner = pool.name !== '' ? pool.name : pool.sizeSetting === undefined ? '' : ownerOf(pool.sizeSetting);
  if (owner === '') return 'connection pool';
  return /pool/i.test(owner) ? owner : `${owner} pool`;
}

/** Uses a second that were wanted: the plan or what arrived, of the run that offered most. */
function rateOf(view: View): { readonly value: number } | undefined {
  const runs = runsOf(view).flatMap(({ planned, achieved }) => planned ?? achieved ?? []);
  const set = view.number('load.rate');
  const most = Math.max(...runs, set ?? 0);
  return most > 0 ? { value: most } : undefined;
}

/** Failures that crowd at the acquire timeout, in a log or in what a generator reported. */
function failuresAt(view: View, pool: Pool): { text: string; holds: boolean; origins: readonly Origin[] } | undefined {
  const timeout = pool.acquireTimeout;
  if (timeout === undefined) return undefined;
  const near = (seconds: number): boolean => Math.abs(seconds - timeout) <= 0.06 * timeout + 0.02;
  for (const table of view.tables) {
    const rows = rowsWhere(table, (row) => (table.status[row] ?? -1) >= 500);
    const plateau = plateauOf(rows.map((row) => table.seconds[row] ?? Number.NaN));
    if (plateau !== undefined && plateau.count >= 3) {
      return {
        text: `${plateau.count} of ${rows.length} failures at ${sayTime(plateau.at)}`,
        holds: near(plateau.at) && plateau.count >= 0.5 * rows.length,
        origins: [table.origin],
      };
    }
  }
  const failed = runsOf(view).filter(
    ({ failedShare, result }) => (failedShare ?? 0) >= 0.1 && result.latency?.['0.95'] !== undefined,
  );
  const [close] = failed.toSorted(
    (one, other) =>
      Math.abs((one.result.latency?.['0.95'] ?? 0) - timeout) -
      Math.abs((other.result.latency?.['0.95'] ?? 0) - timeout),
  );
  const at = close?.result.latency?.['0.95'];
  if (close !== undefined && at !== undefined) {
    return {
      text: `${percent(close.failedShare ?? 0)} failed in ${close.name}, its 95 % quantile is ${sayTime(at)}`,
      holds: near(at),
      origins: [close.origin],
    };
  }
  return pool.longestWait === undefined
    ? undefined
    : {
        text: `the longest wait was ${sayTime(pool.longestWait)}`,
        holds: near(pool.longestWait),
        origins: pool.origins,
      };
}

/** Served requests a second of every run that failed much. */
function goodputsOf(view: View): number[] {
  return runsOf(view).flatMap(({ achieved, failedShare }) =>
    achieved === undefined || failedShare === undefined || failedShare < 0.1 ? [] : [achieved * (1 - failedShare)],
  );
}
