// Fleets in which nothing is wrong, as different from each other as fleets are: busy, uneven by chance, in bursts, in the middle of
// a deploy, newly grown, in one zone, beside a noisy neighbour, with the few errors and the odd pause that everybody has. Whoever is
// accused in one of these is accused for nothing.

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
  syslogTime,
  text,
} from '../writers.ts';

/** What a healthy fleet did, in its own words. */
interface Calm {
  readonly replicas: readonly string[];
  readonly rows: readonly LogRow[];
  /** What else this fleet leaves behind. */
  readonly own?: readonly Signal[];
}

const calm = (name: string, make: (draw: Draw) => Calm, alike: readonly string[] = []): Kind => ({
  slug: 'healthy',
  name,
  alike: ['benign-accept-order', ...alike],
  make: (draw) => ({ signals: signalsOf(draw, make(draw)) }),
});

/** The same requests in several forms, and one or two readings of what is full in other incidents. */
function signalsOf(draw: Draw, { replicas, rows, own = [] }: Calm): readonly Signal[] {
  const log = accessLog(draw, rows, draw.pick(['nginx', 'envoy', 'json', 'haproxy']));
  const beside = draw.shuffled([
    () => secondTap(draw, rows),
    () => hostsOf(replicas, rows),
    () => seriesOf(draw, replicas, rows),
    () => countersOf(draw, replicas, rows),
    () => topOf(draw, replicas, rows),
  ]);
  const vital = draw.shuffled(vitalSigns).slice(0, draw.count(1, 2));
  return [log, ...own, ...beside.slice(0, draw.count(2, 4)).map((tell) => tell()), ...vital.map((tell) => tell(draw))];
}

const rowsOf = (rows: readonly LogRow[], id: string): readonly LogRow[] => rows.filter(({ replica }) => replica === id);
const failedOf = (rows: readonly LogRow[]): number => rows.filter(({ status }) => status >= 500).length;
const meanMs = (rows: readonly LogRow[]): number =>
  (1000 * rows.reduce((sum, { seconds }) => sum + seconds, 0)) / Math.max(1, rows.length);

function hostsOf(replicas: readonly string[], rows: readonly LogRow[]): Signal {
  return csv(
    'hosts.csv',
    ['host', 'requests', 'errors_5xx', 'mean_ms'],
    replicas.map((id) => {
      const one = rowsOf(rows, id);
      return [id, one.length, failedOf(one), meanMs(one)];
    }),
  );
}

function seriesOf(draw: Draw, replicas: readonly string[], rows: readonly LogRow[]): Signal {
  const from = rows.reduce((least, { startMs }) => Math.min(least, startMs), Number.POSITIVE_INFINITY);
  const to = rows.reduce((most, { startMs }) => Math.max(most, startMs), Number.NEGATIVE_INFINITY);
  const steps = 12;
  const stepSeconds = Math.max(1, Math.floor((to - from) / 1000 / steps));
  const slices = (id: string): readonly (readonly LogRow[])[] => {
    const one = rowsOf(rows, id);
    return Array.from({ length: steps }, (_, step) => {
      const begin = from + step * stepSeconds * 1000;
      return one.filter(({ startMs }) => startMs >= begin && startMs < begin + stepSeconds * 1000);
    });
  };
  return queryRange(
    'query-range.json',
    from,
    stepSeconds,
    replicas.flatMap((instance) => {
      const rates = slices(instance).map((slice) => slice.length / stepSeconds);
      return [
        { name: 'requests_per_second', labels: { instance }, values: rates },
        { name: 'process_cpu_ratio', labels: { instance }, values: rates.map((rate) => draw.near(rate / 250, 0.06)) },
        {
          name: 'http_request_duration_mean_seconds',
          labels: { instance },
          values: slices(instance).map((slice) => meanMs(slice) / 1000),
        },
      ];
    }),
  );
}

