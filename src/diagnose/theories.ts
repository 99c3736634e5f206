// All theories, in the order in which one takes precedence over another when both are established: first what makes the
// measurement void, then mechanisms from the most particular to the most general, then those that only ever stand beside.
// Adding one: a file in `theories/`, its slug in `theory.ts`, a line here.

import type { Slug, Theory } from './theory.ts';
import { coldStart } from './theories/cold-start.ts';
import { connectionPinning } from './theories/connection-pinning.ts';
import { convoy } from './theories/convoy.ts';
import { cpuThrottling } from './theories/cpu-throttling.ts';
import { evictionCascade } from './theories/eviction-cascade.ts';
import { fastFailBlackhole } from './theories/fast-fail-blackhole.ts';
import { generatorSaturated } from './theories/generator-saturated.ts';
import { healthy } from './theories/healthy.ts';
import { metastableRetry } from './theories/metastable-retry.ts';
import { network } from './theories/network.ts';
import { overload } from './theories/overload.ts';
import { pickFirst } from './theories/pick-first.ts';
import { skewedBalancer } from './theories/skewed-balancer.ts';
import { slowReplica } from './theories/slow-replica.ts';
import { workerPoolExhaustion } from './theories/worker-pool-exhaustion.ts';
import { zoneImbalance } from './theories/zone-imbalance.ts';

export const theories: readonly Theory[] = [
  generatorSaturated,
  pickFirst,
  workerPoolExhaustion,
  evictionCascade,
  metastableRetry,
  fastFailBlackhole,
  coldStart,
  zoneImbalance,
  connectionPinning,
  convoy,
  cpuThrottling,
  slowReplica,
  skewedBalancer,
  overload,
  network,
  healthy,
];

export function theoryOf(slug: Slug): Theory | undefined {
  return theories.find((theory) => theory.slug === slug);
}
