// Our own gateway, started as an operator would: a command, a configuration file, an admin port.

import { readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join, resolve } from 'node:path';
import { type Duration, seconds } from '../../base.ts';
import type { PolicyName } from '../../scenario.ts';
import { ask } from '../ask.ts';
import type { ChildProgram } from '../child-program.ts';
import type { CpuReading, LabGateway } from '../contract.ts';
import { cpuReadingOf } from '../cpu-time.ts';
import type { TargetConfiguration } from '../programs/replica-configuration.ts';
import type { GatewayProgram, GatewaySettings, GatewaySite } from './gateway-program.ts';
import { plimsollConfiguration } from './plimsoll-configuration.ts';

const orderTimeout = seconds(5);
/** It lets requests finish when it is asked to end. */
const drainPatience = seconds(2);

/** Resolves when it listens. Rejects with a `LabError`. */
export async function startPlimsoll(
  site: GatewaySite,
  settings: GatewaySettings,
  command: readonly string[],
): Promise<GatewayProgram> {
  const gateway = new Plimsoll(site, settings, command);
  await gateway.start();
  return gateway;
}

class Plimsoll implements GatewayProgram {
  readonly #site: GatewaySite;
  readonly #command: readonly string[];
  readonly #agent = new Agent({ keepAlive: true });
  #settings: GatewaySettings;
  #child: ChildProgram | undefined;
  /** 0 until the kernel has chosen at the first start. */
  #port = 0;
  #adminPort = 0;
  #version = '';

  constructor(site: GatewaySite, settings: GatewaySettings, command: readonly string[]) {
    this.#site = site;
    this.#settings = settings;
    this.#command = command;
  }

  async start(): Promise<void> {
    const { nursery, name, host, folder, onEvent } = this.#site;
    const path = resolve(folder, `${name}-plimsoll.json`);
    const configuration = plimsollConfiguration(this.#settings, { host, port: this.#port });
    writeFileSync(path, JSON.stringify(configuration, undefined, 2));
    this.#child = nursery.start({
      name,
      command: [...this.#command, path],
      onLost: (detail) => onEvent({ event: 'gateway-exited', target: name, detail }),
    });
    const ready = await this.#child.ready();
    this.#port = ready.port ?? 0;
    this.#adminPort = ready.adminPort ?? 0;
    this.#version = ready.version ?? ownVersion();
  }

  describe(): LabGateway {
    return {
      program: 'plimsoll',
      version: this.#version,
      policy: this.#settings.policy,
      host: this.#site.host,
      port: this.#port,
      pid: this.#child?.pid ?? 0,
    };
  }

  async statistics(timeout: Duration): Promise<string | undefined> {
    return this.#ask('/metrics', timeout).catch(() => undefined);
  }

  cpu(): CpuReading | undefined {
    return cpuReadingOf(this.#child?.pid);
  }

  async setPolicy(policy: PolicyName): Promise<void> {
    this.#settings = { ...this.#settings, policy };
    await this.#child?.end(drainPatience);
    await this.start();
  }

  async setEndpoints(endpoints: readonly TargetConfiguration[]): Promise<void> {
    this.#settings = { ...this.#settings, endpoints };
    await this.#ask('/endpoints', orderTimeout, { endpoints });
  }

  /** Every sample of a run names its replica already; a log would only cost processor time. */
  async logTo(): Promise<boolean> {
    return false;
  }

  async saveStatistics(): Promise<boolean> {
    return false;
  }

  /** Without draining: nobody asks any more, and there is no log to be completed. */
  async close(): Promise<void> {
    this.#agent.destroy();
    await this.#child?.kill();
  }

  #ask(path: string, timeout: Duration, body?: unknown): Promise<string> {
    return ask({ agent: this.#agent, host: this.#site.host, port: this.#adminPort, path, timeout, body });
  }
}

/** The gateway comes with the lab; one from elsewhere says its version in the ready line. */
function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known ? String(manifest.version) : 'unknown';
}
