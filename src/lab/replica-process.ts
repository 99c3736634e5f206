// One replica or datastore as the lab sees it: a process that can be started, ordered about, stopped, killed and started
// again under the same name and on the same ports.

import { writeFileSync } from 'node:fs';
import type { Agent } from 'node:http';
import { join } from 'node:path';
import { type Duration, seconds } from '../base.ts';
import type { ColdStart } from '../scenario.ts';
import { ask } from './ask.ts';
import type { ChildProgram } from './child-program.ts';
import type { CpuReading, LabEvent, LabReplica } from './contract.ts';
import type { CpuGroup } from './cpu-groups.ts';
import { exactCpuTimeOf } from './cpu-time.ts';
import { LabError } from './lab-error.ts';
import { type Nursery, ownProgram } from './nursery.ts';
import type { ReplicaConfiguration, TargetConfiguration } from './programs/replica-configuration.ts';

const orderTimeout = seconds(5);

export interface ReplicaOptions {
  readonly nursery: Nursery;
  readonly agent: Agent;
  /** Where its configuration file goes. */
  readonly folder: string;
  readonly onEvent: (event: LabEvent) => void;
  readonly service: string;
  readonly role: LabReplica['role'];
  readonly cpuQuota: number | undefined;
  /** How slow it is after a start in the middle of a run. */
  readonly coldStart: ColdStart | undefined;
  /** Ports are 0: the kernel chooses at the first start. */
  readonly configuration: ReplicaConfiguration;
}

export class ReplicaProcess {
  readonly id: string;
  readonly service: string;
  readonly #options: ReplicaOptions;
  /** As it runs now, or as it will run when it is started again: ports, slowness and workers are kept. */
  #configuration: ReplicaConfiguration;
  #child: ChildProgram | undefined;
  #group: CpuGroup | undefined;
  #starts = 0;
  #stopped = false;

  constructor(options: ReplicaOptions) {
    this.id = options.configuration.id;
    this.service = options.service;
    this.#options = options;
    this.#configuration = options.configuration;
  }

  /** Whether it could answer: it runs and was not stopped. */
  get awake(): boolean {
    return this.#child?.running === true && !this.#stopped;
  }

  get target(): TargetConfiguration {
    const { host, port } = this.#configuration;
    return { id: this.id, host, port };
  }

  describe(): LabReplica {
    const { host, port, admin_port } = this.#configuration;
    return {
      id: this.id,
      service: this.service,
      role: this.#options.role,
      host,
      port,
      adminPort: admin_port,
      pid: this.#child?.pid ?? 0,
      workers: this.#options.configuration.workers,
      cpuQuota: this.#group === undefined ? undefined : this.#options.cpuQuota,
    };
  }

  /** Resolves when it listens. Rejects with a `LabError`. */
  async start(): Promise<void> {
    if (this.#child?.running === true) throw new LabError(`${this.id} runs already`);
    const { nursery, folder, onEvent, role } = this.#options;
    const path = join(folder, `${this.id}.json`);
    // A restarted process draws from a stream of its own, or it would serve the same times again.
    this.#starts += 1;
    const stream = this.#starts === 1 ? `${this.id}/service` : `${this.id}/service/${this.#starts}`;
    writeFileSync(path, JSON.stringify({ ...this.#configuration, stream }, undefined, 2));
    this.#child = nursery.start({
      name: this.id,
      command: [...ownProgram(role === 'service' ? 'replica' : 'datastore'), path],
      onLost: (how) => onEvent({ event: 'replica-exited', target: this.id, detail: how }),
    });
    this.#stopped = false;
    const ready = await this.#child.ready();
    this.#configuration = {
      ...this.#configuration,
      port: ready.port ?? 0,
      admin_port: ready.adminPort ?? 0,
    };
    this.#limitCpu();
  }

  stop(): void {
    this.#running().signal('SIGSTOP');
    this.#stopped = true;
  }

  resume(): void {
    this.#running().signal('SIGCONT');
    this.#stopped = false;
  }

  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  async restart(): Promise<void> {
    await this.kill();
    this.beginCold();
    await this.start();
  }

  /** The next start is one in the middle of a run: the process begins cold, if the scenario has such a thing. */
  beginCold(): void {
    const { coldStart } = this.#options;
    if (coldStart === undefined) return;
    const cold_start = { factor: coldStart.factor, length_ns: coldStart.length };
    this.#configuration = { ...this.#configuration, cold_start };
  }

  async setSlowness(factor: number): Promise<void> {
    this.#configuration = { ...this.#configuration, slowness: factor };
    if (this.#child?.running === true) await this.order({ slow: factor });
  }

  async setWorkers(workers: number): Promise<void> {
    this.#configuration = { ...this.#configuration, workers };
    if (this.#child?.running === true) await this.order({ workers });
  }

  /** The registry's list of a service has changed; those who call it are told. */
  async setTargets(service: string, targets: readonly TargetConfiguration[]): Promise<void> {
    if (!this.#configuration.calls.some((call) => call.to === service)) return;
    const calls = this.#configuration.calls.map((call) => (call.to === service ? { ...call, targets } : call));
    this.#configuration = { ...this.#configuration, calls };
    if (this.#child?.running === true) await this.order({ targets, of: service });
  }

  /** Posts an order to the control port (see programs/control.ts). */
  async order(order: object): Promise<void> {
    this.#running();
    await this.#ask('/control', orderTimeout, order);
  }

  metrics(timeout: Duration): Promise<string> {
    return this.#ask('/metrics', timeout);
  }

  cpu(): CpuReading | undefined {
    const pid = this.#child?.running === true ? this.#child.pid : undefined;
    const cpuNs = pid === undefined ? undefined : exactCpuTimeOf(pid);
    if (cpuNs === undefined) return undefined;
    const throttling = this.#group?.throttling();
    return {
      cpuNs,
      throttledNs: throttling?.throttledNs,
      throttledPeriods: throttling?.throttledPeriods,
    };
  }

  /** Begins to run under its quota, once it listens: loading its code is not what the quota is about. */
  #limitCpu(): void {
    const { cpuQuota, nursery } = this.#options;
    if (cpuQuota === undefined) return;
    this.#group ??= nursery.limitCpu(this.id, cpuQuota);
    const pid = this.#child?.pid;
    if (pid !== undefined) this.#group?.admit(pid);
  }

  #running(): ChildProgram {
    if (this.#child?.running === true) return this.#child;
    throw new LabError(`${this.id} does not run`);
  }

  #ask(path: string, timeout: Duration, body?: unknown): Promise<string> {
    const { host, admin_port } = this.#configuration;
    return ask({ agent: this.#options.agent, host, port: admin_port, path, timeout, body });
  }
}
