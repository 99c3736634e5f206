// What was really wrong in a run, for the scorer and nobody else. It is written after the verdict, to a file of its own.

import type { Truth } from '../record.ts';
import type { Scenario } from '../scenario.ts';

export function truthOf(record: string, scenario: Scenario): Truth {
  return {
    format: 'plimsoll-truth',
    version: 1,
    record,
    pattern: scenario.expect,
    culprit: culpritOf(scenario),
    faults: scenario.faults,
  };
}

/** The replica that every fault is about, when there is one such; or the one that all pick-first clients take. */
function culpritOf(scenario: Scenario): string | undefined {
  const replicas = new Set(scenario.faults.map((fault) => fault.replica));
  if (replicas.size === 1) return [...replicas][0];
  const first = scenario.topology.clients.find(
    (clients) => clients.via === 'registry' && clients.choice === 'pick-first',
  );
  return replicas.size === 0 && first !== undefined ? `${first.service}-1` : undefined;
}
