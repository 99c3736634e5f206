// Starts a scenario's topology as real processes on loopback and hands out the means to watch and disturb it.
//
//   warden ─ first of all
//   datastores ─ then what calls them ─ … each wave in parallel
//   gateway ─ when the replicas' ports are known
//
// A start that fails leaves nothing behind: everything is ended before the error is passed on.

import { mkdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { type Duration, inMs, ns, seconds, unreachable } from '../base.ts';
import type { Call, ColdStart, FaultKind, Gateway, PolicyName, Service } from '../scenario.ts';
import type { CpuReading, Lab, LabGateway, LabOptions, LabReplica, LabScrape } from './contract.ts';
import type { GatewayProgram, GatewaySettings, GatewaySite } from './gateways/gateway-program.ts';
import { startEnvoy } from './gateways/envoy.ts';
import { startHaproxy } from './gateways/haproxy.ts';
import { startNginx } from './gateways/nginx.ts';
import { startPlimsoll } from './gateways/plimsoll.ts';
import { LabError } from './lab-error.ts';
import { Nursery } from './nursery.ts';
import type { CallConfiguration, ReplicaConfiguration } from './programs/replica-configuration.ts';
import { ReplicaProcess } from './replica-process.ts';
import { wavesOf } from './waves.ts';

const host = '127.0.0.1';
/** A datastore has no queue limit in a scenario; some limit there must be. */
const datastoreQueueLimit = 65_536;
/** What a forwarding proxy does when the scenario has no gateway to take it from. */
const plainGateway: Gateway = {
  policy: 'round-robin',
  timeout: seconds(30),
  connectTimeout: seconds(1),
  retries: 0,
  health: undefined,
};

/** Resolves when everything listens. Rejects with a `LabError` that says which program, how it was started and what it said. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const lab = new RunningLab(options);
  try {
    await lab.start();
  } catch (error) {
    await lab.close();
    throw error;
  }
  return lab;
}

class RunningLab implements Lab {
  readonly #options: LabOptions;
  /** For configurations and working files; logs go to the run's folder itself. */
  readonly #folder: string;
  readonly #nursery: Nursery;
  readonly #agent = new Agent({ keepAlive: true });
  /** In the order of the scenario, added ones last. */
  readonly #replicas: ReplicaProcess[] = [];
  #gateway: GatewayProgram | undefined;
  #forwarder: Promise<GatewayProgram> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: LabOptions) {
    this.#options = options;
    this.#folder = join(options.folder, 'lab');
    mkdirSync(this.#folder, { recursive: true });
    this.#nursery = new Nursery(options.onEvent);
  }

  async start(): Promise<void> {
    const { topology } = this.#options;
    await Promise.all([this.#nursery.guarded(), this.#startReplicas()]);
    if (topology.gateway === undefined) return;
    this.#gateway = await this.#startGateway('gateway', this.#fronted('gateway'), topology.gateway);
  }

  get replicas(): readonly LabReplica[] {
    return this.#replicas.map((replica) => replica.describe());
  }

  get gateway(): LabGateway | undefined {
    return this.#gateway?.describe();
  }

  async forwarder(): Promise<LabGateway> {
    this.#forwarder ??= this.#startForwarder();
    return (await this.#forwarder).describe();
  }

  async scrape(timeout: Duration): Promise<LabScrape> {
    const texts = new Map<string, string>();
    const silent: string[] = [];
    const reading = this.#replicas.map(async (replica) => {
      // Who is known not to answer is not waited for.
      const text = replica.awake ? await replica.metrics(timeout).catch(() => undefined) : undefined;
      if (text === undefined) silent.push(replica.id);
      else texts.set(replica.id, text);
    });
    const [text] = await Promise.all([this.#gateway?.statistics(timeout), ...reading]);
    const program = this.#gateway?.describe().program;
    return {
      replicas: texts,
      silent: silent.toSorted(),
      gateway: program === undefined || text === undefined ? undefined : { program, text },
      cpu: await this.#cpu(),
    };
  }

  async inject(fault: FaultKind): Promise<void> {
    const replica = this.#replica(fault.replica);
    switch (fault.kind) {
      case 'stop':
        return replica.stop();
      case 'resume':
        return replica.resume();
      case 'kill':
        return replica.kill();
      case 'restart':
        return replica.restart();
      case 'slow':
        return replica.setSlowness(fault.factor);
      case 'burn':
        return replica.order({ burn: fault.share });
      case 'pause':
        return replica.order({ pause: inMs(fault.length) });
      case 'fail':
        return replica.order({ fail: fault.share, after_ms: inMs(fault.after) });
      default:
        return unreachable(fault, 'a fault that the lab cannot inject');
    }
  }

  async setSlowness(replica: string, factor: number): Promise<void> {
    await this.#replica(replica).setSlowness(factor);
  }

  async setWorkers(replica: string, workers: number): Promise<void> {
    await this.#replica(replica).setWorkers(workers);
  }

  async addReplicas(service: string, count: number): Promise<readonly string[]> {
    const facts = this.#options.topology.services.find((one) => one.name === service);
    if (facts === undefined) throw new LabError(`there is no service ${service}`);
    const before = this.#of(service).length;
    const added = Array.from({ length: count }, (_, index) => this.#replicaOf(facts, before + index + 1));
    for (const replica of added) replica.beginCold();
    try {
      await allOrFirstError(added.map((replica) => replica.start()));
    } catch (error) {
      await Promise.all(added.map((replica) => replica.kill()));
      throw error;
    }
    this.#replicas.push(...added);
    await this.#publish(service);
    return added.map((replica) => replica.id);
  }

  async setPolicy(policy: PolicyName): Promise<void> {
    if (this.#gateway === undefined) throw new LabError('there is no gateway whose policy could be set');
    await this.#gateway.setPolicy(policy);
  }

  async logTo(name: string): Promise<string | undefined> {
    const path = join(this.#options.folder, `${name}.log`);
    return (await this.#gateway?.logTo(path)) === true ? path : undefined;
  }

  async saveStatistics(name: string): Promise<string | undefined> {
    const path = join(this.#options.folder, `${name}-stats.csv`);
    return (await this.#gateway?.saveStatistics(path)) === true ? path : undefined;
  }

  close(): Promise<void> {
    this.#closed ??= this.#endAll();
    return this.#closed;
  }

  async #endAll(): Promise<void> {
    this.#agent.destroy();
    const forwarder = await this.#forwarder?.catch(() => undefined);
    await Promise.all([this.#gateway?.close(), forwarder?.close()]);
    await this.#nursery.close();
  }

  /** Wave after wave, so that whoever calls a service knows its ports. */
  async #startReplicas(): Promise<void> {
    const { services, dependencies } = this.#options.topology;
    for (const wave of wavesOf(services, dependencies)) {
      const replicas = wave.flatMap((name) => this.#replicasOf(name));
      this.#replicas.push(...replicas);
      await allOrFirstError(replicas.map((replica) => replica.start()));
    }
    // Datastores were started first, but are read last: the services are what a run is about.
    const order = [...services, ...dependencies].map((one) => one.name);
    this.#replicas.sort((one, other) => order.indexOf(one.service) - order.indexOf(other.service));
  }

  #replicasOf(name: string): ReplicaProcess[] {
    const { services, dependencies } = this.#options.topology;
    const service = services.find((one) => one.name === name);
    if (service !== undefined) {
      return Array.from({ length: service.replicas }, (_, index) => this.#replicaOf(service, index + 1));
    }
    return dependencies
      .filter((one) => one.name === name)
      .map(({ workers, serviceTime }) => {
        const configuration = {
          ...this.#configuration(`${name}-1`),
          workers,
          service_time: serviceTime,
          cpu_time: { kind: 'constant', value: ns(0) } as const,
          queue_limit: datastoreQueueLimit,
          abandoned: 'served' as const,
          health_shares_pool: false,
          calls: [],
        };
        const settings = { cpuQuota: undefined, coldStart: undefined, configuration };
        return this.#process({ service: name, role: 'dependency', ...settings });
      });
  }

  #replicaOf(service: Service, number: number): ReplicaProcess {
    const configuration: ReplicaConfiguration = {
      ...this.#configuration(`${service.name}-${number}`),
      workers: service.workers,
      service_time: service.serviceTime,
      cpu_time: service.cpuTime,
      queue_limit: service.queue.limit,
      abandoned: service.queue.abandoned,
      health_shares_pool: service.healthSharesPool,
      calls: service.calls.map((call) => this.#call(call)),
      ...(service.gcPauses === undefined ? {} : { gc_pauses: service.gcPauses }),
    };
    const { coldStart, cpuQuota, name } = service;
    return this.#process({ service: name, role: 'service', cpuQuota, coldStart, configuration });
  }

  #configuration(
    id: string,
  ): Pick<ReplicaConfiguration, 'id' | 'seed' | 'stream' | 'host' | 'port' | 'admin_port' | 'slowness'> {
    return { id, seed: this.#options.seed, stream: `${id}/service`, host, port: 0, admin_port: 0, slowness: 1 };
  }

  #call(call: Call): CallConfiguration {
    return {
      to: call.to,
      retries: call.retries,
      choice: call.choice,
      targets: this.#of(call.to).map((replica) => replica.target),
      ...(call.timeout === undefined ? {} : { timeout_ns: call.timeout }),
      ...(call.backOff === undefined ? {} : { back_off_ns: call.backOff }),
      ...(call.budget === undefined ? {} : { budget: call.budget }),
    };
  }

  #process(facts: {
    readonly service: string;
    readonly role: LabReplica['role'];
    readonly cpuQuota: number | undefined;
    readonly coldStart: ColdStart | undefined;
    readonly configuration: ReplicaConfiguration;
  }): ReplicaProcess {
    const { onEvent } = this.#options;
    return new ReplicaProcess({
      ...facts,
      nursery: this.#nursery,
      agent: this.#agent,
      folder: this.#folder,
      onEvent,
    });
  }

  async #startForwarder(): Promise<GatewayProgram> {
    const gateway = { ...(this.#options.topology.gateway ?? plainGateway), policy: 'round-robin' as const };
    return this.#startGateway('forwarder', this.#fronted('registry'), gateway);
  }

  #startGateway(name: string, service: string, gateway: Gateway): Promise<GatewayProgram> {
    const site: GatewaySite = {
      nursery: this.#nursery,
      name,
      host,
      folder: this.#folder,
      onEvent: this.#options.onEvent,
    };
    const settings: GatewaySettings = {
      ...gateway,
      service,
      seed: this.#options.seed,
      endpoints: this.#of(service).map((replica) => replica.target),
    };
    switch (this.#options.gateway) {
      case 'plimsoll':
        return startPlimsoll(site, settings, this.#options.gatewayCommand);
      case 'haproxy':
        return startHaproxy(site, settings);
      case 'nginx':
        return startNginx(site, settings);
      case 'envoy':
        return startEnvoy(site, settings);
      default:
        return unreachable(this.#options.gateway, 'a gateway that the lab cannot start');
    }
  }

  /** The one service that stands behind the gateway, or behind the registry's list: the one that clients ask for there. */
  #fronted(by: 'gateway' | 'registry'): string {
    const { clients, services } = this.#options.topology;
    const groups = clients.filter((group) => (group.via === 'gateway') === (by === 'gateway'));
    const names = [...new Set((groups.length > 0 ? groups : clients).map((group) => group.service))];
    const [name = services[0]?.name, ...others] = names;
    if (name === undefined) throw new LabError(`no service stands behind the ${by}`);
    if (others.length === 0) return name;
    throw new LabError(`one service can stand behind the ${by}, clients ask there for ${names.join(', ')}`);
  }

  /** Tells everybody who chooses among the service's replicas which there are now. */
  async #publish(service: string): Promise<void> {
    const targets = this.#of(service).map((replica) => replica.target);
    const forwarder = await this.#forwarder;
    const proxies: [GatewayProgram | undefined, 'gateway' | 'registry'][] = [
      [this.#gateway, 'gateway'],
      [forwarder, 'registry'],
    ];
    for (const [proxy, by] of proxies) {
      if (proxy !== undefined && this.#fronted(by) === service) await proxy.setEndpoints(targets);
    }
    await Promise.all(this.#replicas.map((replica) => replica.setTargets(service, targets)));
  }

  async #cpu(): Promise<ReadonlyMap<string, CpuReading>> {
    const readings = new Map<string, CpuReading>();
    const add = (name: string, reading: CpuReading | undefined): void => {
      if (reading !== undefined) readings.set(name, reading);
    };
    for (const replica of this.#replicas) add(replica.id, replica.cpu());
    add('gateway', this.#gateway?.cpu());
    add('forwarder', (await this.#forwarder)?.cpu());
    return readings;
  }

  #of(service: string): readonly ReplicaProcess[] {
    return this.#replicas.filter((replica) => replica.service === service);
  }

  #replica(id: string): ReplicaProcess {
    const found = this.#replicas.find((replica) => replica.id === id);
    if (found !== undefined) return found;
    throw new LabError(`there is no replica ${id}; there are ${this.#replicas.map((one) => one.id).join(', ')}`);
  }
}

/** Waits for all of them even when one fails, so that nothing is still being started when the error is told. */
async function allOrFirstError(promises: readonly Promise<void>[]): Promise<void> {
  for (const settled of await Promise.allSettled(promises)) {
    if (settled.status === 'rejected') throw settled.reason;
  }
}
