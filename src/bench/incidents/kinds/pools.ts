// Pools and bounds that are the capacity, demand beyond it, and a cache that no longer spares what stands behind it.

import { counting, stepped, steppedCounts, type Kind } from '../kind.ts';
import { type LogRow, accessLog, csv, iso, queryRange, scrape, text } from '../writers.ts';

const breakerOverflow: Kind = {
  slug: 'circuit-breaker-overflow',
  make(draw) {
    const { service } = draw;
    const limit = draw.pick([3, 16, 64, 100]);
    const hosts = draw.addresses(2, 9080);
    const rows = Array.from({ length: 240 }, (_, index): LogRow => {
      const refused = draw.chance(0.3);
      return {
        startMs: draw.beganMs + index * 20,
        seconds: refused ? 0 : 0.3,
        status: refused ? 503 : 200,
        replica: refused ? undefined : hosts[index % 2],
        ...(refused ? { flag: 'UO' } : {}),
      };
    });
    const overflow = draw.count(400, 2000);
    const labels = { envoy_cluster_name: service };
    return {
      culprit: [service],
      signals: [
        accessLog(draw, rows, 'envoy'),
        text('cluster.yaml', [
          `name: ${service}`,
          'connect_timeout: 1s',
          'type: STRICT_DNS',
          `circuit_breakers: {thresholds: [{max_requests: ${limit}, max_pending_requests: ${limit}}]}`,
        ]),
        text('stats.txt', [
          `cluster.${service}.upstream_rq_pending_overflow: ${overflow}`,
          `cluster.${service}.upstream_rq_active: ${limit}`,
          `cluster.${service}.circuit_breakers.default.rq_open: 1`,
          `cluster.${service}.upstream_rq_total: ${overflow * 4}`,
        ]),
        queryRange('query-range.json', draw.beganMs, 15, [
          {
            name: 'envoy_cluster_upstream_rq_pending_overflow',
            labels,
            values: [0, 0, ...counting(0, [overflow / 3, overflow / 3, overflow / 3])],
          },
          { name: 'envoy_cluster_upstream_rq_active', labels, values: [limit * 0.6, limit * 0.9, limit, limit, limit] },
          { name: 'envoy_cluster_circuit_breakers_default_rq_open', labels, values: [0, 0, 1, 1, 1] },
          { name: 'envoy_cluster_upstream_rq_total', labels, values: counting(1000, [1000, 1000, 900, 800, 800]) },
        ]),
      ],
    };
  },
};

const poolExhaustion: Kind = {
  slug: 'dependency-pool-exhaustion',
  make(draw) {
    const size = draw.pick([5, 10, 20, 40]);
    const at = (index: number): string => iso(draw.beganMs + index * 900);
    return {
      signals: [
        text(
          'app.log',
          Array.from(
            { length: 40 },
            (_, index) =>
              `${at(index).replace('T', ' ').replace('Z', '')} ERROR [app.api] sqlalchemy.exc.TimeoutError: QueuePool limit of size ${size} overflow 0 reached, connection timed out, timeout 30.00`,
          ),
        ),
        scrape('pool.prom', [
          { name: 'hikaricp_connections_max', labels: { pool: 'main' }, value: size },
          { name: 'hikaricp_connections_active', labels: { pool: 'main' }, value: size },
          { name: 'hikaricp_connections_pending', labels: { pool: 'main' }, value: draw.count(40, 300) },
        ]),
        csv(
          'pool.csv',
          ['time', 'pool_in_use', 'pool_max', 'pool_waiting'],
          Array.from({ length: 14 }, (_, index) => [
            iso(draw.beganMs + index * 2000),
            size,
            size,
            40 + index * draw.count(3, 9),
          ]),
        ),
        csv(
          'db.csv',
          ['metric', 'value'],
          [
            ['db_active_connections', size],
            ['db_max_connections', 200],
            ['db_cpu_percent', draw.count(5, 20)],
          ],
        ),
      ],
    };
  },
};

const acquireTooShort: Kind = {
  slug: 'acquire-timeout-too-short',
  make(draw) {
    const size = draw.pick([30, 50]);
    const limit = draw.pick([50, 100]);
    return {
      signals: [
        scrape('stats.prom', [
          { name: 'db_pool_max_connections', labels: {}, value: size },
          { name: 'db_pool_acquire_timeouts_total', labels: {}, value: draw.count(400, 2000) },
          { name: 'db_pool_hold_seconds', labels: { quantile: '0.5' }, value: (limit / 1000) * 1.1 },
        ]),
        text('settings.env', [`DB_POOL_MAX=${size}`, `DB_ACQUIRE_TIMEOUT_MS=${limit}`]),
        queryRange('query-range.json', draw.beganMs, 15, [
          {
            name: 'db_pool_acquired_connections',
            labels: { service: draw.service },
            values: [9, size, 11, 8, size, 12, 10],
          },
          { name: 'db_pool_waiting', labels: { service: draw.service }, values: [0, 40, 0, 0, 38, 0, 0] },
        ]),
        text('client.yaml', ['http:', '  pool:', `    max-size: ${size}`, `    acquire-timeout: ${limit}ms`]),
        text(
          'client.log',
          Array.from({ length: 90 }, (_, index) => {
            const at = iso(draw.beganMs + index * 3000);
            const busy = draw.count(8, 18);
            return index % 3 === 0
              ? `${at} WARN o.a.h.i.c.PoolingHttpClientConnectionManager ConnectionPoolTimeoutException: Timeout waiting for connection from pool [leased: ${size}; pending: ${draw.count(50, 70)}; available: 0; max: ${size}]`
              : `${at} DEBUG o.a.h.i.c.PoolingHttpClientConnectionManager Pool stats [leased: ${busy}; pending: 0; available: ${size - busy}; max: ${size}]`;
          }),
        ),
        scrape('pool.prom', [
          {
            name: 'http_pool_hold_seconds',
            labels: { quantile: '0.5' },
            value: (limit / 1000) * draw.between(0.7, 1.1),
          },
          { name: 'http_pool_hold_seconds', labels: { quantile: '0.99' }, value: (limit / 1000) * 2 },
          { name: 'remote_busy_ratio', labels: {}, value: draw.between(0.1, 0.4) },
        ]),
      ],
    };
  },
};

