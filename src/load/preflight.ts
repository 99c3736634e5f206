// What the plan needs of this machine against what the machine has, told before the first request: a run that stops at
// connection 28,232 after ten minutes was decided before it began.
//
//   files       one for each connection, and some for ourselves
//   ports       from one source address to one target address and port there are as many connections as the range has ports;
//               a source address that we bind ourselves has one range for all targets together (the kernel reserves at bind)
//               (a part of them is found at once; beyond it the kernel walks through used ports at each connect)
//   time wait   whoever closes first keeps the port for 60 s: new connections a second cost 60 ports each
//   conntrack   one entry for each connection, if the table exists
//   backlog     as many may stand before a listener on this machine as its backlog lets in; further ones try again in 1 s
//
// `sure` is what the plan opens in any case. `if-slow` is what it opens when the service stops answering: an open demand then
// needs rate × timeout connections.

import { inSeconds } from '../base.ts';
import { type Dial, distributionMean } from '../scenario.ts';
import { connectionsFor, connectionsMaxOf } from './capacity.ts';
import type { HeldGroup, LoadGroup, LoadPlan } from './contract.ts';

/** What there is. Absent: not known here, and not judged. */
export interface MachineLimits {
  readonly openFiles?: number;
  readonly localPorts?: { readonly first: number; readonly last: number };
  /** Sockets in TIME_WAIT now. */
  readonly timeWait?: number;
  readonly conntrackMax?: number;
  readonly conntrackCount?: number;
  readonly listenBacklog?: number;
  /** Addresses of this machine's interfaces. */
  readonly addresses?: readonly string[];
}

export interface Shortage {
  readonly of: 'files' | 'ports' | 'time-wait' | 'conntrack' | 'backlog' | 'address';
  /** `costly`: it fits, and will be slow. */
  readonly when: 'sure' | 'if-slow' | 'costly';
  readonly needed: number;
  readonly has: number;
  /** What is short, by how much, and what would be right. */
  readonly message: string;
}

/** Files that the process has open besides its connections, with room to spare. */
const ownFiles = 64;
const timeWaitSeconds = 60;

/** Every shortage, the sure ones first. Empty: nothing known stands in the way. */
export function preflight(plan: LoadPlan, machine: MachineLimits): readonly Shortage[] {
  const needs = needsOf(plan);
  const found = [
    ...files(needs, machine),
    ...ports(needs, machine),
    ...timeWait(plan, machine),
    ...conntrack(needs, machine),
    ...backlog(plan, machine),
    ...addresses(plan, machine),
  ];
  return found.toSorted((one, other) => weight[one.when] - weight[other.when]);
}

const weight: Readonly<Record<Shortage['when'], number>> = { sure: 0, costly: 1, 'if-slow': 2 };

interface Need {
  readonly group: string;
  /** `host:port`. */
  readonly target: string;
  readonly sure: number;
  readonly ifSlow: number;
  /** Source addresses that we bind; empty: the kernel chooses. */
  readonly sources: readonly string[];
}

function needsOf(plan: LoadPlan): readonly Need[] {
  return [...plan.groups.flatMap(groupNeeds), ...(plan.held ?? []).flatMap(heldNeeds)];
}

/** By target, with its even share of the group's connections. */
function groupNeeds(group: LoadGroup): readonly Need[] {
  const { demand, targets } = group;
  const max = connectionsMaxOf(group);
  const rate =
    demand.kind === 'open'
      ? Math.max(demand.ratePerSecond, ...(demand.stages ?? []).map((stage) => stage.toPerSecond))
      : 0;
  return targets.map(({ host, port }) => {
    const need = { group: group.group, target: `${host}:${port}`, sources: [] };
    // A registry client keeps a connection to each target that its choice ever gives.
    if (demand.kind === 'closed') {
      const connections = connectionsFor(demand.users, group);
      return { ...need, sure: connections, ifSlow: connections };
    }
    const sure = Math.ceil((group.connectionsMin ?? 0) / targets.length);
    const slow = connectionsFor(rate * inSeconds(group.timeout), group);
    const ifSlow = Math.ceil(Math.min(max, slow) / targets.length);
    return { ...need, sure, ifSlow: Math.max(sure, ifSlow) };
  });
}

