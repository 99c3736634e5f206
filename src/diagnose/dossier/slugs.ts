// The names of the theories over a dossier. A closed list, so that a look-alike or an explanation that names a theory which does
// not exist is a mistake of types.

export type DossierSlug =
  // who gets the requests
  | 'connection-pinning'
  | 'pool-order-skew'
  | 'rr-synchronised-start'
  | 'rr-parity-lock'
  | 'rr-next-host-dogpile'
  | 'pick-first'
  | 'zone-imbalance'
  | 'lb-state-reset'
  | 'sticky-session'
  | 'hot-key'
  | 'accept-imbalance'
  | 'benign-accept-order'
  | 'slow-replica'
  // who is fit for them
  | 'fast-fail-blackhole'
  | 'health-check-on-shared-workers'
  | 'worker-slots-held-by-idle-connections'
  | 'passive-eviction-last-peer'
  | 'panic-mode'
  | 'all-ejected-no-panic'
  | 'discovery-outage'
  | 'drain-race'
  | 'cold-start'
  // until when, and how often
  | 'timeout-inversion'
  | 'retry-window-too-short'
  | 'default-route-timeout'
  | 'keepalive-race'
  | 'retry-storm'
  | 'metastable-retry'
  | 'metastable-stale-backlog'
  // what is full
  | 'circuit-breaker-overflow'
  | 'dependency-pool-exhaustion'
  | 'acquire-timeout-too-short'
  | 'accept-queue-overflow'
  | 'conntrack-full'
  | 'proxy-port-exhaustion'
  | 'h2-stream-cap'
  | 'cpu-throttling'
  | 'dns-quantised-delay'
  | 'overload-open-loop'
  // what the load generator did
  | 'generator-single-connection'
  | 'generator-dns-pin'
  | 'generator-port-exhaustion'
  | 'generator-saturated'
  | 'closed-loop-artifact'
  // nothing
  | 'healthy';
