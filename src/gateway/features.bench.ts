// What each part of the gateway that may be left out costs when it is not: processor time a request, beside a gateway without any
// of them. All of them run at once, each with one part, and are loaded in turns: a round is a second for each, so that what
// the neighbours do to one they do to the others. Shown are the median of the rounds, with the median of their ratios to a gateway
// without any part, and the least, which the neighbours have touched least.
//
//   npm run bench:features
//   npm run bench:features -- --rounds 9 --seconds 2 --only explain,hedge
//
// Small requests through four backends, least-request, on Node's sockets; the gateways on core 0. Needs nginx, wrk, taskset.

import { parseArgs } from 'node:util';
import { medianOf } from '../stats.ts';
import { smallPath, startBackend } from './bench/backend.ts';
import { flood } from './bench/load.ts';
import { startOurs } from './bench/proxies.ts';
import { backendPorts, cpuSecondsOf, proxyPort, Site, until } from './bench/site.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '7' },
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
/** Compiled as it runs: what it costs before says nothing. */
const warmRequests = 40_000;
const warmSecondsMax = 6;

/** One gateway with one part, and what it cost in each round, in microseconds a request. */
interface Stand {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly costs: number[];
}

const site = new Site();
try {
  await startBackend(site);
  const stands: Stand[] = [];
  for (const [index, [name, settings]] of chosen.entries())
    stands.push(await started(name, settings, proxyPort + index));
  for (const { url } of stands) warm(url);
  for (let round = 0; round < Number(flags.rounds); round++) for (const stand of stands) measure(stand);
  print(stands);
} finally {
  site.close();
}

async function started(name: string, settings: object, port: number): Promise<Stand> {
  await until(port, 'is free');
  const child = startOurs(site, configuration(settings, port), `gateway-${port}.json`);
  await until(port, 'listens');
  return { name, url: `http://127.0.0.1:${port}${smallPath}`, pid: child.pid ?? 0, costs: [] };
}

function warm(url: string): void {
  let requests = 0;
  for (let second = 0; second < warmSecondsMax && requests < warmRequests; second++)
    requests += flood(url, 64, 1).requests;
}

function measure({ url, pid, costs }: Stand): void {
  const before = cpuSecondsOf(pid);
  const { requests } = flood(url, 64, Number(flags.seconds));
  costs.push(((cpuSecondsOf(pid) - before) / requests) * 1e6);
}

function print(stands: readonly Stand[]): void {
  const [none] = stands;
  const least = (costs: readonly number[] = []): number => Math.min(...costs);
  console.log('| configured | µs a request | ratio | least µs | ratio |');
  console.log('| ---------- | ------------ | ----- | -------- | ----- |');
  for (const { name, costs } of stands) {
    const ratios = costs.map((cost, round) => cost / (none?.costs[round] ?? Number.NaN));
    const median = `${medianOf(costs)?.toFixed(1)} | ${medianOf(ratios)?.toFixed(2)}`;
    console.log(
      `| ${name} | ${median} | ${least(costs).toFixed(1)} | ${(least(costs) / least(none?.costs)).toFixed(2)} |`,
    );
  }
}

function configuration(settings: object, port: number): object {
  return {
    listen: { host: '127.0.0.1', port },
    policy: 'least-request',
    endpoints: backendPorts.map((backend, index) => ({ id: `api-${index + 1}`, host: '127.0.0.1', port: backend })),
    ...settings,
  };
}
