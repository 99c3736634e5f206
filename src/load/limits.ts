// What would make the generator the thing that was measured, said in words with the number. A run for which this says
// anything is not evidence against the service.

import { type Duration, formatDuration, ms } from '../base.ts';

/** Above this the loop's lateness is part of every latency. */
const loopLatenessMax = ms(10);
/** Above this share of a core, the generator's queue for the CPU is longer than what it measures. */
const cpuShareMax = 0.9;

export interface GeneratorFacts {
  readonly span: Duration;
  /** CPU time of the generating thread in the span. */
  readonly cpu: Duration;
  readonly loopLatenessP99: Duration | undefined;
  readonly groups: readonly GroupLimits[];
}

export interface GroupLimits {
  readonly group: string;
  readonly connectionsMax: number;
  /** On each connection, where HTTP/2 is spoken. */
  readonly streamsMax?: number | undefined;
  /** Fewer, by the server's word. */
  readonly streamsAllowed?: number | undefined;
  /** Requests that waited for a connection, and the most at once. */
  readonly waited: number;
  readonly waitingMost: number;
  /** Requests that were not sent because no more could wait. */
  readonly refused: number;
  /** Connections that could not be opened for want of files or ports. */
  readonly noFiles: number;
  readonly noPorts: number;
}

export function limitsReached(facts: GeneratorFacts): readonly string[] {
  const limits: string[] = [];
  const lateness = facts.loopLatenessP99;
  if (lateness !== undefined && lateness > loopLatenessMax) {
    limits.push(
      `the generator's event loop was late by ${formatDuration(lateness)} at p99 (more than ${formatDuration(loopLatenessMax)})`,
    );
  }
  const share = facts.span > 0 ? facts.cpu / facts.span : 0;
  if (share >= cpuShareMax) {
    limits.push(`the generator used ${Math.round(share * 100)} % of a core (more than ${cpuShareMax * 100} %)`);
  }
  for (const group of facts.groups) limits.push(...groupLimits(group));
  return limits;
}

function groupLimits(group: GroupLimits): readonly string[] {
  const limits: string[] = [];
  const { streamsMax, streamsAllowed } = group;
  const all =
    streamsMax === undefined
      ? `all ${group.connectionsMax} connections were in use`
      : `all ${group.connectionsMax * streamsMax} streams of ${group.connectionsMax} connections were in use`;
  if (streamsMax !== undefined && streamsAllowed !== undefined) {
    limits.push(
      `${group.group}: the server allows ${streamsAllowed} streams on a connection, and ${streamsMax} were asked for: ` +
        'the others waited, which is in the latency',
    );
  }
  if (group.waited > 0) {
    limits.push(
      `${group.group}: ${all}: ${group.waited} requests waited for one, ${group.waitingMost} at once at most`,
    );
  }
  if (group.refused > 0) {
    limits.push(`${group.group}: ${all} and no more could wait: ${group.refused} requests were not sent`);
  }
  if (group.noFiles > 0) {
    limits.push(
      `${group.group}: ${group.noFiles} connections could not be opened: this process has no more files (ulimit -n)`,
    );
  }
  if (group.noPorts > 0) {
    limits.push(
      `${group.group}: ${group.noPorts} connections could not be opened: no local port was free ` +
        '(net.ipv4.ip_local_port_range, connections in TIME_WAIT)',
    );
  }
  return limits;
}
