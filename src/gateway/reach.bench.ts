// A thousand services of ten endpoints each: what they take, how soon a change of one service's endpoints is in force, and whether
// anybody waits because of it.
//
//   npm run bench:reach [-- --services 1000 --changes 500 --rate 1000 --engine uring]
//
// memory      live heap (after a full collection, in this process) and the resident memory of a real gateway that has
//             served for a while, with all services and with one, ÷ endpoints
// work        what one change keeps the gateway's thread busy for, in this process: reading the new list, and the new fleet; and
//             what a reload of the whole file takes of it, with one endpoint changed
// in force    from the POST to the admin API until the first answer by a new endpoint, asked for again and again
// waiting     latencies of a steady stream of requests to all services, while nothing changes, while changes come as fast as
//             the admin API answers them, and while the file is read again all the time; from when a request was due, the three
//             in turns, so that what the neighbours do is done to all of them
//
// The endpoints of a service are all the same backend, before a change one and after it another, so an answer says which list it
// came by. Needs nginx, wrk and two cores.

import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import http from 'node:http';
import { parseArgs } from 'node:util';
import { chooseEngine } from '../net.ts';
import { parseEndpointList, parseGatewayConfig } from './config.ts';
import { DataPlane } from './data-plane.ts';
import { parseAside } from './parse-aside.ts';
import { flood } from './bench/load.ts';
import { startOurs } from './bench/proxies.ts';
import { adminPort, loadCore, programPath, proxyPort, residentBytesOf, Site, until } from './bench/site.ts';
import { temporaryFolders } from './bench/backend.ts';
import { Services } from './services.ts';
import { atOnce, inSlices } from './slices.ts';

const { values: flags } = parseArgs({
  options: {
    services: { type: 'string', default: '1000' },
    endpoints: { type: 'string', default: '10' },
    changes: { type: 'string', default: '300' },
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    engine: { type: 'string', default: 'uring' },
  },
});
const serviceCount = Number(flags.services);
const endpointCount = Number(flags.endpoints);
const ports = [19_186, 19_187] as const;

async function main(site: Site): Promise<void> {
  await startBackends(site);
  const text = configuration(serviceCount);
  heap(text);
  work(text);
  await reloads(text, configuration(serviceCount, 1));
  const one = await resident(site, 1);
  const child = startOurs(site, JSON.parse(text) as object);
  await until(proxyPort, 'listens');
  const all = await residentAfterLoad(child.pid ?? 0);
  const each = (all - one) / ((serviceCount - 1) * endpointCount);
  console.log(
    `resident: ${mebibytes(one)} with one service, ${mebibytes(all)} with all: ${each.toFixed(0)} bytes an endpoint`,
  );
  await inForce();
  const changed = { count: 0, reloads: 0 };
  const lasts = Number(flags.seconds) * 1000;
  for (let round = 0; round < Number(flags.rounds); round++) {
    await waiting('nothing changes', () => pause(lasts));
    await waiting('changes all the time', () =>
      repeatedly(lasts, async () => {
        await change(changed.count % serviceCount, changed.count % 2 === 0 ? 1 : 0);
        changed.count += 1;
      }),
    );
    await waiting('the file is read all the time', () =>
      repeatedly(lasts, async () => {
        changed.reloads += 1;
        site.write('gateway.json', configuration(serviceCount, changed.reloads % serviceCount));
        await posted('/reload', '');
      }),
    );
  }
  console.log(
    `${changed.count} changes and ${changed.reloads} times the file in that time; resident now ${mebibytes(residentBytesOf(child.pid ?? 0))}`,
  );
  await site.stop(child);
}

// ── what the services are ───────────────────────────────────────────────────────────────────────────────────────────

const serviceName = (number: number): string => `service-${number}`;
const hostName = (number: number): string => `service-${number}.example`;

function endpointsOf(service: number, backend: 0 | 1): readonly object[] {
  return Array.from({ length: endpointCount }, (_, index) => ({
    id: `${serviceName(service)}-${index}`,
    host: '127.0.0.1',
    port: ports[backend],
  }));
}

