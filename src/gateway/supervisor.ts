// Several processes at one port, and one that watches them. The supervisor serves no request: it makes the sockets, starts the
// workers, starts again whoever crashes, puts a new configuration in force in all of them, and answers for them at the admin
// address.
//
//                  ┌─► worker 1 ─ socket 1 ─┐
//   supervisor ────┼─► worker 2 ─ socket 2 ─┼─ one port
//   admin, signals └─► worker 3 ─ socket 3 ─┘
//
// What holds for a gateway holds for each worker by itself: limits, health, what a balancer has learnt. Metrics are added up.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';
import { ticketKeyBytes } from '../net.ts';
import { type RunningAdmin, serveAdmin } from './admin.ts';
import { type GatewayConfig } from './config.ts';
import { InheritedSockets, passing, type PassedSocket } from './inherited.ts';
import { announce, held, onSignal, readGatewayFile, type Stop } from './operator.ts';
import { socketsAt } from './shared-sockets.ts';
import { startSuccessor, tellPredecessor } from './successor.ts';
import { summedMetrics } from './summed-metrics.ts';
import { toSupervisor, type ToSupervisor, type ToWorker } from './worker-messages.ts';
import { workerVariable } from './worker.ts';

/** Between a crash and the next start: doubled with each crash that follows soon, up to the second number. */
const pauseMs = { first: 100, last: 10_000 };
/** A worker that has lived this long has not crashed at its start. */
const settledMs = 10_000;
const answerPatienceMs = 5_000;

export async function runSupervisor(
  config: GatewayConfig,
  file: string,
  isHeld: boolean,
  toldToStop: () => Promise<Stop>,
  version: string | undefined,
): Promise<number> {
  const supervisor = new Supervisor(config, file);
  const stopped = Promise.withResolvers<Stop>();
  let admin: RunningAdmin | undefined;
  try {
    const inherited = InheritedSockets.fromEnvironment();
    const ports = await supervisor.start(inherited);
    const restart = async (): Promise<readonly string[]> => {
      if (isHeld) return [held];
      const problem = await startSuccessor([...supervisor.sockets, ...adminSocket(config, admin)]);
      if (problem === undefined) stopped.resolve('succeeded');
      return problem === undefined ? [] : [problem];
    };
    if (config.admin !== undefined) {
      const { host, port } = config.admin;
      admin = await serveAdmin(config.admin, adminOf(supervisor, restart), inherited.take('admin', host, port));
    }
    inherited.closeRest();
    onSignal('SIGHUP', () => supervisor.reload(), `${file} is in force in all workers`);
    onSignal('SIGUSR2', restart, 'a new process has taken over');
    const ready = {
      ready: true,
      port: ports[0],
      admin_port: admin?.port,
      pid: process.pid,
      version,
      workers: config.workers,
    };
    console.log(JSON.stringify(ready));
    tellPredecessor();
  } catch (error) {
    announce(`cannot start: ${error instanceof Error ? error.message : String(error)}`);
    await supervisor.stop(0);
    return error instanceof WorkerFailed ? error.code : 1;
  }
  void toldToStop().then(stopped.resolve);
  const stop = await stopped.promise;
  if (stop === 'succeeded') await admin?.close();
  const code = await supervisor.stop(stop === 'orphaned' ? 1e9 : null);
  if (stop !== 'succeeded') await admin?.close();
  process.stdin.destroy();
  return code;
}

class WorkerFailed extends Error {
  readonly code: number;

  constructor(code: number) {
    super('a worker did not start');
    this.code = code;
  }
}

interface Answer {
  readonly worker: number;
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** One place among the workers, and the process that fills it at present. */
interface Place {
  readonly number: number;
  readonly sockets: readonly PassedSocket[];
  child: ChildProcess | undefined;
  ready: boolean;
  startedAt: number;
  pause: number;
}

class Supervisor {
  restarts = 0;
  readonly #file: string;
  readonly #count: number;
  readonly #config: GatewayConfig;
  readonly #ticketKeys = randomBytes(ticketKeyBytes).toString('base64');
  #text = '';
  #sockets: readonly PassedSocket[] = [];
  #places: readonly Place[] = [];
  #stopping = false;
  #lastId = 0;
  readonly #waiting = new Map<number, (message: ToSupervisor) => void>();
  #reloading: Promise<unknown> = Promise.resolve();

