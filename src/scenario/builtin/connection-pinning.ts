// Twenty-four connections over four replicas, placed by dice when they are made: six each on average. A replica that is started
// again comes back to none, because nobody connects anew: the other three carry eight each, which is more than four workers can,
// and no autoscaler that looks at the mean sees anything.

export const connectionPinning = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: connection-pinning
about: Long-lived connections are placed once; a replica that was restarted gets none, and the others have too many.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms

clients:
  callers: { service: api, via: registry, choice: random, pinned: true }

demand:
  - clients: callers
    closed: { users: 24, think: 10ms }

faults:
  - { at: 1s, for: 1s, kill: api-3 }

warm_up: 4s
duration: 15s
expect: connection-pinning
`;
