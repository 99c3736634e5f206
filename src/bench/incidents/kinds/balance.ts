// Who gets the requests.

import type { Draw } from '../draw.ts';
import { imaginedLog } from '../imagined.ts';
import { type Kind, stepped } from '../kind.ts';
import {
  accessLog,
  csv,
  events,
  json,
  kubectlTop,
  type LogRow,
  queryRange,
  scrape,
  secondTap,
  type Signal,
  text,
} from '../writers.ts';

/** Counters of requests and a gauge of connections, by replica. */
function countersOf(
  draw: Draw,
  replicas: readonly string[],
  requests: readonly number[],
  connections: readonly number[],
): Signal {
  const label = draw.pick(['pod', 'instance', 'server']);
  const name = draw.pick(['http_server_requests_total', 'grpc_server_handled_total', 'http_requests_total']);
  return scrape('replicas.prom', [
    ...replicas.map((id, index) => ({ name, labels: { [label]: id }, value: requests[index] ?? 0 })),
    ...replicas.map((id, index) => ({
      name: 'server_connections',
      labels: { [label]: id },
      value: connections[index] ?? 0,
    })),
  ]);
}

function ratesOf(
  draw: Draw,
  replicas: readonly string[],
  rates: readonly number[],
  connections: readonly number[],
): Signal {
  return queryRange('query-range.json', draw.beganMs, 15, [
    ...replicas.map((pod, index) => ({
      name: 'requests_per_second',
      labels: { pod },
      values: stepped(draw, [[rates[index] ?? 0, 12]]),
    })),
    ...replicas.map((pod, index) => ({
      name: 'open_connections',
      labels: { pod },
      values: stepped(draw, [[connections[index] ?? 0, 12]], 0),
    })),
  ]);
}

const topOf = (draw: Draw, replicas: readonly string[], shares: readonly number[]): Signal =>
  kubectlTop(
    'kubectl-top.txt',
    replicas.map((pod, index) => [pod, 15 + draw.near(2000 * (shares[index] ?? 0), 0.1), draw.near(220, 0.1)]),
  );

const sharesOf = (counts: readonly number[]): readonly number[] => {
  const all = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count) => count / all);
};

const connectionPinning: Kind = {
  slug: 'connection-pinning',
  make(draw) {
    const count = draw.count(4, 8);
    const replicas = draw.replicas(count);
    const used = draw.count(2, count - 2);
    const connections = replicas.map((_, index) => (index < used ? draw.count(4, 20) : 0));
    const each = draw.count(3000, 20_000);
    const requests = connections.map((own) => draw.about(own * each, 0.04));
    const order = draw.shuffled(replicas.map((_, index) => index));
    const named = order.map((at) => replicas[at] ?? '');
    return {
      signals: [
        countersOf(draw, named, requests, connections),
        ratesOf(
          draw,
          named,
          requests.map((own) => own / 600),
          connections,
        ),
        topOf(draw, named, sharesOf(requests)),
        csv(
          'pods.csv',
          ['pod', 'connections', 'requests', 'mean_ms'],
          named.map((pod, index) => [pod, connections[index] ?? 0, requests[index] ?? 0, draw.about(14, 0.1)]),
        ),
        text('service.yaml', [
          'apiVersion: v1',
          'kind: Service',
          `metadata: {name: ${draw.service}}`,
          `spec: {type: ClusterIP, selector: {app: ${draw.service}}, ports: [{name: grpc, port: 9090, appProtocol: grpc}]}`,
        ]),
      ],
    };
  },
};

