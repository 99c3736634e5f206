// 560/s of 800/s, and clients that ask four times. Ten seconds at half speed are enough: 4 × 560 attempts a second are more than
// the fleet can do, so every answer comes when nobody waits for it any more, for ever. A retry budget of 10 % ends it.

export const retryStorm = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: retry-storm
about: A ten-second slow-down at 70 % load; clients ask again, and the fleet stays down long after it.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms
    queue: { limit: 100000 }

gateway:
  policy: round-robin
  timeout: 30s

clients:
  callers: { service: api, via: gateway, timeout: 500ms, retry: { retries: 3, back_off: 100ms } }

demand:
  - clients: callers
    open: { rate: 560/s, arrivals: poisson }

faults:
  - { at: 10s, for: 10s, slow: { replica: api-1, factor: 2 } }
  - { at: 10s, for: 10s, slow: { replica: api-2, factor: 2 } }
  - { at: 10s, for: 10s, slow: { replica: api-3, factor: 2 } }
  - { at: 10s, for: 10s, slow: { replica: api-4, factor: 2 } }

warm_up: 5s
duration: 60s
expect: metastable-retry
`;