function countersOf(draw: Draw, replicas: readonly string[], rows: readonly LogRow[]): Signal {
  const label = draw.pick(['pod', 'instance', 'server']);
  return scrape('replicas.prom', [
    ...replicas.map((id) => ({
      name: 'http_requests_total',
      labels: { [label]: id },
      value: rowsOf(rows, id).length,
    })),
    ...replicas.map((id) => ({
      name: 'http_request_errors_total',
      labels: { [label]: id },
      value: failedOf(rowsOf(rows, id)),
    })),
  ]);
}

const topOf = (draw: Draw, replicas: readonly string[], rows: readonly LogRow[]): Signal =>
  kubectlTop(
    'kubectl-top.txt',
    replicas.map((pod) => [
      pod,
      15 + draw.near((2000 * rowsOf(rows, pod).length) / Math.max(1, rows.length), 0.1),
      draw.near(220, 0.1),
    ]),
  );

/** What is full in other incidents, with room in it: nothing is ever at nought. */
const vitalSigns: readonly ((draw: Draw) => Signal)[] = [
  (draw) =>
    text('cpu.stat', [
      'usage_usec 812345678',
      'nr_periods 60000',
      `nr_throttled ${draw.count(0, 40)}`,
      `throttled_usec ${draw.count(0, 400_000)}`,
    ]),
  (draw) =>
    text('stats.txt', [
      `cluster.${draw.service}.membership_total: 4`,
      `cluster.${draw.service}.membership_healthy: 4`,
      `cluster.${draw.service}.lb_healthy_panic: 0`,
      `cluster.${draw.service}.upstream_rq_total: ${draw.count(80_000, 900_000)}`,
      `cluster.${draw.service}.upstream_rq_retry: ${draw.count(0, 40)}`,
      `cluster.${draw.service}.upstream_cx_connect_fail: ${draw.count(0, 3)}`,
      `cluster.${draw.service}.upstream_rq_pending_overflow: 0`,
      `cluster.${draw.service}.outlier_detection.ejections_active: 0`,
    ]),
  (draw) =>
    scrape('pool.prom', [
      { name: 'hikaricp_connections_max', labels: { pool: 'main' }, value: 40 },
      { name: 'hikaricp_connections_active', labels: { pool: 'main' }, value: draw.count(2, 22) },
      { name: 'hikaricp_connections_pending', labels: { pool: 'main' }, value: draw.below(2) },
    ]),
  (draw) =>
    text('ss-s.txt', [
      `Total: ${draw.count(400, 2000)}`,
      `TCP:   ${draw.count(600, 2500)} (estab ${draw.count(100, 600)}, closed 300, orphaned 0, timewait ${draw.count(50, 900)})`,
    ]),
  (draw) =>
    scrape('workers.prom', [
      { name: 'workers_busy', labels: { job: draw.service }, value: draw.count(3, 40) },
      { name: 'workers_max', labels: { job: draw.service }, value: 64 },
    ]),
  (draw) =>
    scrape('node.prom', [
      { name: 'node_nf_conntrack_entries', labels: { instance: 'node-1' }, value: draw.count(900, 40_000) },
      { name: 'node_nf_conntrack_entries_limit', labels: { instance: 'node-1' }, value: 262_144 },
    ]),
];

const policyOf = (draw: Draw): string => `gateway.policy=${draw.pick(['round-robin', 'random', 'least-request'])}`;

/** An open loop over so many replicas, each of which could do 200/s. */
function opened(draw: Draw, replicas: readonly string[], settings: readonly string[], seconds = 20) {
  return imaginedLog(
    draw,
    'black-hole',
    [`services.api.replicas=${replicas.length}`, 'faults=[]', ...settings],
    replicas,
    seconds,
  ).rows;
}

/** Most of what it can do is asked of it, and it does it. */
const busy = calm('busy', (draw) => {
  const replicas = draw.addresses(draw.count(3, 6));
  const rate = Math.round(draw.between(125, 160) * replicas.length);
  const policy = draw.pick(['round-robin', 'least-request']);
  return { replicas, rows: opened(draw, replicas, [`demand.0.open.rate=${rate}/s`, `gateway.policy=${policy}`]) };
});

