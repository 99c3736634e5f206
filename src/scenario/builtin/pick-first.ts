// The first replica of the list gets everything: 208/s, a little more than its 4/20 ms = 200/s. Its queue grows until clients
// give up, and then a worker often begins what its client will not wait out: about a fifth of the requests time out (by
// simulation: 20 %), more than the 4 % that are too many. The other three replicas could take it all.

export const pickFirst = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: pick-first
about: Every client takes the first replica of the registry's list; one redlines, the others are idle.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms
    queue: { limit: 1024, abandoned: dropped }

clients:
  callers: { service: api, via: registry, choice: pick-first, timeout: 300ms }

demand:
  - clients: callers
    open: { rate: 208/s, arrivals: poisson }

warm_up: 5s
duration: 15s
expect: pick-first
`;
