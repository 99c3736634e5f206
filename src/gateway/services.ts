// The services behind the gateway and who gets which request. Each service has a fleet of its own, so a change of one service's
// endpoints rebuilds that fleet alone: with a thousand services it costs what it would cost with one.
//
//   authority ─► hosts ─► the longest path of that host ─► fleet
//                  └── none of it fits ─► paths of any host ─► fleet
//                                              └── none ─► the endpoints beside the services, or 404
//
// The table is built when the configuration is read. A look-up is one or two questions to a map; a request's path is only made
// into a text where a host has more than one path. Hot: `fleetFor`.

import { assert } from '../base.ts';
import type { Engine } from '../net.ts';
import type { BalancerName } from '../policy.ts';
import type { RequestHead } from '../wire.ts';
import type { GatewayConfig } from './config.ts';
import { LiveFleet } from './live-fleet.ts';
import type { RouteConfig } from './service-config.ts';

interface Rule {
  readonly path: string;
  readonly fleet: LiveFleet;
}

export class Services {
  readonly #engine: Engine;
  #fleets = new Map<string, LiveFleet>();
  #hosts = new Map<string, readonly Rule[]>();
  #anyHost: readonly Rule[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get size(): number {
    return this.#fleets.size;
  }

  /** Takes another configuration, service by service. A service of the same name keeps its fleet, its connections and its counts;
   * who is new is asked, and who has gone is not any more, when all of them have been gone through. */
  *reconfigure(config: GatewayConfig): Generator<void, void, void> {
    const clock = this.#engine;
    const before = new Map(this.#fleets);
    const fleets = new Map<string, LiveFleet>();
    const settingsFor = settingsByPolicy(config);
    for (const { name, policy, endpoints } of config.services) {
      const settings = settingsFor(policy ?? config.policy);
      const old = before.get(name);
      before.delete(name);
      const fleet = old ?? new LiveFleet(clock, settings);
      if (old === undefined) fleet.replace(endpoints, clock.now());
      else fleet.reconfigure(settings, endpoints, clock.now());
      fleets.set(name, fleet);
      yield;
    }
    this.#fleets = fleets;
    this.#route(config.routes);
    for (const left of before.values()) {
      left.replace([], clock.now());
      left.end();
    }
  }

  /** Hot. Undefined: no service is for this request. */
  fleetFor(head: RequestHead): LiveFleet | undefined {
    const { authority } = head;
    const rules =
      authority === undefined ? undefined : (this.#hosts.get(authority) ?? this.#hosts.get(hostOf(authority)));
    return (rules === undefined ? undefined : fitting(rules, head)) ?? fitting(this.#anyHost, head);
  }

  named(name: string): LiveFleet | undefined {
    return this.#fleets.get(name);
  }

  fleets(): Iterable<LiveFleet> {
    return this.#fleets.values();
  }

  names(): readonly string[] {
    return [...this.#fleets.keys()];
  }

  /** Is anybody fit in any of them? */
  get someHealthy(): boolean {
    return this.#fleets.values().some((fleet) => fleet.healthyCount > 0);
  }

  closeIdleConnections(): void {
    for (const fleet of this.#fleets.values()) fleet.closeIdleConnections();
  }

  end(): void {
    for (const fleet of this.#fleets.values()) fleet.end();
  }

  #route(routes: readonly RouteConfig[]): void {
    const hosts = new Map<string, Rule[]>();
    const anyHost: Rule[] = [];
    for (const { host, path, service } of routes) {
      const fleet = this.#fleets.get(service);
      assert(fleet !== undefined, 'a route leads to a service');
      let rules = anyHost;
      if (host !== undefined) {
        rules = hosts.get(host) ?? [];
        hosts.set(host, rules);
      }
      rules.push({ path, fleet });
    }
    for (const rules of [...hosts.values(), anyHost]) rules.sort((one, other) => other.path.length - one.path.length);
    this.#hosts = hosts;
    this.#anyHost = anyHost;
  }
}

/** One object for each policy, and not one for each service. */
function settingsByPolicy(config: GatewayConfig): (policy: BalancerName) => GatewayConfig {
  const made = new Map<BalancerName, GatewayConfig>([[config.policy, config]]);
  return (policy) => {
    const settings = made.get(policy) ?? { ...config, policy };
    made.set(policy, settings);
    return settings;
  };
}

/** Rules stand with the longest path first; the first of equals wins. */
function fitting(rules: readonly Rule[], head: RequestHead): LiveFleet | undefined {
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index];
    if (rule !== undefined && (rule.path === '/' || isBelow(head.path, rule.path))) return rule.fleet;
  }
  return undefined;
}

/** Is it this path or below it? Paths are compared byte for byte. */
function isBelow(path: string, prefix: string): boolean {
  if (!path.startsWith(prefix)) return false;
  const next = path[prefix.length];
  return next === undefined || next === '/' || next === '?' || prefix.endsWith('/');
}

/** Without the port, in lower case: names of hosts are the same in any case (RFC 9110 section 4.2.3). */
function hostOf(authority: string): string {
  const colon = authority.lastIndexOf(':');
  const host = colon > authority.lastIndexOf(']') ? authority.slice(0, colon) : authority;
  return host.toLowerCase();
}
