// Who answers errors in a millisecond looks idle, so least-request sends it two thirds of everything, where round robin would
// send a quarter. Its health check passes: it answers from another place.

export const blackHole = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: black-hole
about: One replica fails at once, so it always looks least busy, and least-request sends it two thirds of everything.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms

gateway:
  policy: least-request
  health: { interval: 1s, timeout: 500ms }

clients:
  callers: { service: api, via: gateway }

demand:
  - clients: callers
    open: { rate: 400/s, arrivals: poisson }

faults:
  - at: 0s
    fail: { replica: api-2, after: 1ms }

warm_up: 3s
duration: 15s
expect: fast-fail-blackhole
`;
