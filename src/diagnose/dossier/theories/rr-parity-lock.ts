// One cursor for everything: it is moved a fixed number of times for each request, and that number divides the hosts.

import type { RequestTable } from '../../../record.ts';
import { digits, listed, percent } from '../../wording.ts';
import type { Fleet } from '../fleet.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const rrParityLock: DossierTheory = {
  slug: 'rr-parity-lock',
  title: 'Parity lock: a shared round-robin cursor comes round to the same host each time',
  mechanism:
    'One position counts requests of several routes or services. Where the calls come in a fixed order, the position moves by ' +
    'the same step between two calls of one service, and where that step has a divisor in common with the number of hosts, ' +
    'some hosts are never reached: with two hosts and two calls a page, one gets everything.',
  refutedBy: 'A choice that the position of the request in the whole log does not foretell.',
  provedBy:
    'The host of every request is its number in the log of all routes, modulo the number of hosts; once the other calls stop, all hosts are served in turn.',
  lookAlikes: ['sticky-session', 'pick-first', 'an instance that is not registered', 'weights'],
  fix: 'One cursor for each service, not moved when there is one candidate; or a random start, or a random choice of two.',
  decidedBy: 'the log of all routes of this balancer in order, with the host that was chosen',
  explains: ['pick-first', 'sticky-session', 'rr-next-host-dogpile', 'connection-pinning', 'hot-key'],

  examine(view) {
    const locked = lockedIn(view);
    const stride = locked === undefined ? strideIn(view) : undefined;
    if (locked === undefined && stride === undefined) return undefined;
    const policy = view.setting('balance.policy');
    return {
      claims: [
        claim('The policy is round robin.', {
          bearing: 'necessary',
          predicted: 'round-robin',
          refutes: 'a choice by load, by key or at random',
          seen:
            policy === undefined
              ? undefined
              : {
                  text: `${policy.scope}: ${policy.value}`,
                  holds: view.settings('balance.policy').some(({ value }) => value === 'round-robin'),
                  origins: [policy.origin],
                },
          missing: 'the balancing policy',
        }),
        claim('While calls come in a fixed order, a route reaches only some of its hosts.', {
          bearing: 'necessary',
          predicted:
            locked === undefined
              ? 'hosts ÷ what they and the step have in common'
              : `${locked.hosts} hosts ÷ ${divisor(locked.step, locked.hosts)} = ${locked.hosts / divisor(locked.step, locked.hosts)}, for at least 90 % of at least 10 requests`,
          refutes: 'a route that reaches all its hosts',
          seen:
            locked === undefined
              ? undefined
              : {
                  text: `${locked.route}: ${locked.most} of ${locked.count} on ${listed(locked.reached)}`,
                  holds:
                    locked.count >= 10 && locked.most >= 0.9 * locked.count && divisor(locked.step, locked.hosts) > 1,
                  origins: [locked.table.origin],
                },
          missing: 'a log with route and host',
        }),
        claim('The number of a request in the log of all routes foretells its host.', {
          bearing: 'sufficient',
          predicted: 'number modulo hosts, in 95 % of the requests',
          refutes: 'hosts that the position does not foretell',
          seen:
            locked === undefined
              ? undefined
              : {
                  text: `${percent(locked.foretold)} of ${locked.rows}`,
                  holds: locked.foretold >= 0.95 && locked.rows >= 12,
                },
          missing: 'a log of all routes with the host of each request',
        }),
        claim('When the route is called alone, its hosts take turns: all are there and eligible.', {
          bearing: 'supporting',
          predicted: 'each host in turn',
          refutes: 'a host that never gets anything',
          seen:
            locked?.alone === undefined
              ? undefined
              : {
                  text: `${locked.alone.changes} of ${locked.alone.count - 1} go to another host than the one before`,
                  holds: locked.alone.changes >= 0.8 * (locked.alone.count - 1),
                },
          missing: 'requests of this route alone',
        }),
        claim('Exactly every so many-th host of the list is used, and those equally.', {
          bearing: 'sufficient',
          predicted: 'hosts at a fixed distance in the list, within 10 % of one another, all the others 0',
          refutes: 'a used host between',
          seen:
            stride === undefined
              ? undefined
              : { text: `every ${stride.step}th of ${stride.hosts}`, holds: true, origins: stride.fleet.origins },
          missing: 'requests by host in the order of the list',
        }),
      ],
      culprit: `${locked === undefined ? 'the' : locked.table.program === 'access-log' ? 'the gateway’s' : locked.table.program} load balancer: one round-robin position shared by ${locked === undefined ? 'several calls' : 'several routes'}`,
      sentence:
        locked !== undefined
          ? `${listed(locked.reached)} ${locked.reached.length === 1 ? 'gets' : 'get'} every request of ${locked.route}, because one round-robin position is shared with other routes and comes round to the same ${locked.reached.length === 1 ? 'host' : 'hosts'} each time.`
          : `Only every ${stride?.step ?? 2}th host is used: the round-robin position moves by more than one for each request.`,
      arithmetic:
        locked === undefined
          ? [
              `the position moves by a multiple of ${stride?.step ?? 2} for each request; ${stride?.hosts ?? 0} hosts are divisible by it`,
            ]
          : [
              `between two requests of ${locked.route} the position moves by ${digits(locked.step)}; ${digits(locked.step)} mod ${locked.hosts} = ${locked.step % locked.hosts}`,
              `${locked.most} of ${locked.count} on ${listed(locked.reached)} while the calls come in a fixed order`,
            ],
    };
  },
};

