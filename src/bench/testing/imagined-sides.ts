// Runs of a built-in scenario in imagined time, as the two sides of a comparison.

import { assert } from '../../base.ts';
import { type RunRecord, recordOf } from '../../record.ts';
import { baselineOf, builtinScenarios, parseScenario, type Scenario } from '../../scenario.ts';
import { simulate } from '../../sim.ts';

export function scenarioWith(name: string, settings: readonly string[]): Scenario {
  const parsed = parseScenario(builtinScenarios.find((one) => one.name === name)?.text ?? '', name, settings);
  assert('scenario' in parsed, `${name} with ${settings.join(' ')} is a scenario`);
  return parsed.scenario;
}

/** One record a seed. */
export function imaginedRuns(
  name: string,
  settings: readonly string[],
  seeds: readonly number[],
): readonly RunRecord[] {
  const scenario = scenarioWith(name, settings);
  return seeds.map((seed) =>
    recordOf([...simulate(scenario, { seed, phases: [{ arrangement: baselineOf(scenario) }] })]),
  );
}

/** The convoy story: many users who mostly think, over strict rotation; one of four machines is older and a tenth slower. With the
 * old release there is room. */
export const storyBase = [
  'demand.0.closed.users=640',
  'demand.0.closed.think=940ms',
  'faults.0.slow.factor=1.1',
] as const;

/** The release: a request costs a fifth more. */
export const storyRelease = 'services.api.service_time=exponential 24ms';
