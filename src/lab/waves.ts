// The order in which services are started: whoever is called by others before those who call.

import type { Dependency, Service } from '../scenario.ts';
import { LabError } from './lab-error.ts';

/** Names of services and dependencies in waves: what is in one calls only what is in waves before. Throws a `LabError` when
 * services call each other in a circle or call what is not there. */
export function wavesOf(
  services: readonly Pick<Service, 'name' | 'calls'>[],
  dependencies: readonly Pick<Dependency, 'name'>[],
): readonly (readonly string[])[] {
  const waves: string[][] = [];
  const placed = new Set<string>();
  let left = [...dependencies.map(({ name }) => ({ name, calls: [] })), ...services];
  while (left.length > 0) {
    const wave = left.filter(({ calls }) => calls.every((call) => placed.has(call.to)));
    if (wave.length === 0) {
      const chain = left.map(({ name, calls }) => `${name} → ${calls.map((call) => call.to).join(', ')}`);
      throw new LabError(`services call each other in a circle, or call one that is not there: ${chain.join('; ')}`);
    }
    waves.push(wave.map(({ name }) => name));
    for (const { name } of wave) placed.add(name);
    left = left.filter(({ name }) => !placed.has(name));
  }
  return waves;
}
