// The built-in scenarios, by name. Each is the YAML text a person could have written, so that `plimsoll scenarios --print`
// gives a working start for one's own.

import { convoy } from './builtin/convoy.ts';
import { healthy } from './builtin/healthy.ts';
import { overload } from './builtin/overload.ts';
import { pickFirst } from './builtin/pick-first.ts';
import { slowReplica } from './builtin/slow-replica.ts';

export interface BuiltinScenario {
  readonly name: string;
  readonly text: string;
}

export const builtinScenarios: readonly BuiltinScenario[] = [
  { name: 'healthy', text: healthy },
  { name: 'convoy', text: convoy },
  { name: 'pick-first', text: pickFirst },
  { name: 'slow-replica', text: slowReplica },
  { name: 'overload', text: overload },
];
