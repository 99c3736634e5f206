// A replica that was killed comes back with empty caches: at first it is six times slower, 33/s instead of 200/s, and round robin
// sends it its 125/s at once.

export const coldStart = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: cold-start
about: A restarted replica is six times slower for ten seconds, and gets its full share at once.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms
    cold_start: { factor: 6, length: 10s }
    queue: { limit: 256 }

gateway:
  policy: round-robin
  retries: 1
  health: { interval: 500ms, timeout: 300ms, fall: 2, rise: 1 }

clients:
  callers: { service: api, via: gateway }

demand:
  - clients: callers
    open: { rate: 500/s, arrivals: poisson }

faults:
  - { at: 6s, for: 2s, kill: api-3 }

warm_up: 4s
duration: 20s
expect: cold-start
`;
