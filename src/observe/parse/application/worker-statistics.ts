// What servers with workers say of them: uWSGI's statistics, Puma's, and PHP-FPM's status, as JSON.
//
//   uWSGI    {"listen_queue": 0, "workers": [{"id": 1, "status": "busy", "requests": 4790, "avg_rt": 5000}, …]}   times in µs
//   Puma     {"workers": 2, "worker_status": [{"index": 0, "last_status": {"backlog": 3, "running": 5, "pool_capacity": 0}}]}
//   PHP-FPM  {"pool": "www", "listen queue": 0, "active processes": 4, "max children reached": 2}
//
// Samples: `worker_requests`, `worker_busy`, `worker_avg_rt_seconds`, … with the label `worker`; `listen_queue`; the number of
// workers as a setting.

import { firstLines, type WholeFormat } from '../format.ts';
import { isJsonWith, jsonTree, numberAt } from '../json-tree.ts';
import type { Sink } from '../sink.ts';
import { itemsAt, textAt, type Tree, under } from '../tree.ts';

interface Server {
  readonly program: string;
  readonly keys: readonly string[];
  read(tree: Tree, sink: Sink): void;
}

const servers: readonly Server[] = [
  { program: 'uwsgi', keys: ['listen_queue', 'workers', 'avg_rt'], read: readUwsgi },
  { program: 'puma', keys: ['worker_status', 'last_status'], read: readPuma },
  { program: 'puma', keys: ['backlog', 'running', 'pool_capacity', 'max_threads'], read: readPuma },
  { program: 'php-fpm', keys: ['pool', 'active processes', 'listen queue'], read: readPhp },
];

export const workerStatistics: WholeFormat = {
  kind: 'whole',
  name: 'statistics of workers',
  recognise: (head) => (servers.some((server) => isJsonWith(head, ...server.keys)) ? 1 : 0),
  read(text, sink) {
    const server = servers.find((one) => isJsonWith(text, ...one.keys));
    const tree = jsonTree(text);
    if (server === undefined || tree?.kind !== 'map') {
      sink.foreign(1, firstLines(text, 1)[0] ?? '');
      return;
    }
    server.read(tree, sink);
    sink.understood();
  },
};

function readUwsgi(tree: Tree, sink: Sink): void {
  for (const name of ['listen_queue', 'listen_queue_errors', 'signal_queue', 'load']) {
    const value = numberAt(tree, name);
    const type = name.endsWith('errors') ? 'counter' : 'gauge';
    if (value !== undefined) sink.sample(name === 'load' ? 'uwsgi_load' : name, {}, value, { type });
  }
  for (const socket of itemsAt(tree, 'sockets')) {
    const labels = { listener: textAt(socket, 'name') ?? '' };
    const queue = numberAt(socket, 'queue');
    const most = numberAt(socket, 'max_queue');
    if (queue !== undefined) sink.sample('listen_accept_queue', labels, queue, { type: 'gauge' });
    if (most === undefined) continue;
    sink.sample('listen_accept_queue_limit', labels, most, { type: 'gauge' });
    sink.setting({ program: 'uwsgi', scope: `listener ${labels.listener}`, key: 'listen.backlog', value: most });
  }
  const workers = itemsAt(tree, 'workers');
  for (const [index, worker] of workers.entries()) {
    const labels = { worker: textAt(worker, 'id') ?? String(index + 1) };
    const status = textAt(worker, 'status') ?? '';
    const count = (name: string, key: string): void => {
      const value = numberAt(worker, key);
      if (value !== undefined) sink.sample(name, labels, value, { type: 'counter' });
    };
    count('worker_requests', 'requests');
    count('worker_exceptions', 'exceptions');
    count('worker_harakiri', 'harakiri_count');
    count('worker_respawns', 'respawn_count');
    count('worker_tx_bytes', 'tx');
    const busy = status.startsWith('busy') ? 1 : 0;
    sink.sample('worker_busy', { ...labels, status }, busy, { type: 'gauge' });
    const mean = numberAt(worker, 'avg_rt');
    if (mean !== undefined) sink.sample('worker_avg_rt', labels, mean, { type: 'gauge' });
    const running = numberAt(worker, 'running_time');
    if (running !== undefined) {
      sink.sample('worker_running_seconds_total', labels, running / 1e6, { type: 'counter' });
    }
  }
  if (workers.length === 0) return;
  const threads = Math.max(1, itemsAt(workers[0], 'cores').length);
  writeWorkers('uwsgi', workers.length, workers.length * threads, sink);
}

function readPuma(tree: Tree, sink: Sink): void {
  const clustered = itemsAt(tree, 'worker_status');
  const all = clustered.length === 0 ? [{ name: '0', status: tree }] : clustered.map(pumaWorker);
  let threads = 0;
  for (const { name, status } of all) {
    const labels = { worker: name };
    const gauge = { type: 'gauge' } as const;
    const [backlog, running, free, most] = ['backlog', 'running', 'pool_capacity', 'max_threads'].map((key) =>
      numberAt(status, key),
    );
    if (backlog !== undefined) sink.sample('worker_queue', labels, backlog, gauge);
    if (running !== undefined) sink.sample('worker_threads', labels, running, gauge);
    if (most !== undefined && free !== undefined) sink.sample('worker_threads_busy', labels, most - free, gauge);
    const requests = numberAt(status, 'requests_count');
    if (requests !== undefined) sink.sample('worker_requests', labels, requests, { type: 'counter' });
    threads += most ?? 0;
  }
  writeWorkers('puma', all.length, threads, sink);
}

function pumaWorker(worker: Tree, index: number): { readonly name: string; readonly status: Tree | undefined } {
  return { name: textAt(worker, 'index') ?? String(index), status: under(worker, 'last_status') };
}

function readPhp(tree: Tree, sink: Sink): void {
  const labels = { pool: textAt(tree, 'pool') ?? '' };
  for (const [key, name, type] of [
    ['accepted conn', 'php_fpm_accepted_total', 'counter'],
    ['listen queue', 'listen_queue', 'gauge'],
    ['max listen queue', 'php_fpm_listen_queue_greatest', 'gauge'],
    ['listen queue len', 'listen_queue_max', 'gauge'],
    ['idle processes', 'php_fpm_processes_idle', 'gauge'],
    ['active processes', 'php_fpm_processes_active', 'gauge'],
    ['total processes', 'php_fpm_processes', 'gauge'],
    ['max active processes', 'php_fpm_processes_active_greatest', 'gauge'],
    ['max children reached', 'php_fpm_max_children_reached_total', 'counter'],
    ['slow requests', 'php_fpm_slow_requests_total', 'counter'],
  ] as const) {
    const value = numberAt(tree, key);
    if (value !== undefined) sink.sample(name, labels, value, { type });
  }
  const processes = numberAt(tree, 'total processes');
  if (processes !== undefined) writeWorkers('php-fpm', processes, processes, sink);
}

function writeWorkers(program: string, processes: number, workers: number, sink: Sink): void {
  const setting = { program, scope: 'workers' };
  sink.setting({ ...setting, key: 'workers.processes', value: processes });
  if (workers > 0) sink.setting({ ...setting, key: 'workers.count', value: workers });
}
