// The settings of a scenario as a record tells them: what an operator could read from configuration, the same in every world.

import type { CallFacts, ClientFacts, GatewayFacts, ServiceFacts } from '../record.ts';
import {
  type ClientRetry,
  type Clients,
  type Demand,
  distributionMean,
  type Gateway,
  type Service,
} from '../scenario.ts';

export function serviceFacts(service: Service): Omit<ServiceFacts, 'replicas' | 'name' | 'role'> {
  const { limit, abandoned } = service.queue;
  return {
    calls: service.calls.map((call): CallFacts => ({
      to: call.to,
      retries: call.retries,
      ...(call.timeout === undefined ? {} : { timeout_ns: call.timeout }),
      ...(call.backOff === undefined ? {} : { back_off_ns: call.backOff }),
      ...(call.budget === undefined ? {} : { retry_budget: call.budget }),
    })),
    ...(Number.isSafeInteger(limit) ? { queue_limit: limit } : {}),
    queue_abandoned: abandoned,
    health_shares_pool: service.healthSharesPool,
  };
}

/** The zone of a replica by its place among those of its service, from 0. */
export function zoneFacts({ zones }: Pick<Service, 'zones'>, place: number): { readonly zone?: string } {
  const zone = zones?.[place % zones.length];
  return zone === undefined ? {} : { zone };
}

export function gatewayFacts(gateway: Gateway): Omit<GatewayFacts, 'program' | 'version'> {
  const { policy, timeout, retries, health, count } = gateway;
  return {
    policy,
    timeout_ns: timeout,
    retries,
    ...(count === undefined ? {} : { count }),
    ...(health === undefined
      ? {}
      : {
          health: {
            interval_ns: health.interval,
            timeout_ns: health.timeout,
            fall: health.fall,
            rise: health.rise,
          },
        }),
  };
}

export function clientFacts(group: Clients, demand: Demand | undefined): ClientFacts {
  const { retry, zone, pinned, keepAlive } = group;
  return {
    group: group.name,
    via: group.via,
    choice: group.choice,
    service: group.service,
    ...(demand === undefined ? {} : { demand: demandFacts(demand) }),
    timeout_ns: group.timeout,
    ...(retry === undefined ? {} : retryFacts(retry)),
    ...(zone === undefined ? {} : { zone }),
    ...(pinned === true ? { pinned } : {}),
    ...(keepAlive?.requests === undefined ? {} : { keep_alive_requests: keepAlive.requests }),
    ...(keepAlive?.lifetime === undefined ? {} : { keep_alive_ns: keepAlive.lifetime }),
  };
}

const retryFacts = ({
  retries,
  backOff,
  budget,
}: ClientRetry): Pick<ClientFacts, 'retries' | 'back_off_ns' | 'retry_budget'> => ({
  retries,
  back_off_ns: backOff,
  ...(budget === undefined ? {} : { retry_budget: budget }),
});

function demandFacts(demand: Demand): NonNullable<ClientFacts['demand']> {
  return demand.kind === 'closed'
    ? { model: 'closed', users: demand.users, think_ns: distributionMean(demand.think) }
    : { model: 'open', rate_per_s: demand.ratePerSecond, arrivals: demand.arrivals };
}