function heldNeeds(group: HeldGroup): readonly Need[] {
  const most = Math.ceil(greatest(group.held) / group.targets.length);
  return group.targets.map(({ host, port }) => ({
    group: group.group,
    target: `${host}:${port}`,
    sure: most,
    ifSlow: most,
    sources: group.localAddresses ?? [],
  }));
}

const greatest = (dial: Dial): number => Math.max(dial.from, ...(dial.stages ?? []).map((stage) => stage.to));

/** The shortage for what is sure, or else for the worst case, or none. */
function short(
  of: Shortage['of'],
  needs: { readonly sure: number; readonly ifSlow: number },
  has: number,
  message: (needed: number) => string,
): readonly Shortage[] {
  if (needs.sure > has) return [{ of, when: 'sure', needed: needs.sure, has, message: message(needs.sure) }];
  if (needs.ifSlow <= has) return [];
  const text = `if the service stops answering, ${message(needs.ifSlow)}`;
  return [{ of, when: 'if-slow', needed: needs.ifSlow, has, message: text }];
}

function total(needs: readonly Need[]): { readonly sure: number; readonly ifSlow: number } {
  return {
    sure: needs.reduce((sum, need) => sum + need.sure, 0),
    ifSlow: needs.reduce((sum, need) => sum + need.ifSlow, 0),
  };
}

function files(needs: readonly Need[], { openFiles }: MachineLimits): readonly Shortage[] {
  if (openFiles === undefined) return [];
  return short('files', total(needs), openFiles - ownFiles, (needed) => {
    const processes = Math.ceil(needed / Math.max(1, openFiles - ownFiles));
    return (
      `${number(needed)} connections need as many open files, and this process may have ${number(openFiles)}: ` +
      `raise ulimit -n to ${number(needed + ownFiles)}, or share the load between ${processes} processes`
    );
  });
}

function ports(needs: readonly Need[], { localPorts }: MachineLimits): readonly Shortage[] {
  if (localPorts === undefined) return [];
  const range = localPorts.last - localPorts.first + 1;
  const chosen = Map.groupBy(
    needs.filter((need) => need.sources.length === 0),
    (need) => need.target,
  );
  const shortages = [...chosen].flatMap(([target, each]) => [
    ...walks(total(each).sure, range, range / 2, `to ${target}`),
    ...short('ports', total(each), range, (needed) => {
      const addressesNeeded = Math.ceil(needed / range);
      return (
        `${number(needed)} connections to ${target} need as many local ports, and there are ${number(range)} ` +
        `(${localPorts.first}-${localPorts.last}): use ${addressesNeeded} source or target addresses, or widen ` +
        'net.ipv4.ip_local_port_range'
      );
    }),
  ]);
  const bound = Map.groupBy(
    needs.filter((need) => need.sources.length > 0),
    (need) => need.sources.join(),
  );
  for (const [sources, each] of bound) {
    const count = sources.split(',').length;
    shortages.push(
      ...walks(total(each).sure, range * count, (range * count) / 4, `from ${count} source addresses`),
      ...short('ports', total(each), range * count, (needed) => {
        const addressesNeeded = Math.ceil(needed / range);
        return (
          `${number(needed)} connections from ${count} source addresses have ${number(range * count)} local ports: ` +
          `give ${addressesNeeded} source addresses`
        );
      }),
    );
  }
  return shortages;
}

/**
 * The kernel looks for a free port among those of one parity first, and where an address was bound in the lower half of the range
 * first: so half or a quarter of all ports are found at once, and beyond them each connect walks through used ones. Measured on
 * Linux 6.18: 6,000 new connections a second up to there, 500 to 1,000 beyond.
 */
