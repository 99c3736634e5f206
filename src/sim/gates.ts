// Every gate of the world: the load balancer and the forwarding proxy before each service, made when first asked for and kept
// from phase to phase, and a fresh one for each client group that holds the registry's list itself.

import { dice } from '../base.ts';
import { type Balancer, balancerByName, RetryBudget } from '../policy.ts';
import type { Choice, Clients, Gateway, PolicyName } from '../scenario.ts';
import type { Deadlines } from './deadlines.ts';
import type { Fleet } from './fleet.ts';
import { Gate } from './gate.ts';
import type { Station } from './station.ts';

export interface GatesDuties {
  readonly fleet: Fleet;
  readonly seed: number;
  /** As the scenario has it. */
  readonly gateway: Gateway | undefined;
  /** Deadlines for whole requests at the gateway. */
  newDeadlines(length: number): Deadlines;
  /** The gateway has these endpoints from place `from` on: their health is to be checked, where anybody's is. */
  watch(gate: Gate, from: number, now: number): void;
}

export class Gates {
  readonly #duties: GatesDuties;
  readonly #shared = new Map<string, Gate>();
  /** Lists in the hands of clients, in the present phase. */
  #lists: { readonly gate: Gate; readonly service: string; readonly zone: string | undefined }[] = [];
  #phase = 0;

  constructor(duties: GatesDuties) {
    this.#duties = duties;
  }

  /** The load balancer before a service, where one has been asked for. */
  gateway(service: string): Gate | undefined {
    return this.#shared.get(`gateway/${service}`);
  }

  /** The gate that these clients go through. `phase` tells the registry lists of one group apart. */
  for(clients: Clients, policy: PolicyName | undefined, phase: number, now: number): Gate {
    const { service, choice, name } = clients;
    const via = clients.via === 'gateway' && clients.pinned === true ? 'connections' : clients.via;
    if (via === 'registry') {
      const gate = this.#newGate('registry', choice, `registry/${name}/${phase}`, now);
      this.#setStations(gate, service, clients.zone, now);
      if (phase !== this.#phase) this.#lists = [];
      this.#phase = phase;
      this.#lists.push({ gate, service, zone: clients.zone });
      return gate;
    }
    const key = `${via}/${service}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const gate = this.#newGate(via, via === 'forwarder' ? 'round-robin' : (policy ?? 'round-robin'), key, now);
    this.#setStations(gate, service, undefined, now);
    this.#shared.set(key, gate);
    const { gateway } = this.#duties;
    if (via === 'gateway' && gateway !== undefined) gate.deadlines = this.#duties.newDeadlines(gateway.timeout);
    if (via !== 'forwarder') this.#duties.watch(gate, 0, now);
    return gate;
  }

  /** A gate to one station, past every balancer. */
  to(station: Station, now: number): Gate {
    const balancer = balancerByName('pick-first', { seed: 0 });
    const gate = new Gate({ kind: 'registry', balancers: [balancer], retries: 0, budget: undefined }, now);
    gate.setStations([station], () => true, now);
    return gate;
  }

  #newGate(kind: Gate['kind'], policy: PolicyName | Choice, stream: string, now: number): Gate {
    const retries = kind === 'gateway' ? (this.#duties.gateway?.retries ?? 0) : 0;
    return new Gate(
      {
        kind,
        balancers: this.#balancers(kind, policy, stream),
        retries,
        budget: retries > 0 ? new RetryBudget() : undefined,
      },
      now,
    );
  }

  /** The stations of a service in a zone; all of them where there is none, or none in it. */
  #near(service: string, zone: string | undefined): readonly Station[] {
    const { stations, service: settings } = this.#duties.fleet.site(service);
    const { zones } = settings;
    const near = zones === undefined ? [] : stations.filter(({ place }) => zones[place % zones.length] === zone);
    return near.length === 0 ? [...stations] : near;
  }

  #setStations(gate: Gate, service: string, zone: string | undefined, now: number): void {
    const { listed } = this.#duties.fleet.site(service);
    gate.setStations(this.#near(service, zone), ({ place }) => place < listed, now);
  }

  /** Replicas have been added to a service, or taken out of its list: whoever keeps one takes the new one. */
  changed(service: string, now: number): void {
    for (const list of this.#lists) if (list.service === service) this.#setStations(list.gate, service, list.zone, now);
    for (const kind of ['gateway', 'connections', 'forwarder']) {
      const gate = this.#shared.get(`${kind}/${service}`);
      if (gate === undefined) continue;
      const before = gate.stations.length;
      this.#setStations(gate, service, undefined, now);
      if (kind !== 'forwarder') this.#duties.watch(gate, before, now);
    }
  }

  /** From now on the gateway balances by this policy. */
  setPolicy(policy: PolicyName): void {
    for (const [key, gate] of this.#shared) {
      if (gate.kind === 'forwarder') continue;
      gate.setBalancers(this.#balancers(gate.kind, policy, `${key}/${policy}`));
    }
  }

  #balancers(kind: Gate['kind'], policy: PolicyName | Choice, stream: string): readonly Balancer[] {
    const count = kind === 'gateway' || kind === 'connections' ? (this.#duties.gateway?.count ?? 1) : 1;
    return Array.from({ length: count }, (_, view) =>
      balancerByName(policy, { seed: this.#seedOf(view === 0 ? stream : `${stream}/view ${view}`) }),
    );
  }

  /** A seed for a balancer, which takes one instead of a stream. */
  #seedOf(stream: string): number {
    return dice(this.#duties.seed, stream).below(2 ** 31);
  }
}
