// Dossiers that look like a fault in all but one point. Each theory has to notice the point: it is not established, and where
// the point is necessary it is refuted.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Dossier } from '../../../record.ts';
import type { DossierSlug } from '../slugs.ts';
import { result, type Row, said, samples, series, settings, table } from '../testing/facts.ts';
import { judged, standing } from '../testing/judged.ts';

interface Nearly {
  readonly theory: DossierSlug;
  readonly but: string;
  readonly stands: 'refuted' | 'possible' | 'untestable' | 'silent';
  readonly facts: Partial<Dossier>;
}

const rows = (count: number, each: (index: number) => Row): Row[] =>
  Array.from({ length: count }, (_, index) => each(index));

const retryCourse = (demand: string, tries: string, success: string): Partial<Dossier> => ({
  settings: settings(
    'client | policy | route.retries = 2 | client.yaml\nserver | app | workers.count = 5 | server.yaml',
  ),
  series: series(`
    client_requests_per_second ${demand}
    attempts_per_second ${tries}
    success_per_second ${success}
    service_time_seconds 0.02x20 0.1x5 0.02x75
  `),
});

const backlog = (parts: {
  readonly order?: string;
  readonly completed?: string;
  readonly goodput?: string;
  readonly queue?: string;
  readonly tries?: string;
  readonly arrivals?: string;
}): Partial<Dossier> => ({
  settings: settings(
    `client | app | downstream.request-timeout = 5 | notes.yaml\nserver | app | workers.queue-order = ${parts.order ?? 'fifo'} | notes.yaml`,
  ),
  series: series(`
    offered_requests_per_second ${parts.arrivals ?? '95x100'}
    goodput_per_second ${parts.goodput ?? '95x20 30x5 0x75'}
    completed_per_second ${parts.completed ?? '95x20 100x80'}
    queue_length ${parts.queue ?? '0x20 500x5 1200x75'}
    ${parts.tries === undefined ? '' : `attempts_per_second ${parts.tries}`}
  `),
});

const pool = (more: string): Dossier['settings'] => settings(`app | pool main | pool.size = 20 | app.yaml\n${more}`);