/** `moved`: the one service that is at the other backend. */
function configuration(count: number, moved?: number): string {
  const numbers = Array.from({ length: count }, (_, number) => number);
  return JSON.stringify({
    listen: { host: '127.0.0.1', port: proxyPort },
    admin: { host: '127.0.0.1', port: adminPort },
    engine: flags.engine,
    policy: 'least-request',
    services: numbers.map((number) => ({
      name: serviceName(number),
      endpoints: endpointsOf(number, number === moved ? 1 : 0),
    })),
    routes: [
      ...numbers.map((number) => ({ host: hostName(number), service: serviceName(number) })),
      { path: '/any', service: serviceName(0) },
    ],
  });
}

/** Two ports of one nginx that say which they are. */
async function startBackends(site: Site): Promise<void> {
  const nginx = programPath('nginx');
  assert.ok(nginx !== undefined, 'the backends are an nginx');
  const servers = ports
    .map((port, index) => `server { listen 127.0.0.1:${port} backlog=4096; location / { return 200 "${index}"; } }`)
    .join('\n');
  const file = site.write(
    'reach.conf',
    `daemon off; master_process off; pid ${site.folder}/reach.pid; error_log stderr crit; worker_rlimit_nofile 16384;
     events { worker_connections 8192; }
     http { access_log off; ${temporaryFolders(site.folder)} keepalive_requests 100000000; ${servers} }`,
  );
  site.start(loadCore, [nginx, '-p', site.folder, '-c', file]);
  await until(ports[0], 'listens');
}

// ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function heap(text: string): void {
  const chosen = chooseEngine('node');
  assert.ok('engine' in chosen);
  const began = performance.now();
  const parsed = parseGatewayConfig(text, 'reach');
  assert.ok(parsed.ok);
  const read = performance.now() - began;
  const before = live();
  const services = new Services(chosen.engine);
  atOnce(services.reconfigure(parsed.config));
  const grown = live() - before;
  assert.equal(services.size, serviceCount);
  const endpoints = serviceCount * endpointCount;
  console.log(
    `heap: ${(grown / endpoints).toFixed(0)} bytes an endpoint for what the data plane keeps; reading the configuration took ${read.toFixed(0)} ms`,
  );
}