  constructor(config: GatewayConfig, file: string) {
    this.#config = config;
    this.#file = file;
    this.#count = config.workers;
  }

  /** Resolves to the ports once every worker is ready. */
  async start(inherited: InheritedSockets): Promise<readonly number[]> {
    this.#text = await readFile(this.#file, 'utf8');
    const byListener = await Promise.all(
      this.#config.listen.map(({ host, port }) => socketsAt(host, port, this.#count, inherited)),
    );
    this.#sockets = byListener.flat();
    this.#places = Array.from({ length: this.#count }, (_, index) => ({
      number: index + 1,
      sockets: byListener.flatMap((sockets) => sockets[index % sockets.length] ?? []),
      child: undefined,
      ready: false,
      startedAt: 0,
      pause: pauseMs.first,
    }));
    const [ports = []] = await Promise.all(this.#places.map((place) => this.#fill(place, true)));
    return ports;
  }

  get sockets(): readonly PassedSocket[] {
    return this.#sockets;
  }

  get ready(): number {
    return this.#places.filter((place) => place.ready).length;
  }

  /** Resolves to its ports when it is ready; rejects when it ends before, where it is the first in its place. */
  #fill(place: Place, first: boolean): Promise<readonly number[]> {
    const { env, fds } = passing(place.sockets);
    const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      env: { ...process.env, ...env, [workerVariable]: String(place.number) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...fds],
    });
    place.child = child;
    place.startedAt = Date.now();
    return new Promise((resolve, reject) => {
      child.on('message', (message) => {
        const told = toSupervisor.safeParse(message);
        if (!told.success) return;
        if (told.data.kind === 'ready') {
          place.ready = true;
          resolve(told.data.ports);
        } else {
          const tell = this.#waiting.get(told.data.id);
          this.#waiting.delete(told.data.id);
          tell?.(told.data);
        }
      });
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        const served = place.ready;
        place.ready = false;
        place.child = undefined;
        if (this.#stopping) return;
        if (first && !served) return reject(new WorkerFailed(code ?? 1));
        this.#crashed(place, signal ?? `exit code ${code}`);
      });
      this.#say(place, { kind: 'begin', text: this.#text, ticketKeys: this.#ticketKeys });
    });
  }

  #crashed(place: Place, how: string): void {
    this.restarts += 1;
    if (Date.now() - place.startedAt > settledMs) place.pause = pauseMs.first;
    announce(`worker ${place.number} ended (${how}); it is started again in ${place.pause} ms`);
    setTimeout(() => {
      if (!this.#stopping) void this.#fill(place, false);
    }, place.pause);
    place.pause = Math.min(place.pause * 2, pauseMs.last);
  }

  #say(place: Place, message: ToWorker): void {
    if (place.child?.connected === true) place.child.send(message, () => {});
  }

  /** Puts what the file says now in force in every worker, one after another; the first that refuses ends it, and since all are
   * alike, that is the very first. */
  reload(): Promise<readonly string[]> {
    const mine = this.#reloading.then(() => this.#reload());
    this.#reloading = mine.catch(() => {});
    return mine;
  }

  async #reload(): Promise<readonly string[]> {
    const read = await readGatewayFile(this.#file);
    if ('problems' in read) return read.problems;
    if (read.config.workers !== this.#count) return ['workers: cannot change in a running process; restart it'];
    const text = await readFile(this.#file, 'utf8');
    for (const place of this.#places) {
      const told = await this.#ask(place, (id) => ({ kind: 'reload', id, text }));
      if (told?.kind !== 'reloaded') continue;
      if (told.problems.length > 0) return told.problems;
    }
    this.#text = text;
    return [];
  }

  /** Every worker's answer to a request of the admin API; those that do not answer are left out. */
  async ask(request: {
    method: string;
    path: string;
    accept: string;
    body: string | null;
  }): Promise<readonly Answer[]> {
    const answers = await Promise.all(
      this.#places.map(async (place) => {
        const told = await this.#ask(place, (id) => ({ kind: 'ask', id, ...request }));
        return told?.kind === 'answer' ? { worker: place.number, ...told } : undefined;
      }),
    );
    return answers.filter((answer) => answer !== undefined);
  }

  #ask(place: Place, message: (id: number) => ToWorker): Promise<ToSupervisor | undefined> {
    if (!place.ready) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#waiting.get(id)?.({ kind: 'ready', ports: [] }), answerPatienceMs);
      this.#waiting.set(id, (told) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(told);
      });
      this.#say(place, message(id));
    });
  }

  /** Lets every worker finish; resolves to the highest exit code. `patienceNs`: null for the configured drain timeout. */
  async stop(patienceNs: number | null): Promise<number> {
    this.#stopping = true;
    const codes = this.#places.map(async (place) => {
      const { child } = place;
      if (child === undefined || child.exitCode !== null) return 0;
      const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
      if (place.ready) this.#say(place, { kind: 'drain', patienceNs });
      else child.kill('SIGKILL');
      return ended;
    });
    return Math.max(0, ...(await Promise.all(codes)));
  }
}

