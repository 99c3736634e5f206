// A notes file with one of everything.

export const notesSample = `# yaml-language-server: $schema=./schema/notes.schema.json
plimsoll_notes: 1
about: The shop was slow after the release.

settings:
  - program: nginx
    scope: upstream shop
    set:
      balance.policy: least_conn
      upstream.idle-timeout: 60s
      retry.budget: 20%
  - program: shop
    implied: true
    set: { dependency.timeout: none, workers.count: 8, health.shares-workers: true, cpu.limit: 500m }

events:
  - { at: 2026-04-02T07:00:00Z, event: deploy, subject: shop, detail: version 2 }
  - { at: 1775113260, event: latency of the store 25ms -> 100ms }
  - { event: note, detail: nobody knows when the cache was emptied }

registry:
  shop:
    - 10.0.2.11:8080
    - { endpoint: '10.0.2.12:8080', name: shop-2, health: unhealthy, zone: b, weight: 2 }

counts:
  - { name: requests, by: worker, values: { w1: 10, w2: 30 }, type: counter }
  - { name: requests, by: worker, values: { w1: 15, w2: 90 }, type: counter }
  - { name: sessions, value: 4, at: 2026-04-02T07:00:00Z }

remarks:
  - The dashboard was down as well.
`;
