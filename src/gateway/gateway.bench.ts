// Our gateway beside nginx, HAProxy, Envoy and Caddy: same backends, same load, one after another in the same run, each proxy
// alone on core 0, load and backends on core 1.
//
//   npm run bench:gateway
//   npm run bench:gateway -- --rounds 5 --seconds 3 --only nginx,io_uring --parts small,large
//
// Parts: `small` (135 bytes, as fast as 64 clients can ask), `large` (22 KiB), `tls` (small again, over TLS), `paced` (small, at
// half of what the slowest of nginx, HAProxy and ours can do; latencies count from when a request was due, and what a direct
// connection takes right after it is subtracted, `--pairs` times a round), `idle` (not unless asked for: memory for each of 18,000 clients that are silent).
//
// What counts is the proxy's processor time ÷ requests, because load and backends have one core together and may be the ones that
// are at the limit: `core` says how busy the proxy's was. The capacity of one core, 1 ÷ processor time, follows from it.
// Every count of the load is held against what the backends counted. Needs nginx, wrk, taskset and two cores. Envoy is found by
// PLIMSOLL_ENVOY or on the path; who is missing is said and left out.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { dice } from '../base.ts';
import { bootstrapInterval } from '../stats.ts';
import { largePath, requestsSeen, smallPath, startBackend } from './bench/backend.ts';
import { idleMemory } from './bench/idle.ts';
import { flood, paced } from './bench/load.ts';
import { proxiesHere, type Proxy } from './bench/proxies.ts';
import { backendPorts, cpuSecondsOf, proxyPort, Site, tlsPort, until } from './bench/site.ts';
import { shop } from './stand/certificates.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    only: { type: 'string' },
    parts: { type: 'string', default: 'small,large,tls,paced' },
    rate: { type: 'string' },
    pairs: { type: 'string', default: '3' },
    idle: { type: 'string', default: '18000' },
  },
});
const seconds = Number(flags.seconds);
const connections = Number(flags.connections);
const warmRequests = 100_000;
const warmSecondsMax = 6;
const parts = new Set(flags.parts.split(','));
// Half of what one can do takes having seen what that is.
if (parts.has('paced') && flags.rate === undefined) parts.add('small');

interface Measured {
  readonly cpuUs: number;
  readonly perSecond: number;
  /** Share of core 0. */
  readonly busy: number;
}

/** Every measurement of one proxy, a number for each round. */
class Sheet {
  readonly proxy: Proxy;
  readonly small: Measured[] = [];
  readonly large: Measured[] = [];
  readonly tls: Measured[] = [];
  /** What it adds, one for each pair of measurements. */
  readonly p50: number[] = [];
  readonly p99: number[] = [];
  rate = 0;
  /** Bytes for each idle client. */
  readonly idle: number[] = [];

  constructor(proxy: Proxy) {
    this.proxy = proxy;
  }
}

async function main(site: Site): Promise<void> {
  const { here, missing } = proxiesHere();
  for (const line of missing) console.log(line);
  const chosen = here.filter(({ name }) => flags.only?.split(',').some((part) => name.includes(part)) ?? true);
  const sheets = chosen.map((proxy) => new Sheet(proxy));
  site.write('cert.pem', shop.cert);
  site.write('key.pem', shop.key);
  site.write('both.pem', `${shop.cert}${shop.key}`);
  await startBackend(site);
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const sheet of sheets) await withProxy(site, sheet.proxy, (pid) => floods(sheet, pid));
  }
  if (parts.has('paced')) await pacedRounds(site, sheets);
  print(sheets);
}

async function withProxy(site: Site, proxy: Proxy, use: (pid: number) => Promise<void>): Promise<void> {
  await until(proxyPort, 'is free');
  const child = proxy.start(site);
  const ended = (code: number | null, signal: string | null): void =>
    console.error(`${proxy.name} ended by itself: ${code ?? signal}`);
  child.on('exit', ended);
  await until(proxyPort, 'listens');
  await use(child.pid ?? 0);
  child.off('exit', ended);
  await site.stop(child);
}

async function floods(sheet: Sheet, pid: number): Promise<void> {
  const base = `http://127.0.0.1:${proxyPort}`;
  if (parts.has('small') || parts.has('large')) warm(`${base}${smallPath}`);
  if (parts.has('small')) sheet.small.push(await flooded(sheet, pid, `${base}${smallPath}`));
  if (parts.has('large')) sheet.large.push(await flooded(sheet, pid, `${base}${largePath}`));
  if (parts.has('tls') && (await speaksTls())) {
    const secure = `https://127.0.0.1:${tlsPort}${smallPath}`;
    warm(secure);
    sheet.tls.push(await flooded(sheet, pid, secure));
  }
  if (parts.has('idle')) {
    const { connections: held, bytesEach } = await idleMemory(pid, Number(flags.idle));
    if (held < Number(flags.idle)) console.error(`${sheet.proxy.name}: only ${held} connections stayed open`);
    sheet.idle.push(bytesEach);
  }
}

/** Ours is compiled as it runs: what it costs on the first hundred thousand requests says nothing about the next million. */
function warm(url: string): void {
  let requests = 0;
  for (let second = 0; second < warmSecondsMax && requests < warmRequests; second++) {
    requests += flood(url, connections, 1).requests;
  }
}