interface Locked {
  readonly table: RequestTable;
  readonly route: string;
  /** The hosts that it reaches while calls come in a fixed order. */
  readonly reached: readonly string[];
  readonly hosts: number;
  /** Requests then, and how many of them those hosts got. */
  readonly count: number;
  readonly most: number;
  readonly step: number;
  readonly rows: number;
  readonly foretold: number;
  readonly alone: { readonly count: number; readonly changes: number } | undefined;
}

/** Longer logs tell no more. */
const rowsMax = 50_000;

function lockedIn(view: View): Locked | undefined {
  return view.tables
    .flatMap((table) => lockedOf(view, table) ?? [])
    .toSorted((one, other) => other.foretold - one.foretold)[0];
}

function lockedOf(view: View, table: RequestTable): Locked | undefined {
  if (table.replicas.length < 2 || table.routes.length < 2) return undefined;
  const order = Array.from({ length: Math.min(table.count, rowsMax) }, (_, row) => row)
    .filter((row) => (table.replica[row] ?? -1) >= 0)
    .toSorted((one, other) => (table.startMs[one] ?? 0) - (table.startMs[other] ?? 0) || one - other);
  let best: Locked | undefined;
  for (const pool of poolsOf(view, table)) {
    const placeOf = table.replicas.map((id) => pool.indexOf(id));
    const byRoute = new Map<number, Choice[]>();
    for (const [number, row] of order.entries()) {
      const place = placeOf[table.replica[row] ?? -1] ?? -1;
      if (place < 0) continue;
      const route = table.route[row] ?? -1;
      const own = byRoute.get(route);
      if (own === undefined) byRoute.set(route, [{ number, place }]);
      else own.push({ number, place });
    }
    for (const [route, own] of byRoute) {
      if (own.length < 12 || route < 0) continue;
      const found = { table, route: table.routes[route] ?? '', ...judged(own, pool) };
      if (best === undefined || found.foretold > best.foretold) best = found;
    }
  }
  return best;
}

interface Choice {
  readonly number: number;
  readonly place: number;
}

function judged(own: readonly Choice[], pool: readonly string[]): Omit<Locked, 'table' | 'route'> {
  const hosts = pool.length;
  const steps = own.slice(1).map(({ number }, index) => number - (own[index]?.number ?? 0));
  const step = commonest(steps);
  const mixed = own.slice(1).filter((_, index) => steps[index] === step && step > 1);
  const alone = own.slice(1).filter((_, index) => steps[index] === 1);
  const changes = own.slice(1).filter(({ place }, index) => steps[index] === 1 && place !== own[index]?.place).length;
  const places = mixed.map(({ place }) => place);
  const reachable = hosts / divisor(step, hosts);
  const reached = byFrequency(places).slice(0, reachable);
  let foretold = 0;
  for (let offset = 0; offset < hosts; offset++) {
    for (const direction of [1, -1]) {
      const right = own.filter((one) => mod(direction * one.number + offset, hosts) === one.place).length;
      foretold = Math.max(foretold, right / own.length);
    }
  }
  return {
    reached: reached.map((place) => pool[place] ?? ''),
    hosts,
    count: places.length,
    most: places.filter((one) => reached.includes(one)).length,
    step,
    rows: own.length,
    foretold,
    alone: alone.length < 3 ? undefined : { count: alone.length + 1, changes },
  };
}

/** The hosts of each service, in the order of a list where there is one. */
function poolsOf(view: View, table: RequestTable): string[][] {
  const configured = view
    .settings('upstream.endpoint-list')
    .map(({ value }) =>
      String(value)
        .split(',')
        .map((id) => id.trim()),
    )
    .filter((list) => list.length >= 2 && list.some((id) => table.replicas.includes(id)));
  const logged =
    table.services.length === 0
      ? [table.replicas.toSorted()]
      : table.services.map((_, service) => hostsOf(table, service));
  return [...configured, ...logged].filter((pool) => pool.length >= 2);
}

function hostsOf(table: RequestTable, service: number): string[] {
  const hosts = new Set<string>();
  for (let row = 0; row < table.count; row++) {
    const id = table.service[row] === service ? table.replicas[table.replica[row] ?? -1] : undefined;
    if (id !== undefined) hosts.add(id);
  }
  return [...hosts].toSorted();
}

interface Stride {
  readonly fleet: Fleet;
  readonly step: number;
  readonly hosts: number;
}

/** Every second (third, …) host of a list is used, and no other. */
function strideIn(view: View): Stride | undefined {
  for (const fleet of view.fleets) {
    const counts = fleet.members.map(({ requests = 0 }) => requests);
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (!fleet.listed || counts.length < 4 || total < 40 || fleet.members.some(({ healthy }) => healthy === false))
      continue;
    for (let step = 2; step <= counts.length / 2; step++) {
      if (counts.length % step !== 0) continue;
      const begin = counts.findIndex((count) => count > 0);
      const used = counts.filter((_, place) => place % step === begin % step);
      const idle = counts.filter((_, place) => place % step !== begin % step);
      const fair = total / used.length;
      if (idle.every((count) => count < 0.02 * fair) && used.every((count) => Math.abs(count - fair) <= 0.1 * fair))
        return { fleet, step, hosts: counts.length };
    }
  }
  return undefined;
}

function commonest(values: readonly number[]): number {
  return byFrequency(values)[0] ?? 0;
}

function byFrequency(values: readonly number[]): number[] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([value]) => value);
}

/** The greatest number that divides both. */
function divisor(one: number, other: number): number {
  return other === 0 ? Math.max(1, one) : divisor(other, one % other);
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