function walks(needed: number, range: number, atOnce: number, where: string): readonly Shortage[] {
  const quick = Math.floor(atOnce);
  if (needed <= quick || needed > range) return [];
  const message =
    `${number(needed)} connections ${where}: the kernel finds ${number(quick)} of ${number(range)} local ports at once and walks ` +
    'through used ones beyond, so that opening slows down tenfold; use more source or target addresses';
  return [{ of: 'ports', when: 'costly', needed, has: quick, message }];
}

function timeWait(plan: LoadPlan, { localPorts, timeWait: standing = 0 }: MachineLimits): readonly Shortage[] {
  if (localPorts === undefined) return [];
  const range = localPorts.last - localPorts.first + 1;
  return (plan.held ?? []).flatMap((group) => {
    const perSecond = greatest(group.newPerSecond ?? { from: 0 });
    if (perSecond === 0) return [];
    const spaces = group.localAddresses?.length ?? group.targets.length;
    const needed = Math.ceil(greatest(group.held) + perSecond * timeWaitSeconds + standing);
    const has = range * spaces;
    return short('time-wait', { sure: needed, ifSlow: needed }, has, () => {
      const sustainable = Math.max(0, Math.floor((has - greatest(group.held) - standing) / timeWaitSeconds));
      return (
        `${group.group}: ${number(perSecond)} new connections a second leave ${number(perSecond * timeWaitSeconds)} ports in ` +
        `TIME_WAIT beside those held, and there are ${number(has)} ports: ${number(sustainable)} a second can be kept up; ` +
        `for more use ${Math.ceil(needed / range)} source or target addresses`
      );
    });
  });
}

function conntrack(needs: readonly Need[], { conntrackMax, conntrackCount = 0 }: MachineLimits): readonly Shortage[] {
  if (conntrackMax === undefined) return [];
  const has = Math.max(0, conntrackMax - conntrackCount);
  return short(
    'conntrack',
    total(needs),
    has,
    (needed) =>
      `${number(needed)} connections need as many entries in the connection tracking table, and ${number(has)} of ` +
      `${number(conntrackMax)} are free: raise net.netfilter.nf_conntrack_max`,
  );
}

/** Only a listener on this machine has this machine's backlog. */
function backlog(plan: LoadPlan, { listenBacklog }: MachineLimits): readonly Shortage[] {
  if (listenBacklog === undefined) return [];
  return plan.groups.flatMap((group) => {
    const atOnce = openedAtOnce(group);
    return group.targets
      .filter(isHere)
      .flatMap(({ host, port }) =>
        short(
          'backlog',
          { sure: atOnce, ifSlow: atOnce },
          listenBacklog,
          () =>
            `${group.group}: ${number(atOnce)} connections are opened to ${host}:${port} at once, and a listener lets at most ` +
            `${number(listenBacklog)} wait: the others try again after 1 s, which will look like latency; ` +
            'raise net.core.somaxconn and the backlog of the listener',
        ),
      );
  });
}

function openedAtOnce(group: LoadGroup): number {
  const { demand, connectionsMin = 0, targets } = group;
  if (demand.kind === 'open') return Math.ceil(connectionsMin / targets.length);
  return distributionMean(demand.think) === 0 ? connectionsFor(demand.users, group) : 0;
}

const isHere = ({ host }: { readonly host: string }): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');

function addresses(plan: LoadPlan, { addresses: known }: MachineLimits): readonly Shortage[] {
  if (known === undefined) return [];
  const asked = new Set((plan.held ?? []).flatMap((group) => group.localAddresses ?? []));
  // Linux answers for all of 127.0.0.0/8.
  const missing = [...asked].filter((address) => !known.includes(address) && !address.startsWith('127.'));
  if (missing.length === 0) return [];
  const message = `no interface has the source address ${missing.join(', ')}: there are ${known.join(', ')}`;
  return [{ of: 'address', when: 'sure', needed: asked.size, has: asked.size - missing.length, message }];
}

/** 28,232 and not 28232: these are read by people. */
const number = (value: number): string => String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