async function flooded(sheet: Sheet, pid: number, url: string): Promise<Measured> {
  const seenBefore = await requestsSeen();
  const before = cpuSecondsOf(pid);
  const result = flood(url, connections, seconds);
  const cpu = cpuSecondsOf(pid) - before;
  const seen = (await requestsSeen()) - seenBefore - 1;
  const { name } = sheet.proxy;
  if (result.errors !== undefined) console.error(`${name}: ${result.errors}`);
  // What was under way when a load ended, this one or the one before, was seen and not counted.
  if (seen < result.requests || seen > result.requests + 2 * connections) {
    console.error(`${name}: wrk counted ${result.requests} answers, the backends ${seen} requests`);
  }
  const cpuUs = (cpu * 1e6) / result.requests;
  console.error(`${name.padEnd(21)} ${new URL(url).protocol} ${new URL(url).pathname}  ${cpuUs.toFixed(1)} µs`);
  return {
    cpuUs,
    perSecond: result.requests / result.seconds,
    busy: cpu / result.seconds,
  };
}

async function speaksTls(): Promise<boolean> {
  const { status } = spawnSync('bash', ['-c', `exec 3<>/dev/tcp/127.0.0.1/${tlsPort}`], { stdio: 'ignore' });
  return status === 0;
}

/** The same rate for all, except for who cannot do it: half of its own saturation. Each measurement of a proxy is followed by one
 * without it at the same rate, and what counts is the difference of the two: what the neighbours did meanwhile they did to both. */
async function pacedRounds(site: Site, sheets: readonly Sheet[]): Promise<void> {
  const fast = sheets.filter(({ proxy }) => proxy.name !== 'Envoy' && proxy.name !== 'Caddy');
  const saturation = (sheet: Sheet): number => median(sheet.small.map(({ perSecond }) => perSecond));
  const common = Number(flags.rate ?? Math.floor(Math.min(...fast.map(saturation)) / 2));
  for (const sheet of sheets) sheet.rate = Math.min(common, Math.floor(saturation(sheet) / 2) || common);
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const sheet of sheets) await withProxy(site, sheet.proxy, () => pairs(sheet));
  }
}

async function pairs(sheet: Sheet): Promise<void> {
  const through = `http://127.0.0.1:${proxyPort}${smallPath}`;
  const direct = `http://127.0.0.1:${backendPorts[0]}${smallPath}`;
  warm(through);
  for (let pair = 0; pair < Number(flags.pairs); pair++) {
    const mine = await paced(through, connections, sheet.rate, seconds);
    const alone = await paced(direct, connections, sheet.rate, seconds);
    sheet.p50.push(mine.p50 - alone.p50);
    sheet.p99.push(mine.p99 - alone.p99);
    console.error(`${sheet.proxy.name.padEnd(21)} p50 ${micro(mine.p50)}, alone ${micro(alone.p50)}`);
  }
}

function print(sheets: readonly Sheet[]): void {
  const yardstick = sheets.find(({ proxy }) => proxy.name === 'nginx');
  console.log(`${flags.rounds} rounds of ${seconds} s, ${connections} connections; medians. Node ${process.version}`);
  const head = ['', 'version', ...titles('small'), ...titles('large'), ...titles('tls')];
  if (parts.has('idle')) head.push('idle client');
  if (parts.has('paced')) head.push('rate', 'added p50', 'added p99');
  const rows = sheets.map((sheet) => {
    const { proxy, small, large, tls } = sheet;
    const row = [proxy.name, proxy.version];
    row.push(...cells('small', small, yardstick?.small), ...cells('large', large, yardstick?.large));
    row.push(...cells('tls', tls, yardstick?.tls));
    if (parts.has('idle')) row.push(`${(median(sheet.idle) / 1024).toFixed(1)} KiB`);
    if (parts.has('paced')) row.push(`${sheet.rate}/s`, medianWithin(sheet.p50), medianWithin(sheet.p99));
    return row;
  });
  const table = [head, head.map(() => '---'), ...rows];
  for (const row of table) console.log(`| ${row.join(' | ')} |`);
}

/** The median of differences, and where it lies with 95 % confidence. */
function medianWithin(differences: readonly number[]): string {
  const options = { resamples: 1000, confidence: 0.95, dice: dice(1, 'resamples') };
  const interval = bootstrapInterval(differences, median, options);
  if (interval === undefined) return micro(median(differences));
  return `${micro(interval.estimate)} (${micro(interval.low)} to ${micro(interval.high)})`;
}

const micro = (interval: number): string => `${(interval * 1e6).toFixed(0)} µs`;

type Part = 'small' | 'large' | 'tls';

function titles(part: Part): readonly string[] {
  return parts.has(part) ? [`${part}: µs a request`, '× nginx', 'requests/s', 'core'] : [];
}

function cells(part: Part, mine: readonly Measured[], nginx: readonly Measured[] | undefined): readonly string[] {
  if (!parts.has(part)) return [];
  if (mine.length === 0 || mine.some(({ perSecond }) => perSecond === 0)) return ['–', '–', '–', '–'];
  const cpu = mine.map(({ cpuUs }) => cpuUs);
  // Round by round: what the neighbours did to one they did to the other.
  const ratios = cpu.map((value, round) => value / (nginx?.[round]?.cpuUs ?? NaN));
  const ratio = Number.isNaN(median(ratios)) ? '–' : median(ratios).toFixed(2);
  const spread = `${median(cpu).toFixed(1)} (${Math.min(...cpu).toFixed(1)}–${Math.max(...cpu).toFixed(1)})`;
  const rate = median(mine.map(({ perSecond }) => perSecond)).toFixed(0);
  return [spread, ratio, rate, `${(median(mine.map(({ busy }) => busy)) * 100).toFixed(0)} %`];
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? NaN;
}

const site = new Site();
try {
  await main(site);
} finally {
  site.close();
}