const poolOrderSkew: Kind = {
  slug: 'pool-order-skew',
  make(draw) {
    const count = draw.count(3, 5);
    const replicas = draw.replicas(count);
    const connections = draw.count(8, 24);
    const falls = draw.between(4, 8);
    const requests = replicas.map((_, index) => draw.about(500_000 / falls ** index, 0.1));
    const even = replicas.map(() => connections);
    return {
      signals: [
        countersOf(draw, replicas, requests, even),
        csv(
          'hosts.csv',
          ['host', 'requests', 'connections', 'mean_ms'],
          replicas.map((id, index) => [id, requests[index] ?? 0, connections, draw.about(20, 0.05)]),
        ),
        json('pool.json', { max_pool_size: connections * count, idle_queue: draw.pick(['LIFO', 'lifo']) }),
        topOf(draw, replicas, sharesOf(requests)),
      ],
    };
  },
};

const synchronisedStart: Kind = {
  slug: 'rr-synchronised-start',
  make(draw) {
    const count = draw.count(16, 28);
    const addresses = draw.addresses(count, 8080);
    const full = draw.count(600, 4000);
    const middle = draw.between(3, 5.5);
    const requests = addresses.map((_, index) => draw.about(full / (1 + Math.exp((index - middle) * 1.1)), 0.04));
    return {
      signals: [
        csv(
          'endpoints.csv',
          ['order', 'endpoint', 'requests', 'avg_ms'],
          addresses.map((id, index) => [index, id, requests[index] ?? 0, draw.about(15, 0.1)]),
        ),
        json('gateway.json', {
          load_balance: 'round_robin',
          worker_processes: draw.pick([8, 16, 24]),
          replicas: draw.count(3, 8),
        }),
        events(
          'pushes.jsonl',
          [0, 30, 60, 90].map((at) => ({
            atMs: draw.beganMs + at * 1000,
            event: 'endpoints update',
            service: draw.service,
          })),
        ),
        scrape(
          'endpoints.prom',
          addresses.map((endpoint, index) => ({
            name: 'upstream_requests_total',
            labels: { endpoint, order: String(index) },
            value: requests[index] ?? 0,
          })),
        ),
      ],
    };
  },
};

const parityLock: Kind = {
  slug: 'rr-parity-lock',
  make(draw) {
    const every = draw.pick([2, 2, 3]);
    const count = every * draw.count(2, 4);
    const hosts = draw.replicas(count);
    const at = draw.below(every);
    const each = draw.count(3000, 20_000);
    const requests = hosts.map((_, index) => (index % every === at ? draw.about(each, 0.01) : 0));
    return {
      signals: [
        csv(
          'hosts.csv',
          ['order', 'host', 'health', 'requests'],
          hosts.map((id, index) => [index, id, 'healthy', requests[index] ?? 0]),
        ),
        json('lb.json', {
          policy: 'round_robin',
          ...(draw.chance(0.5) ? { shared_cursor: true } : { health_check_uses_cursor: true }),
        }),
        csv(
          'backends.csv',
          ['position', 'backend', 'state', 'served'],
          hosts.map((id, index) => [index, id, 'up', requests[index] ?? 0]),
        ),
      ],
    };
  },
};

const nextHostDogpile: Kind = {
  slug: 'rr-next-host-dogpile',
  make(draw) {
    const count = draw.count(4, 7);
    const hosts = draw.addresses(count, 80);
    const out = draw.below(count - 2);
    const each = draw.count(4000, 40_000);
    const requests = hosts.map((_, index) =>
      index === out ? 0 : index === out + 1 ? draw.about(2 * each, 0.005) : draw.about(each, 0.005),
    );
    return {
      culprit: [hosts[out + 1] ?? ''],
      signals: [
        csv(
          'hosts.csv',
          ['order', 'host', 'health', 'requests'],
          hosts.map((id, index) => [index, id, index === out ? 'down' : 'healthy', requests[index] ?? 0]),
        ),
        text(
          'clusters.txt',
          hosts.flatMap((id, index) => [
            `${draw.service}::${id}::rq_total::${requests[index]}`,
            `${draw.service}::${id}::health_flags::${index === out ? '/failed_active_hc' : 'healthy'}`,
          ]),
        ),
        json('lb.json', { policy: 'round_robin' }),
      ],
    };
  },
};