function adminSocket(config: GatewayConfig, admin: RunningAdmin | undefined): readonly PassedSocket[] {
  if (config.admin === undefined || admin?.fd === undefined) return [];
  return [{ what: 'admin', host: config.admin.host, port: config.admin.port, fd: admin.fd }];
}

/** The admin API of all workers together. What is asked goes to each of them:
 *
 *   /metrics          added up                      /readyz          200 when one of them is ready
 *   GET anything      { "workers": [ { "worker", "status", "body" } ] }, or with ?worker=2 that of one
 *   GET /why/ID       of whichever knows            POST anything    in all; the first refusal is the answer */
function adminOf(supervisor: Supervisor, restart: () => Promise<readonly string[]>): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('alive\n'));
  app.get('/metrics', async (context) => {
    const answers = await supervisor.ask({ method: 'GET', path: '/metrics', accept: 'text/plain', body: null });
    context.header('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    return context.body(summedMetrics([...answers.map((answer) => answer.body), ownMetrics(supervisor)]));
  });
  for (const [path, act] of [
    ['/reload', () => supervisor.reload()],
    ['/restart', restart],
  ] as const) {
    app.post(path, async (context) => {
      const problems = await act();
      return context.json({ problems }, problems.length === 0 ? 200 : 400);
    });
  }
  app.all('*', async (context) => {
    const { method, url } = context.req;
    const { pathname, search, searchParams } = new URL(url);
    const wanted = Number(searchParams.get('worker') ?? 0);
    const body = method === 'GET' ? null : await context.req.text();
    const accept = context.req.header('accept') ?? '*/*';
    const all = await supervisor.ask({ method, path: `${pathname}${search}`, accept, body });
    const answers = wanted === 0 ? all : all.filter((answer) => answer.worker === wanted);
    const good = answers.find((answer) => answer.status < 300);
    const bad = answers.find((answer) => answer.status >= 300);
    const one = (answer: Answer | undefined): Response =>
      answer === undefined
        ? new Response('no worker answers\n', { status: 503 })
        : new Response(answer.body, { status: answer.status, headers: { 'content-type': answer.contentType } });
    if (pathname === '/readyz' || pathname.startsWith('/why/')) return one(good ?? bad);
    if (method !== 'GET' || bad !== undefined) return one(bad ?? good);
    if (wanted !== 0) return one(good);
    const workers = answers.map(({ worker, status, body: text }) => ({ worker, status, body: parsedOr(text) }));
    return context.json({ workers });
  });
  return app;
}

function ownMetrics(supervisor: Supervisor): string {
  return (
    '# HELP plimsoll_gateway_workers Processes that serve.\n# TYPE plimsoll_gateway_workers gauge\n' +
    `plimsoll_gateway_workers ${supervisor.ready}\n` +
    '# HELP plimsoll_gateway_worker_restarts_total Workers that had to be started again.\n' +
    '# TYPE plimsoll_gateway_worker_restarts_total counter\n' +
    `plimsoll_gateway_worker_restarts_total ${supervisor.restarts}\n`
  );
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
