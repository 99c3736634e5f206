// 680/s are 170/s for each of four replicas, of the 200/s that each can do, and 227/s for each of three. When one is slow its probe is
// late and it is taken out; then the probes of the others wait too, the next goes, and the next. No replica is broken.

export const evictionCascade = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: eviction-cascade
about: Health checks that wait for a worker take out one slow replica; the others cannot carry its load and follow.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms
    queue: { limit: 1024 }
    health_shares_pool: true

gateway:
  policy: round-robin
  timeout: 2s
  health: { interval: 1s, timeout: 300ms, fall: 2, rise: 2 }

clients:
  callers: { service: api, via: gateway, timeout: 3s }

demand:
  - clients: callers
    open: { rate: 680/s, arrivals: poisson }

faults:
  - { at: 8s, for: 6s, slow: { replica: api-3, factor: 4 } }

warm_up: 5s
duration: 25s
expect: eviction-cascade
`;
