// The demand of a scenario on an address: the same file that the lab and the simulator play, with its client groups, flows, connections
// that are held and objectives. Its topology is not looked at: the service is there already. There is one address, so that pinned clients
// are like all others: whoever stands there decides where a connection goes.

import { type Duration, formatDuration } from '../base.ts';
import { chanceSeed } from '../host.ts';
import type { HeldGroup, LoadGroup } from '../load.ts';
import type { Demand, Scenario } from '../scenario.ts';
import { FlagReader } from './flag-reader.ts';
import { credentialsOf, http2Of, type LoadFlags, type PlannedLoad, streamsText, targetsOf } from './load-plan.ts';

export interface PlannedScenario extends PlannedLoad {
  readonly warmUp: Duration;
  readonly lasts: Duration;
}

/** Flags that say what a scenario says itself. */
const saidThere = [
  'rate',
  'stage',
  'think',
  'retries',
  'retryBackOff',
  'retryBudget',
  'arrivals',
  'method',
  'body',
  'replay',
  'hold',
  'holdNew',
  'holdRamp',
] as const;

/** Throws a `UsageError` that names every mistake. */
export function scenarioLoad(address: string | undefined, flags: LoadFlags, scenario: Scenario): PlannedScenario {
  const reader = new FlagReader();
  const base = address === undefined ? undefined : reader.url(address);
  for (const flag of saidThere.filter((each) => flags[each] !== undefined && flags[each] !== false)) {
    const name = flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    reader.wrong(`--${name}: the scenario says that; leave the flag out, or --scenario`);
  }
  const targets = targetsOf(base, [], flags, reader);
  const headers = { ...credentialsOf(base), ...reader.headers(flags.header ?? []) };
  const http2 = http2Of(targets, flags, reader);
  if (http2 !== undefined && scenario.topology.clients.some(({ keepAlive }) => keepAlive !== undefined)) {
    reader.wrong('keep_alive of clients is of connections of HTTP/1.1: leave out --http2, or the key');
  }
  const names = uniqueNames(scenario.demand.map(({ clients }) => clients));
  const groups = scenario.demand.map((demand, index): LoadGroup => {
    const clients = scenario.topology.clients.find(({ name }) => name === demand.clients);
    return {
      group: names[index] ?? demand.clients,
      demand: withHeaders(demand, { ...(base === undefined ? {} : { host: base.host }), ...headers }),
      targets,
      choice: 'pick-first',
      timeout:
        flags.timeout === undefined && clients !== undefined
          ? clients.timeout
          : reader.time('--timeout', flags.timeout ?? '2s'),
      ...(clients?.retry === undefined ? {} : { retry: clients.retry }),
      ...(clients?.keepAlive === undefined ? {} : { keepAlive: clients.keepAlive }),
      replicaHeader: flags.replicaHeader.toLowerCase(),
      ...(flags.replicaCookie === undefined ? {} : { replicaCookie: flags.replicaCookie }),
      ...(flags.connections === undefined ? {} : { connectionsMax: reader.count('--connections', flags.connections) }),
      ...(http2 === undefined ? {} : { http2 }),
    };
  });
  const held = (scenario.connections ?? []).map(
    ({ clients, held: dial, newPerSecond, openingPerSecond }): HeldGroup => ({
      group: clients,
      targets,
      held: dial,
      rampPerSecond: openingPerSecond,
      ...(newPerSecond === undefined ? {} : { newPerSecond }),
    }),
  );
  const plan = {
    seed: flags.seed === undefined ? chanceSeed() : reader.count('--seed', flags.seed),
    groups,
    objectives: [...scenario.objectives, ...reader.objectives(flags.objective ?? [])],
    ...(held.length === 0 ? {} : { held }),
  };
  const workers = reader.count('--threads', flags.threads);
  reader.finish();
  return {
    plan,
    workers,
    shape: `the demand of ${scenario.name}${streamsText(http2)}: ${scenario.demand.map(shapeOf).join(', ')}`,
    open: scenario.demand.some(({ kind }) => kind === 'open'),
    warmUp: scenario.warmUp,
    lasts: scenario.duration,
  };
}

const withHeaders = (demand: Demand, headers: Readonly<Record<string, string>>): Demand => ({
  ...demand,
  flow: demand.flow.map((step) => ({ ...step, headers: { ...headers, ...step.headers } })),
});

/** Two demands of one client group are told apart by a number. */
function uniqueNames(names: readonly string[]): readonly string[] {
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name} ${before + 1}`;
  });
}

function shapeOf(demand: Demand): string {
  if (demand.kind === 'closed') return `${demand.users} ${demand.clients} in a closed loop`;
  const { bursts, stages, ratePerSecond, arrivals, clients } = demand;
  if (bursts !== undefined) return `${clients} in bursts of ${bursts.size} every ${formatDuration(bursts.every)}`;
  const way = [ratePerSecond, ...(stages ?? []).map(({ toPerSecond }) => toPerSecond)];
  return `${clients} open at ${way.join(' → ')}/s, ${arrivals}`;
}