const pickFirst: Kind = {
  slug: 'pick-first',
  make(draw) {
    const count = draw.count(3, 5);
    const names = draw.addresses(count);
    const first = names[0] ?? '';
    const rate = draw.count(80, 160);
    const { rows } = imaginedLog(draw, 'pick-first', [`services.api.replicas=${count}`], names, 12);
    const all = Math.max(1, rows.length);
    const requests = names.map((_, index) => (index === 0 ? draw.about(all * 40) : draw.below(15)));
    return {
      culprit: [first, 'pick', 'first', 'client'],
      signals: [
        accessLog(
          draw,
          rows.map((row) => ({ ...row, replica: row.replica ?? first, client: `10.9.0.${draw.count(1, 6)}` })),
          'json',
        ),
        json('registry.json', { [draw.service]: names }),
        csv(
          'nodes.csv',
          ['node', 'cpu_percent'],
          names.map((id, index) => [id, index === 0 ? draw.about(96, 0.02) : draw.count(1, 4)]),
        ),
        countersOf(
          draw,
          names,
          requests,
          names.map((_, index) => (index === 0 ? draw.count(4, 12) : 0)),
        ),
        queryRange(
          'query-range.json',
          draw.beganMs,
          15,
          names.flatMap((instance, index) => [
            {
              name: 'requests_per_second',
              labels: { instance },
              values: index === 0 ? stepped(draw, [[rate, 10]]) : Array.from({ length: 10 }, () => 0),
            },
            {
              name: 'open_connections',
              labels: { instance },
              values: Array.from({ length: 10 }, () => (index === 0 ? 6 : 0)),
            },
          ]),
        ),
      ],
    };
  },
};

const zoneImbalance: Kind = {
  slug: 'zone-imbalance',
  make(draw) {
    const sizes = draw.pick([
      [8, 2],
      [6, 2],
      [9, 3, 3],
      [5, 1],
      [6, 3, 2],
    ] as const);
    const zones = sizes.map((_, index) => `${draw.service.slice(0, 2)}-${index + 1}${'abc'[index]}`);
    const perZone = draw.count(400, 1200);
    const targets = sizes.flatMap((size, zone) =>
      Array.from({ length: size }, (_, at) => ({
        id: `t-${zone + 1}${at + 1}`,
        zone: zones[zone] ?? '',
        rate: perZone / size,
      })),
    );
    const busiest = Math.max(...targets.map(({ rate }) => rate));
    return {
      signals: [
        csv(
          'targets.csv',
          ['instance', 'zone', 'requests_per_s', 'cpu_pct'],
          targets.map(({ id, zone, rate }) => [id, zone, draw.near(rate), draw.near((88 * rate) / busiest, 0.05)]),
        ),
        json('attributes.json', { Attributes: [{ Key: 'load_balancing.cross_zone.enabled', Value: 'false' }] }),
        csv(
          'zones.csv',
          ['zone', 'targets', 'requests'],
          zones.map((zone, index) => [zone, sizes[index] ?? 0, draw.about(perZone * 600, 0.003)]),
        ),
        scrape(
          'targets.prom',
          targets.map(({ id, zone, rate }) => ({
            name: 'requests_total',
            labels: { target: id, zone },
            value: draw.about(rate * 600),
          })),
        ),
      ],
    };
  },
};

const lbStateReset: Kind = {
  slug: 'lb-state-reset',
  make(draw) {
    const workers = draw.replicas(draw.count(3, 5));
    const each = draw.count(300, 2000);
    const added = draw.about(each * 0.13, 0.1);
    const before = workers.map((_, index) => (index === workers.length - 1 ? 0 : draw.about(each, 0.01)));
    const after = before.map((own) => own + draw.about(added, 0.02));
    const gauge = (name: string, values: readonly number[]): Signal =>
      scrape(
        name,
        workers.map((server, index) => ({ name: 'sessions_open', labels: { server }, value: values[index] ?? 0 })),
      );
    return {
      signals: [
        gauge('sessions-before.prom', before),
        gauge('sessions-after.prom', after),
        json('lb.json', { policy: 'least_conn' }),
        events('changes.jsonl', [
          {
            atMs: draw.beganMs,
            event: 'scaled',
            subject: draw.service,
            detail: `${workers.length - 1} -> ${workers.length}`,
          },
          { atMs: draw.beganMs + 900, event: 'reload', subject: 'balancer' },
        ]),
      ],
    };
  },
};

