// A running gateway: the data plane, its listener, the admin API and the health checks, started together and stopped in order.

import { after, type Duration } from '../base.ts';
import type { Engine, Listener } from '../net.ts';
import type { BalancerName, Endpoint } from '../policy.ts';
import { AccessLog } from './access-log.ts';
import { type RunningAdmin, startAdmin } from './admin.ts';
import type { GatewayConfig } from './config.ts';
import { DataPlane } from './data-plane.ts';
import { HealthChecks } from './health-checks.ts';
import { metricsText } from './metrics.ts';

export interface RunningGateway {
  readonly port: number;
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

/** Rejects with a `NetError` or the system's error when an address cannot be had or the access log cannot be opened. */
export async function startGateway(config: GatewayConfig, engine: Engine): Promise<RunningGateway> {
  const log = config.accessLog === undefined ? undefined : new AccessLog(config.accessLog, engine.now());
  await log?.opened();
  const plane = new DataPlane(engine, config, log);
  const health =
    config.health === undefined ? undefined : new HealthChecks(engine, plane.fleet, config.health, config.seed);
  const gateway = new Gateway(plane, health);
  try {
    await gateway.open();
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return gateway;
}

class Gateway implements RunningGateway {
  readonly #plane: DataPlane;
  readonly #health: HealthChecks | undefined;
  #listener: Listener | undefined;
  #port = 0;
  #admin: RunningAdmin | undefined;

  constructor(plane: DataPlane, health: HealthChecks | undefined) {
    this.#plane = plane;
    this.#health = health;
  }

  async open(): Promise<void> {
    const { engine, config } = this.#plane;
    if (config.admin !== undefined) this.#admin = await startAdmin(config.admin, this.#plane, this);
    this.#listener = await engine.listen(config.listen, (socket) => this.#plane.accept(socket));
    this.#port = this.#listener.port;
    this.#health?.follow();
    this.#plane.outliers?.follow();
  }

  get port(): number {
    return this.#port;
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
    const { engine, clients } = this.#plane;
    this.#plane.draining = true;
    await this.#stopListening();
    this.#plane.fleet.closeIdleConnections();
    const now = engine.now();
    for (const client of clients) client.drain(now);
    if (clients.size > 0) {
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
    this.#plane.fleet.closeIdleConnections();
    await this.#admin?.close();
    this.#admin = undefined;
    await this.#plane.log?.close();
  }

  async #stopListening(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.close();
  }
}
