// Processes that accept from one socket: how unevenly they got connections, and whether it hurts. The two theories of it differ in
// that alone.

import type { Fleet, Member } from './fleet.ts';
import { rangeOf, type Spread, spreadOf, timesOf } from './spread.ts';
import type { View } from './view.ts';

export interface Accepting {
  readonly fleet: Fleet;
  /** Of connections, or of requests where those are not counted. */
  readonly spread: Spread;
  readonly of: 'connections' | 'requests';
  /** Busy cores of the hottest; undefined when nobody measured. */
  readonly cpuMost: number | undefined;
  readonly saturated: Member | undefined;
  readonly idle: number;
  /** Requests or connections that wait to be accepted; undefined: not measured. */
  readonly queue: number | undefined;
  readonly errors: number | undefined;
  readonly hostCpu: number | undefined;
  /** Time of the busiest over the longest of the others. */
  readonly timeOfBusiest: number | undefined;
}

/** A core is full from here on. */
const full = 0.9;

export function acceptingIn(view: View): Accepting | undefined {
  const [found] = view.processes
    .flatMap((fleet) => {
      const spread = spreadOf(fleet, 'connections') ?? spreadOf(fleet, 'requests');
      return spread === undefined ? [] : [{ fleet, spread }];
    })
    .toSorted((one, other) => other.spread.times - one.spread.times);
  if (found === undefined) return undefined;
  const { fleet, spread } = found;
  const of = spreadOf(fleet, 'connections') === undefined ? 'requests' : 'connections';
  const cpus = coresOf(fleet);
  const cpuMost = cpus === undefined ? undefined : Math.max(...cpus.values());
  const hottest = fleet.members.find(({ id }) => cpus?.get(id) === cpuMost);
  const busiest = spread.hot;
  const others = rangeOf([
    ...timesOf(
      fleet.members.filter(({ id }) => id !== busiest.id),
      1,
    ),
    0,
  ]);
  return {
    fleet,
    spread,
    of,
    cpuMost,
    saturated: cpuMost !== undefined && cpuMost >= full ? hottest : undefined,
    idle: spread.members.filter((member) => (member[of] ?? 0) < (0.05 * spread.total) / spread.members.length).length,
    queue: queueOf(view),
    errors:
      spreadOf(fleet, 'errors')?.total ?? (fleet.members.some(({ errors }) => errors !== undefined) ? 0 : undefined),
    hostCpu: view.gauge((name) => /^(?:node|host|system).*cpu.*(?:ratio|busy|utili[sz]ation|usage)/.test(name))?.value,
    timeOfBusiest:
      busiest.meanSeconds === undefined || others === undefined || others.most === 0
        ? undefined
        : busiest.meanSeconds / others.most,
  };
}

/** Cores by process; percent is told from cores by its size. */
function coresOf(fleet: Fleet): Map<string, number> | undefined {
  const known = fleet.members.flatMap(({ id, cpu }) => (cpu === undefined ? [] : [{ id, cpu }]));
  if (known.length === 0) return undefined;
  const scale = Math.max(...known.map(({ cpu }) => cpu)) > 1.5 ? 0.01 : 1;
  return new Map(known.map(({ id, cpu }) => [id, cpu * scale]));
}

function queueOf(view: View): number | undefined {
  return view.greatest((name) => /listen_queue$|accept_queue|recv_q|listen_backlog_used|backlog_len/.test(name))?.value;
}
