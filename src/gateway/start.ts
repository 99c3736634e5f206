// A running gateway: the data plane, its listeners, the admin API and the health checks, started together, reloaded and stopped
// in order.
//
// A reload makes everything ready that may fail (files are read, addresses opened), and only then swaps, in one turn: what fails
// leaves the old configuration in force, whole. Requests under way are not touched, nor connections; listeners that are no longer
// configured accept nobody new.

import { isDeepStrictEqual } from 'node:util';
import { after, type Duration } from '../base.ts';
import { type Engine, ServerTls } from '../net.ts';
import type { BalancerName, Endpoint } from '../policy.ts';
import { AccessLog } from './access-log.ts';
import { type AdminApp, adminApp, type Operations, type RunningAdmin, serveAdmin } from './admin.ts';
import { FileWatch } from './certificate-watch.ts';
import { type ConfigFiles, FilesRefused, readConfigFiles, watchedFiles } from './certificates.ts';
import type { GatewayConfig } from './config.ts';
import { DataPlane } from './data-plane.ts';
import { Entrance } from './entrance.ts';
import { Judges } from './judges.ts';
import type { InheritedSockets, PassedSocket } from './inherited.ts';
import type { ListenerConfig } from './listener-config.ts';
import { gatewayFamilies, metricsText } from './metrics.ts';
import { OtlpExporter } from './otlp.ts';
import { inSlices } from './slices.ts';
import { type Telling, tellingOf } from './telling.ts';

export interface RunningGateway {
  /** Of the first listener. */
  readonly port: number;
  /** Of every listener, in the order of the configuration. */
  readonly ports: readonly number[];
  /** undefined without an admin API. */
  readonly adminPort: number | undefined;
  /** The admin API, to be asked without a socket. */
  readonly admin: AdminApp;
  /** Takes a whole new list; requests under way are not touched. */
  setEndpoints(endpoints: readonly Endpoint[]): void;
  setPolicy(policy: BalancerName, seed?: number): void;
  /** Puts another configuration in force. Resolves to the problems that keep it from being; the old one stays in force then. */
  reload(config: GatewayConfig): Promise<readonly string[]>;
  /** Prometheus text, as the admin API serves it. */
  metrics(): string;
  /** The listening sockets, to be handed to another process. */
  sockets(): readonly PassedSocket[];
  /** The admin API serves nobody new: another process has taken its address over. */
  stopAdmin(): Promise<void>;
  /** Takes no new connection, finishes what is under way, then closes. Resolves to the number of requests that were still
   * under way when `patience` (the configured drain timeout by default) was over: 0 when everything was finished. */
  drain(patience?: Duration): Promise<number>;
  /** Ends everything at once. The engine is the caller's and stays open. */
  close(): Promise<void>;
}

export interface GatewayOptions {
  /** Sockets that listen already. */
  readonly inherited?: InheritedSockets;
  /** Further processes listen at the same addresses. */
  readonly reusePort?: boolean;
  /** Where a whole new configuration, or a new process, would come from: what the admin API offers. */
  readonly reload?: () => Promise<readonly string[]>;
  readonly restart?: () => Promise<readonly string[]>;
  /** Is told in words what happened without being asked for. */
  readonly announce?: (words: string) => void;
  /** The secret of TLS tickets, shared with other processes at the same addresses. */
  readonly ticketKeys?: Uint8Array;
}

/** Rejects with `FilesRefused` when a file that the configuration names is not good, with a `NetError` or the system's error when
 * an address cannot be had or the access log cannot be opened. */
