// Fleets that work, with all the unevenness that chance makes: not one may be accused. What an operator collects of such a fleet
// is drawn at random: counters, logs, pages, with settings that many have.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Dice, dice } from '../../base.ts';
import type { Dossier } from '../../record.ts';
import { events, result, type Row, samples, settings, table } from './testing/facts.ts';
import { judged } from './testing/judged.ts';

const seeds = 150;

test('a healthy fleet is never accused', () => {
  const accused: string[] = [];
  let said = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const { verdict } = judged(healthyFleet(dice(seed, 'fleet')));
    if (verdict.pattern === 'healthy') said += 1;
    else if (verdict.pattern !== 'undecided') accused.push(`seed ${seed}: ${verdict.pattern}: ${verdict.sentence}`);
  }
  assert.deepEqual(accused, []);
  assert.ok(said > seeds / 4, `and of ${seeds}, ${said} are said to be healthy`);
});

function healthyFleet(chance: Dice): Partial<Dossier> {
  const count = 2 + chance.below(12);
  const ids = Array.from({ length: count }, (_, index) => `10.0.0.${11 + index}:80`);
  const even = chance.below(2) === 0;
  const total = count * (50 + chance.below(2000));
  const requests = ids.map(() => 0);
  for (let request = 0; request < total; request++) {
    const place = even ? request % count : chance.below(count);
    requests[place] = (requests[place] ?? 0) + 1;
  }
  const policy = ['round-robin', 'least-request', 'random', 'two-choices'][even ? 0 : chance.below(4)];
  const fleet = {
    settings: settings(`
      nginx | upstream app | balance.policy = ${policy}
      nginx | upstream app | upstream.endpoints = ${count}
      nginx | upstream app | upstream.endpoint-list = ${ids.join()}
      nginx | upstream app | upstream.keepalive-connections = 32
      nginx | upstream app | upstream.keepalive-requests = (1000)
      nginx | upstream app | upstream.idle-timeout = (60)
      nginx | upstream app | upstream.max-fails = (1)
      nginx | upstream app | upstream.fail-timeout = (10)
      nginx | main | workers.processes = 4
      nginx | server 80 | workers.reuse-port = (false)
      nginx | location / | upstream.read-timeout = (60)
    `),
    ...(chance.below(2) === 0 ? { samples: scrape(ids, requests, chance) } : {}),
    ...(chance.below(3) > 0 ? { requests: [table('nginx', log(ids, requests, chance))] } : {}),
  };
  return chance.below(3) === 0 ? fleet : joined(fleet, herrings(ids, chance));
}

/** What else lies around: none of it has to do with anything. */
function herrings(ids: readonly string[], chance: Dice): Partial<Dossier> {
  const some = <Fact>(facts: readonly Fact[]): Fact[] => facts.filter(() => chance.below(2) === 0);
  const rate = 100 + chance.below(900);
  return {
    samples: samples(
      some([
        'net_conntrack_count 41000',
        'node_load1 2.1',
        `node_cpu_busy_ratio ${(0.2 + chance.next() * 0.4).toFixed(2)}`,
        'TcpExtListenOverflows 3 3',
        `listen_queue ${chance.below(2)}`,
        'container_cpu_cfs_periods_total{pod=batch-1} 1000 4000',
        'container_cpu_cfs_throttled_periods_total{pod=batch-1} 10 12',
        'db_pool_max_connections{pool=main} 40',
        `db_pool_acquired_connections{pool=main} ${chance.below(25)}`,
        'kube_pod_container_status_restarts_total{pod=batch-1} 1',
        ...ids.map((id) => `process_cpu_ratio{pod=${id}} ${(0.3 + chance.next() * 0.1).toFixed(2)}`),
      ]).join('\n'),
    ),
    settings: settings(
      some([
        'k8s | deployment app | rollout.pre-stop-sleep = 60',
        'k8s | deployment app | health.interval = 10',
        'k8s | deployment app | health.fall = 3',
        'kernel | sysctl | kernel.somaxconn = 4096',
        'kernel | sysctl | kernel.conntrack-max = 262144',
        'app | pool main | pool.size = 40',
        'app | pool main | pool.acquire-timeout = 5',
        'app | calls | route.retries = 1',
        'app | calls | retry.backoff = 0.1',
        'k8s | deployment app | cpu.limit = 2',
        'app | server | downstream.keepalive-timeout = 75',
      ]).join('\n'),
    ),
    events: events(some(['3 deploy billing | version 12', '9 scaled batch | 3 -> 4', '14 note | lunch']).join('\n')),
    results: some([
      result('k6', {
        requests: rate * 60,
        ratePerSecond: rate,
        plannedRatePerSecond: rate,
        errors: 0,
        dropped: 0,
        users: 20,
        usersMax: 200,
        seconds: 60,
        latency: { mean: 0.03, '0.5': 0.028, '0.95': 0.06, '0.99': 0.08, '1': 0.2 },
      }),
    ]),
  };
}

function joined(one: Partial<Dossier>, other: Partial<Dossier>): Partial<Dossier> {
  return {
    ...one,
    ...other,
    samples: [...(one.samples ?? []), ...(other.samples ?? [])],
    settings: [...(one.settings ?? []), ...(other.settings ?? [])],
  };
}

function scrape(ids: readonly string[], requests: readonly number[], chance: Dice) {
  const lines = ids.flatMap((id, index) => {
    const own = requests[index] ?? 0;
    return [
      `http_requests_total{pod=${id}} 0 ${own}`,
      `http_connections_open{pod=${id}} ${7 + chance.below(3)} ${7 + chance.below(3)}`,
      `http_request_duration_seconds_sum{pod=${id}} 0 ${(own * (0.02 + chance.below(100) / 1e5)).toFixed(4)}`,
      `http_request_duration_seconds_count{pod=${id}} 0 ${own}`,
      `http_errors_total{pod=${id}} 0 0`,
      `up{pod=${id}} 1 1`,
    ];
  });
  return samples(lines.join('\n'));
}

/** A few hundred requests of those, with times that are exponential beside a constant part. */
function log(ids: readonly string[], requests: readonly number[], chance: Dice): Row[] {
  const all = ids.flatMap((replica, index) =>
    Array.from({ length: Math.min(200, requests[index] ?? 0) }, () => replica),
  );
  return all.map((replica, index) => {
    const seconds = 0.01 + chance.exponential(0.01);
    return { at: index / 20, replica, seconds: seconds + 0.001, upstream: seconds, status: 200, route: 'GET /' };
  });
}
