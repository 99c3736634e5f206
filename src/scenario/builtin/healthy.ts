// Far enough below the knee: 40 users with 100 ms of thought ask about 330/s of a fleet that can do 800/s.

export const healthy = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: healthy
about: Four replicas well below their knee. Nothing is wrong, and nothing should be accused.

services:
  api:
    replicas: 4
    workers: 4
    service_time: exponential 20ms

gateway:
  policy: round-robin

clients:
  users: { service: api, via: gateway }

demand:
  - clients: users
    closed:
      users: 40
      think: 100ms
      flow: ['GET /', 'GET /catalogue', 'GET /item', 'GET /cart']

warm_up: 3s
duration: 15s
expect: healthy
`;
