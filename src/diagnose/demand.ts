// Who asks, and who chooses: the two settings on which everything hinges. A lab writes them down; a log does not, and then
// they are inferred from what only one kind of demand or choice can do:
//
//   closed loop      users wait for their answers, so with no think time the number in flight never moves, while it swings
//                    by √(2·L·W/T) when arrivals are independent
//   blind rotation   every replica is handed the same number every second, though some hold far more than others
//
// A bounded queue that overflows also holds the number in flight still, so no closed loop is inferred while requests fail.

import type { ClientFacts, TopologyLine } from '../record.ts';
import type { PhaseEvidence } from './phase-evidence.ts';
import { sum } from './quantity.ts';

export interface Loop {
  readonly model: 'closed' | 'open' | 'unknown';
  /** `setting`: written down. `inferred`: from how the number in flight moves. */
  readonly from: 'setting' | 'inferred';
  readonly users?: number;
  readonly thinkSeconds?: number;
  readonly ratePerSecond?: number;
}

export interface Choice {
  /** Whether the choice looks at how loaded a replica is. */
  readonly blind: boolean | undefined;
  readonly from: 'setting' | 'inferred';
  /** `round-robin`, `random`, `pick-first`, `least-request`, … as far as known. */
  readonly name?: string;
}

export function loopOf(topology: TopologyLine | undefined, baseline: PhaseEvidence): Loop {
  const demands = (topology?.clients ?? []).flatMap((client) => (client.demand === undefined ? [] : [client.demand]));
  const closed = demands.filter((demand) => demand.model === 'closed');
  const open = demands.filter((demand) => demand.model === 'open');
  if (closed.length > 0 && open.length === 0) {
    const users = sum(closed.map((demand) => demand.users));
    const thinkSeconds = sum(closed.map((demand) => (demand.users * demand.think_ns) / 1e9)) / users;
    return { model: 'closed', from: 'setting', users, thinkSeconds };
  }
  if (open.length > 0 && closed.length === 0) {
    return { model: 'open', from: 'setting', ratePerSecond: sum(open.map((demand) => demand.rate_per_s)) };
  }
  return loopByTurnaround(topology, baseline) ?? inferLoop(baseline);
}

/** Where connections can be told apart, a user shows directly: one request at a time on a connection, and the next one
 * follows the answer within a tenth of the time that answers take. A pool under open arrivals leaves connections idle. */
function loopByTurnaround(topology: TopologyLine | undefined, { latency }: PhaseEvidence): Loop | undefined {
  const [clients, ...others] = topology?.clients ?? [];
  const { connections, turnaround_p50_ns: median, turnaround_p90_ns: late } = clients ?? {};
  if (others.length > 0 || connections === undefined || median === undefined || late === undefined) return undefined;
  if (latency === undefined || connections < 2) return undefined;
  const soon = late / 1e9 <= 0.5 * latency.value && median / 1e9 <= 0.1 * latency.value;
  return soon ? { model: 'closed', from: 'inferred', users: connections, thinkSeconds: median / 1e9 } : undefined;
}

/** With no think time users keep the number in flight at N, and it does not swing at all. Users who think swing less than
 * independent arrivals do, a little more behind a bottleneck (1.4 at most in simulated convoys). A queue that nobody's
 * waiting holds back swings by more. In between nothing is said. */
function inferLoop({ swing, inFlight, failedShare }: PhaseEvidence): Loop {
  if (swing !== undefined && swing >= 1.5) return { model: 'open', from: 'inferred' };
  if (swing === undefined || inFlight === undefined || swing > 0.08 || (failedShare ?? 0) > 0.01) {
    return { model: 'unknown', from: 'inferred' };
  }
  return { model: 'closed', from: 'inferred', users: Math.round(inFlight.value), thinkSeconds: 0 };
}

export function choiceOf(topology: TopologyLine | undefined, baseline: PhaseEvidence): Choice {
  const name = chooserName(topology);
  if (name !== undefined) return { blind: isBlind(name), from: 'setting', name };
  const { dispersion } = baseline;
  if (dispersion !== undefined && (dispersion < 0.1 || (dispersion < 0.3 && holdsUnevenly(baseline)))) {
    return { blind: true, from: 'inferred', name: 'round-robin' };
  }
  return { blind: undefined, from: 'inferred' };
}

/** A chooser that looks at load would not hand as much to the replica that already holds the most. */
function holdsUnevenly(baseline: PhaseEvidence): boolean {
  const inside = baseline.replicas.flatMap((replica) =>
    replica.inFlight === undefined ? [] : [replica.inFlight.value],
  );
  return inside.length >= 2 && Math.max(...inside) > 1.5 * (sum(inside) / inside.length);
}

function chooserName(topology: TopologyLine | undefined): string | undefined {
  if (topology === undefined) return undefined;
  const names = new Set(topology.clients.map((client) => clientChooser(client, topology.gateway?.policy)));
  const [only] = names;
  return names.size === 1 ? only : undefined;
}

/** A forwarder takes the registry's list in turn. */
function clientChooser(client: ClientFacts, policy: string | undefined): string | undefined {
  switch (client.via) {
    case 'registry':
      return client.choice;
    case 'forwarder':
      return 'round-robin';
    case 'gateway':
    case 'unknown':
      return policy === undefined ? undefined : policyName(policy);
  }
}

/** The balancers' own words for the same things. */
function policyName(policy: string): string {
  const plain = policy.toLowerCase().replaceAll(/[_ ]/g, '-');
  if (plain === 'roundrobin' || plain === 'static-rr' || plain === 'rr') return 'round-robin';
  if (plain === 'leastconn' || plain === 'least-conn' || plain === 'least-connections') return 'least-request';
  return plain;
}

function isBlind(name: string): boolean | undefined {
  if (['round-robin', 'random', 'pick-first'].includes(name)) return true;
  if (['least-request', 'two-choices', 'p2c', 'peak-ewma'].includes(name)) return false;
  return undefined;
}
