// By Little's law 200/s × 40 ms keep 8 of 24 workers busy. When a call to the datastore takes 20 s, 200/s would need 4,000: the other
// 16 are gone in 0.08 s, because nobody gives up waiting. Health checks wait for the same workers, so every replica is taken out
// and the balancer has nobody left: 503 without any replica being broken.
//
// The datastore is itself again after six seconds, but the workers are still away, each for the rest of its 20 s, and 200/s that
// are asked four times are 800/s for a fleet of 600/s. It heals by itself, often a quarter of a minute or more later: whenever
// all replicas are out nobody is asked, and the queues empty.

export const noHealthyUpstream = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: no-healthy-upstream
about: A datastore call without a timeout holds every worker; health checks wait too, all are taken out, and retries keep it so.

services:
  api:
    replicas: 4
    workers: 6
    service_time: exponential 35ms
    calls:
      - { to: store }
    health_shares_pool: true

dependencies:
  store: { workers: 64, service_time: exponential 5ms }

gateway:
  policy: round-robin
  timeout: 1s
  retries: 2
  health: { interval: 1s, timeout: 500ms, fall: 2, rise: 2 }

clients:
  callers: { service: api, via: gateway, timeout: 2s, retry: { retries: 3, back_off: 100ms } }

demand:
  - clients: callers
    open: { rate: 200/s, arrivals: poisson }

faults:
  - { at: 8s, for: 6s, slow: { replica: store-1, factor: 4000 } }

warm_up: 5s
duration: 40s
expect: worker-pool-exhaustion
`;
