// The gateway under fire: a minute of load in the clear and in TLS while its replicas are killed, stopped, slowed and started again,
// its configuration is reloaded fifty times and its certificates are swapped. The ledger of the load has to show that nobody
// noticed, but those whose replica died in the middle of its answer.
//
// Long for a test, and alone in its file so that it runs beside the others.

import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import tls from 'node:tls';
import { z } from 'zod';
import { seconds } from '../base.ts';
import { type LoadGroup, startLoad } from '../load.ts';
import { nodeEngine } from '../net.ts';
import { parsePrometheus, sampleOf } from '../observe.ts';

const length = Number(process.env['PLIMSOLL_UNDER_FIRE_SECONDS'] ?? 60);
const reloads = 50;

type Child = ChildProcessByStdio<Writable, Readable, null>;
const readyShape = z.object({ port: z.number(), admin_port: z.number().optional() });

/** A program that says where it listens; it ends with us. */
async function started(file: string, ...args: string[]): Promise<{ child: Child; port: number; adminPort: number }> {
  const command = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, file), ...args];
  const child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'ignore'] });
  const [line] = z.tuple([z.string()]).parse(await once(createInterface(child.stdout), 'line'));
  const ready = readyShape.parse(JSON.parse(line));
  return { child, port: ready.port, adminPort: ready.admin_port ?? 0 };
}

class Replica {
  readonly id: string;
  port = 0;
  #child: Child | undefined;

  constructor(id: string) {
    this.id = id;
  }

