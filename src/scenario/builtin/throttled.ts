// Each request burns 8 ms of processor time and then waits 10 ms for nothing in particular. At 40/s a replica needs 32 % of a core
// and may use 40 %: on average that is enough, but it comes in bursts, and whoever has used up his 40 ms stands still until
// the next 100 ms begin.

export const throttled = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: throttled
about: A processor quota is enough on average, and when a burst has used it up it stops everything until the next 100 ms begin.

services:
  api:
    replicas: 2
    workers: 16
    service_time: constant 10ms
    cpu_time: 8ms
    cpu_quota: 0.4

gateway:
  policy: round-robin

clients:
  callers: { service: api, via: gateway }

demand:
  - clients: callers
    open: { rate: 80/s, arrivals: poisson }

warm_up: 3s
duration: 15s
`;
