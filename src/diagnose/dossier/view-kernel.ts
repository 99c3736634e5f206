// What the kernel counts, under whatever name it was collected: `/proc/net/netstat`, `nstat`, node_exporter, a note.

import type { Origin, SampleFact } from '../../record.ts';
import type { View } from './view.ts';
import { greatestOf } from './view-rows.ts';

export interface Count {
  readonly value: number;
  readonly text: string;
  readonly origins: readonly Origin[];
}

/** Growth of a kernel counter between its first and last reading; its value where there is one reading only. */
export function growthOfCounter(view: View, pattern: RegExp): (Count & { readonly readings: number }) | undefined {
  const found = new Map<string, SampleFact[]>();
  for (const sample of view.dossier.samples) {
    if (!pattern.test(plain(sample.name))) continue;
    const key = `${sample.name} ${JSON.stringify(sample.labels)}`;
    found.set(key, [...(found.get(key) ?? []), sample]);
  }
  const series = view.series((name) => pattern.test(plain(name)));
  let value = 0;
  let readings = 0;
  const origins: Origin[] = [];
  const texts: string[] = [];
  for (const samples of found.values()) {
    const ordered = samples.toSorted((one, other) => one.reading - other.reading);
    const first = ordered[0];
    const last = ordered.at(-1);
    if (first === undefined || last === undefined) continue;
    readings = Math.max(readings, ordered.length);
    value += ordered.length > 1 ? Math.max(0, last.value - first.value) : last.value;
    origins.push(last.origin);
    texts.push(ordered.length > 1 ? `${first.value} → ${last.value}` : String(last.value));
  }
  const counted = new Set([...found.values()].flatMap((own) => own.map(({ origin }) => origin.file)));
  for (const one of series.filter(({ origin }) => !counted.has(origin.file))) {
    readings = Math.max(readings, one.values.length);
    value += Math.max(0, (one.values.at(-1) ?? 0) - (one.values[0] ?? 0));
    origins.push(one.origin);
    texts.push(`${one.values[0]} → ${one.values.at(-1)}`);
  }
  return texts.length === 0 ? undefined : { value, readings, text: texts.join(', '), origins: origins.slice(0, 4) };
}

/** The greatest value that was ever read. */
export function highest(
  view: View,
  pattern: RegExp,
  where: (sample: SampleFact) => boolean = () => true,
): Count | undefined {
  const samples = view.dossier.samples.filter((sample) => pattern.test(plain(sample.name)) && where(sample));
  const [most] = samples.toSorted((one, other) => other.value - one.value);
  if (most !== undefined) return { value: most.value, text: `${most.name} ${most.value}`, origins: [most.origin] };
  const [series] = view.series((name) => pattern.test(plain(name)));
  if (series === undefined) return undefined;
  const value = greatestOf(series.values);
  return { value, text: `${series.name} up to ${value}`, origins: [series.origin] };
}

/** `node_netstat_TcpExt_ListenOverflows`, `TcpExtListenOverflows`: without case and punctuation they end alike. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

export const names = {
  listenOverflows: /listenoverflows?$|listenoverflowstotal$/,
  listenDrops: /listendrops?$|listendropstotal$/,
  acceptQueue: /(?:recvq|acceptqueue|acceptq|listenqueue)$/,
  acceptLimit: /(?:sendq|backlog|acceptqueuelimit|listenqueuemax)$/,
  conntrackCount: /conntrack(?:entries|count)$|nfconntrackcount$/,
  conntrackMax: /conntrack(?:entrieslimit|max|limit)$/,
  conntrackDrops: /conntrack(?:\w*)drop(?:s|ped)?(?:total)?$/,
  insertFailed: /insertfailed(?:total)?$/,
  timeWait: /timewait$|tcptw$|(?:sockstattcptw)$|tcptimewait$/,
  socketsToPeer:
    /(?:sockets?|connections?)to(?:peer|backend|destination)\w*$|(?:peer|destination)(?:sockets|connections|count)$/,
} as const;

/** Ephemeral ports of one source address towards one destination. */
export interface PortRange {
  readonly ports: number;
  readonly text: string;
  readonly known: boolean;
  readonly origins: readonly Origin[];
}

/** Linux: a closed connection keeps its port for 60 s (TIME_WAIT, not configurable). */
export const timeWaitSeconds = 60;

export function portRange(view: View): PortRange {
  const from = view.setting('kernel.port-range-from');
  const to = view.setting('kernel.port-range-to');
  if (typeof from?.value === 'number' && typeof to?.value === 'number') {
    const ports = to.value - from.value + 1;
    return { ports, text: `${from.value}–${to.value}: ${ports} ports`, known: true, origins: [from.origin, to.origin] };
  }
  return { ports: 28_232, text: '32768–60999 (default): 28232 ports', known: false, origins: [] };
}
