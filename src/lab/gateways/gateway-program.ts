// What the lab wants of a program that balances, whichever it is. Each of the three does it in its own way: it writes a
// configuration, starts the process, waits until it listens, and reads statistics.

import type { Duration } from '../../base.ts';
import type { HealthCheck, PolicyName } from '../../scenario.ts';
import type { CpuReading, LabEvent, LabGateway } from '../contract.ts';
import type { Nursery } from '../nursery.ts';
import type { TargetConfiguration } from '../programs/replica-configuration.ts';

/** What it is to do, in the scenario's words. */
export interface GatewaySettings {
  readonly service: string;
  readonly policy: PolicyName;
  readonly timeout: Duration;
  readonly connectTimeout: Duration;
  readonly retries: number;
  readonly health: HealthCheck | undefined;
  readonly seed: number;
  readonly endpoints: readonly TargetConfiguration[];
}

/** Where it lives. */
export interface GatewaySite {
  readonly nursery: Nursery;
  /** `gateway` or `forwarder`; its files begin with it. */
  readonly name: string;
  readonly host: string;
  /** For its configuration and working files. */
  readonly folder: string;
  readonly onEvent: (event: LabEvent) => void;
}

export interface GatewayProgram {
  describe(): LabGateway;
  /** Its statistics in its own form; undefined when it does not answer. */
  statistics(timeout: Duration): Promise<string | undefined>;
  cpu(): CpuReading | undefined;
  /** Starts it again with another policy on the same port. */
  setPolicy(policy: PolicyName): Promise<void>;
  /** Changes the list of endpoints, without a restart where the program can. */
  setEndpoints(endpoints: readonly TargetConfiguration[]): Promise<void>;
  /** Its access log goes to `path` from now on. False: it writes none. */
  logTo(path: string): Promise<boolean>;
  /** Completes the log so far and writes the statistics to `path`. False: it has no statistics of this form. */
  saveStatistics(path: string): Promise<boolean>;
  /** Ends it and completes the log. */
  close(): Promise<void>;
}
