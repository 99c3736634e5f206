// What was really wrong in a run, for the scorer and nobody else. It is written after the verdict, to a file of its own.

import type { Truth } from '../record.ts';
import { allFaults, type Scenario } from '../scenario.ts';

export function truthOf(record: string, scenario: Scenario): Truth {
  return {
    format: 'plimsoll-truth',
    version: 1,
    record,
    pattern: scenario.expect,
    culprit: culpritOf(scenario),
    faults: allFaults(scenario),
  };
}

/** The replica that every fault is about, when there is one such; or the one that all pick-first clients take. */
function culpritOf(scenario: Scenario): string | undefined {
  const replicas = new Set(allFaults(scenario).map((fault) => (fault.kind === 'partition' ? fault.of : fault.replica)));
  const [only] = replicas;
  if (replicas.size === 1) return only !== undefined && /-\d+$/.test(only) ? only : undefined;
  const first = scenario.topology.clients.find(
    (clients) => clients.via === 'registry' && clients.choice === 'pick-first',
  );
  return replicas.size === 0 && first !== undefined ? `${first.service}-1` : undefined;
}
