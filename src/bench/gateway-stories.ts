// The two stories that our gateway is measured by in the lab, as scenarios and settings side by side: for the tables in
// docs/background and for the test that holds them.

import { histogramOfLine, type PhaseRecord } from '../record.ts';
import { builtinScenarios, parseScenario, type Scenario } from '../scenario.ts';
import { Histogram } from '../stats.ts';

/** Inner work is bounded by what the caller has left, retries by a budget; or neither. The gateway's own timeout is the same: 16
 * workers ÷ 50 requests a second to each replica = 320 ms is the longest that a hanging request may hold a worker. */
export const budgets = {
  on: { deadline: 'forward', retry_budget: { ratio: 0.2 } },
  off: { deadline: 'ignore', retry_budget: null },
} as const;

/** Enough workers that hanging requests may hold, clients that ask once, and a datastore that stands still for six seconds. */
export const stallSettings: readonly string[] = [
  'services.api.workers=16',
  'gateway.timeout=250ms',
  'clients.callers={ service: api, via: gateway, timeout: 1s }',
  'faults.0={ at: 8s, for: 6s, stop: store-1 }',
  'duration=25s',
];

/** Round robin first, then those that look at load. */
export const convoyPolicies = ['round-robin', 'least-request', 'two-choices', 'peak-ewma', 'prequal'] as const;

/** A built-in scenario with settings over it. */
export function scenarioWith(name: string, settings: readonly string[]): Scenario {
  const builtin = builtinScenarios.find((one) => one.name === name);
  const parsed = builtin === undefined ? undefined : parseScenario(builtin.text, name, settings);
  if (parsed === undefined || 'problems' in parsed)
    throw new Error(`${name} with ${settings.join(' ')} is no scenario`);
  return parsed.scenario;
}

export interface StallFigures {
  /** Requests that were answered, of all that were planned. */
  readonly answered: number;
  readonly planned: number;
  /** Answers with 503 because nobody was healthy. */
  readonly nobodyHealthy: number;
  /** Times that a check took a replica out. */
  readonly falls: number;
  /** After the datastore went on: until nine in ten of a second's requests were answered well again. Undefined: never. */
  readonly recoverySeconds: number | undefined;
  /** The most that a replica had in flight over a second. */
  readonly inFlightMost: number;
}

/** `faultEnd`: seconds after the beginning of the phase. */
export function stallFigures(phase: PhaseRecord, page: string, faultEnd: number): StallFigures {
  const from = phase.ticks[0]?.at_ns ?? 0;
  const whole = phase.ticks.filter((tick) => (tick.at_ns - from) / 1e9 >= faultEnd);
  const good = whole.find((tick) => {
    const ended = sum(
      tick.clients.map(
        (client) => client.answered + sum(Object.values(client.errors ?? {}).map((count) => count ?? 0)),
      ),
    );
    const answered = sum(tick.clients.map((client) => client.answered));
    return ended > 0 && answered / ended >= 0.9;
  });
  return {
    answered: sum(phase.ledgers.map((ledger) => ledger.answered)),
    planned: sum(phase.ledgers.map((ledger) => ledger.planned)),
    nobodyHealthy: counted(page, /^plimsoll_gateway_ways_out_total\{way="no-healthy-endpoint"\} (\d+)$/gm),
    falls: counted(page, /^plimsoll_gateway_endpoint_falls_total\{[^}]*\} (\d+)$/gm),
    inFlightMost: Math.max(0, ...phase.ticks.flatMap((tick) => balanced(tick))),
    recoverySeconds: good === undefined ? undefined : Math.max(0, (good.at_ns - from) / 1e9 - faultEnd),
  };
}

function balanced(tick: PhaseRecord['ticks'][number]): readonly number[] {
  return tick.replicas.filter(({ id }) => id.startsWith('api-')).map((replica) => replica.in_flight_mean ?? 0);
}

/** Latencies of all clients together. */
export function latencyOf(phase: PhaseRecord): Histogram {
  const latency = new Histogram();
  for (const line of phase.histograms) {
    if (line.of.group !== undefined && line.of.what === 'latency') latency.add(histogramOfLine(line));
  }
  return latency;
}

function counted(page: string, line: RegExp): number {
  return sum([...page.matchAll(line)].map((match) => Number(match[1])));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