function live(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function resident(site: Site, count: number): Promise<number> {
  await until(proxyPort, 'is free');
  const child = startOurs(site, JSON.parse(configuration(count)) as object);
  await until(proxyPort, 'listens');
  const bytes = await residentAfterLoad(child.pid ?? 0);
  await site.stop(child);
  await until(proxyPort, 'is free');
  return bytes;
}

/** What reading the file has left behind is used again by requests, as any gateway that has served some has that much. */
async function residentAfterLoad(pid: number): Promise<number> {
  flood(`http://127.0.0.1:${proxyPort}/any`, 64, 4);
  await pause(1000);
  return residentBytesOf(pid);
}

// ── one change ──────────────────────────────────────────────────────────────────────────────────────────────────────

function work(text: string): void {
  const chosen = chooseEngine('node');
  assert.ok('engine' in chosen);
  const parsed = parseGatewayConfig(text, 'reach');
  assert.ok(parsed.ok);
  const services = new Services(chosen.engine);
  atOnce(services.reconfigure(parsed.config));
  const changes = 20_000;
  const began = threadMicroseconds();
  for (let nth = 0; nth < changes; nth++) {
    const service = nth % serviceCount;
    const body = JSON.stringify({ endpoints: endpointsOf(service, nth % 2 === 0 ? 1 : 0) });
    const list = parseEndpointList(JSON.parse(body));
    assert.ok('endpoints' in list);
    services.named(serviceName(service))?.replace(list.endpoints, chosen.engine.now());
  }
  console.log(`work: one change takes ${((threadMicroseconds() - began) / changes).toFixed(0)} µs of the thread`);
}

/** What a reload with another endpoint in one service takes of the gateway's thread, when the file has been read. */
async function reloads(text: string, changed: string): Promise<void> {
  const chosen = chooseEngine('node');
  assert.ok('engine' in chosen);
  const [before, after] = [await parseAside(text, 'reach'), await parseAside(changed, 'reach')];
  assert.ok(before.ok && after.ok);
  const plane = new DataPlane(chosen.engine, before.config, undefined);
  const took: number[] = [];
  for (let time = 0; time < 20; time++) {
    const began = threadMicroseconds();
    await inSlices(plane.reconfigure(time % 2 === 0 ? after.config : before.config, undefined, undefined));
    took.push((threadMicroseconds() - began) / 1000);
  }
  const shown = `p50 ${quantile(took, 0.5).toFixed(1)} ms, longest ${Math.max(...took).toFixed(1)} ms`;
  console.log(`work: a reload that changes one endpoint takes ${shown} of the thread, a millisecond at a time`);
}

/** Of processor time. Taken together user and system are exact; the kernel divides them by samples. */
function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

const adminAgent = new http.Agent({ keepAlive: true, maxSockets: 4 });
const clientAgent = new http.Agent({ keepAlive: true, maxSockets: 64 });

const change = (service: number, backend: 0 | 1): Promise<void> =>
  posted(`/services/${serviceName(service)}/endpoints`, JSON.stringify({ endpoints: endpointsOf(service, backend) }));

async function posted(path: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const request = http.request({
    port: adminPort,
    host: '127.0.0.1',
    path,
    method: 'POST',
    headers,
    agent: adminAgent,
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  await once(response, 'end');
  assert.equal(response.statusCode, 200);
}

async function repeatedly(milliseconds: number, act: () => Promise<void>): Promise<void> {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) await act();
}

/** Which backend answers. */
async function asked(service: number): Promise<string> {
  const request = http.request({
    port: proxyPort,
    host: '127.0.0.1',
    path: '/',
    headers: { host: hostName(service) },
    agent: clientAgent,
  });
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  assert.equal(response.statusCode, 200);
  return text;
}

async function inForce(): Promise<void> {
  const took: number[] = [];
  for (let nth = 0; nth < Number(flags.changes); nth++) {
    const service = nth % serviceCount;
    assert.equal(await asked(service), '0');
    const began = performance.now();
    const changing = change(service, 1);
    while ((await asked(service)) !== '1');
    took.push(performance.now() - began);
    await changing;
    assert.equal(await asked(service), '1');
    await change(service, 0);
  }
  console.log(
    `in force: p50 ${quantile(took, 0.5).toFixed(1)} ms, p99 ${quantile(took, 0.99).toFixed(1)} ms, longest ${Math.max(...took).toFixed(1)} ms`,
  );
}

// ── does anybody wait? ──────────────────────────────────────────────────────────────────────────────────────────────

/** A steady stream while `act` runs; latencies from when each request was due. */
async function waiting(what: string, act: () => Promise<void>): Promise<void> {
  const took: number[] = [];
  const ending = new AbortController();
  const stream = steady(ending.signal, took);
  await act();
  ending.abort();
  await stream;
  const shown = [0.5, 0.99, 0.999].map((share) => `p${share * 100} ${quantile(took, share).toFixed(2)} ms`).join(', ');
  console.log(`${what}: ${took.length} requests, ${shown}, longest ${Math.max(...took).toFixed(1)} ms`);
}

async function steady(ending: AbortSignal, took: number[]): Promise<void> {
  const gap = 1000 / Number(flags.rate);
  const open: Promise<void>[] = [];
  let due = performance.now();
  for (let nth = 0; !ending.aborted; nth++) {
    due += gap;
    const left = due - performance.now();
    if (left > 1) await pause(left - 1);
    open.push(timed(nth % serviceCount, due, took));
  }
  await Promise.all(open);
}

async function timed(service: number, due: number, took: number[]): Promise<void> {
  await asked(service);
  took.push(performance.now() - due);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

const site = new Site();
try {
  await main(site);
  adminAgent.destroy();
  clientAgent.destroy();
} finally {
  site.close();
}
process.exit();
