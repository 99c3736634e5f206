// All workers wait for somebody else, and nobody is left to serve.

import type { Origin } from '../../../record.ts';
import { percent, say } from '../../wording.ts';
import { removals } from '../removals.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { sumOf, type View } from '../view.ts';
import { serverCpu } from '../view-load.ts';
import { greatestOf, leastOf } from '../view-rows.ts';
import { shiftOf, spellOf } from '../view-series.ts';
import { sayTime } from '../view-words.ts';
import { poolIn } from '../worker-pool.ts';

export const workerPoolExhaustion: DossierTheory = {
  slug: 'worker-pool-exhaustion',
  title: 'Worker pool exhausted by a slow dependency',
  mechanism:
    'A worker that waits for a dependency serves nobody meanwhile. When the dependency becomes slow, rate × waiting exceeds the ' +
    'number of workers within moments (Little), and everything queues, also requests that never call it. Processors are idle: ' +
    'the workers are blocked, not busy. Without a timeout on the call it lasts as long as the dependency likes.',
  refutedBy: 'Free workers, or processors at their limit.',
  provedBy: 'All workers in use while the time of the dependency alone, times the rate, fills them.',
  lookAlikes: ['health-check-on-shared-workers', 'cpu-throttling', 'dependency-pool-exhaustion', 'overload-open-loop'],
  fix: 'A timeout for the call, below the deadline in front; a bound on how many workers one dependency may hold; a breaker; shed what has waited too long. More processors do nothing.',
  decidedBy: 'busy workers against their number, and the time of the dependency’s calls, before and during',
  explains: ['retry-storm', 'overload-open-loop', 'closed-loop-artifact', 'timeout-inversion', 'default-route-timeout'],

  examine(view) {
    const pool = poolIn(view);
    const dependency = dependencyTime(view);
    // Where probes fail of it, the theory of the health check tells the whole story.
    if (pool === undefined || dependency === undefined || removals(view).some(({ kind }) => kind === 'timeout')) {
      return undefined;
    }
    const rate = rateOf(view);
    const replicas = Math.max(1, ...view.tables.map((table) => table.replicas.length));
    const workers = pool.size * replicas;
    const needed = rate === undefined ? undefined : rate * dependency.during;
    const cpu = serverCpu(view);
    const timeout = view.number('dependency.timeout');
    const risen = dependency.before === undefined ? undefined : dependency.during / dependency.before;
    return {
      claims: [
        claim('All workers are in use.', {
          bearing: 'necessary',
          predicted: `${pool.size} of ${pool.size}`,
          refutes: 'free workers',
          seen: { text: pool.text, holds: pool.full, origins: pool.origins },
        }),
        claim('The processors have time left.', {
          bearing: 'necessary',
          predicted: 'below 85 %',
          refutes: 'processors at their limit',
          seen: cpu === undefined ? undefined : { text: cpu.text, holds: cpu.value < 0.85, origins: cpu.origins },
          missing: 'processor use of the service',
        }),
        claim('Waiting for the dependency alone fills the workers.', {
          bearing: 'sufficient',
          predicted: `rate × its time at least ${Math.round(0.8 * workers)} of ${workers}`,
          refutes: 'far fewer',
          seen:
            needed === undefined
              ? undefined
              : {
                  text: `${say(rate ?? 0, 'requests/s')} × ${sayTime(dependency.during)} = ${needed.toFixed(1)} workers`,
                  holds: needed >= 0.8 * workers && pool.full,
                  origins: dependency.origins,
                },
          missing: 'the rate of requests',
        }),
        claim('The dependency became slow.', {
          bearing: 'sufficient',
          predicted: 'at least three times its time before',
          refutes: 'the same time as before',
          seen:
            risen === undefined || dependency.before === undefined
              ? undefined
              : {
                  text: `${sayTime(dependency.before)} → ${sayTime(dependency.during)}`,
                  holds: risen >= 3 && pool.full,
                  origins: dependency.origins,
                },
          missing: 'the time of the dependency before',
        }),
        claim('Nothing ends the call early.', {
          bearing: 'supporting',
          predicted: `no timeout below ${sayTime(dependency.during)}`,
          refutes: 'a shorter timeout',
          seen: timeout === undefined ? undefined : { text: sayTime(timeout), holds: timeout >= dependency.during },
          missing: 'the timeout of the call',
        }),
      ],
      culprit: `${pool.who}: ${pool.size} workers blocked by a slow dependency${timeout === undefined || !Number.isFinite(timeout) ? ' without a timeout' : ` (timeout ${sayTime(timeout)})`}`,
      sentence: `All ${pool.size} workers wait for a dependency that takes ${sayTime(dependency.during)}; every other request waits for a worker, and the processors${cpu === undefined ? '' : ` (${percent(cpu.value)})`} have nothing to do.`,
      arithmetic: [
        ...(needed === undefined || rate === undefined
          ? []
          : [
              `${say(rate, 'requests/s')} × ${sayTime(dependency.during)} = ${needed.toFixed(1)} workers needed, ${workers} there`,
            ]),
        `at most ${workers} ÷ ${sayTime(dependency.during)} = ${say(workers / dependency.during, 'requests/s')}`,
      ],
    };
  },
};

interface DependencyTime {
  readonly before: number | undefined;
  readonly during: number;
  readonly origins: readonly Origin[];
}

/** Times of calls to somebody else, by what is called or, as libraries for metrics name them, by who calls: the program’s own client. */
const name =
  /(dependency|datastore|database|db|store|sql|redis|backend_call|downstream_call|upstream_call|(?:http|grpc|rpc)_client)\w*(latency|seconds|duration|time)\w*$/;
const notTime = /pool|count|bucket|wait|connection|timeout/;

function dependencyTime(view: View): DependencyTime | undefined {
  const [series] = view.series((one) => name.test(one) && !notTime.test(one));
  if (series !== undefined) {
    const spell = spellOf(series);
    const shift = shiftOf(series);
    if (spell !== undefined) return { before: spell.before, during: spell.during, origins: [series.origin] };
    if (shift !== undefined && shift.after > shift.before) {
      return { before: shift.before, during: shift.after, origins: [series.origin] };
    }
  }
  const reading = view.gauge(
    (one, labels) =>
      name.test(one) && !notTime.test(one) && !one.endsWith('_sum') && (labels['quantile'] ?? '0.5') === '0.5',
  );
  return reading === undefined || reading.value <= 0
    ? undefined
    : { before: undefined, during: reading.value, origins: reading.origins };
}

/** Requests a second of the longest log, or as somebody counted them. */
function rateOf(view: View): number | undefined {
  for (const table of view.tables) {
    const times = table.startMs.filter((at) => !Number.isNaN(at));
    const [first, last] = [leastOf(times), greatestOf(times)];
    if (table.count >= 10 && last - first >= 1000) return table.count / ((last - first) / 1000);
  }
  const [series] = view.series(
    (one) => /(requests?|rps)\w*(per_s\w*|rate|rps)?$/.test(one) && /per_s|rate|rps/.test(one),
  );
  return series === undefined || series.values.length === 0 ? undefined : sumOf(series.values) / series.values.length;
}