/** So few requests, thrown by dice, that one replica has twice another's. */
const unevenByChance = calm('uneven by chance', (draw) => {
  const replicas = draw.addresses(draw.count(3, 8));
  const rate = draw.count(4, 25);
  return { replicas, rows: opened(draw, replicas, [`demand.0.open.rate=${rate}/s`, 'gateway.policy=random']) };
});

/** Many at once, then nobody. */
const bursts = calm('bursts', (draw) => {
  const replicas = draw.addresses(draw.count(3, 6));
  const size = draw.count(5, 16) * replicas.length;
  const demand = `demand=[{clients: callers, open: {bursts: {size: ${size}, every: ${draw.pick([500, 1000, 2000, 5000])}ms}}}]`;
  return { replicas, rows: opened(draw, replicas, [demand, policyOf(draw)], 30) };
});

/** The morning: three times as many as an hour ago, and room for them. */
const morning = calm('morning', (draw) => {
  const replicas = draw.addresses(draw.count(3, 6));
  const [from, to] = [draw.count(20, 40) * replicas.length, draw.count(90, 120) * replicas.length];
  return {
    replicas,
    rows: opened(
      draw,
      replicas,
      [
        `demand.0.open.rate=${from}/s`,
        `demand.0.open.stages=[{ over: 25s, to: ${to}/s }]`,
        'duration=30s',
        policyOf(draw),
      ],
      24,
    ),
  };
});

/** Short and long requests beside each other, on every replica alike. */
const mixedWork = calm('mixed work', (draw) => {
  const replicas = draw.addresses(draw.count(3, 6));
  const [median, p99] = [draw.count(4, 12), draw.count(120, 300)];
  const rate = draw.count(15, 40) * replicas.length;
  return {
    replicas,
    rows: opened(draw, replicas, [
      `services.api.service_time=log-normal ${median}ms ${p99}ms`,
      `demand.0.open.rate=${rate}/s`,
      policyOf(draw),
    ]),
  };
});

/** A host that is a little slower than its siblings, as one always is. */
const noisyNeighbour = calm('noisy neighbour', (draw) => {
  const replicas = draw.replicas(draw.count(3, 6));
  const slow = draw.below(replicas.length);
  const { rows } = imaginedLog(
    draw,
    'slow-replica',
    [
      `services.api.replicas=${replicas.length}`,
      `demand.0.open.rate=${draw.count(40, 80) * replicas.length}/s`,
      `faults.0.slow.replica=api-${slow + 1}`,
      `faults.0.slow.factor=${draw.between(1.02, 1.08).toFixed(3)}`,
    ],
    replicas,
  );
  const own = queryRange(
    'nodes.json',
    draw.beganMs,
    15,
    replicas.flatMap((_, index) => [
      {
        name: 'node_cpu_steal_ratio',
        labels: { node: `node-${index + 1}` },
        values: stepped(draw, [[index === slow ? 0.02 : 0.004, 12]], 0.3),
      },
    ]),
  );
  return { replicas, rows, own: [own] };
});

/** One replica after another is replaced: it gets no more requests, and its successor begins, a little slower at first. */
const deploy = calm('deploy', (draw) => {
  const before = draw.replicas(draw.count(3, 5));
  const after = before.map((id, index) => `${id.slice(0, -1)}${'xyz'[index % 3]}${index}`);
  const rate = draw.count(40, 80) * before.length;
  const seconds = 30;
  const rows = opened(draw, before, [`demand.0.open.rate=${rate}/s`, policyOf(draw), 'duration=40s'], seconds);
  const from = rows[0]?.startMs ?? draw.beganMs;
  const turnMs = before.map((_, index) => from + ((index + 1) * seconds * 1000) / (before.length + 2));
  const renamed = rows.map((row): LogRow => {
    const index = before.indexOf(row.replica ?? '');
    const age = row.startMs - (turnMs[index] ?? Number.POSITIVE_INFINITY);
    if (age < 0) return row;
    return { ...row, replica: after[index], seconds: row.seconds * (1 + 0.25 * Math.exp(-age / 2000)) };
  });
  const own = events(
    'rollout.jsonl',
    turnMs.flatMap((atMs, index) => [
      { atMs: atMs - 3000, event: 'started', subject: after[index] },
      { atMs, event: 'ready', subject: after[index] },
    ]),
  );
  return { replicas: [...before, ...after], rows: renamed, own: [own] };
});

