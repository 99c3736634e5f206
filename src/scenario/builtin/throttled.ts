// Each request burns 3 ms of processor time and then waits 10 ms for nothing in particular. At 63/s a replica needs 19 % of a core
// and may use 20 %: on average that is enough, but it comes in bursts, and whoever has used up his 20 ms stands still until
// the next 100 ms begin.

export const throttled = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: throttled
about: 'A processor quota of a fifth of a core is enough on average; used up in bursts, it stops everything for 80 ms.'

services:
  api:
    replicas: 2
    workers: 16
    service_time: constant 10ms
    cpu_time: 3ms
    cpu_quota: 0.2

gateway:
  policy: round-robin

clients:
  callers: { service: api, via: gateway }

demand:
  - clients: callers
    open: { rate: 126/s, arrivals: poisson }

warm_up: 3s
duration: 15s
`;
