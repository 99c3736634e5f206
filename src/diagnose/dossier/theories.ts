// The table of theories over a dossier. Adding one is one file and one line here.

import type { DossierTheory } from './theory.ts';
import { acceptImbalance } from './theories/accept-imbalance.ts';
import { acceptQueueOverflow } from './theories/accept-queue-overflow.ts';
import { acquireTimeoutTooShort } from './theories/acquire-timeout-too-short.ts';
import { allEjectedNoPanic } from './theories/all-ejected-no-panic.ts';
import { benignAcceptOrder } from './theories/benign-accept-order.ts';
import { cacheStampede } from './theories/cache-stampede.ts';
import { circuitBreakerOverflow } from './theories/circuit-breaker-overflow.ts';
import { closedLoopArtifact } from './theories/closed-loop-artifact.ts';
import { coldStart } from './theories/cold-start.ts';
import { connectionPinning } from './theories/connection-pinning.ts';
import { conntrackFull } from './theories/conntrack-full.ts';
import { cpuSteal } from './theories/cpu-steal.ts';
import { cpuThrottling } from './theories/cpu-throttling.ts';
import { defaultRouteTimeout } from './theories/default-route-timeout.ts';
import { dependencyPoolExhaustion } from './theories/dependency-pool-exhaustion.ts';
import { descriptorsExhausted } from './theories/descriptors-exhausted.ts';
import { discoveryOutage } from './theories/discovery-outage.ts';
import { dnsQuantisedDelay } from './theories/dns-quantised-delay.ts';
import { drainRace } from './theories/drain-race.ts';
import { fastFailBlackhole } from './theories/fast-fail-blackhole.ts';
import { generatorDnsPin } from './theories/generator-dns-pin.ts';
import { generatorPortExhaustion } from './theories/generator-port-exhaustion.ts';
import { generatorSaturated } from './theories/generator-saturated.ts';
import { generatorSingleConnection } from './theories/generator-single-connection.ts';
import { h2StreamCap } from './theories/h2-stream-cap.ts';
import { healthCheckOnSharedWorkers } from './theories/health-check-on-shared-workers.ts';
import { healthy } from './theories/healthy.ts';
import { hotKey } from './theories/hot-key.ts';
import { keepaliveRace } from './theories/keepalive-race.ts';
import { lbStateReset } from './theories/lb-state-reset.ts';
import { metastableRetry } from './theories/metastable-retry.ts';
import { metastableStaleBacklog } from './theories/metastable-stale-backlog.ts';
import { overloadOpenLoop } from './theories/overload-open-loop.ts';
import { panicMode } from './theories/panic-mode.ts';
import { passiveEvictionLastPeer } from './theories/passive-eviction-last-peer.ts';
import { pickFirst } from './theories/pick-first.ts';
import { poolOrderSkew } from './theories/pool-order-skew.ts';
import { proxyPortExhaustion } from './theories/proxy-port-exhaustion.ts';
import { rateLimited } from './theories/rate-limited.ts';
import { retryStorm } from './theories/retry-storm.ts';
import { retryWindowTooShort } from './theories/retry-window-too-short.ts';
import { rrNextHostDogpile } from './theories/rr-next-host-dogpile.ts';
import { rrParityLock } from './theories/rr-parity-lock.ts';
import { rrSynchronisedStart } from './theories/rr-synchronised-start.ts';
import { slowReplica } from './theories/slow-replica.ts';
import { stickySession } from './theories/sticky-session.ts';
import { timeoutInversion } from './theories/timeout-inversion.ts';
import { unreachableTarget } from './theories/unreachable-target.ts';
import { workerPoolExhaustion } from './theories/worker-pool-exhaustion.ts';
import { workerSlotsHeldByIdleConnections } from './theories/worker-slots-held-by-idle-connections.ts';
import { zoneImbalance } from './theories/zone-imbalance.ts';

export const dossierTheories: readonly DossierTheory[] = [
  // who gets the requests, and who is fit for them
  connectionPinning,
  poolOrderSkew,
  rrSynchronisedStart,
  rrParityLock,
  rrNextHostDogpile,
  pickFirst,
  zoneImbalance,
  lbStateReset,
  stickySession,
  hotKey,
  acceptImbalance,
  benignAcceptOrder,
  fastFailBlackhole,
  healthCheckOnSharedWorkers,
  workerSlotsHeldByIdleConnections,
  passiveEvictionLastPeer,
  panicMode,
  allEjectedNoPanic,
  discoveryOutage,
  drainRace,
  coldStart,
  h2StreamCap,
  generatorSingleConnection,
  generatorDnsPin,
  // until when, how often, and what is full
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
  workerPoolExhaustion,
  rateLimited,
  unreachableTarget,
  descriptorsExhausted,
  cpuSteal,
  cacheStampede,
  generatorPortExhaustion,
  generatorSaturated,
  closedLoopArtifact,
  // what is left when nothing else explains it
  slowReplica,
  healthy,
];
