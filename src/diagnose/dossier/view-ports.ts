// Who ran out of source ports. The kernel's message is the same for everybody; it is the generator's when a generator says it
// or its errors are its own, the proxy's when a proxy says it.

import type { Origin, RequestTable } from '../../record.ts';
import { rowsWhere, type View } from './view.ts';
import { highest, names, portRange, type PortRange, timeWaitSeconds } from './view-kernel.ts';
import { isGenerator } from './view-load.ts';

export interface Ports {
  readonly range: PortRange;
  /** Errors for want of an address: how many, and who said so. */
  readonly said: {
    readonly count: number;
    readonly who: 'generator' | 'proxy' | undefined;
    readonly origins: readonly Origin[];
  };
  /** Addresses that were connected to, as the errors name them. */
  readonly targets: number;
  readonly timeWait: { readonly value: number; readonly text: string; readonly origins: readonly Origin[] } | undefined;
  /** Sockets to the one address that has most. */
  readonly toOne: { readonly value: number; readonly text: string; readonly origins: readonly Origin[] } | undefined;
  /** New connections a second that the ports allow: ports × targets ÷ 60 s. */
  readonly ceiling: number;
}

const phrase =
  /cannot assign requested address|can't assign requested address|EADDRNOTAVAIL|address[ -]not[ -]available|no free ports|\(99: /i;
const proxies = /nginx|haproxy|envoy|traefik|caddy|proxy|ingress|gateway|squid|varnish|linkerd|apache/i;

export function portsOf(view: View): Ports {
  const messages = view.dossier.messages.filter(
    (message) => message.code === 'address-not-available' || phrase.test(message.text),
  );
  const speakers = messages.map((message) => `${message.program} ${message.origin.file}`);
  const generator =
    speakers.some((speaker) => isGenerator(speaker)) ||
    (messages.length > 0 && view.results.length > 0 && !speakers.some((one) => proxies.test(one)));
  const proxy = speakers.some((speaker) => proxies.test(speaker) && !isGenerator(speaker));
  const targets = new Set(messages.flatMap(({ text }) => /\b(\d+\.\d+\.\d+\.\d+:\d+)\b/.exec(text)?.[1] ?? []));
  const range = portRange(view);
  const counted = view.results.reduce(
    (sum, result) =>
      sum +
      Object.entries(result.errorsByKind ?? {}).reduce(
        (own, [kind, count]) => own + (phrase.test(kind) || kind === 'address-not-available' ? count : 0),
        0,
      ),
    0,
  );
  const flagged = view.tables.reduce((sum, table) => sum + flaggedRows(table), 0);
  return {
    range,
    said: {
      count: messages.length + counted + flagged,
      who: proxy || flagged > 0 ? 'proxy' : generator || counted > 0 ? 'generator' : undefined,
      origins: messages.slice(0, 2).map((message) => message.origin),
    },
    targets: Math.max(1, targets.size),
    timeWait: highest(view, names.timeWait),
    toOne: peerSamples(view) ?? highest(view, names.socketsToPeer),
    ceiling: (range.ports * Math.max(1, targets.size)) / timeWaitSeconds,
  };
}

/** Sockets by peer under any name: the label says it. */
function peerSamples(view: View): Ports['toOne'] {
  const samples = view.dossier.samples.filter(
    ({ name, labels }) => labels['peer'] !== undefined && /socket|connection|count|^ss_/.test(name),
  );
  const [most] = samples.toSorted((one, other) => other.value - one.value);
  return most === undefined
    ? undefined
    : { value: most.value, text: `${most.value} sockets to ${most.labels['peer']}`, origins: [most.origin] };
}

/** Requests that a proxy’s log ends with these words. */
function flaggedRows(table: RequestTable): number {
  const known = new Set(
    table.flags.flatMap((flag, index) =>
      phrase.test(flag.replaceAll('_', ' ')) || /^R[RQCHD]/.test(flag) ? [index] : [],
    ),
  );
  return known.size === 0 ? 0 : rowsWhere(table, (row) => known.has(table.flag[row] ?? -1)).length;
}
