// Who judges the endpoints: active checks, and outlier ejection by what they answer, a set of each for every fleet, so that the
// endpoints of a service are compared with each other and with nobody else's. What is not configured is not there.

import { isDeepStrictEqual } from 'node:util';
import type { GatewayConfig } from './config.ts';
import type { DataPlane } from './data-plane.ts';
import { HealthChecks } from './health-checks.ts';
import type { LiveFleet } from './live-fleet.ts';
import { Outliers } from './outliers.ts';

type Judged = Pick<GatewayConfig, 'health' | 'outlier' | 'seed'>;

export class Judges {
  readonly #plane: DataPlane;
  readonly #health = new Map<LiveFleet, HealthChecks>();
  readonly #judged = new Set<LiveFleet>();
  #config: Judged;

  constructor(plane: DataPlane) {
    this.#plane = plane;
    this.#config = plane.config;
  }

  /** Another configuration, and perhaps other fleets. What has not changed goes on with what it has learnt. */
  reconfigure(config: Judged): void {
    if (!isDeepStrictEqual(this.#config.health, config.health)) {
      for (const [fleet, checks] of this.#health) {
        checks.end();
        // Nobody's checks have failed whom nobody checks.
        for (const live of fleet.endpoints) fleet.setPasses(live, true);
      }
      this.#health.clear();
    }
    if (!isDeepStrictEqual(this.#config.outlier, config.outlier)) {
      for (const fleet of this.#judged) {
        fleet.outliers?.end();
        fleet.outliers = undefined;
        for (const live of fleet.endpoints) fleet.setEjected(live, false);
      }
    }
    this.#config = config;
    this.follow();
  }

  /** Judges exactly the fleets that there are now, and in each exactly those who are in it, now and whenever that changes. */
  follow(): void {
    const fleets = new Set(this.#plane.fleets());
    for (const fleet of this.#judged) {
      if (fleets.has(fleet)) continue;
      this.#health.get(fleet)?.end();
      this.#health.delete(fleet);
      fleet.outliers?.end();
      fleet.membersChanged = undefined;
      this.#judged.delete(fleet);
    }
    const { health, outlier } = this.#config;
    if (health === undefined && outlier === undefined) return;
    for (const fleet of fleets) {
      this.#judged.add(fleet);
      fleet.membersChanged = () => this.#followMembers(fleet);
      this.#followMembers(fleet);
    }
  }

  end(): void {
    for (const checks of this.#health.values()) checks.end();
    for (const fleet of this.#judged) fleet.outliers?.end();
  }

  #followMembers(fleet: LiveFleet): void {
    const { health, outlier, seed } = this.#config;
    if (health !== undefined) {
      const checks = this.#health.get(fleet) ?? new HealthChecks(this.#plane, fleet, health, seed);
      this.#health.set(fleet, checks);
      checks.follow();
    }
    if (outlier !== undefined) {
      fleet.outliers ??= new Outliers(this.#plane.engine, fleet, outlier);
      fleet.outliers.follow();
    }
  }
}
