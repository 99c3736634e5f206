// Four replicas, two in each zone, and three quarters of the clients in one: load_z = λ_z ÷ n_z, so the two in zone a get 195/s each
// of the 200/s that they can do, those in zone b 65/s. The fleet as a whole works at 65 %.

export const zoneSkew = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: zone-skew
about: Clients ask replicas of their own zone only, most of the clients are in one, and its two replicas are full.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms
    zones: [a, b]

clients:
  near: { service: api, via: registry, choice: round-robin, zone: a, timeout: 2s }
  far: { service: api, via: registry, choice: round-robin, zone: b, timeout: 2s }

demand:
  - clients: near
    open: { rate: 390/s, arrivals: poisson }
  - clients: far
    open: { rate: 130/s, arrivals: poisson }

warm_up: 5s
duration: 15s
expect: zone-imbalance
`;
