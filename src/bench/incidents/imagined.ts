// A fleet in imagined time as its balancer's log would show it: every request with its replica, its time and its answer, in the
// names of the incident. What the simulator calls api-3 is whatever the incident calls its third replica.

import { assert } from '../../base.ts';
import { type Arrangement, baselineOf, builtinScenarios, parseScenario } from '../../scenario.ts';
import { Simulation } from '../../sim.ts';
import type { Draw } from './draw.ts';
import type { LogRow } from './writers.ts';

export interface Imagined {
  readonly rows: readonly LogRow[];
  /** By replica, in the order of the names. */
  readonly requests: readonly number[];
  readonly failed: readonly number[];
  readonly meanSeconds: readonly number[];
}

const statuses: Readonly<Record<string, number>> = {
  ok: 200,
  'status-5xx': 500,
  timeout: 504,
  'no-server': 503,
  refused: 502,
  reset: 502,
};

/** Plays a built-in scenario's baseline with these settings. `names`: of the replicas of its service. */
export function imaginedLog(
  draw: Draw,
  scenarioName: string,
  settings: readonly string[],
  names: readonly string[],
  seconds = 20,
): Imagined {
  const source = builtinScenarios.find(({ name }) => name === scenarioName)?.text ?? '';
  const parsed = parseScenario(source, scenarioName, settings);
  assert('scenario' in parsed, `${scenarioName} with ${settings.join(' ')}`);
  const { scenario } = parsed;
  const simulation = new Simulation(scenario, { seed: draw.below(2 ** 31) });
  const rows: LogRow[] = [];
  const paths = Array.from({ length: draw.count(3, 9) }, () => `/${draw.service}/${draw.below(30)}`);
  simulation.world.books.listener = (_group, station, kind, dueAt, now) => {
    const replica = station < 0 ? undefined : names[station % names.length];
    rows.push({
      startMs: draw.beganMs + dueAt / 1e6,
      seconds: (now - dueAt) / 1e9,
      status: statuses[kind] ?? 500,
      replica,
      path: draw.pick(paths),
    });
  };
  const baseline: Arrangement = baselineOf(scenario);
  // The log begins where the fleet has settled.
  const from = draw.beganMs + baseline.warmUp / 1e6;
  const play = simulation.play(baseline);
  while (play.next().done !== true && simulation.now <= baseline.warmUp + seconds * 1e9);
  const kept = rows.filter(({ startMs }) => startMs >= from && startMs < from + seconds * 1000);
  const byReplica = names.map((name) => kept.filter(({ replica }) => replica === name));
  return {
    rows: kept,
    requests: byReplica.map((own) => own.length),
    failed: byReplica.map((own) => own.filter(({ status }) => status >= 500).length),
    meanSeconds: byReplica.map((own) => own.reduce((sum, row) => sum + row.seconds, 0) / Math.max(1, own.length)),
  };
}
