// By Little's law 200/s × 40 ms keep 8 of 64 workers busy. When the datastore stands still, 200/s fill the other 56 in 0.28 s,
// because nobody gives up waiting for it; health checks wait for the same workers, so every replica is taken out and the
// balancer has nobody left: 503 without any replica being broken. It heals by itself once the datastore goes on.

export const noHealthyUpstream = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: no-healthy-upstream
about: A datastore call without a timeout holds every worker; health checks wait too, all replicas are taken out, then it heals.

services:
  api:
    replicas: 4
    workers: 16
    service_time: exponential 35ms
    calls:
      - { to: store }
    health_shares_pool: true

dependencies:
  store: { workers: 64, service_time: exponential 5ms }

gateway:
  policy: round-robin
  timeout: 5s
  retries: 2
  health: { interval: 1s, timeout: 500ms, fall: 2, rise: 2 }

clients:
  callers: { service: api, via: gateway, timeout: 6s }

demand:
  - clients: callers
    open: { rate: 200/s, arrivals: poisson }

faults:
  - at: 8s
    for: 6s
    stop: store-1

warm_up: 5s
duration: 25s
expect: worker-pool-exhaustion
`;