/** Clients or keys with unequal weights, each on one replica throughout. */
function tiedRows(draw: Draw, replicas: readonly string[], keys: number, heavy: number, byRoute: boolean): LogRow[] {
  const owner = Array.from({ length: keys }, (_, key) => (key === 0 ? 0 : draw.below(replicas.length)));
  return Array.from({ length: 2400 }, (_, index) => {
    const key = draw.chance(heavy) ? 0 : 1 + draw.below(keys - 1);
    return {
      startMs: draw.beganMs + index * 25,
      seconds: 0.01 + draw.exponential(0.012),
      status: 200,
      replica: replicas[owner[key] ?? 0],
      client: byRoute ? `198.51.100.${1 + draw.below(200)}` : `203.0.113.${1 + key}`,
      path: byRoute ? `/${draw.service}/${key}` : `/${draw.service}/${draw.below(12)}`,
    };
  });
}

const stickySession: Kind = {
  slug: 'sticky-session',
  make(draw) {
    const replicas = draw.addresses(4, 8080);
    const rows = tiedRows(draw, replicas, 60, draw.between(0.3, 0.5), false);
    const requests = replicas.map((id) => rows.filter(({ replica }) => replica === id).length);
    return {
      signals: [
        json('service.json', {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: draw.service },
          spec: { sessionAffinity: 'ClientIP', selector: { app: draw.service }, ports: [{ port: 80 }] },
        }),
        secondTap(draw, rows),
        accessLog(draw, rows, draw.pick(['nginx', 'envoy', 'json'])),
        text('nginx.conf', [
          'events {}',
          'http {',
          `  upstream ${draw.service} { ip_hash; ${replicas.map((id) => `server ${id};`).join(' ')} }`,
          `  server { listen 80; location / { proxy_pass http://${draw.service}; } }`,
          '}',
        ]),
        csv(
          'nodes.csv',
          ['node', 'requests', 'cpu_percent'],
          replicas.map((id, index) => [
            id,
            requests[index] ?? 0,
            draw.near(90 * ((requests[index] ?? 0) / Math.max(...requests)), 0.05),
          ]),
        ),
      ],
    };
  },
};

const hotKey: Kind = {
  slug: 'hot-key',
  make(draw) {
    const replicas = draw.addresses(4, 8080);
    const rows = tiedRows(draw, replicas, 120, draw.between(0.35, 0.5), true);
    return {
      signals: [
        json('lb.json', { policy: 'hash' }),
        secondTap(draw, rows),
        accessLog(draw, rows, draw.pick(['nginx', 'json'])),
        text('nginx.conf', [
          'events {}',
          'http {',
          `  upstream ${draw.service} { hash $request_uri consistent; ${replicas.map((id) => `server ${id};`).join(' ')} }`,
          `  server { listen 80; location / { proxy_pass http://${draw.service}; } }`,
          '}',
        ]),
      ],
    };
  },
};

const acceptImbalance: Kind = {
  slug: 'accept-imbalance',
  make(draw) {
    const counts = [0, 1, 2, 3].map((index) => draw.about(24_000 / 60 ** index, 0.2));
    return {
      signals: [
        csv(
          'workers.csv',
          ['worker', 'connections', 'cpu_percent'],
          counts.map((own, index) => [
            index,
            own,
            index === 0 ? draw.near(99.4, 0.004) : draw.near(5 / (index * index * 4), 0.3),
          ]),
        ),
        json('server.json', { workers: 4, reuse_port: false }),
        csv(
          'cores.csv',
          ['worker', 'requests', 'cpu_percent'],
          counts.map((own, index) => [index, own * 4, index === 0 ? draw.near(99.5, 0.003) : draw.near(1.2, 0.5)]),
        ),
      ],
    };
  },
};

