// The whole ingress of a large site in imagined time: 3 million connections that ask 300,000 times a second, 2,000 services of 25
// endpoints each, and ten load balancers that each see only what they have handed out themselves. Each service is asked 150 times a
// second and can do 25 ÷ 80 ms = 312. One simulated minute takes half a minute of one processor, and a record of some 40 MB. Real processes play
// one of the two thousand services, as large as it is here, behind one load balancer that sees all of it.

export const internetScale = `# yaml-language-server: $schema=./schema/scenario.schema.json
plimsoll: 1
name: internet-scale
about: 3 million connections, 2,000 services, 50,000 endpoints, ten load balancers with a view each; in imagined time, half a minute.

services:
  shop:
    copies: 2000
    replicas: 25
    workers: 1
    service_time: exponential 80ms
    queue: { limit: 100 }

gateway:
  policy: least-request
  timeout: 10s
  count: 10

clients:
  users: { service: shop, timeout: 15s }

demand:
  - clients: users
    closed: { users: 3000000, think: 10s }

warm_up: 10s
duration: 60s
in_lab: { services.shop.copies: 1, gateway.count: 1, demand.0.closed.users: 1500, duration: 30s }
expect: healthy
`;
