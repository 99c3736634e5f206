// The first replica of the list gets everything: 240/s at a capacity of 4/20 ms = 200/s, so a sixth of the requests
// (1 − 200/240) run into the clients' timeout. A replica that drops abandoned requests keeps its workers useful.

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
  callers: { service: api, via: registry, choice: pick-first, timeout: 1s }

demand:
  - clients: callers
    open: { rate: 240/s, arrivals: poisson }

warm_up: 5s
duration: 15s
expect: pick-first
`;
