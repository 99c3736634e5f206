// A record of several services that clients ask, judged service by service: replicas are exchangeable within a service and not across.
//
//   record ─► one view for each service that is asked ─► a diagnosis each ─► one verdict for all
//
// The verdict of all is that of the worst: an incident in any service goes before health in the others, and the sentence says in how many
// it was found. Of thousands of services chance makes some look undecided, so a few of those do not unsettle the rest.

import type { ClientTick, ReplicaTick, TickLine } from '../record.ts';
import type { SeenPhase, SeenRecord } from './seen.ts';

export interface FleetView {
  readonly service: string;
  readonly record: SeenRecord;
}

/** A view for each service that clients ask; empty when there is one at most, and the record may be judged as it is. */
export function fleetsOf(record: SeenRecord): readonly FleetView[] {
  const { topology } = record;
  if (topology === undefined) return [];
  const asked = [...new Set(topology.clients.flatMap(({ service }) => service ?? []))];
  const services = topology.services.filter(({ name, role }) => role === 'service' && asked.includes(name));
  if (services.length < 2) return [];
  const serviceOf = new Map(services.flatMap(({ name, replicas }) => replicas.map(({ id }) => [id, name] as const)));
  const groupOf = new Map(topology.clients.map(({ group, service }) => [group, service]));
  const phases = record.phases.map((phase) => splitPhase(phase, serviceOf, groupOf));
  return services.map((service): FleetView => ({
    service: service.name,
    record: {
      topology: {
        ...topology,
        // Dependencies and services behind belong to everybody who may call them.
        services: [service, ...topology.services.filter(({ name }) => !asked.includes(name))],
        clients: topology.clients.filter((client) => client.service === service.name),
      },
      phases: phases.map(({ line, parts }) => ({ line, ...(parts.get(service.name) ?? nothing) })),
    },
  }));
}

const nothing = { events: [], ticks: [] } as const;

interface SplitPhase {
  readonly line: SeenPhase['line'];
  readonly parts: ReadonlyMap<string, { readonly events: SeenPhase['events']; readonly ticks: readonly TickLine[] }>;
}

/** One walk over a phase's ticks, whatever the number of services. What belongs to none of them is seen by all. */
function splitPhase(
  { line, events, ticks }: SeenPhase,
  serviceOf: ReadonlyMap<string, string>,
  groupOf: ReadonlyMap<string, string | undefined>,
): SplitPhase {
  const parts = new Map<string, { events: SeenPhase['events']; ticks: TickLine[] }>();
  for (const tick of ticks) {
    const common: ReplicaTick[] = [];
    const replicas = new Map<string, ReplicaTick[]>();
    const clients = new Map<string, ClientTick[]>();
    for (const replica of tick.replicas) {
      const service = serviceOf.get(replica.id);
      if (service === undefined) common.push(replica);
      else listIn(replicas, service).push(replica);
    }
    for (const client of tick.clients) {
      const service = groupOf.get(client.group);
      if (service !== undefined) listIn(clients, service).push(client);
    }
    const { gateway: _, ...shared } = tick;
    for (const [service, own] of replicas) {
      const part = parts.get(service) ?? { events, ticks: [] };
      parts.set(service, part);
      part.ticks.push({ ...shared, replicas: [...own, ...common], clients: clients.get(service) ?? [] });
    }
  }
  return { line, parts };
}

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const known = lists.get(key) ?? [];
  lists.set(key, known);
  return known;
}
