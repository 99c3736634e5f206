// The table of theories over a dossier. Adding one is one file and one line here.

import type { DossierTheory } from './theory.ts';
import { connectionPinning } from './theories/connection-pinning.ts';
import { acceptQueueOverflow } from './theories/accept-queue-overflow.ts';
import { acquireTimeoutTooShort } from './theories/acquire-timeout-too-short.ts';
import { circuitBreakerOverflow } from './theories/circuit-breaker-overflow.ts';
import { closedLoopArtifact } from './theories/closed-loop-artifact.ts';
import { conntrackFull } from './theories/conntrack-full.ts';
import { cpuThrottling } from './theories/cpu-throttling.ts';
import { defaultRouteTimeout } from './theories/default-route-timeout.ts';
import { dependencyPoolExhaustion } from './theories/dependency-pool-exhaustion.ts';
import { dnsQuantisedDelay } from './theories/dns-quantised-delay.ts';
import { generatorPortExhaustion } from './theories/generator-port-exhaustion.ts';
import { generatorSaturated } from './theories/generator-saturated.ts';
import { keepaliveRace } from './theories/keepalive-race.ts';
import { metastableRetry } from './theories/metastable-retry.ts';
import { metastableStaleBacklog } from './theories/metastable-stale-backlog.ts';
import { overloadOpenLoop } from './theories/overload-open-loop.ts';
import { proxyPortExhaustion } from './theories/proxy-port-exhaustion.ts';
import { retryStorm } from './theories/retry-storm.ts';
import { retryWindowTooShort } from './theories/retry-window-too-short.ts';
import { timeoutInversion } from './theories/timeout-inversion.ts';

export const dossierTheories: readonly DossierTheory[] = [
  connectionPinning,
  timeoutInversion,
  retryWindowTooShort,
  defaultRouteTimeout,
  keepaliveRace,
  retryStorm,
  metastableRetry,
  metastableStaleBacklog,
  circuitBreakerOverflow,
  dependencyPoolExhaustion,
  acquireTimeoutTooShort,
  acceptQueueOverflow,
  conntrackFull,
  proxyPortExhaustion,
  cpuThrottling,
  dnsQuantisedDelay,
  overloadOpenLoop,
  generatorPortExhaustion,
  generatorSaturated,
  closedLoopArtifact,
];
