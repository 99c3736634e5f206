// What no single machine can play on sockets: then a scenario is for imagined time, and whoever is asked to run it says why.

import type { Scenario } from './model.ts';

/** More processes than this are no small model of anything on one machine. */
const replicasMax = 64;
const usersMax = 20_000;

/** Reasons as phrases, such as `50,000 replicas`; empty when a lab can play it. */
export function onlyImagined({ topology, demand, network }: Scenario): readonly string[] {
  const replicas = topology.services.reduce((sum, service) => sum + service.replicas, 0);
  const users = demand.reduce((sum, each) => sum + (each.kind === 'closed' ? each.users : 0), 0);
  const gateways = topology.gateway?.count ?? 1;
  return [
    ...(replicas > replicasMax ? [`${replicas.toLocaleString('en')} replicas`] : []),
    ...(users > usersMax ? [`${users.toLocaleString('en')} users`] : []),
    ...(gateways > 1 ? [`${gateways} load balancers`] : []),
    ...(network === undefined ? [] : ['a network with delays and losses of its own']),
    ...topology.services.flatMap(({ name, autoscale }) =>
      autoscale === undefined ? [] : [`replicas of ${name} that come and go`],
    ),
    ...topology.services.flatMap(({ name, queue: { order = 'fifo' } }) =>
      order === 'fifo' ? [] : [`a queue of ${name} that is ${order}`],
    ),
    ...topology.services.flatMap(({ name, cpuScheduling = 'fifo' }) =>
      cpuScheduling === 'fifo' ? [] : [`a processor of ${name} that its requests share`],
    ),
    ...(topology.clients.some(({ via, pinned }) => via === 'gateway' && pinned === true)
      ? ['a gateway that balances connections']
      : []),
    ...(topology.clients.some(({ usersPerConnection = 1 }) => usersPerConnection > 1)
      ? ['users who share a connection']
      : []),
  ];
}
