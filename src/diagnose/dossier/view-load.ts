// What a load generator said, put into numbers that can be compared: what it was asked for, what it reached, who made it fall short.

import type { LoadResultFact, Origin } from '../../record.ts';
import type { View } from './view.ts';

export interface LoadRun {
  readonly name: string;
  readonly tool: string;
  /** Requests a second: asked for, served. */
  readonly planned: number | undefined;
  readonly achieved: number | undefined;
  /** For how long requests were sent. */
  readonly seconds: number | undefined;
  /** The tool waited for every answer after the last was sent, so that all the backlog was served. */
  readonly drained: boolean;
  /** Users or connections: used at most, allowed at most. */
  readonly used: number | undefined;
  readonly allowed: number | undefined;
  readonly dropped: number | undefined;
  readonly requests: number | undefined;
  readonly failed: number | undefined;
  /** Share of requests that failed, 0–1. */
  readonly failedShare: number | undefined;
  readonly mean: number | undefined;
  readonly median: number | undefined;
  readonly p99: number | undefined;
  readonly max: number | undefined;
  readonly uncorrected: Readonly<Record<string, number>> | undefined;
  readonly closed: boolean;
  readonly result: LoadResultFact;
  readonly origin: Origin;
}

/** Tools that have no rate: each connection asks again when it has its answer. */
const closedTools = /^(?:wrk|ab|hey|siege|bombardier|oha|autocannon|h2load|locust|jmeter)$/;

/** One entry for each result. Settings of the generator apply to all of its runs. */
export function runsOf(view: View): LoadRun[] {
  const model = view.text('load.model');
  return view.results.map((result): LoadRun => {
    const { requests, ratePerSecond } = result;
    const whole = result.seconds ?? view.number('load.seconds');
    // Sent at one rate and answered at a lower one: the rate that is reported is the sender's (vegeta).
    const answered = requests === undefined || whole === undefined || whole === 0 ? undefined : requests / whole;
    const drained = answered !== undefined && ratePerSecond !== undefined && answered < 0.97 * ratePerSecond;
    const rate = result.plannedRatePerSecond ?? view.number('load.rate') ?? (drained ? ratePerSecond : undefined);
    const seconds = drained && requests !== undefined ? requests / ratePerSecond : whole;
    const failed = result.errors ?? failedOf(result);
    return {
      name: result.run,
      tool: result.tool,
      planned: rate,
      achieved: drained ? answered : (ratePerSecond ?? answered),
      seconds,
      drained,
      used: result.users ?? result.connections ?? view.number('load.users') ?? view.number('load.connections'),
      allowed: result.usersMax ?? view.number('load.users-max'),
      dropped: result.dropped,
      requests,
      failed,
      failedShare: failed === undefined || requests === undefined || requests === 0 ? undefined : failed / requests,
      mean: result.latency?.['mean'],
      median: result.latency?.['0.5'],
      p99: result.latency?.['0.99'],
      max: result.latency?.['1'],
      uncorrected: result.uncorrected,
      closed: model === 'closed' || (model === undefined && rate === undefined && closedTools.test(result.tool)),
      result,
      origin: result.origin,
    };
  });
}

function failedOf(result: LoadResultFact): number | undefined {
  if (result.statuses === undefined) return undefined;
  return Object.entries(result.statuses).reduce((sum, [status, count]) => sum + (/^[23]/.test(status) ? 0 : count), 0);
}

/** How busy the processors were, 0–1, where somebody measured it: of what is served, not of the generator, and not of something
 * that nothing else in the evidence speaks of, as long as there is another. */
export function serverCpu(
  view: View,
): { readonly value: number; readonly text: string; readonly origins: readonly Origin[] } | undefined {
  const all = view.dossier.samples.filter(
    ({ name, labels }) => isShare(name.toLowerCase()) && !isGenerator(JSON.stringify(labels)) && !isAside(labels),
  );
  const others = subjectsBeside(view);
  const related = all.filter(({ labels }) => Object.values(labels).some((value) => others.has(value)));
  const plain = all.filter(({ labels }) =>
    Object.entries(labels).every(([key, value]) => !whose.test(key) || generic.test(value)),
  );
  const [found] = (related.length > 0 ? related : plain).toSorted((one, other) => other.value - one.value);
  if (found === undefined || found.value < 0) return undefined;
  const value = found.value > 1.5 ? found.value / 100 : found.value;
  return { value, text: `${found.name} ${(value * 100).toFixed(1)} %`, origins: [found.origin] };
}

/** Labels that say whose processor it is, and names that any server may have. */
const whose = /^(?:job|service|app|deployment|host|node|instance|pod|server|container|vm)$/i;
const generic = /serv|app|api|web|back|edge|proxy|gateway|db|sql|main|default/i;

/** Whose processors nobody waits for. */
const isAside = (labels: Readonly<Record<string, string>>): boolean =>
  Object.values(labels).some((value) =>
    /^(?:batch|nightly|cron|backup)\b|[-_.](?:batch|cronjob|backup)\b/i.test(value),
  );

/** Whatever has a name in metrics that are not about processors, and in logs. */
function subjectsBeside({ dossier, tables }: View): ReadonlySet<string> {
  const named = [...dossier.samples, ...dossier.series].filter(
    ({ name }) => !/cpu|memory|goroutines|cgroup|cfs/i.test(name),
  );
  return new Set([
    ...named.flatMap(({ labels }) => Object.values(labels)),
    ...tables.flatMap(({ replicas, services }) => [...replicas, ...services]),
    ...dossier.settings.flatMap(({ scope }) => scope.split(' ')),
  ]);
}

function isShare(name: string): boolean {
  return (
    /cpu\w*(ratio|utili[sz]ation|percent|share|usage_ratio|pct)$|^cpu$|host_cpu$/.test(name) &&
    !/limit|request|throttl/.test(name)
  );
}

/** Names that speak of who makes the load. */
export function isGenerator(text: string): boolean {
  return /k6|wrk|locust|jmeter|vegeta|gatling|artillery|load.?gen|generator|tester|\bhey\b|\bab\b|siege/i.test(text);
}
