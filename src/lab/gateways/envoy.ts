// Envoy as the gateway: a bootstrap generated from the scenario, one worker, an admin port for its statistics, its endpoints in a
// file that it watches. Whether it has written all of its log is asked of its own counters: it gathers lines and writes them
// every tenth of a second.

import { renameSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { resolve } from 'node:path';
import { type Duration, seconds } from '../../base.ts';
import type { PolicyName } from '../../scenario.ts';
import { ask } from '../ask.ts';
import type { ChildProgram } from '../child-program.ts';
import type { CpuReading, LabGateway } from '../contract.ts';
import { cpuReadingOf } from '../cpu-time.ts';
import { LabError } from '../lab-error.ts';
import type { TargetConfiguration } from '../programs/replica-configuration.ts';
import { portListens } from './await-port.ts';
import { envoyConfiguration, envoyEndpoints } from './envoy-configuration.ts';
import { findProgram } from './find-program.ts';
import { withFreePorts } from './free-ports.ts';
import type { GatewayProgram, GatewaySettings, GatewaySite } from './gateway-program.ts';
import { LogSlices } from './log-slices.ts';

const orderTimeout = seconds(5);
const endPatience = seconds(2);
const logFlushMs = 100;
const pauseMs = 10;
/** Of such pauses, until Envoy has read its endpoints or written its log. */
const triesMax = 500;

/** Resolves when it listens. Rejects with a `LabError`. */
export async function startEnvoy(site: GatewaySite, settings: GatewaySettings): Promise<GatewayProgram> {
  const program = findProgram('envoy');
  return withFreePorts({ host: site.host, count: 2 }, async ([port = 0, adminPort = 0]) => {
    const gateway = new Envoy({ program, site, port, adminPort, settings });
    await gateway.start();
    return gateway;
  });
}

class Envoy implements GatewayProgram {
  readonly #program: string;
  readonly #site: GatewaySite;
  readonly #port: number;
  readonly #adminPort: number;
  readonly #endpointsFile: string;
  readonly #log: LogSlices;
  readonly #agent = new Agent({ keepAlive: true });
  #settings: GatewaySettings;
  #child: ChildProgram | undefined;
  #version = '';

  constructor(options: {
    readonly program: string;
    readonly site: GatewaySite;
    readonly port: number;
    readonly adminPort: number;
    readonly settings: GatewaySettings;
  }) {
    const { folder, name } = options.site;
    this.#program = options.program;
    this.#site = options.site;
    this.#port = options.port;
    this.#adminPort = options.adminPort;
    this.#settings = options.settings;
    this.#endpointsFile = resolve(folder, `${name}-envoy-endpoints.json`);
    this.#log = new LogSlices(resolve(folder, `${name}-envoy.log`));
    writeFileSync(this.#log.path, '');
  }

  async start(): Promise<void> {
    const { nursery, name, host, folder, onEvent } = this.#site;
    const configuration = resolve(folder, `${name}-envoy.json`);
    const bootstrap = envoyConfiguration(this.#settings, {
      host,
      port: this.#port,
      adminPort: this.#adminPort,
      accessLog: this.#log.path,
      endpointsFile: this.#endpointsFile,
    });
    writeFileSync(configuration, JSON.stringify(bootstrap, undefined, 2));
    this.#writeEndpoints();
    const quiet = ['--log-level', 'error', '--file-flush-interval-msec', String(logFlushMs)];
    this.#child = nursery.start({
      name,
      command: [this.#program, '-c', configuration, '--concurrency', '1', '--disable-hot-restart', ...quiet],
      onLost: (detail) => onEvent({ event: 'gateway-exited', target: name, detail }),
    });
    // It listens for requests last of all, when it has its endpoints.
    const given = { up: false };
    await this.#child.until(portListens(host, this.#port, given)).finally(() => (given.up = true));
    const about = await this.#ask('/server_info', orderTimeout);
    this.#version = /"version":\s*"[^/"]*\/([^/"]+)/.exec(about)?.[1] ?? 'unknown';
  }

  describe(): LabGateway {
    return {
      program: 'envoy',
      version: this.#version,
      policy: this.#settings.policy,
      host: this.#site.host,
      port: this.#port,
      pid: this.#child?.pid ?? 0,
    };
  }

  async statistics(timeout: Duration): Promise<string | undefined> {
    return this.#ask('/clusters', timeout).catch(() => undefined);
  }

  cpu(): CpuReading | undefined {
    return cpuReadingOf(this.#child?.pid);
  }

  async setPolicy(policy: PolicyName): Promise<void> {
    this.#settings = { ...this.#settings, policy };
    await this.#child?.end(endPatience);
    await this.start();
  }

  async setEndpoints(endpoints: readonly TargetConfiguration[]): Promise<void> {
    this.#settings = { ...this.#settings, endpoints };
    this.#writeEndpoints();
    const wanted = new Set(endpoints.map(({ host, port }) => `${host}:${port}`));
    await this.#until('take its endpoints', async () => {
      const listed = (await this.#ask('/clusters', orderTimeout)).matchAll(/::([^:]+:\d+)::cx_active::/g);
      const present = new Set(Array.from(listed, ([, address]) => address ?? ''));
      return present.symmetricDifference(wanted).size === 0;
    });
  }

  async logTo(path: string): Promise<boolean> {
    await this.#written();
    await this.#log.cutTo(path);
    return true;
  }

  /** Completes the log: its statistics have no file of their own. */
  async saveStatistics(): Promise<boolean> {
    await this.#written();
    await this.#log.complete();
    return false;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.#child?.end(endPatience);
    await this.#log.complete();
  }

  #writeEndpoints(): void {
    const next = `${this.#endpointsFile}.next`;
    writeFileSync(next, JSON.stringify(envoyEndpoints(this.#settings.service, this.#settings.endpoints)));
    renameSync(next, this.#endpointsFile);
  }

  /** Resolves when every line so far is in the file. */
  async #written(): Promise<void> {
    await this.#until('write its log', async () => {
      const answer = await this.#ask('/stats?filter=filesystem.write_total_buffered', orderTimeout);
      return /write_total_buffered: 0\b/.test(answer);
    });
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; !(await holds()); tries++) {
      if (tries === triesMax) throw new LabError(`${this.#site.name}: Envoy did not ${what}`);
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }

  #ask(path: string, timeout: Duration): Promise<string> {
    return ask({ agent: this.#agent, host: this.#site.host, port: this.#adminPort, path, timeout });
  }
}
