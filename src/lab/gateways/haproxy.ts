// HAProxy in the foreground as one process, its log in a file, its statistics and orders through the stats socket.

import { closeSync, openSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Duration, inMs, seconds } from '../../base.ts';
import type { PolicyName } from '../../scenario.ts';
import type { ChildProgram } from '../child-program.ts';
import type { CpuReading, LabGateway } from '../contract.ts';
import { cpuReadingOf } from '../cpu-time.ts';
import { LabError } from '../lab-error.ts';
import type { TargetConfiguration } from '../programs/replica-configuration.ts';
import { portListens } from './await-port.ts';
import { findProgram } from './find-program.ts';
import { withFreePorts } from './free-ports.ts';
import type { GatewayProgram, GatewaySettings, GatewaySite } from './gateway-program.ts';
import { haproxyConfiguration } from './haproxy-configuration.ts';
import { LogSlices } from './log-slices.ts';
import { connectionsMax } from './open-files.ts';

const orderTimeout = seconds(5);
const endPatience = seconds(2);

/** Resolves when it listens. Rejects with a `LabError`. */
export async function startHaproxy(site: GatewaySite, settings: GatewaySettings): Promise<GatewayProgram> {
  const program = findProgram('haproxy');
  return withFreePorts({ host: site.host, count: 2 }, async ([port = 0, statisticsPort = 0]) => {
    const gateway = new Haproxy({ program, site, port, statisticsPort, settings });
    await gateway.start();
    return gateway;
  });
}

class Haproxy implements GatewayProgram {
  readonly #program: string;
  readonly #site: GatewaySite;
  readonly #port: number;
  readonly #statisticsPort: number;
  readonly #log: LogSlices;
  /** Open for as long as the gateway, over restarts: HAProxy takes O_APPEND off its stdout, so a file that was opened again
   * would be written over from its start. */
  readonly #logFile: number;
  #settings: GatewaySettings;
  #child: ChildProgram | undefined;
  #version = '';

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
    this.#log = new LogSlices(join(options.site.folder, `${options.site.name}-haproxy.log`));
    this.#logFile = openSync(this.#log.path, 'w');
  }

  async start(): Promise<void> {
    const { nursery, name, host, folder, onEvent } = this.#site;
    const configuration = join(folder, `${name}-haproxy.cfg`);
    const place = {
      host,
      port: this.#port,
      statisticsPort: this.#statisticsPort,
      connectionsMax: connectionsMax(),
    };
    writeFileSync(configuration, haproxyConfiguration(this.#settings, place));
    this.#child = nursery.start({
      name,
      command: [this.#program, '-db', '-f', configuration],
      stdoutTo: this.#logFile,
      onLost: (detail) => onEvent({ event: 'gateway-exited', target: name, detail }),
    });
    // It listens on all its ports or on none. Knocking at the gateway's own would leave a line in the log.
    const given = { up: false };
    await this.#child.until(portListens(host, this.#statisticsPort, given)).finally(() => (given.up = true));
    this.#version = /^Version: (\S+)/m.exec(await this.#order('show info', orderTimeout))?.[1] ?? 'unknown';
  }

  describe(): LabGateway {
    return {
      program: 'haproxy',
      version: this.#version,
      policy: this.#settings.policy,
      host: this.#site.host,
      port: this.#port,
      pid: this.#child?.pid ?? 0,
    };
  }

  async statistics(timeout: Duration): Promise<string | undefined> {
    return this.#order('show stat', timeout).catch(() => undefined);
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
    // So that the statistics tell of the same stretch of time as the log. First, because HAProxy does one thing after another:
    // once it has answered, what it had to log of requests before is in the log.
    await this.#order('clear counters all', orderTimeout);
    await this.#log.cutTo(path);
    return true;
  }

  async saveStatistics(path: string): Promise<boolean> {
    writeFileSync(path, await this.#order('show stat', orderTimeout));
    await this.#log.complete();
    return true;
  }

  async close(): Promise<void> {
    await this.#end();
    await this.#log.complete();
    closeSync(this.#logFile);
  }

  async #restart(): Promise<void> {
    await this.#end();
    await this.start();
  }

  /** After one more answer, so that the request that was answered last is in the log. */
  async #end(): Promise<void> {
    await this.#order('show info', endPatience).catch(() => {});
    await this.#child?.end(endPatience);
  }

  /** One line to the stats socket, and the whole answer. */
  #order(line: string, timeout: Duration): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: this.#site.host, port: this.#statisticsPort });
      let answer = '';
      const fail = (why: string): void => {
        socket.destroy();
        reject(new LabError(`${this.#site.name}: HAProxy did not answer "${line}": ${why}`));
      };
      socket.setTimeout(inMs(timeout), () => fail('it took too long'));
      socket.setEncoding('utf8');
      socket.on('error', (error) => fail(error.message));
      socket.on('data', (text: string) => (answer += text));
      socket.on('end', () => resolve(answer));
      socket.end(`${line}\n`);
    });
  }
}