const benignAcceptOrder: Kind = {
  slug: 'benign-accept-order',
  alike: ['healthy'],
  make(draw) {
    const counts = [0, 1, 2, 3].map((index) => draw.about(90_000 / 9 ** index, 0.2));
    return {
      signals: [
        csv(
          'workers.csv',
          ['worker', 'requests', 'cpu_percent'],
          counts.map((own, index) => [index, own, draw.near(30 / 8 ** index, 0.2)]),
        ),
      ],
    };
  },
};

const slowReplica: Kind = {
  slug: 'slow-replica',
  make(draw) {
    const count = draw.count(3, 5);
    const replicas = draw.addresses(count);
    const slow = draw.below(count);
    const factor = draw.between(2.2, 4);
    const { rows, requests, meanSeconds } = imaginedLog(
      draw,
      'slow-replica',
      [
        `services.api.replicas=${count}`,
        `demand.0.open.rate=${40 * count}/s`,
        `faults.0.slow.replica=api-${slow + 1}`,
        `faults.0.slow.factor=${factor.toFixed(2)}`,
      ],
      replicas,
    );
    return {
      culprit: [replicas[slow] ?? ''],
      signals: [
        accessLog(draw, rows, draw.pick(['nginx', 'envoy', 'json', 'haproxy'])),
        csv(
          'hosts.csv',
          ['host', 'requests', 'mean_ms'],
          replicas.map((id, index) => [id, requests[index] ?? 0, 1000 * (meanSeconds[index] ?? 0)]),
        ),
        queryRange(
          'query-range.json',
          draw.beganMs,
          15,
          replicas.flatMap((instance, index) => [
            { name: 'requests_per_second', labels: { instance }, values: stepped(draw, [[40, 10]]) },
            {
              name: 'request_duration_mean_seconds',
              labels: { instance },
              values: stepped(draw, [[meanSeconds[index] ?? 0, 10]], 0.06),
            },
          ]),
        ),
      ],
    };
  },
};

/** Closed users over strict rotation: only the log second by second shows it. */
const convoy: Kind = {
  slug: 'convoy',
  make(draw) {
    const count = draw.count(3, 5);
    const replicas = Array.from({ length: count }, (_, index) => `${draw.service}-${index + 1}`);
    const slow = draw.below(count);
    const { rows, requests } = imaginedLog(
      draw,
      'convoy',
      [
        `services.api.replicas=${count}`,
        `demand.0.closed.users=${16 * count}`,
        `faults.0.slow.replica=api-${slow + 1}`,
        `faults.0.slow.factor=${draw.between(1.2, 1.5).toFixed(2)}`,
      ],
      replicas,
      24,
    );
    return {
      culprit: [replicas[slow] ?? ''],
      signals: [
        accessLog(draw, rows, 'haproxy'),
        text('haproxy.cfg', [
          'defaults',
          '    mode http',
          '    timeout connect 5s',
          '    timeout client 30s',
          '    timeout server 30s',
          'frontend www',
          '    bind :80',
          `    default_backend ${draw.service}`,
          `backend ${draw.service}`,
          '    balance roundrobin',
          ...replicas.map((id, index) => `    server ${id} 10.3.0.${index + 1}:8080 check`),
        ]),
        csv(
          'requests.csv',
          ['server', 'requests'],
          replicas.map((id, index) => [id, requests[index] ?? 0]),
        ),
      ],
    };
  },
};

export const balanceKinds: readonly Kind[] = [
  connectionPinning,
  poolOrderSkew,
  synchronisedStart,
  parityLock,
  nextHostDogpile,
  pickFirst,
  zoneImbalance,
  lbStateReset,
  stickySession,
  hotKey,
  acceptImbalance,
  benignAcceptOrder,
  slowReplica,
  convoy,
];
