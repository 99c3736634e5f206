// One defective replica under open load: it gets 70/s like the others, and can do 4/60 ms = 67/s. Its queue stands at its
// limit while the others work at 35 %.

export const slowReplica = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: slow-replica
about: One replica is three times slower than its siblings, under open load that does not wait for it.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms
    queue: { limit: 32 }

gateway:
  policy: round-robin

clients:
  callers: { service: api, via: gateway }

demand:
  - clients: callers
    open: { rate: 280/s, arrivals: poisson }

faults:
  - at: 0s
    slow: { replica: api-3, factor: 3 }

warm_up: 5s
duration: 15s
expect: slow-replica
`;
