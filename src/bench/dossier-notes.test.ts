// The same incidents when a person tells in notes what the small JSON and CSV files of the cases say: the settings, the order of a
// list, what was changed when. Nothing more is told, and the verdict must be the same.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { diagnoseDossier } from '../diagnose.ts';
import { readDossier } from '../observe.ts';

interface Told {
  readonly name: string;
  readonly pattern: string;
  /** Files that the notes stand for. */
  readonly instead: readonly string[];
  readonly notes: string;
}

const told: readonly Told[] = [
  {
    name: 'many-cursors-one-beginning',
    pattern: 'rr-synchronised-start',
    instead: ['controllers.json', 'events.jsonl'],
    notes: `
settings:
  - { program: ingress-nginx, scope: controllers, set: { balance.policy: round-robin, replicas.count: 2, workers.processes: 16 } }
events:
  - { at: 2026-03-02T10:00:00Z, event: backend-sync, subject: default/shop, detail: endpoints=60 }
  - { at: 2026-03-02T10:00:20Z, event: backend-sync, subject: default/shop, detail: endpoints=60 }
  - { at: 2026-03-02T10:00:40Z, event: backend-sync, subject: default/shop, detail: endpoints=60 }`,
  },
  {
    name: 'two-routes-one-cursor',
    pattern: 'rr-parity-lock',
    instead: ['registry.json', 'gateway.yaml'],
    notes: `
registry:
  service-a: [10.0.1.11:8080]
  service-b: [10.0.2.11:8080, 10.0.2.12:8080]`,
  },
  {
    name: 'http2-generator-through-tcp',
    pattern: 'generator-single-connection',
    instead: ['attack.json'],
    notes: `
settings:
  - program: vegeta
    set: { load.tool: vegeta, load.rate: 500, load.seconds: 60s, load.http2: true, load.reuses-connections: true }
counts:
  - { name: load_requests, value: 30000 }`,
  },
  {
    name: 'eight-preforked-workers',
    pattern: 'benign-accept-order',
    instead: ['uwsgi-stats.json'],
    notes: `
counts:
  - { name: requests, by: worker, values: { '1': 4790, '2': 5649, '3': 4855, '4': 5024, '5': 5963, '6': 6731, '7': 9339, '8': 27883 } }
  - { name: mean_ms, by: worker, values: { '1': 5, '2': 13, '3': 5, '4': 6, '5': 7, '6': 12, '7': 20, '8': 16 } }
  - { name: listen_queue, value: 0 }`,
  },
  {
    name: 'sixteen-workers-one-socket',
    pattern: 'accept-imbalance',
    instead: ['pidstat.csv', 'worker-connections.csv'],
    notes: `
counts:
  - { name: connections, by: worker, values: { a: 59114, b: 27425, c: 9846, d: 3769, e: 898, f: 98, g: 11, h: 2, i: 0, j: 0 } }
  - { name: cpu_percent, by: worker, values: { a: 100, b: 78.4, c: 28.1, d: 11, e: 2.7, f: 0.3, g: 0, h: 0, i: 0, j: 0 } }`,
  },
  {
    name: 'pauses-then-instant-errors',
    pattern: 'keepalive-race',
    instead: ['server.json'],
    notes: `
settings:
  - { program: node, scope: server, implied: true, set: { downstream.keepalive-timeout: 5s, downstream.header-timeout: 60s } }`,
  },
  {
    name: 'rare-502-without-target-status',
    pattern: 'keepalive-race',
    instead: ['server.json'],
    notes: `
settings:
  - { program: node, scope: server, set: { downstream.keepalive-timeout: 5s, downstream.header-timeout: 60s } }`,
  },
  {
    name: 'short-slowdown-long-storm',
    pattern: 'metastable-retry',
    instead: ['client-policy.json', 'events.jsonl', 'server.json'],
    notes: `
settings:
  - { program: client, set: { load.model: open, load.rate: 50, route.per-try-timeout: 200ms, route.retries: 3, retry.backoff: 0s } }
  - { program: server, set: { workers.count: 4, workers.service-time: 25ms, workers.queue-order: fifo, workers.cancels-abandoned: false } }
events:
  - { at: 1772964010, event: dependency latency 25ms -> 100ms }
  - { at: 1772964010.65, event: dependency latency back to 25ms }`,
  },
  {
    name: 'loop-on-instant-503',
    pattern: 'closed-loop-artifact',
    instead: ['generator.json'],
    notes: `
settings:
  - { program: wrk, set: { load.tool: wrk, load.threads: 10, load.connections: 100, load.reuses-connections: true } }`,
  },
  {
    name: 'ports-of-the-generator',
    pattern: 'generator-port-exhaustion',
    instead: ['options.json'],
    notes: `
settings:
  - { program: k6, set: { load.users: 320, load.seconds: 60s, load.reuses-connections: false } }`,
  },
  {
    name: 'sleep-equal-to-detection',
    pattern: 'drain-race',
    instead: ['events.jsonl'],
    notes: `
events:
  - { at: 2026-03-13T16:00:00Z, event: pod-terminating, subject: proxy-0, detail: ip=10.0.22.11 }
  - { at: 2026-03-13T16:00:34Z, event: unhealthy, subject: 10.0.22.11 }
  - { at: 2026-03-13T15:59:50Z, event: pod-ready, subject: proxy-2, detail: ip=10.0.22.13 }`,
  },
  {
    name: 'slow-while-rolling',
    pattern: 'cold-start',
    instead: ['rollouts.jsonl'],
    notes: `
events:
  - { at: 1772964120, event: rollout-start, detail: version 2 }
  - { at: 1772964360, event: rollout-end, detail: version 2 }`,
  },
  {
    name: 'twice-what-it-can',
    pattern: 'overload-open-loop',
    instead: ['command.json'],
    notes: `
settings:
  - { program: wrk2, set: { load.threads: 4, load.connections: 10, load.seconds: 60s, load.rate: 1000 } }`,
  },
  {
    name: 'streams-on-one-connection',
    pattern: 'h2-stream-cap',
    instead: ['settings.json'],
    notes: `
settings:
  - { program: server, set: { h2.max-concurrent-streams: 250 } }
  - { program: client, set: { h2.connections: 1 } }`,
  },
  {
    name: 'sessions-after-scaling',
    pattern: 'lb-state-reset',
    instead: ['health.json', 'upstream.json', 'sessions.jsonl'],
    notes: `
settings:
  - { program: gateway, scope: upstream sessions, set: { balance.policy: least_conn } }
registry:
  sessions: [{ endpoint: a, health: healthy }, { endpoint: b, health: healthy }, { endpoint: c, health: healthy }]
events:
  - { at: 2026-03-15T10:00:01Z, event: open, subject: a, detail: session 1 }
  - { at: 2026-03-15T10:00:02Z, event: open, subject: b, detail: session 2 }
  - { at: 2026-03-15T10:00:03Z, event: open, subject: b, detail: session 3 }
  - { at: 2026-03-15T10:00:04Z, event: open, subject: a, detail: session 4 }
  - { at: 2026-03-15T10:01:00Z, event: upstream-change, detail: 'nodes=a,b,c' }
  - { at: 2026-03-15T10:01:05Z, event: open, subject: a, detail: session 5 }
  - { at: 2026-03-15T10:01:06Z, event: open, subject: c, detail: session 6 }`,
  },
  {
    name: 'fails-in-two-milliseconds',
    pattern: 'fast-fail-blackhole',
    instead: ['cluster.json', 'hosts.csv'],
    notes: `
settings:
  - { program: envoy, scope: cluster app, set: { balance.policy: LEAST_REQUEST, health.path: /healthz, outlier.enabled: false } }
counts:
  - { name: requests, by: host, values: { a: 234, b: 230, c: 5073, d: 233, e: 230 } }
  - { name: errors_5xx, by: host, values: { a: 0, b: 0, c: 5073, d: 0, e: 0 } }
  - { name: mean_ms, by: host, values: { a: 120, b: 120, c: 2, d: 120, e: 120 } }
  - { name: in_flight, by: host, values: { a: 1, b: 1, c: 0, d: 1, e: 1 } }`,
  },
  {
    name: 'neighbour-of-the-unhealthy',
    pattern: 'rr-next-host-dogpile',
    instead: ['hosts.csv'],
    notes: `
registry:
  service: [{ endpoint: a, health: healthy }, { endpoint: b, health: unhealthy }, c, d, e, f]
counts:
  - { name: requests, by: endpoint, values: { f: 1000, e: 1000, d: 1000, c: 2000, b: 0, a: 1000 } }`,
  },
  {
    name: 'step-at-one-second',
    pattern: 'accept-queue-overflow',
    instead: ['netstat-delta.json'],
    notes: `
counts:
  - { name: TcpExtListenOverflows, value: 11, type: counter }
  - { name: TcpExtListenOverflows, value: 215, type: counter }`,
  },
  {
    name: 'tracked-but-closed',
    pattern: 'conntrack-full',
    instead: ['conntrack-states.csv', 'load.json'],
    notes: `
settings:
  - { program: load, set: { load.rate: 1300, load.reuses-connections: false } }
counts:
  - { name: conntrack_entries, by: state, values: { CLOSE_WAIT: 602930, TIME_WAIT: 41200, ESTABLISHED: 9800, SYN_SENT: 1430 } }`,
  },
];

const folder = fileURLToPath(new URL('../observe/fixtures/cases/', import.meta.url));

for (const { name, pattern, instead, notes } of told) {
  test(`${name}, told in notes, is ${pattern}`, () => {
    const files = readdirSync(join(folder, name))
      .filter((file) => !instead.includes(file))
      .map((file) => ({ name: file, text: readFileSync(join(folder, name, file), 'utf8') }));
    assert.equal(files.length + instead.length, readdirSync(join(folder, name)).length, 'the files are there');
    const { dossier, problems } = readDossier([
      ...files,
      { name: 'notes.yaml', text: `plimsoll_notes: 1\n${notes}\n` },
    ]);
    assert.deepEqual(problems, []);
    const { verdict, theories } = diagnoseDossier(dossier);
    const why = theories.find(({ theory }) => theory === pattern)?.reason ?? 'nothing is about it';
    assert.equal(verdict.pattern, pattern, `${verdict.sentence} ${why}`);
  });
}
