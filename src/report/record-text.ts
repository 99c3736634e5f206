// What a record holds, for someone who opens it for the first time: when and where it was, what stood there, what happened.

import { type Duration, formatDuration } from '../base.ts';
import type { PhaseSummary } from '../diagnose.ts';
import type { ClientFacts, HeaderLine, RunRecord } from '../record.ts';
import type { Paint } from './paint.ts';
import { wrap } from './table.ts';
import { ledgerLines, phaseLines } from './text.ts';

export function recordText(
  record: RunRecord,
  phases: readonly PhaseSummary[],
  columns: number,
  paint: Paint,
): string[] {
  const { header, topology, end } = record;
  const seed = header.seed === undefined ? '' : `, seed ${header.seed}`;
  const how = end === undefined ? 'cut off' : end.detail === undefined ? end.reason : `${end.reason}: ${end.detail}`;
  return [
    `${paint.strong(header.scenario)}  ${header.world}${seed}, ${header.started_at}, ${how}`,
    ...wrap(machineText(header.environment), Math.min(columns, 140)).map((line) => paint.faint(line)),
    '',
    ...topology.services.map((service) => {
      const workers = service.replicas[0]?.workers;
      const size = workers === undefined ? '' : `, ${workers} workers each`;
      return `${service.role} ${service.name}: ${service.replicas.map((replica) => replica.id).join(', ')}${size}`;
    }),
    ...(topology.gateway === undefined
      ? []
      : [
          `gateway: ${[topology.gateway.program, topology.gateway.version, topology.gateway.policy].filter((one) => one !== undefined).join(' ')}`,
        ]),
    ...topology.clients.map(clientLine),
    '',
    ...phaseLines(phases, paint),
    ...record.events.map((event) => {
      const at = formatDuration(event.at_ns as Duration);
      return `${at}  ${[event.event, event.target, event.detail].filter((part) => part !== undefined).join(' ')}`;
    }),
    ...ledgerLines(record, paint),
  ];
}

/** The machine and the programs of a run in one sentence. */
export function machineText(machine: HeaderLine['environment']): string {
  const parts = [
    machine.cores === undefined ? undefined : `${machine.cores} cores`,
    machine.memory_bytes === undefined ? undefined : `${Math.round(machine.memory_bytes / 2 ** 30)} GiB`,
    machine.os,
    machine.kernel,
    machine.node === undefined ? undefined : `Node ${machine.node.replace(/^v/, '')}`,
    `Plimsoll ${machine.plimsoll}`,
    ...Object.entries(machine.programs ?? {}).map(([program, version]) => `${program} ${version}`),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

function clientLine(clients: ClientFacts): string {
  const { demand } = clients;
  const asks =
    demand === undefined
      ? ''
      : demand.model === 'closed'
        ? `, ${demand.users} closed users, think time ${formatDuration(demand.think_ns as Duration)}`
        : `, open ${demand.arrivals} ${demand.rate_per_s}/s`;
  const choice = clients.via === 'registry' && clients.choice !== undefined ? ` (${clients.choice})` : '';
  return `clients ${clients.group}: through the ${clients.via}${choice}${asks}`;
}
