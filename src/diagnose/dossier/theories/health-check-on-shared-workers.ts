// The probe stands in the same queue as the requests, so a full replica looks dead.

import { digits, listed, percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { removals, type Removal } from '../removals.ts';
import { poolIn } from '../worker-pool.ts';
import type { View } from '../view.ts';

export const healthCheckOnSharedWorkers: DossierTheory = {
  slug: 'health-check-on-shared-workers',
  title: 'Health check on shared workers: a full worker pool fails its probes and flaps',
  mechanism:
    'The workers that serve requests also answer the probe. When all of them wait for something slow, the probe waits behind ' +
    'them until it times out, and the balancer takes out a replica that is alive. Its load goes to the others, which fill up ' +
    'in turn; emptied, the first one comes back. Out takes interval × failures.',
  refutedBy: 'Probes that fail at once (refused, an error), replicas that restart, or workers that are free.',
  provedBy: 'Timeouts of the probe while every worker is busy, on replicas that are alive.',
  lookAlikes: ['cpu-throttling', 'replicas that crash', 'a network partition', 'discovery-outage'],
  fix:
    'Answer probes outside the worker pool; let the probe wait longer or fail more often before a replica is out; give the ' +
    'slow call a timeout; keep a minimum of targets in (fail open).',
  decidedBy: 'busy workers by replica at the moment of a failed probe, and the reason of the failure',
  explains: ['all-ejected-no-panic', 'panic-mode', 'slow-replica', 'cold-start'],

  examine(view) {
    const out = removals(view).filter(({ kind }) => kind !== 'discovery' && kind !== 'draining');
    const pool = poolIn(view);
    const interval = view.number('health.interval');
    const timeout = view.number('health.timeout');
    const fall = view.number('health.fall') ?? 1;
    const shared = view.setting('health.shares-workers');
    if (out.length === 0 || (pool === undefined && shared === undefined && !out.some(({ kind }) => kind === 'timeout')))
      return undefined;
    const timeouts = out.filter(({ kind }) => kind === 'timeout');
    const other = out.filter(({ kind }) => kind === 'refused' || kind === 'error');
    const restarts = view.total((name) => /restarts?(_total|_count)?$/.test(name));
    const throttled = throttledShare(view);
    const subjects = [...new Set(out.map(({ subject }) => subject))];
    return {
      claims: [
        claim('The probes time out: nothing refuses them.', {
          bearing: 'necessary',
          predicted: 'timeouts only',
          refutes: 'probes that are refused or answered with an error',
          seen:
            timeouts.length + other.length === 0
              ? undefined
              : {
                  text: `${timeouts.length} by timeout, ${other.length} otherwise`,
                  holds: timeouts.length > 4 * other.length,
                  origins: timeouts.flatMap(({ origin }) => origin).slice(0, 4),
                },
          missing: 'why the probes failed',
        }),
        claim('The replicas live: none restarts.', {
          bearing: 'necessary',
          predicted: 'no restarts',
          refutes: 'a replica that restarts',
          seen:
            restarts === undefined
              ? undefined
              : { text: digits(restarts.value), holds: restarts.value === 0, origins: restarts.origins },
          missing: 'restarts of the replicas',
        }),
        claim('All workers are busy.', {
          bearing: 'sufficient',
          predicted:
            pool === undefined ? 'busy workers = the size of the pool' : `${digits(pool.size)} of ${digits(pool.size)}`,
          refutes: 'free workers while probes fail',
          seen:
            pool === undefined
              ? undefined
              : { text: pool.text, holds: pool.full && timeouts.length > 0, origins: pool.origins },
          missing: 'busy workers by replica',
        }),
        claim('Requests take longer than a probe may.', {
          bearing: 'supporting',
          predicted:
            timeout === undefined
              ? 'longer than the probe’s timeout'
              : `more than a tenth take ${digits(timeout)} s or more`,
          refutes: 'requests that are all quick',
          seen: slowSeen(view, timeout),
          missing: 'how long requests take',
        }),
        claim('The probe is answered by the workers that serve requests.', {
          bearing: timeouts.length > 0 && (pool?.full ?? false) ? 'supporting' : 'sufficient',
          predicted: 'the same workers',
          refutes: 'a thread or port of its own',
          seen:
            shared === undefined
              ? undefined
              : {
                  text: String(shared.value),
                  holds: shared.value === true && timeouts.length > 0,
                  origins: [shared.origin],
                },
          missing: 'which workers answer the probe',
        }),
        claim('No processor is short.', {
          bearing: 'supporting',
          predicted: 'throttled in less than 1 % of the periods',
          refutes: 'throttling that rises',
          seen: throttled === undefined ? undefined : { text: percent(throttled), holds: throttled < 0.01 },
          missing: 'throttling of the replicas',
        }),
        claim('They go out one after the other, and come back.', {
          bearing: 'supporting',
          predicted: 'several replicas in turn',
          refutes: 'one replica that stays out',
          seen: { text: listed(subjects.slice(0, 5)), holds: subjects.length >= 2 },
        }),
      ],
      culprit: `${pool?.who ?? 'the replicas'}: ${pool === undefined ? 'the' : `${digits(pool.size)}-`}worker pool blocked by slow work, with the health check${healthPath(view)} queued behind it`,
      sentence: `The replicas are alive but ${pool === undefined ? 'their workers' : `all ${digits(pool.size)} workers of each`} are busy with slow requests, and the health check waits behind those until it times out.`,
      arithmetic: [
        ...(interval === undefined
          ? []
          : [
              `out after ${digits(fall)} failures × ${digits(interval)} s = ${digits(fall * interval)} s of full workers`,
            ]),
        ...(pool === undefined ? [] : [pool.text]),
        ...out.slice(0, 6).map((one) => removalText(one)),
      ],
    };
  },
};

function removalText({ subject, reason, atMs }: Removal): string {
  const when = atMs === undefined ? '' : `${new Date(atMs).toISOString().slice(11, 19)} `;
  return `${when}${subject} out: ${reason}`;
}

function healthPath(view: View): string {
  const path = view.text('health.path');
  return path === undefined ? '' : ` ${path}`;
}

function slowSeen(view: View, timeout: number | undefined): { text: string; holds: boolean } | undefined {
  if (timeout === undefined) return undefined;
  let slow = 0;
  let count = 0;
  for (const table of view.tables) {
    for (const seconds of table.seconds) {
      if (Number.isNaN(seconds)) continue;
      count += 1;
      if (seconds >= timeout) slow += 1;
    }
  }
  return count < 10 ? undefined : { text: `${percent(slow / count)} of ${count}`, holds: slow / count > 0.1 };
}

function throttledShare(view: View): number | undefined {
  const periods = view.total((name) => /cfs_periods(_total)?$|nr_periods$/.test(name));
  const throttled = view.total((name) => /cfs_throttled_periods(_total)?$|nr_throttled$/.test(name));
  return periods === undefined || throttled === undefined || periods.value === 0
    ? undefined
    : throttled.value / periods.value;
}
