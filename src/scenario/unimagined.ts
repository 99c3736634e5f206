// What a scenario says that is played on sockets only. A run in imagined time says what it leaves out, instead of letting its numbers
// be taken for the whole scenario's. (What the lab does not play it refuses.)

import type { Clients, Demand, Scenario, Step } from './model.ts';

/** Keys such as `cookies`, each once; empty when everything is played. */
export function unimagined({ demand, topology, connections = [] }: Scenario): readonly string[] {
  const found = [
    ...demand.flatMap(onSocketsOnly),
    ...(connections.length > 0 ? ['connections'] : []),
    ...(topology.clients.some(costsOnly) ? ['keep_alive of clients that are not pinned'] : []),
  ];
  return [...new Set(found)];
}

/** Whether new connections change nothing but what they cost. */
const costsOnly = ({ keepAlive, pinned }: Clients): boolean => keepAlive !== undefined && pinned !== true;

function onSocketsOnly(demand: Demand): readonly string[] {
  if (demand.kind === 'open') return [];
  const { cookies, flow } = demand;
  return [...(cookies === true ? ['cookies'] : []), ...flow.flatMap(stepKeys)];
}

const stepKeys = ({ extract }: Step): readonly string[] => (extract === undefined ? [] : ['extract']);