const workerPool: Kind = {
  slug: 'worker-pool-exhaustion',
  make(draw) {
    const workers = draw.pick([8, 16, 32]);
    const labels = { job: draw.service };
    const slow = draw.between(4, 12);
    return {
      onsetMs: draw.beganMs + 90_000,
      signals: [
        queryRange('query-range.json', draw.beganMs, 15, [
          {
            name: 'workers_busy',
            labels,
            values: [...steppedCounts(draw, [[workers * 0.15, 6]], 0.2), ...steppedCounts(draw, [[workers, 14]], 0)],
          },
          {
            name: 'dependency_latency_seconds',
            labels,
            values: stepped(
              draw,
              [
                [0.04, 6],
                [slow, 14],
              ],
              0.03,
            ),
          },
        ]),
        text('app.yaml', [`workers: ${workers}`]),
        scrape('process.prom', [{ name: 'process_cpu_ratio', labels, value: draw.between(0.06, 0.2) }]),
        scrape('workers.prom', [
          { name: 'workers_busy', labels, value: workers },
          { name: 'workers_max', labels, value: workers },
        ]),
      ],
    };
  },
};

const overload: Kind = {
  slug: 'overload-open-loop',
  alike: ['overload'],
  make(draw) {
    const rate = draw.pick([1000, 2000, 4000]);
    const done = rate * draw.between(0.45, 0.7);
    const labels = { job: draw.service };
    // What was asked in the last second has waited for all that had piled up in the minute.
    const last = 60 * (1 - done / rate);
    const waited = (part: number): string => (last * part).toFixed(2);
    return {
      signals: [
        text('wrk2.txt', [
          'Running 1m test @ http://10.0.0.1/',
          '  4 threads and 400 connections',
          '  Thread calibration: mean lat.: 4000.100ms, rate sampling interval: 15000ms',
          '  Thread Stats   Avg      Stdev     Max   +/- Stdev',
          `    Latency    ${waited(0.5)}s     ${waited(0.29)}s   ${waited(1)}s    57.00%`,
          '    Req/Sec   250.00     10.00   270.00     70.00%',
          '  Latency Distribution (HdrHistogram - Recorded Latency)',
          ` 50.000%   ${waited(0.5)}s`,
          ` 75.000%   ${waited(0.75)}s`,
          ` 90.000%   ${waited(0.9)}s`,
          ` 99.000%   ${waited(0.99)}s`,
          `  ${Math.round(done * 60)} requests in 1.00m, 18.00MB read`,
          `Requests/sec:   ${done.toFixed(2)}`,
          'Transfer/sec:    307.20KB',
        ]),
        text('command.sh', [`wrk2 -t4 -c400 -d60s -R${rate} --latency http://10.0.0.1/`]),
        scrape('server.prom', [{ name: 'process_cpu_ratio', labels, value: draw.between(0.97, 0.999) }]),
        queryRange('query-range.json', draw.beganMs, 15, [
          { name: 'offered_requests_per_second', labels, values: stepped(draw, [[rate, 8]], 0.005) },
          { name: 'completed_per_second', labels, values: stepped(draw, [[done, 8]], 0.01) },
          { name: 'process_cpu_ratio', labels, values: stepped(draw, [[0.985, 8]], 0.005) },
          {
            name: 'queue_length',
            labels,
            values: Array.from({ length: 8 }, (_, index) => 10 + (rate - done) * 15 * index),
          },
        ]),
      ],
    };
  },
};

const cacheStampede: Kind = {
  slug: 'cache-stampede',
  make(draw) {
    const rate = draw.count(500, 3000);
    const labels = { job: draw.service };
    const [hit, fallen] = [draw.between(0.9, 0.97), draw.between(0.1, 0.35)];
    const columns = {
      hit: stepped(
        draw,
        [
          [hit, 6],
          [fallen, 12],
        ],
        0.02,
      ),
      asked: stepped(draw, [[rate, 18]], 0.02),
      behind: stepped(
        draw,
        [
          [rate * (1 - hit), 6],
          [rate * (1 - fallen), 12],
        ],
        0.02,
      ),
    };
    return {
      onsetMs: draw.beganMs + 90_000,
      signals: [
        queryRange('query-range.json', draw.beganMs, 15, [
          { name: 'cache_hit_ratio', labels, values: columns.hit },
          { name: 'client_requests_per_second', labels, values: columns.asked },
          { name: 'database_queries_per_second', labels, values: columns.behind },
        ]),
        csv(
          'minutes.csv',
          ['time', 'cache_hit_ratio', 'client_requests_per_second', 'database_queries_per_second'],
          columns.hit.map((value, index) => [
            iso(draw.beganMs + index * 15_000),
            value,
            columns.asked[index] ?? 0,
            columns.behind[index] ?? 0,
          ]),
        ),
      ],
    };
  },
};

export const poolKinds: readonly Kind[] = [
  breakerOverflow,
  poolExhaustion,
  acquireTooShort,
  workerPool,
  overload,
  cacheStampede,
];
