// nginx in the foreground as one process. Its access log is a symbolic link that is turned to another file, after which nginx is
// told to open its logs again (SIGUSR1), as when logs are rotated.

import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { type Duration, seconds } from '../../base.ts';
import type { PolicyName } from '../../scenario.ts';
import { ask } from '../ask.ts';
import type { ChildProgram } from '../child-program.ts';
import type { CpuReading, LabGateway } from '../contract.ts';
import { cpuReadingOf } from '../cpu-time.ts';
import { LabError } from '../lab-error.ts';
import type { TargetConfiguration } from '../programs/replica-configuration.ts';
import { portListens } from './await-port.ts';
import { findProgram } from './find-program.ts';
import { withFreePorts } from './free-ports.ts';
import type { GatewayProgram, GatewaySettings, GatewaySite } from './gateway-program.ts';
import { nginxConfiguration } from './nginx-configuration.ts';
import { connectionsMax } from './open-files.ts';

/** How often it is looked whether nginx has opened its new log, and how long at most. */
const reopenPauseMs = 5;
const reopenTriesMax = 400;

/** Resolves when it listens. Rejects with a `LabError`. */
export async function startNginx(site: GatewaySite, settings: GatewaySettings): Promise<GatewayProgram> {
  const program = findProgram('nginx');
  if (settings.health !== undefined) {
    const detail =
      'nginx has no active health checks: a replica is left out for a while after its requests have failed';
    site.onEvent({ event: 'limit-reached', target: site.name, detail });
  }
  return withFreePorts({ host: site.host, count: 2 }, async ([port = 0, statisticsPort = 0]) => {
    const gateway = new Nginx({ program, site, port, statisticsPort, settings });
    await gateway.start();
    return gateway;
  });
}

class Nginx implements GatewayProgram {
  readonly #program: string;
  readonly #site: GatewaySite;
  readonly #port: number;
  readonly #statisticsPort: number;
  /** nginx's own working files. */
  readonly #folder: string;
  readonly #accessLog: string;
  readonly #version: string;
  readonly #agent = new Agent({ keepAlive: true });
  #settings: GatewaySettings;
  #child: ChildProgram | undefined;

  constructor(options: {
    readonly program: string;
    readonly site: GatewaySite;
    readonly port: number;
    readonly statisticsPort: number;
    readonly settings: GatewaySettings;
  }) {
    this.#program = options.program;
    this.#site = options.site;
    this.#port = options.port;
    this.#statisticsPort = options.statisticsPort;
    this.#settings = options.settings;
    this.#folder = resolve(options.site.folder, `${options.site.name}-nginx`);
    this.#accessLog = join(this.#folder, 'access.log');
    this.#version = versionOf(options.program);
    mkdirSync(this.#folder, { recursive: true });
    this.#turnLog(join(this.#folder, 'before.log'));
  }

  async start(): Promise<void> {
    const { nursery, name, host, folder, onEvent } = this.#site;
    const configuration = resolve(folder, `${name}-nginx.conf`);
    const place = {
      host,
      port: this.#port,
      statisticsPort: this.#statisticsPort,
      folder: this.#folder,
      accessLog: this.#accessLog,
      errorLog: join(this.#folder, 'error.log'),
      pidFile: join(this.#folder, 'nginx.pid'),
      connectionsMax: connectionsMax(),
    };
    writeFileSync(configuration, nginxConfiguration(this.#settings, place));
    this.#child = nursery.start({
      name,
      // Without -e it complains of the log that was compiled in, before it reads the configuration.
      command: [this.#program, '-e', 'stderr', '-p', this.#folder, '-c', configuration],
      onLost: (detail) => onEvent({ event: 'gateway-exited', target: name, detail }),
    });
    const given = { up: false };
    await this.#child.until(portListens(host, this.#port, given)).finally(() => (given.up = true));
  }

  describe(): LabGateway {
    return {
      program: 'nginx',
      version: this.#version,
      policy: this.#settings.policy,
      host: this.#site.host,
      port: this.#port,
      pid: this.#child?.pid ?? 0,
    };
  }

  async statistics(timeout: Duration): Promise<string | undefined> {
    const question = { agent: this.#agent, host: this.#site.host, port: this.#statisticsPort, path: '/stub_status' };
    return ask({ ...question, timeout }).catch(() => undefined);
  }

  cpu(): CpuReading | undefined {
    return cpuReadingOf(this.#child?.pid);
  }

  async setPolicy(policy: PolicyName): Promise<void> {
    this.#settings = { ...this.#settings, policy };
    await this.#restart();
  }

  async setEndpoints(endpoints: readonly TargetConfiguration[]): Promise<void> {
    this.#settings = { ...this.#settings, endpoints };
    await this.#restart();
  }

  async logTo(path: string): Promise<boolean> {
    const target = resolve(path);
    this.#turnLog(target);
    this.#child?.signal('SIGUSR1');
    for (let tries = 0; !existsSync(target); tries++) {
      if (tries === reopenTriesMax) throw new LabError(`${this.#site.name}: nginx did not open ${target}`);
      await new Promise((done) => setTimeout(done, reopenPauseMs));
    }
    return true;
  }

  async saveStatistics(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.#child?.end(seconds(2));
  }

  async #restart(): Promise<void> {
    await this.#child?.end(seconds(2));
    await this.start();
  }

  /** In one step, so that there is no moment without a log. */
  #turnLog(target: string): void {
    const turned = `${this.#accessLog}.next`;
    symlinkSync(target, turned);
    renameSync(turned, this.#accessLog);
  }
}

/** `nginx -v` says it on stderr. */
function versionOf(program: string): string {
  const said = execFileSync('/bin/sh', ['-c', `"$0" -v 2>&1`, program], { encoding: 'utf8' });
  return /nginx\/(\S+)/.exec(said)?.[1] ?? 'unknown';
}