export async function startGateway(
  config: GatewayConfig,
  engine: Engine,
  options: GatewayOptions = {},
): Promise<RunningGateway> {
  const files = await readConfigFiles(config);
  const plane = new DataPlane(engine, config, await openedLog(config, engine));
  plane.upstreamTls = files.upstream;
  exportTo(plane, plane.telling);
  const gateway = new Gateway(plane, options);
  try {
    await gateway.open(files);
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return gateway;
}

class Gateway implements RunningGateway, Operations {
  readonly #plane: DataPlane;
  readonly #options: GatewayOptions;
  readonly #files: FileWatch;
  readonly #judges: Judges;
  #entrances: readonly Entrance[] = [];
  #ports: readonly number[] = [];
  #admin: RunningAdmin | undefined;
  readonly admin: AdminApp;
  /** Reloads one after another. */
  #reloading: Promise<unknown> = Promise.resolve();

  constructor(plane: DataPlane, options: GatewayOptions) {
    this.#plane = plane;
    this.#options = options;
    this.#files = new FileWatch(() => void this.#renewCertificates());
    this.#judges = new Judges(plane);
    this.admin = adminApp(plane, this, { reload: options.reload, restart: options.restart });
  }

  async open(files: ConfigFiles): Promise<void> {
    const { config } = this.#plane;
    const { inherited } = this.#options;
    if (config.admin !== undefined) {
      const { host, port } = config.admin;
      this.#admin = await serveAdmin(config.admin, this.admin, inherited?.take('admin', host, port));
    }
    for (const [index, listener] of config.listen.entries()) {
      this.#entrances = [...this.#entrances, await this.#opened(listener, files.listeners[index])];
    }
    inherited?.closeRest();
    this.#ports = this.#entrances.map((entrance) => entrance.port);
    this.#files.follow(watchedFiles(config));
    this.#judges.follow();
  }

  async #opened(listener: ListenerConfig, tls: ConfigFiles['listeners'][number]): Promise<Entrance> {
    const { inherited, reusePort = false, ticketKeys } = this.#options;
    const keys = ticketKeys === undefined ? {} : { ticketKeys };
    const entrance = new Entrance(
      this.#plane,
      listener,
      tls === undefined ? undefined : new ServerTls({ ...tls, ...keys }),
    );
    const fd = inherited?.take('listener', listener.host, listener.port);
    await entrance.open(this.#plane.engine, { fd, reusePort });
    return entrance;
  }

  get port(): number {
    return this.ports[0] ?? 0;
  }

  get ports(): readonly number[] {
    return this.#ports;
  }

  get adminPort(): number | undefined {
    return this.#admin?.port;
  }

  sockets(): readonly PassedSocket[] {
    const { admin } = this.#plane.config;
    const listeners = this.#entrances.map(({ config, fd }) => ({
      what: 'listener' as const,
      ...addressOf(config),
      fd,
    }));
    const own = admin === undefined ? [] : [{ what: 'admin' as const, ...addressOf(admin), fd: this.#admin?.fd }];
    return [...listeners, ...own].flatMap(({ fd, ...socket }) => (fd === undefined ? [] : [{ ...socket, fd }]));
  }

  setEndpoints(endpoints: readonly Endpoint[]): void {
    this.#plane.fleet.replace(endpoints, this.#plane.engine.now());
  }

  setPolicy(policy: BalancerName, seed?: number): void {
    this.#plane.fleet.setPolicy(policy, seed, this.#plane.engine.now());
  }

  metrics(): string {
    return metricsText(this.#plane, this.#plane.engine.now());
  }

  // ── another configuration ─────────────────────────────────────────────────────────────────────────────────────────

  reload(config: GatewayConfig): Promise<readonly string[]> {
    return this.#inTurn(() => this.#reload(config));
  }

  /** One after another: what the second finds is what the first has left. */
  async #inTurn(work: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const before = this.#reloading;
    const mine = before.then(work).then((problems) => {
      this.#plane.reloads[problems.length === 0 ? 'taken' : 'refused'] += 1;
      return problems;
    });
    this.#reloading = mine.catch(() => {});
    return mine;
  }

  async #reload(config: GatewayConfig): Promise<readonly string[]> {
    const fixed = fixedProblems(this.#plane.config, config);
    if (fixed.length > 0) return fixed;
    let files: ConfigFiles;
    try {
      files = await readConfigFiles(config);
    } catch (error) {
      return error instanceof FilesRefused ? error.message.split('\n') : [messageOf(error)];
    }
    const kept = this.#keptFor(config);
    const replaced = this.#entrances.filter((one) => !kept.includes(one) && config.listen.some(isAt(one)));
    const added: Entrance[] = [];
    for (const entrance of replaced) await entrance.close();
    let telling: Telling | undefined;
    try {
      telling = await this.#tellingFor(config);
      for (const [index, listener] of config.listen.entries()) {
        if (kept[index] === undefined) added.push(await this.#opened(listener, files.listeners[index]));
      }
    } catch (error) {
      await Promise.all(added.map((entrance) => entrance.close()));
      for (const entrance of replaced) await entrance.open(this.#plane.engine);
      return [messageOf(error)];
    }
    await this.#swap(config, files, telling, kept, added);
    return [];
  }

  /** For each listener of `config` the entrance that is open for it already. One that has to be opened anew at the same address
   * (TLS where there was none) is closed first: whoever connects in that moment is refused. */
  #keptFor(config: GatewayConfig): readonly (Entrance | undefined)[] {
    let left = this.#entrances;
    return config.listen.map((listener) => {
      const found = left.find((entrance) => isAt(entrance)(listener));
      if (found?.openedLike(listener) !== true) return undefined;
      left = left.filter((entrance) => entrance !== found);
      return found;
    });
  }

  async #tellingFor(config: GatewayConfig): Promise<Telling | undefined> {
    const { engine, telling, config: before } = this.#plane;
    if (isDeepStrictEqual(before.observe, config.observe)) return telling;
    const log = await openedLog(config, engine);
    return tellingOf(config.observe, log, config.seed, engine.now());
  }

  async #swap(
    config: GatewayConfig,
    files: ConfigFiles,
    telling: Telling | undefined,
    kept: readonly (Entrance | undefined)[],
    added: readonly Entrance[],
  ): Promise<void> {
    const tellingBefore = this.#plane.telling;
    const entrancesBefore = this.#entrances;
    await inSlices(this.#plane.reconfigure(config, telling, files.upstream));
    if (telling !== tellingBefore) exportTo(this.#plane, telling);
    const rest = [...added];
    this.#entrances = config.listen.flatMap((listener, index) => {
      const entrance = kept[index] ?? rest.shift();
      const tls = files.listeners[index];
      if (tls !== undefined) entrance?.tls?.replace(tls);
      entrance?.become(listener);
      return entrance === undefined ? [] : [entrance];
    });
    this.#ports = this.#entrances.map((entrance) => entrance.port);
    this.#judges.reconfigure(config);
    this.#files.follow(watchedFiles(config));
    await Promise.all(entrancesBefore.filter((one) => !this.#entrances.includes(one)).map((gone) => gone.close()));
    if (telling === tellingBefore) return;
    await tellingBefore?.exporter?.close();
    await tellingBefore?.log?.close();
  }

  /** A file of a certificate has changed. */
  async #renewCertificates(): Promise<void> {
    const problems = await this.#inTurn(async () => {
      try {
        const files = await readConfigFiles(this.#plane.config);
        this.#entrances.forEach((entrance, index) => {
          const tls = files.listeners[index];
          if (tls !== undefined) entrance.tls?.replace(tls);
        });
        return [];
      } catch (error) {
        return messageOf(error).split('\n');
      }
    });
    const { announce } = this.#options;
    if (problems.length === 0) announce?.('new certificates are shown from now on');
    else for (const problem of problems) announce?.(`${problem}; the old certificate stays`);
  }

  // ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────

  async drain(patience: Duration = this.#plane.config.limits.drainTimeout): Promise<number> {
    const { engine, clients, guests } = this.#plane;
    this.#plane.draining = true;
    await this.#stopListening();
    this.#plane.closeIdleConnections();
    const now = engine.now();
    for (const client of clients) client.drain(now);
    for (const guest of guests) guest.drain(now);
    if (clients.size + guests.size > 0) {
      await new Promise<void>((resolve) => {
        const alarm = engine.alarm(after(now, patience), () => resolve());
        this.#plane.onEmpty = () => {
          alarm.cancel();
          resolve();
        };
      });
    }
    const unfinished = this.#plane.inFlight;
    await this.close();
    return unfinished;
  }

  async stopAdmin(): Promise<void> {
    const admin = this.#admin;
    this.#admin = undefined;
    await admin?.close();
  }

  async close(): Promise<void> {
    this.#files.end();
    this.#judges.end();
    this.#plane.fleet.end();
    this.#plane.services.end();
    await this.#stopListening();
    for (const client of this.#plane.clients) client.destroy();
    for (const guest of this.#plane.guests) guest.destroy();
    this.#plane.closeIdleConnections();
    await this.stopAdmin();
    await this.#plane.telling?.exporter?.close();
    await this.#plane.telling?.log?.close();
  }

  async #stopListening(): Promise<void> {
    await Promise.all(this.#entrances.map((entrance) => entrance.close()));
  }
}

async function openedLog(config: GatewayConfig, engine: Engine): Promise<AccessLog | undefined> {
  const { accessLog } = config.observe;
  const log = accessLog === undefined ? undefined : new AccessLog(accessLog, engine.now());
  await log?.opened();
  return log;
}

function exportTo(plane: DataPlane, telling: Telling | undefined): void {
  const { otlp } = plane.config.observe;
  if (telling === undefined || otlp === undefined) return;
  telling.exporter = new OtlpExporter(otlp, () => gatewayFamilies(plane, plane.engine.now()));
}

/** What only a new process can change. */
function fixedProblems(before: GatewayConfig, config: GatewayConfig): readonly string[] {
  const problems: string[] = [];
  const fixed = (what: string): void => void problems.push(`${what}: cannot change in a running process; restart it`);
  if (before.engine !== config.engine) fixed('engine');
  if (!isDeepStrictEqual(before.admin, config.admin)) fixed('admin');
  return problems;
}

function isAt(entrance: Entrance): (listener: ListenerConfig) => boolean {
  return ({ host, port }) => host === entrance.config.host && port === entrance.config.port;
}

function addressOf({ host, port }: { readonly host: string; readonly port: number }) {
  return { host, port };
}

function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  return String(error);
}