const nearly: readonly Nearly[] = [
  {
    theory: 'metastable-retry',
    but: 'the demand doubled',
    stands: 'refuted',
    facts: retryCourse('100x20 220x80', '100x20 660x80', '100x20 0x80'),
  },
  {
    theory: 'metastable-retry',
    but: 'it recovered',
    stands: 'refuted',
    facts: retryCourse('100x100', '100x20 300x80', '100x20 0x5 90x75'),
  },
  {
    theory: 'metastable-retry',
    but: 'hardly anything is tried again',
    stands: 'possible',
    facts: retryCourse('100x100', '100x20 120x80', '100x20 0x80'),
  },
  {
    theory: 'metastable-stale-backlog',
    but: 'the newest is served first',
    stands: 'refuted',
    facts: backlog({ order: 'lifo' }),
  },
  {
    theory: 'metastable-stale-backlog',
    but: 'it is made of tries',
    stands: 'refuted',
    facts: backlog({ tries: '95x20 300x80' }),
  },
  {
    theory: 'metastable-stale-backlog',
    but: 'it is worked off in two seconds',
    stands: 'refuted',
    facts: backlog({ queue: '0x20 150x5 200x75' }),
  },
  {
    theory: 'metastable-stale-backlog',
    but: 'the arrivals ended',
    stands: 'possible',
    facts: backlog({ arrivals: '95x20 10x80', queue: '0x20 900x80' }),
  },
  {
    theory: 'circuit-breaker-overflow',
    but: 'what was flagged had been at a server',
    stands: 'refuted',
    facts: {
      requests: [
        table(
          'envoy',
          rows(60, (index) => ({ at: index, seconds: 0.2, upstream: 0.2, status: 503, flag: 'UO', replica: 'a:1' })),
        ),
      ],
    },
  },
  {
    theory: 'dependency-pool-exhaustion',
    but: 'failures take another time than the acquire timeout',
    stands: 'possible',
    facts: {
      settings: pool('app | pool main | pool.acquire-timeout = 3 | app.yaml'),
      samples: samples('hikaricp_connections_active{pool=main} 20 20'),
      requests: [
        table(
          'app',
          rows(30, (index) => ({ at: index, seconds: 0.9, status: 500 })),
        ),
      ],
    },
  },
  {
    theory: 'dependency-pool-exhaustion',
    but: 'few gave up',
    stands: 'possible',
    facts: {
      settings: pool(''),
      samples: samples(
        'hikaricp_connections_active{pool=main} 20 20\nhikaricp_connections_timeout_total{pool=main} 0 30\nhikaricp_connections_acquired_total{pool=main} 0 9000',
      ),
    },
  },
  {
    theory: 'dependency-pool-exhaustion',
    but: 'it said so twice only',
    stands: 'possible',
    facts: {
      messages: said(
        'app',
        'pool-timeout',
        'HikariPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=25)',
        2,
      ),
    },
  },
  {
    theory: 'acquire-timeout-too-short',
    but: 'connections were free at the failures',
    stands: 'refuted',
    facts: {
      settings: pool(
        'app | pool main | pool.acquire-timeout = 0.3 | app.yaml\napp | pool main | pool.hold-time = 0.2 | app.yaml',
      ),
      messages: [
        ...said('app', 'pool-timeout', 'Timeout failure stats (total=20, active=11, idle=9, waiting=80)', 5),
        ...said('app', 'pool', 'Pool stats (total=20, active=2, idle=18, waiting=0)', 5),
      ],
    },
  },
  {
    theory: 'acquire-timeout-too-short',
    but: 'the pool never comes free',
    stands: 'refuted',
    facts: {
      settings: pool(
        'app | pool main | pool.acquire-timeout = 0.3 | app.yaml\napp | pool main | pool.hold-time = 0.2 | app.yaml',
      ),
      messages: [
        ...said('app', 'pool-timeout', 'Timeout failure stats (total=20, active=20, idle=0, waiting=80)', 8),
        ...said('app', 'log-debug', 'Pool stats (total=20, active=20, idle=0, waiting=81)', 4),
      ],
    },
  },
  {
    theory: 'acquire-timeout-too-short',
    but: 'the queue is a minute long',
    stands: 'possible',
    facts: {
      settings: pool(
        'app | pool main | pool.acquire-timeout = 0.3 | app.yaml\napp | pool main | pool.hold-time = 6 | app.yaml',
      ),
      messages: [
        ...said('app', 'pool-timeout', 'Timeout failure stats (total=20, active=20, idle=0, waiting=200)', 5),
        ...said('app', 'pool', 'Pool stats (total=20, active=2, idle=18, waiting=0)', 5),
      ],
    },
  },
  {
    theory: 'accept-queue-overflow',
    but: 'the queue had room, and nothing shows steps',
    stands: 'possible',
    facts: {
      samples: samples(
        'TcpExtListenOverflows 5 40\nlisten_accept_queue{listener=:80} 12\nlisten_accept_queue_limit{listener=:80} 511',
      ),
    },
  },
  {
    theory: 'accept-queue-overflow',
    but: 'the slow tail has no gap before it',
    stands: 'possible',
    facts: {
      samples: samples('TcpExtListenOverflows 5 105'),
      results: [
        result('hey', {
          requests: 1000,
          latency: { '1': 1.4 },
          histogram: [
            { seconds: 0, count: 700 },
            { seconds: 0.35, count: 100 },
            { seconds: 0.6, count: 100 },
            { seconds: 0.9, count: 100 },
          ],
        }),
      ],
    },
  },
  {
    theory: 'conntrack-full',
    but: 'a tenth of it is free',
    stands: 'possible',
    facts: { samples: samples('node_nf_conntrack_entries 236000\nnode_nf_conntrack_entries_limit 262144') },
  },
  {
    theory: 'proxy-port-exhaustion',
    but: 'half of the ports are free',
    stands: 'possible',
    facts: { samples: samples('sockets_to_peer{peer=10.0.0.9:80} 15000') },
  },
  {
    theory: 'proxy-port-exhaustion',
    but: 'hardly a port is in use',
    stands: 'refuted',
    facts: {
      messages: said(
        'nginx',
        'address-not-available',
        'bind() to 10.0.0.1 failed (99: Cannot assign requested address)',
        3,
      ),
      samples: samples('tcp_time_wait 40'),
    },
  },
  {
    theory: 'cpu-throttling',
    but: 'it was as slow without the limit',
    stands: 'possible',
    facts: {
      samples: [
        ...samples(
          'container_cpu_cfs_periods_total{pod=a} 0 1000\ncontainer_cpu_cfs_throttled_periods_total{pod=a} 0 30',
        ),
        ...samples('throttled_periods_delta 25\np99_ms 60', 'limit-removed.json'),
      ],
    },
  },
  {
    theory: 'dns-quantised-delay',
    but: 'most lookups are late',
    stands: 'refuted',
    facts: {
      samples: samples(
        rows(20, () => ({}))
          .map((_, index) => `time_namelookup ${index < 14 ? 5.01 : 0.002}`)
          .join('\n'),
        'lookups.csv',
      ),
    },
  },
  {
    theory: 'dns-quantised-delay',
    but: 'the slow calls are slow after the lookup',
    stands: 'refuted',
    facts: {
      samples: samples(
        rows(20, () => ({}))
          .map(
            (_, index) =>
              `time_namelookup ${index % 9 === 4 ? 5.01 : 0.002}\ntime_total ${index % 9 === 4 ? 9.6 : 0.03}`,
          )
          .join('\n'),
        'calls.csv',
      ),
    },
  },
  {
    theory: 'overload-open-loop',
    but: 'latency did not grow as the backlog would',
    stands: 'possible',
    facts: {
      results: [
        result('wrk2', {
          requests: 30_000,
          plannedRatePerSecond: 1000,
          ratePerSecond: 500,
          seconds: 60,
          latency: { '0.5': 0.02, '1': 0.3 },
          uncorrected: { '0.5': 0.02 },
        }),
      ],
    },
  },
  {
    theory: 'overload-open-loop',
    but: 'it was over after a moment',
    stands: 'refuted',
    facts: {
      series: series(
        'offered_requests_per_second 100x50 140x5 100x45\ncompleted_requests_per_second 100x100\nqueue_length 0x50 100x5 0x45',
      ),
    },
  },
  {
    theory: 'overload-open-loop',
    but: 'the queue does not grow',
    stands: 'possible',
    facts: {
      series: series('offered_requests_per_second 120x100\ncompleted_requests_per_second 100x100\nqueue_length 3x100'),
    },
  },
  {
    theory: 'generator-port-exhaustion',
    but: 'connections are reused',
    stands: 'refuted',
    facts: {
      settings: settings('load-generator | options | load.reuses-connections = true | options.json'),
      messages: said('k6', 'address-not-available', 'connect: cannot assign requested address', 5),
      results: [result('k6', { requests: 1000, ratePerSecond: 100, seconds: 10, errors: 5 })],
    },
  },
  {
    theory: 'generator-saturated',
    but: 'users are to spare, it dropped little, and its processor is idle',
    stands: 'possible',
    facts: {
      samples: samples('cpu_usage_percent{host=loadgen-1} 40'),
      results: [
        result('k6', {
          requests: 30_000,
          plannedRatePerSecond: 1000,
          ratePerSecond: 500,
          seconds: 60,
          dropped: 100,
          users: 50,
          usersMax: 200,
        }),
      ],
    },
  },
  {
    theory: 'closed-loop-artifact',
    but: 'rate × response time is not the number of clients',
    stands: 'refuted',
    facts: {
      settings: settings('load-generator | command | load.connections = 50 | run.sh'),
      series: series('requests_per_second 200x30 2000x30\nlatency_mean_seconds 0.02x60'),
    },
  },
  {
    theory: 'closed-loop-artifact',
    but: 'the generator has a rate',
    stands: 'refuted',
    facts: {
      settings: settings(
        'load-generator | command | load.connections = 40 | run.sh\nload-generator | command | load.rate = 2000 | run.sh',
      ),
      series: series('requests_per_second 2000x30 200x30\nlatency_mean_seconds 0.02x30 0.2x30'),
    },
  },
  {
    theory: 'dependency-pool-exhaustion',
    but: 'the pool was never full',
    stands: 'refuted',
    facts: { settings: pool(''), samples: samples('hikaricp_connections_active{pool=main} 18') },
  },
  {
    theory: 'retry-storm',
    but: 'the tries end when the caller does',
    stands: 'possible',
    facts: {
      settings: settings('caller | app | downstream.request-timeout = 60 | notes.yaml'),
      samples: samples('requests_total 0 100\nupstream_calls_total 0 200'),
      requests: [
        table(
          'app',
          rows(12, (index) => ({ at: index * 4, attempts: index + 1, status: 503 })),
        ),
      ],
    },
  },
  {
    theory: 'metastable-retry',
    but: 'tries fit into the capacity',
    stands: 'possible',
    facts: {
      settings: settings(
        'client | policy | route.retries = 1 | client.yaml\nserver | app | workers.count = 50 | server.yaml',
      ),
      series: series(`
        client_requests_per_second 100x100
        success_per_second 100x20 0x80
        service_time_seconds 0.02x20 0.1x5 0.02x75
      `),
    },
  },
  {
    theory: 'metastable-stale-backlog',
    but: 'what is finished serves somebody',
    stands: 'possible',
    facts: {
      settings: settings('client | app | downstream.request-timeout = 5 | notes.yaml'),
      samples: samples('pending_requests 3000\ncompleted_per_second 100\nsuccess_per_s 95'),
    },
  },
];

for (const { theory, but, stands, facts } of nearly) {
  test(`nearly ${theory}, but ${but}`, () => {
    assert.equal(standing(judged(facts), theory), stands);
  });
}
