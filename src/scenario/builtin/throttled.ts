// Each request burns 20 ms of processor time and then waits 10 ms for nothing in particular. At 15/s a replica needs 30 % of a core
// and may use 40 %: on average that is enough, but requests come in bursts. Two use up the 40 ms of a period, and whoever comes
// third stands still with all the others until the next 100 ms begin.

export const throttled = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: throttled
about: A processor quota is enough on average, and when a burst has used it up it stops everything until the next 100 ms begin.

services:
  api:
    replicas: 2
    workers: 16
    service_time: constant 10ms
    cpu_time: 20ms
    cpu_quota: 0.4

gateway:
  policy: round-robin

clients:
  callers: { service: api, via: gateway }

demand:
  - clients: callers
    open: { rate: 30/s, arrivals: poisson }

warm_up: 3s
duration: 30s
expect: cpu-throttling
`;
