// HAProxy's statistics as facts: every number as `haproxy_<column>`, and what the page knows of the configuration.
//
// The columns that only count up are counters; a difference of two pages is a rate. Times of the averages (`rtime`, …) stay
// in milliseconds, as HAProxy names them.

import type { WholeFormat } from './format.ts';
import { type HaproxyRow, isHaproxyStats, parseHaproxyStats, statistic } from './haproxy-stats.ts';
import { policyWord } from './policy-words.ts';
import type { Sink } from './sink.ts';

const program = 'haproxy';

const counters = new Set(
  (
    'stot bin bout dreq dresp ereq econ eresp wretr wredis chkfail chkdown downtime lbtot hrsp_1xx hrsp_2xx hrsp_3xx ' +
    'hrsp_4xx hrsp_5xx hrsp_other hanafail req_tot cli_abrt srv_abrt conn_tot connect reuse dcon dses wrew eint intercepted'
  ).split(' '),
);
/** Numbers that only name a row. */
const identifiers = new Set(['pid', 'iid', 'sid', 'type']);

export const haproxyStats: WholeFormat = {
  kind: 'whole',
  name: 'HAProxy statistics',
  recognise: (head) => (isHaproxyStats(head) ? 1 : 0),
  read(text, sink) {
    const { rows, broken } = parseHaproxyStats(text);
    for (const row of rows) readRow(row, sink);
    for (const { line, text: words } of broken) sink.foreign(line, words);
    sink.understood(rows.length + 1);
    for (const backend of rows.filter((row) => row.kind === 'backend')) readBackend(backend, rows, sink);
  },
};

function readRow(row: HaproxyRow, sink: Sink): void {
  const { line } = row;
  const labels = { proxy: row.proxy, server: row.server, type: row.kind };
  for (const name of row.cells.keys()) {
    const value = identifiers.has(name) ? undefined : statistic(row, name);
    if (value === undefined) continue;
    sink.sample(`haproxy_${name}`, labels, value, { type: counters.has(name) ? 'counter' : 'gauge', line });
  }
  const status = row.cells.get('status');
  if (status !== undefined) {
    const up = /^(?:UP|OPEN|no check)/i.test(status) ? 1 : 0;
    sink.sample('haproxy_up', { ...labels, status }, up, { type: 'gauge', line });
  }
  const limit = statistic(row, 'slim');
  if (limit !== undefined && limit > 0 && row.kind !== 'backend') {
    const key = row.kind === 'server' ? 'upstream.endpoint-max-requests' : 'downstream.max-connections';
    sink.setting({ program, scope: scopeOf(row), key, value: limit, line });
  }
}

function readBackend(backend: HaproxyRow, rows: readonly HaproxyRow[], sink: Sink): void {
  const scope = scopeOf(backend);
  const { line } = backend;
  const algorithm = backend.cells.get('algo');
  if (algorithm !== undefined) {
    sink.setting({ program, scope, key: 'balance.policy', value: policyWord(algorithm), line });
  }
  const mode = backend.cells.get('mode');
  if (mode === 'http' || mode === 'tcp') sink.setting({ program, scope, key: 'balance.layer', value: mode, line });
  const servers = rows.filter((row) => row.kind === 'server' && row.proxy === backend.proxy);
  sink.setting({ program, scope, key: 'upstream.endpoints', value: servers.length, line });
  sink.setting({ program, scope, key: 'upstream.endpoint-list', value: servers.map((row) => row.server).join(), line });
}

function scopeOf(row: HaproxyRow): string {
  return row.kind === 'server' ? `server ${row.proxy}/${row.server}` : `${row.kind} ${row.proxy}`;
}
