// The built-in scenarios, by name. Each is the YAML text a person could have written, so that `plimsoll scenarios --print`
// gives a working start for one's own.

import { blackHole } from './builtin/black-hole.ts';
import { coldStart } from './builtin/cold-start.ts';
import { connectionPinning } from './builtin/connection-pinning.ts';
import { convoy } from './builtin/convoy.ts';
import { evictionCascade } from './builtin/eviction-cascade.ts';
import { healthy } from './builtin/healthy.ts';
import { internetScale } from './builtin/internet-scale.ts';
import { noHealthyUpstream } from './builtin/no-healthy-upstream.ts';
import { overload } from './builtin/overload.ts';
import { pickFirst } from './builtin/pick-first.ts';
import { retryStorm } from './builtin/retry-storm.ts';
import { slowReplica } from './builtin/slow-replica.ts';
import { throttled } from './builtin/throttled.ts';
import { zoneSkew } from './builtin/zone-skew.ts';

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
  { name: 'no-healthy-upstream', text: noHealthyUpstream },
  { name: 'retry-storm', text: retryStorm },
  { name: 'eviction-cascade', text: evictionCascade },
  { name: 'black-hole', text: blackHole },
  { name: 'cold-start', text: coldStart },
  { name: 'throttled', text: throttled },
  { name: 'zone-skew', text: zoneSkew },
  { name: 'connection-pinning', text: connectionPinning },
  { name: 'internet-scale', text: internetScale },
];
