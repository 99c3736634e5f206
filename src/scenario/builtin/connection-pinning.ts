// Twelve connections, each made to a replica drawn by chance and kept: three a replica on average, and rarely three each. Whoever
// drew the replica with six waits, and a new replica would get nothing at all.

export const connectionPinning = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: connection-pinning
about: Long-lived connections are balanced once, when they are made; what each carries stays where it is (imagined time only).

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

warm_up: 3s
duration: 15s
`;