/** Twice as many replicas from the middle on; each has half of what it had. */
const scaledOut = calm('scaled out', (draw) => {
  const few = draw.count(2, 4);
  const replicas = draw.replicas(2 * few);
  const settings = [`demand.0.open.rate=${draw.count(90, 130) * few}/s`, policyOf(draw)];
  const first = opened(draw, replicas.slice(0, few), settings, 12);
  const laterMs = 12_000;
  const second = opened(draw, replicas, settings, 12).map((row) => ({ ...row, startMs: row.startMs + laterMs }));
  const own = text('hpa-events.txt', [
    'LAST SEEN   TYPE      REASON              OBJECT                                   MESSAGE',
    `4m          Normal    SuccessfulRescale   horizontalpodautoscaler/${draw.service}   New size: ${2 * few}; reason: cpu resource utilization (percentage of request) above target`,
    `4m          Normal    ScalingReplicaSet   deployment/${draw.service}   Scaled up replica set ${draw.service} to ${2 * few}`,
  ]);
  return { replicas, rows: [...first, ...second], own: [own] };
});

/** Everything in one zone, or two zones with as many clients as replicas. */
const zones = calm('zones', (draw) => {
  const each = draw.count(2, 3);
  const replicas = draw.replicas(2 * each);
  const names = draw.pick([
    ['a', 'a'],
    ['a', 'b'],
  ]);
  const rows = opened(draw, replicas, [`demand.0.open.rate=${draw.count(40, 100) * 2 * each}/s`, policyOf(draw)]);
  const own = scrape(
    'zones.prom',
    replicas.map((pod, index) => ({
      name: 'http_server_requests_total',
      labels: { pod, zone: `eu-1${names[index % 2] ?? 'a'}` },
      value: rowsOf(rows, pod).length * 40,
    })),
  );
  return { replicas, rows, own: [own] };
});

/** The errors that everybody has: one in five hundred, on all replicas, and clients who ask for what is not there. */
const fewErrors = calm('few errors', (draw) => {
  const replicas = draw.addresses(draw.count(3, 6));
  const rate = draw.count(50, 100) * replicas.length;
  const [failing, absent] = [draw.between(0.0005, 0.002), draw.between(0.005, 0.03)];
  const rows = opened(draw, replicas, [`demand.0.open.rate=${rate}/s`, policyOf(draw)]).map((row) => {
    const luck = draw.share();
    return { ...row, status: luck < failing ? 500 : luck < failing + absent ? 404 : row.status };
  });
  return { replicas, rows };
});

/** Every replica pauses for a moment now and then, one at another time than the next. */
const shortPauses = calm('short pauses', (draw) => {
  const replicas = draw.replicas(draw.count(3, 6));
  const rate = draw.count(40, 90) * replicas.length;
  const [every, pause] = [draw.count(2000, 5000), draw.count(15, 60)];
  const rows = opened(draw, replicas, [`demand.0.open.rate=${rate}/s`, policyOf(draw)]).map((row) => {
    const into = (row.startMs + 733 * replicas.indexOf(row.replica ?? '')) % every;
    return into < pause ? { ...row, seconds: row.seconds + (pause - into) / 1000 } : row;
  });
  return { replicas, rows };
});

