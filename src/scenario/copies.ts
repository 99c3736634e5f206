// A service with `copies` stands for so many of its kind: two thousand services need not be written down one by one. Each copy has
// replicas and clients of its own, and an equal part of the demand; what is left over goes to the first ones.
//
//   services: { shop: { copies: 3, replicas: 2 } }          shop-1 (shop-1-1, shop-1-2), shop-2 …, shop-3 …
//   clients:  { users: { service: shop } }                  users-1, users-2, users-3
//   demand:   { closed: { users: 100 } }                    34, 33 and 33 users

import { assert } from '../base.ts';
import type { Clients, Demand, Scenario } from './model.ts';

/** How many services each name stands for; names that stand for themselves are absent. */
export type Copies = Readonly<Record<string, number>>;

/** Writes every copy out. */
export function withCopies(scenario: Scenario, copies: Copies): Scenario {
  if (Object.keys(copies).length === 0) return scenario;
  const { topology } = scenario;
  const copiesOf = (clients: string): number => {
    const group = topology.clients.find(({ name }) => name === clients);
    return group === undefined ? 1 : (copies[group.service] ?? 1);
  };
  return {
    ...scenario,
    topology: {
      ...topology,
      services: topology.services.flatMap((service) =>
        named(service.name, copies[service.name]).map((name) => ({ ...service, name })),
      ),
      clients: topology.clients.flatMap((group): Clients[] => {
        const services = named(group.service, copies[group.service]);
        return named(group.name, copies[group.service]).map((name, index) => ({
          ...group,
          name,
          service: services[index] ?? group.service,
        }));
      }),
    },
    demand: scenario.demand.flatMap((demand) => {
      const count = copiesOf(demand.clients);
      return named(demand.clients, count === 1 ? undefined : count).map((clients, index) =>
        part(demand, clients, index, count),
      );
    }),
    copies,
  };
}

/** The first copy of each service alone, with its clients and its part of the demand, and of how many parts it is one. */
export function oneCopyOf(scenario: Scenario): { readonly scenario: Scenario; readonly of: number } {
  const counts = Object.values(scenario.copies ?? {});
  const of = Math.max(1, ...counts);
  if (of === 1) return { scenario, of };
  const isFirst = (name: string): boolean => !/-(?!1$)\d+$/.test(name);
  const clients = scenario.topology.clients.filter(({ name }) => isFirst(name));
  const { copies, ...rest } = scenario;
  assert(copies !== undefined, 'a scenario of several parts knows them');
  return {
    of,
    scenario: {
      ...rest,
      topology: {
        ...scenario.topology,
        services: scenario.topology.services.filter(({ name }) => isFirst(name)),
        clients,
      },
      demand: scenario.demand.filter((demand) => clients.some(({ name }) => name === demand.clients)),
    },
  };
}

const named = (name: string, count: number | undefined): readonly string[] =>
  count === undefined ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);

function part(demand: Demand, clients: string, index: number, count: number): Demand {
  if (demand.kind === 'open') return { ...demand, clients, ratePerSecond: demand.ratePerSecond / count };
  const users = Math.floor(demand.users / count) + (index < demand.users % count ? 1 : 0);
  return { ...demand, clients, users: Math.max(1, users) };
}
