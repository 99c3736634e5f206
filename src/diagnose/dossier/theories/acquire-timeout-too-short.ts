// The pool is large enough; waiting for it is cut off before its turn can come.

import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
import { type Pool, poolOf } from '../view-pools.ts';
import { nativeName, ownerOf, sayTime } from '../view-words.ts';

export const acquireTimeoutTooShort: DossierTheory = {
  slug: 'acquire-timeout-too-short',
  title: 'Acquire timeout too short for the queue that a burst makes',
  mechanism:
    'In a burst more ask for a connection than there are, and the last in the queue waits for waiters × hold ÷ connections. ' +
    'Where the acquire timeout is below that, waiters are refused although their turn would come within moments and the ' +
    'database has room. Between bursts the pool is half idle: nothing leaks.',
  refutedBy: 'A pool that never comes free again, or an acquire timeout above the time the queue needs.',
  provedBy: 'Waiters × hold ÷ connections above the acquire timeout at the failures, and free connections in between.',
  lookAlikes: ['dependency-pool-exhaustion', 'a connection leak', 'an outage of the database'],
  fix: 'An acquire timeout of seconds, below the deadline of the request; shorter holds; admit fewer requests at once. A larger pool only moves the queue into the database.',
  decidedBy:
    'waiters, connections and the hold time at the moment of a failure, and whether the pool is free in between',
  explains: [],

  examine(view) {
    const pool = poolOf(view);
    if (pool === undefined || pool.acquireTimeout === undefined) return undefined;
    const failures = pool.readings.filter(
      ({ failure, waiting, active, size }) =>
        failure || ((waiting ?? 0) > 0 && active !== undefined && active === (size ?? pool.size)),
    );
    const waiting = Math.max(0, ...failures.flatMap((one) => one.waiting ?? []));
    const needed =
      waiting > 0 && pool.hold !== undefined && pool.size !== undefined ? (waiting * pool.hold) / pool.size : undefined;
    // What a pool says because somebody got nothing tells nothing of the times between.
    const between = pool.readings.filter(({ failure }) => !failure);
    const calm = between.filter(
      ({ idle, active, size, waiting: queued }) =>
        (queued ?? 0) === 0 && ((idle ?? 0) > 0 || (active ?? Number.POSITIVE_INFINITY) < (size ?? pool.size ?? 0)),
    );
    const full = failures.filter(
      ({ active, size }) => active !== undefined && active >= (size ?? pool.size ?? Number.POSITIVE_INFINITY),
    );
    const database = databaseOf(view, pool);
    const timeout = pool.acquireTimeout;
    const setting = pool.acquireSetting;
    return {
      claims: [
        claim('All connections were in use when somebody got none.', {
          bearing: 'necessary',
          predicted: pool.size === undefined ? 'as many as there are' : `${pool.size} in use`,
          refutes: 'free connections at the failure',
          seen:
            failures.length === 0
              ? undefined
              : {
                  text: `${full.length} of ${failures.length} failures`,
                  holds: full.length >= 0.8 * failures.length,
                  origins: failures.map((one) => one.origin).slice(0, 2),
                },
          missing: 'the state of the pool at a failure',
        }),
        claim('The pool comes free between the failures: it is large enough on the whole.', {
          bearing: 'necessary',
          predicted: 'readings with free connections and nobody waiting',
          refutes: 'no free connection at any time',
          seen:
            pool.readings.length < 3 || between.length === 0
              ? undefined
              : {
                  text: `${calm.length} of ${between.length} readings`,
                  holds: calm.length > 0,
                  origins: calm.map((one) => one.origin).slice(0, 2),
                },
          missing: 'the state of the pool between the failures',
        }),
        claim('The queue needs longer than a waiter is allowed.', {
          bearing: 'necessary',
          predicted: `more than ${sayTime(timeout)}`,
          refutes: 'a queue that is served within the timeout',
          seen:
            needed === undefined
              ? undefined
              : {
                  text: `${waiting} × ${sayTime(pool.hold ?? 0)} ÷ ${pool.size} = ${sayTime(needed)}`,
                  holds: needed > timeout,
                },
          missing: 'waiters at a failure and how long a use holds a connection',
        }),
        claim('The turn of the last waiter would come soon all the same.', {
          bearing: 'sufficient',
          predicted: `between ${sayTime(timeout)} and 5 s`,
          refutes: 'a queue of many seconds',
          seen:
            needed === undefined || calm.length === 0
              ? undefined
              : { text: sayTime(needed), holds: needed > timeout && needed <= 5 && full.length > 0 },
          missing: 'waiters, hold time, and the state of the pool between the failures',
        }),
        claim('The database had room.', {
          bearing: 'supporting',
          predicted: pool.size === undefined ? 'few sessions at work' : `fewer than ${pool.size} sessions at work`,
          refutes: 'a database at its limit',
          seen: database,
          missing: 'sessions at work in the database',
        }),
      ],
      culprit:
        setting === undefined
          ? `pool ${pool.name}: acquire timeout ${sayTime(timeout)}`
          : `${ownerOf(setting)} ${nativeName(setting)} ${sayTime(timeout)} (connection-timeout of the pool)`,
      sentence:
        `A waiter may wait ${sayTime(timeout)} for one of ${pool.size ?? 'the'} connections` +
        (needed === undefined
          ? '.'
          : `, but with ${waiting} waiting the last one’s turn comes after ${sayTime(needed)}. Between the bursts the pool is half idle: nothing leaks, and the pool is not too small.`),
      arithmetic:
        needed === undefined
          ? []
          : [
              `${waiting} waiting × ${sayTime(pool.hold ?? 0)} hold ÷ ${pool.size} connections = ${sayTime(needed)} > ${sayTime(timeout)}`,
            ],
    };
  },
};

function databaseOf(view: View, pool: Pool): { text: string; holds: boolean } | undefined {
  const sessions = view.greatest((name) =>
    /pg_stat_activity\w*active|mysql\w*threads_running|db_active_sessions|active_sessions/.test(name),
  );
  if (sessions === undefined || pool.size === undefined) return undefined;
  return { text: `${sessions.name} ${sessions.value}`, holds: sessions.value < pool.size };
}
