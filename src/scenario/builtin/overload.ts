// A quarter more than the fleet can do, spread evenly: 1000/s at 4 × 4/20 ms = 800/s. Bounded queues answer the rest 503.

export const overload = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: overload
about: More is asked than the whole fleet can do; the load sits evenly and every replica is full.

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
    open: { rate: 1000/s, arrivals: poisson }

warm_up: 5s
duration: 15s
expect: overload
`;
