// What each part of the gateway that may be left out costs when it is not: processor time a request, beside a gateway without any
// of them, in the same run and in turns.
//
//   npm run bench:features
//   npm run bench:features -- --rounds 5 --seconds 3 --only explain,hedge
//
// Small requests through four backends, least-request, on Node's sockets; the gateway alone on core 0. Needs nginx, wrk, taskset.

import { parseArgs } from 'node:util';
import { medianOf } from '../stats.ts';
import { smallPath, startBackend } from './bench/backend.ts';
import { flood } from './bench/load.ts';
import { startOurs } from './bench/proxies.ts';
import { backendPorts, cpuSecondsOf, proxyPort, Site, until } from './bench/site.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});

const many = { requests: 100_000, connections: 100_000, waiting: 100_000 };
const features: Readonly<Record<string, object>> = {
  none: {},
  ceilings: { ceilings: many },
  concurrency: { concurrency: { limit_initial: 1000, limit_min: 500 } },
  'ceilings and queue': { ceilings: many, queue: {} },
  hedge: { hedge: { delay_min_ns: 1e9 } },
  breaker: { breaker: {} },
  outlier: { outlier: {} },
  'hash_on header': { policy: 'maglev', hash_on: ['header:user-agent', 'source'] },
  request_id: { request_id: true },
  'explain 1 %': { explain: {} },
  'tracing 1 %': { tracing: {} },
  'access log JSON': { access_log: '/dev/null' },
  'access log Envoy’s': { access_log: { path: '/dev/null', format: 'envoy' } },
};

const wanted = flags.only?.split(',');
const chosen = Object.entries(features).filter(([name]) => name === 'none' || (wanted?.includes(name) ?? true));
const costs = new Map<string, number[]>();
const site = new Site();
try {
  await startBackend(site);
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const [name, settings] of chosen) {
      const child = startOurs(site, configuration(settings));
      await until(proxyPort, 'listens');
      costs.set(name, [...(costs.get(name) ?? []), measured(child.pid ?? 0)]);
      await site.stop(child);
      await until(proxyPort, 'is free');
    }
  }
} finally {
  site.close();
}
const base = medianOf(costs.get('none') ?? []) ?? Number.NaN;
console.log('| configured | processor time a request | beside none |');
console.log('| ---------- | ------------------------ | ----------- |');
for (const [name, values] of costs) {
  const median = medianOf(values) ?? Number.NaN;
  console.log(
    `| ${name} | ${median.toFixed(1)} µs | ${median >= base ? '+' : '−'}${Math.abs(median - base).toFixed(1)} µs |`,
  );
}

function configuration(settings: object): object {
  return {
    listen: { host: '127.0.0.1', port: proxyPort },
    policy: 'least-request',
    endpoints: backendPorts.map((port, index) => ({ id: `api-${index + 1}`, host: '127.0.0.1', port })),
    ...settings,
  };
}

/** Microseconds a request. */
function measured(pid: number): number {
  const url = `http://127.0.0.1:${proxyPort}${smallPath}`;
  flood(url, 64, 1);
  const before = cpuSecondsOf(pid);
  const { requests } = flood(url, 64, Number(flags.seconds));
  return ((cpuSecondsOf(pid) - before) / requests) * 1e6;
}