  async start(): Promise<void> {
    const { child, port } = await started('testing/fragile-server.ts', this.id, String(this.port));
    this.#child = child;
    this.port = port;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async slow(milliseconds: number): Promise<void> {
    await fetch(`http://127.0.0.1:${this.port}/slow/${milliseconds}`).then((answer) => answer.text());
  }
}

/** A self-signed pair in a folder of this name; false where openssl is missing. */
function certificate(folder: string, name: string): boolean {
  const place = join(folder, name);
  mkdirSync(place);
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`];
  const made = spawnSync('openssl', [...args, '-keyout', join(place, 'key.pem'), '-out', join(place, 'cert.pem')]);
  return made.error === undefined && made.status === 0;
}

/** Swaps certificate and key in one step, as a mounted secret does: what is shown is a link. */
async function showCertificate(folder: string, name: string): Promise<void> {
  await symlink(join(folder, name), join(folder, 'next'));
  await rename(join(folder, 'next'), join(folder, 'shown'));
}

/** Whose certificate a new connection is shown. */
async function shownName(port: number): Promise<unknown> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return subject.CN;
}

test(
  'a minute of fire costs no request but those whose replica died in the middle of its answer',
  { timeout: 88_000 },
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-fire-'));
    const replicas = [1, 2, 3, 4].map((nth) => new Replica(`api-${nth}`));
    const engine = nodeEngine();
    let gateway: Awaited<ReturnType<typeof started>> | undefined;
    try {
      await Promise.all(replicas.map((replica) => replica.start()));
      const secure = certificate(folder, 'one') && certificate(folder, 'two');
      if (secure) await showCertificate(folder, 'one');
      else context.diagnostic('openssl is not installed: without TLS');
      const ports = await freePorts();
      // Beside the certificates every writing of the file would look like a new certificate.
      const file = join(await mkdtemp(join(folder, 'configuration-')), 'gateway.json');
      await writeFile(file, configuration(folder, ports, replicas, secure, 0));
      gateway = await started('testing/gateway-with.ts', '{}', file);
      const { adminPort } = gateway;
      const page = async (): Promise<string> => (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      const load = startLoad(
        {
          groups: groupsFor(ports, secure),
          seed: 1,
          objectives: [],
        },
        engine,
      );
      const ended = new AbortController();
      const fire = AbortSignal.any([AbortSignal.timeout(length * 1000), ended.signal]);
      const next = (nth: number): string => configuration(folder, ports, replicas, secure, nth);
      const work = [disturb(replicas, fire), reload(file, adminPort, next, folder, secure, ended.signal)];
      try {
        await Promise.all([...work, pause(length * 1000)]);
      } finally {
        ended.abort();
        await Promise.allSettled(work);
      }
      if (secure) assert.equal(await shownName(ports[1] ?? 0), 'two', 'the certificate of the last swap is shown');
      const result = await load.stop(seconds(6));
      const metrics = parsePrometheus(await page());
      const cutOff = sampleOf(metrics, 'plimsoll_gateway_ways_out_total', { way: 'cut-off' }) ?? 0;
      const seen = JSON.stringify({
        ledgers: result.ledgers,
        cutOff,
        ways: (await page()).match(/(?:ways_out|hedges|retries)\w*_total.* [1-9]\d*$/gm),
      });
      for (const ledger of result.ledgers) {
        assert.ok(ledger.planned > length * 20, seen);
        assert.equal(ledger.refused + ledger.never_sent + ledger.in_flight_at_end, 0, seen);
        assert.equal(ledger.answered + ledger.failed + ledger.timed_out, ledger.planned, seen);
      }
      const lost = result.ledgers.reduce((sum, ledger) => sum + ledger.failed + ledger.timed_out, 0);
      assert.ok(lost <= cutOff, seen);
      const reloaded = (how: string): number =>
        sampleOf(metrics, 'plimsoll_gateway_reloads_total', { result: how }) ?? 0;
      // Certificates that were noticed by themselves count as well.
      assert.ok(reloaded('taken') >= reloads, `${reloaded('taken')} reloads`);
      assert.equal(reloaded('refused'), 0);
      context.diagnostic(seen);
    } finally {
      for (const replica of replicas) replica.signal('SIGCONT');
      await Promise.all(replicas.map((replica) => replica.kill()));
      await engine.close();
      if (gateway !== undefined) {
        gateway.child.kill('SIGKILL');
        await once(gateway.child, 'exit');
      }
      await rm(folder, { recursive: true });
    }
  },
);

/** The n-th configuration: another policy, other weights, another patience; the same addresses. */
function configuration(
  folder: string,
  ports: readonly number[],
  replicas: readonly Replica[],
  secure: boolean,
  nth: number,
): string {
  const policies = ['least-request', 'two-choices', 'peak-ewma', 'round-robin', 'prequal'];
  const certificates = [{ cert_file: join(folder, 'shown', 'cert.pem'), key_file: join(folder, 'shown', 'key.pem') }];
  return JSON.stringify({
    listen: listenersOf(ports, secure, certificates),
    admin: { host: '127.0.0.1', port: 0 },
    policy: policies[nth % policies.length],
    timeout_ns: 5e9 + (nth % 3) * 1e9,
    retries: 3,
    retry_budget: { ratio: 0.5 },
    hedge: { quantile: 0.9, samples_min: 20, ratio: 0.5, delay_min_ns: 20e6 },
    health: {
      path: '/healthz',
      interval_ns: 200e6,
      interval_edge_ns: 50e6,
      timeout_ns: 200e6 + (nth % 2) * 50e6,
      fall: 2,
      rise: 1,
    },
    panic_below: 0.01,
    endpoints: replicas.map(({ id, port }, index) => ({
      id,
      host: '127.0.0.1',
      port,
      weight: 1 + ((nth + index) % 3),
    })),
  });
}

function listenersOf(ports: readonly number[], secure: boolean, certificates: readonly object[]): readonly object[] {
  const [clear, other] = ports.map((port) => ({ host: '127.0.0.1', port }));
  return secure ? [clear ?? {}, { ...other, tls: { certificates } }] : [clear ?? {}];
}

/** A reload may not move a listener to a port of the kernel's choice: they are chosen once. */
async function freePorts(): Promise<readonly number[]> {
  const servers = [createServer(), createServer()];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  return servers.map((server) => {
    const address = server.address();
    server.close();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
}

function groupsFor(ports: readonly number[], secure: boolean): readonly LoadGroup[] {
  const group = (name: string, port: number, overTls: boolean): LoadGroup => ({
    group: name,
    demand: {
      kind: 'open',
      clients: name,
      ratePerSecond: 60,
      arrivals: 'poisson',
      flow: [{ method: 'GET', path: '/', headers: {}, body: undefined }],
    },
    targets: [{ id: 'gateway', host: '127.0.0.1', port, ...(overTls ? { tls: { insecure: true } } : {}) }],
    choice: 'pick-first',
    timeout: seconds(10),
  });
  return [group('clear', ports[0] ?? 0, false), ...(secure ? [group('tls', ports[1] ?? 0, true)] : [])];
}

/** One replica at a time: killed and started again, stopped and let go on, slowed and hurried. */
async function disturb(replicas: readonly Replica[], fire: AbortSignal): Promise<void> {
  for (let turn = 0; !fire.aborted; turn++) {
    const replica = replicas[turn % replicas.length];
    if (replica === undefined) return;
    switch (turn % 3) {
      case 0:
        await replica.kill();
        await pause(700);
        await replica.start();
        break;
      case 1:
        replica.signal('SIGSTOP');
        await pause(1000);
        replica.signal('SIGCONT');
        break;
      default:
        await replica.slow(150);
        await pause(1000);
        await replica.slow(0);
    }
    await pause(600);
  }
}

/** Another configuration again and again, and another certificate with every fifth. */
async function reload(
  file: string,
  adminPort: number,
  next: (nth: number) => string,
  folder: string,
  secure: boolean,
  ended: AbortSignal,
): Promise<void> {
  const from = performance.now();
  for (let nth = 1; nth <= reloads; nth++) {
    const due = from + (nth * length * 1000) / (reloads + 5);
    await pause(Math.max(1, due - performance.now()), undefined, { signal: ended });
    if (secure && nth % 5 === 0) await showCertificate(folder, nth % 10 === 0 ? 'two' : 'one');
    await writeFile(file, next(nth));
    const answer = await fetch(`http://127.0.0.1:${adminPort}/reload`, { method: 'POST' });
    assert.equal(answer.status, 200, await answer.text());
  }
}
