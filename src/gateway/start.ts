// A running gateway: the data plane, its listener, the admin API and the health checks, started together and stopped in order.

import { after, type Duration } from '../base.ts';
import { type Engine, ServerTls } from '../net.ts';
import type { BalancerName, Endpoint } from '../policy.ts';
import { AccessLog } from './access-log.ts';
import { type RunningAdmin, startAdmin } from './admin.ts';
import { type ConfigFiles, readConfigFiles } from './certificates.ts';
import type { GatewayConfig } from './config.ts';
import { DataPlane } from './data-plane.ts';
import { Entrance } from './entrance.ts';
import { HealthChecks } from './health-checks.ts';
import { gatewayFamilies, metricsText } from './metrics.ts';
import { OtlpExporter } from './otlp.ts';

export interface RunningGateway {
  /** Of the first listener. */
  readonly port: number;
  /** Of every listener, in the order of the configuration. */
  readonly ports: readonly number[];
  /** undefined without an admin API. */
  readonly adminPort: number | undefined;
  /** Takes a whole new list; requests under way are not touched. */
  setEndpoints(endpoints: readonly Endpoint[]): void;
  setPolicy(policy: BalancerName, seed?: number): void;
  /** Prometheus text, as the admin API serves it. */
  metrics(): string;
  /** Takes no new connection, finishes what is under way, then closes. Resolves to the number of requests that were still
   * under way when `patience` (the configured drain timeout by default) was over: 0 when everything was finished. */
  drain(patience?: Duration): Promise<number>;
  /** Ends everything at once. The engine is the caller's and stays open. */
  close(): Promise<void>;
}

/** Rejects with `FilesRefused` when a file that the configuration names is not good, with a `NetError` or the system's error when an address cannot be had or the access log cannot be opened. */
export async function startGateway(config: GatewayConfig, engine: Engine): Promise<RunningGateway> {
  const files = await readConfigFiles(config);
  const { accessLog, otlp } = config.observe;
  const log = accessLog === undefined ? undefined : new AccessLog(accessLog, engine.now());
  await log?.opened();
  const plane = new DataPlane(engine, config, log);
  if (plane.telling !== undefined && otlp !== undefined) {
    plane.telling.exporter = new OtlpExporter(otlp, () => gatewayFamilies(plane, engine.now()));
  }
  plane.upstreamTls = files.upstream;
  const health = config.health === undefined ? undefined : new HealthChecks(plane, config.health, config.seed);
  const gateway = new Gateway(plane, health);
  try {
    await gateway.open(files);
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return gateway;
}

class Gateway implements RunningGateway {
  readonly #plane: DataPlane;
  readonly #health: HealthChecks | undefined;
  #entrances: readonly Entrance[] = [];
  #ports: readonly number[] = [];
  #admin: RunningAdmin | undefined;

  constructor(plane: DataPlane, health: HealthChecks | undefined) {
    this.#plane = plane;
    this.#health = health;
  }

  async open(files: ConfigFiles): Promise<void> {
    const { engine, config } = this.#plane;
    if (config.admin !== undefined) this.#admin = await startAdmin(config.admin, this.#plane, this);
    this.#entrances = config.listen.map((listener, index) => {
      const tls = files.listeners[index];
      return new Entrance(this.#plane, listener, tls === undefined ? undefined : new ServerTls(tls));
    });
    for (const entrance of this.#entrances) await entrance.open(engine);
    this.#ports = this.#entrances.map((entrance) => entrance.port);
    this.#health?.follow();
    this.#plane.outliers?.follow();
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

  setEndpoints(endpoints: readonly Endpoint[]): void {
    this.#plane.fleet.replace(endpoints, this.#plane.engine.now());
    this.#health?.follow();
    this.#plane.outliers?.follow();
  }

  setPolicy(policy: BalancerName, seed?: number): void {
    this.#plane.fleet.setPolicy(policy, seed, this.#plane.engine.now());
  }

  metrics(): string {
    return metricsText(this.#plane, this.#plane.engine.now());
  }

  async drain(patience: Duration = this.#plane.config.limits.drainTimeout): Promise<number> {
    const { engine, clients, guests } = this.#plane;
    this.#plane.draining = true;
    await this.#stopListening();
    this.#plane.fleet.closeIdleConnections();
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

  async close(): Promise<void> {
    this.#health?.end();
    this.#plane.outliers?.end();
    this.#plane.fleet.end();
    await this.#stopListening();
    for (const client of this.#plane.clients) client.destroy();
    for (const guest of this.#plane.guests) guest.destroy();
    this.#plane.fleet.closeIdleConnections();
    await this.#admin?.close();
    this.#admin = undefined;
    await this.#plane.telling?.exporter?.close();
    await this.#plane.telling?.log?.close();
  }

  async #stopListening(): Promise<void> {
    await Promise.all(this.#entrances.map((entrance) => entrance.close()));
  }
}
