// What goes wrong with processes and what goes wrong between them stand apart in a scenario, for a lab can play only the first.
// Whoever asks when anything goes wrong asks for all.

import type { Fault, NetworkFault, Scenario } from './model.ts';

/** Every fault: of processes first, then of the network. */
export const allFaults = ({
  faults,
  network,
}: Pick<Scenario, 'faults' | 'network'>): readonly (Fault | NetworkFault)[] => [...faults, ...(network?.faults ?? [])];