/** A canary that is meant to get a twentieth. */
const canary = calm('canary', (draw) => {
  const replicas = draw.addresses(draw.count(3, 5));
  const [first = '', ...others] = replicas;
  const weight = draw.pick([5, 10]);
  const share = weight / (weight + 100 * others.length);
  const rate = draw.count(40, 90) * replicas.length;
  const rows = opened(draw, replicas, [`demand.0.open.rate=${rate}/s`, policyOf(draw)]).map((row) => ({
    ...row,
    replica: draw.chance(share) ? first : draw.pick(others),
  }));
  const own = text('haproxy.cfg', [
    'defaults',
    '  mode http',
    '  timeout connect 1s',
    '  timeout client 30s',
    '  timeout server 30s',
    `backend ${draw.service}`,
    '  balance roundrobin',
    `  server ${first} ${first} check weight ${weight} # canary`,
    ...others.map((id) => `  server ${id} ${id} check weight 100`),
  ]);
  return { replicas, rows, own: [own] };
});

/** One replica is taken out for maintenance, with notice, and comes back. */
const maintenance = calm('maintenance', (draw) => {
  const replicas = draw.replicas(draw.count(4, 6));
  const away = draw.below(replicas.length);
  const rate = draw.count(40, 80) * replicas.length;
  const others = replicas.filter((_, index) => index !== away);
  const rows = opened(draw, replicas, [`demand.0.open.rate=${rate}/s`, policyOf(draw), 'duration=40s'], 30);
  const from = rows[0]?.startMs ?? draw.beganMs;
  const moved = rows.map((row) => {
    const atMs = row.startMs - from;
    const isAway = row.replica === replicas[away] && atMs > 10_000 && atMs < 20_000;
    return isAway ? { ...row, replica: draw.pick(others) } : row;
  });
  const said = (atMs: number, words: string): string =>
    `${syslogTime(from + atMs)} lb1 haproxy[1201]: Server ${draw.service}/${replicas[away]} is ${words}`;
  const own = text('haproxy-notices.log', [
    said(9000, `going DOWN for maintenance. ${others.length} active and 0 backup servers left.`),
    said(20_000, `UP/READY (leaving forced maintenance).`),
  ]);
  return { replicas, rows: moved, own: [own] };
});

/** Users who wait and think, well below the knee. */
const thoughtful = calm('thoughtful', (draw) => {
  const replicas = draw.replicas(draw.count(3, 5));
  const { rows } = imaginedLog(
    draw,
    'healthy',
    [
      `services.api.replicas=${replicas.length}`,
      `demand.0.closed.users=${8 * replicas.length}`,
      `demand.0.closed.think=${draw.count(80, 200)}ms`,
    ],
    replicas,
  );
  return { replicas, rows };
});

/** One or two replicas, or a dozen. */
const otherSizes = calm('other sizes', (draw) => {
  const replicas = draw.addresses(draw.pick([1, 2, 10, 14]));
  const rate = Math.round(draw.between(30, 110) * replicas.length);
  return { replicas, rows: opened(draw, replicas, [`demand.0.open.rate=${rate}/s`, policyOf(draw)], 12) };
});

/** At night: one to three requests a second, too few in half a minute for anybody to say that nothing is wrong, so that *undecided* is as
 * right. */
const night = calm(
  'night',
  (draw) => {
    const replicas = draw.replicas(draw.count(2, 5));
    const rows = opened(draw, replicas, [`demand.0.open.rate=${draw.count(1, 3)}/s`, policyOf(draw)], 30);
    return {
      replicas,
      rows,
      own: [json('load.json', { tool: 'none', note: 'ordinary traffic', requests: rows.length })],
    };
  },
  ['undecided'],
);

export const calmKinds: readonly Kind[] = [
  busy,
  unevenByChance,
  bursts,
  morning,
  mixedWork,
  noisyNeighbour,
  deploy,
  scaledOut,
  zones,
  fewErrors,
  shortPauses,
  canary,
  maintenance,
  thoughtful,
  otherSizes,
  night,
];
