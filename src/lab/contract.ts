// What the lab promises to whoever conducts a run: it starts a scenario's topology as real processes on loopback, and does
// to them what an operator could do. It knows no other room that acts; the programs it starts are command lines.

import type { Duration } from '../base.ts';
import type { FaultKind, PolicyName, Topology } from '../scenario.ts';

export interface LabOptions {
  readonly topology: Topology;
  readonly seed: number;
  /** Which program balances. */
  readonly gateway: 'plimsoll' | 'haproxy' | 'nginx' | 'envoy';
  /** Command that starts our own gateway; a configuration file's path is appended. */
  readonly gatewayCommand: readonly string[];
  /** For configurations, logs and sockets of this run; the lab makes it and leaves it. */
  readonly folder: string;
  /** Called for what an operator would notice: a process that ended by itself, a line on stderr. */
  readonly onEvent: (event: LabEvent) => void;
}

export interface LabEvent {
  readonly event: 'replica-exited' | 'gateway-exited' | 'program-said' | 'limit-reached';
  readonly target: string;
  readonly detail: string;
}

export interface Lab {
  readonly replicas: readonly LabReplica[];
  readonly gateway: LabGateway | undefined;
  /** A forwarding proxy, started when first asked for. */
  forwarder(): Promise<LabGateway>;
  /** Statistics of every process now, as each program serves them. A process that does not answer within `timeout` is in
   * `silent`; one that was stopped or killed by `inject` is there without being asked. */
  scrape(timeout: Duration): Promise<LabScrape>;
  inject(fault: FaultKind): Promise<void>;
  /** Multiplies the service times of one replica (1: as in the scenario). */
  setSlowness(replica: string, factor: number): Promise<void>;
  setWorkers(replica: string, workers: number): Promise<void>;
  /** More replicas of a service, appended to the registry's list and to the gateway. Returns their ids. */
  addReplicas(service: string, count: number): Promise<readonly string[]>;
  /** Starts the gateway again with another policy, on the same address. */
  setPolicy(policy: PolicyName): Promise<void>;
  /** From now on the gateway's log goes to `<folder>/<name>.log`; returns the path, or undefined when the gateway writes
   * none. Foreign statistics begin again at zero with the log; `saveStatistics` saves them beside it as `<name>-stats.csv`
   * (HAProxy) and completes the log up to now. */
  logTo(name: string): Promise<string | undefined>;
  saveStatistics(name: string): Promise<string | undefined>;
  /** Ends every process, waits for it, removes cgroups. Safe to call twice. */
  close(): Promise<void>;
}

export interface LabReplica {
  readonly id: string;
  readonly service: string;
  readonly role: 'service' | 'dependency';
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly pid: number;
  /** As in the scenario: `setWorkers` changes only the running process. */
  readonly workers: number;
  readonly cpuQuota: number | undefined;
}

export interface LabGateway {
  readonly program: string;
  readonly version: string;
  readonly policy: string;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
}

export interface LabScrape {
  /** Prometheus text by replica id. */
  readonly replicas: ReadonlyMap<string, string>;
  readonly silent: readonly string[];
  /** The gateway's own: Prometheus text (ours), stats CSV (HAProxy), stub_status (nginx), /clusters (Envoy). */
  readonly gateway: { readonly program: string; readonly text: string } | undefined;
  /** CPU time since start and throttling, by process id name (`api-1`, `gateway`), from /proc and the cgroup. */
  readonly cpu: ReadonlyMap<string, CpuReading>;
}

export interface CpuReading {
  readonly cpuNs: number;
  readonly throttledNs: number | undefined;
  readonly throttledPeriods: number | undefined;
}
