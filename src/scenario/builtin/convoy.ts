// A release made one replica 15 % slower. Closed users over strict rotation park on it: X = 4 × 4/23 ms = 696/s instead of
// 800/s, and most of what is in flight stands at api-2. 24 s is long enough: the mean of 24 × 174 exponential pieces of work is
// off by 1.6 % (one standard error), and so is the throughput.

export const convoy = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: convoy
about: Closed-loop users over round robin pile up on one slightly slower replica.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms

gateway:
  policy: round-robin

clients:
  users: { service: api, via: gateway, timeout: 10s }

demand:
  - clients: users
    closed:
      users: 64
      think: 0s
      flow:
        - GET /
        - GET /catalogue
        - GET /item
        - post: /cart
          headers: { content-type: application/json }
          body: '{"item": 1}'
        - GET /checkout

faults:
  - at: 0s
    slow: { replica: api-2, factor: 1.15 }

warm_up: 5s
duration: 24s
expect: convoy
`;
