// Fleets that have one point of an incident and are well: zones, pinned users, shared probes, quotas, retries, calls without a timeout, a
// replica that is started again. Nobody may be accused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseScenario } from '../scenario.ts';
import { conduct } from './conduct.ts';
import { simWorld } from './sim-world.ts';

/** Four replicas of four workers with 20 ms of work: 800/s. */
const fleet = (service: string, gateway: string, clients: string, demand: string, rest = ''): string => `plimsoll: 1
services: { api: { replicas: 4, workers: 4, service_time: exponential 20ms${service} } }
${gateway}
clients: ${clients}
demand: ${demand}
${rest}
warm_up: 3s
duration: 15s
`;

const cases: Readonly<Record<string, string>> = {
  closed: fleet('', 'gateway: { policy: round-robin }', '{ users: {} }', '[{ closed: { users: 40, think: 100ms } }]'),
  open: fleet(
    '',
    'gateway: { policy: round-robin }',
    '{ users: {} }',
    '[{ open: { rate: 480/s, arrivals: poisson } }]',
  ),
  least: fleet(
    '',
    'gateway: { policy: least-request }',
    '{ users: {} }',
    '[{ open: { rate: 560/s, arrivals: poisson } }]',
  ),
  zones: fleet(
    ', zones: [a, b]',
    '',
    '{ near: { service: api, via: registry, zone: a }, far: { service: api, via: registry, zone: b } }',
    '[{ clients: near, open: { rate: 240/s, arrivals: poisson } }, { clients: far, open: { rate: 180/s, arrivals: poisson } }]',
  ),
  pinned: fleet(
    '',
    '',
    '{ users: { via: registry, choice: random, pinned: true } }',
    '[{ closed: { users: 400, think: 1s } }]',
  ),
  probes: fleet(
    ', health_shares_pool: true',
    'gateway: { policy: round-robin, health: { interval: 500ms, timeout: 300ms } }',
    '{ users: {} }',
    '[{ open: { rate: 480/s, arrivals: poisson } }]',
  ),
  quota: fleet(
    ', cpu_time: 2ms, cpu_quota: 0.9',
    'gateway: { policy: round-robin }',
    '{ users: {} }',
    '[{ open: { rate: 400/s, arrivals: poisson } }]',
  ),
  calls: fleet(
    ', calls: [{ to: store }]',
    'gateway: { policy: round-robin }',
    '{ users: {} }',
    '[{ open: { rate: 400/s, arrivals: poisson } }]',
    'dependencies: { store: { workers: 64, service_time: exponential 5ms } }',
  ),
  retries: fleet(
    '',
    'gateway: { policy: round-robin, timeout: 2s }',
    '{ users: { timeout: 500ms, retry: { retries: 3 } } }',
    '[{ open: { rate: 480/s, arrivals: poisson } }]',
  ),
  restart: fleet(
    '',
    'gateway: { policy: round-robin, retries: 1, health: { interval: 300ms, timeout: 200ms, fall: 1, rise: 1 } }',
    '{ users: {} }',
    '[{ open: { rate: 300/s, arrivals: poisson } }]',
    'faults: [{ at: 6s, for: 2s, kill: api-2 }]',
  ),
};

for (const [name, text] of Object.entries(cases)) {
  test(`a fleet that is well is told to be: ${name}`, async () => {
    const parsed = parseScenario(text, name);
    if (!('scenario' in parsed)) assert.fail(JSON.stringify(parsed.problems));
    const { scenario } = parsed;
    for (let seed = 1; seed <= 3; seed++) {
      const { diagnosis } = await conduct({
        id: `sim-${seed}`,
        scenario,
        world: simWorld({ scenario, seed }),
        seed,
        startedAt: '1970-01-01T00:00:00Z',
        environment: { plimsoll: 'test' },
        experiments: 'none',
        tell: () => {},
        stop: new AbortController().signal,
      });
      assert.equal(diagnosis.verdict.pattern, 'healthy', `seed ${seed}: ${diagnosis.verdict.sentence}`);
    }
  });
}
