// How many hosts of a cluster are fit, how many there are, and what the balancer did when too few were: Envoy's counters where
// there are any, else the hosts themselves.

import type { Origin } from '../../record.ts';
import type { View } from './view.ts';

export interface Membership {
  readonly cluster: string;
  readonly total: number | undefined;
  readonly healthy: number | undefined;
  /** Ejected for what they answered; undefined: not counted. */
  readonly ejected: number | undefined;
  /** Choices made without regard to health. */
  readonly panics: number | undefined;
  /** Requests refused because no host was fit. */
  readonly noneHealthy: number | undefined;
  readonly updateFailures: number | undefined;
  readonly origins: readonly Origin[];
}

export function memberships(view: View): Membership[] {
  const clusters = new Set(
    view.dossier.samples.flatMap(({ name, labels }) =>
      /membership_|lb_healthy_panic|ejections|cx_none_healthy|endpoint_healthy/.test(name) ? [clusterOf(labels)] : [],
    ),
  );
  for (const fleet of view.fleets) {
    if (fleet.members.some(({ healthy }) => healthy !== undefined)) clusters.add(fleet.of);
  }
  return [...clusters]
    .map((cluster) => membershipOf(view, cluster))
    .toSorted(
      (one, other) => (other.panics ?? 0) + (other.noneHealthy ?? 0) - (one.panics ?? 0) - (one.noneHealthy ?? 0),
    );
}

function clusterOf(labels: Readonly<Record<string, string>>): string {
  return (
    labels['envoy_cluster_name'] ??
    labels['cluster_name'] ??
    labels['cluster'] ??
    labels['upstream'] ??
    labels['service'] ??
    ''
  );
}

function membershipOf(view: View, cluster: string): Membership {
  const last = (pattern: RegExp): number | undefined =>
    view.gauge((name, labels) => pattern.test(name) && clusterOf(labels) === cluster)?.value;
  const grown = (pattern: RegExp): number | undefined =>
    view.total((name, labels) => pattern.test(name) && clusterOf(labels) === cluster)?.value;
  const fleet = view.fleets.find(
    (one) => one.of === cluster && one.members.some(({ healthy }) => healthy !== undefined),
  );
  const fit = fleet?.members.filter(({ healthy }) => healthy === true).length;
  return {
    cluster,
    total: last(/membership_total$/) ?? fleet?.members.length,
    healthy: last(/membership_healthy$/) ?? fit,
    ejected: last(/ejections_active$/),
    panics: grown(/lb_healthy_panic$/),
    noneHealthy: grown(/cx_none_healthy$/),
    updateFailures: grown(/update_(?:failure|rejected|empty|no_rebuild_failure)$/),
    origins:
      fleet?.origins.slice(0, 2) ??
      view.gauge((name, labels) => /membership_/.test(name) && clusterOf(labels) === cluster)?.origins ??
      [],
  };
}

/** Requests that the proxy refused because no host was fit: by flag, termination or message. */
export function refusedForLack(view: View): { readonly count: number; readonly origins: readonly Origin[] } {
  let count = 0;
  const origins: Origin[] = [];
  for (const table of view.tables) {
    const lacking = table.flags.map((flag) => /(?:^|,)UH(?:,|$)|no_healthy_upstream|^SC|no-healthy/.test(flag));
    if (!lacking.includes(true)) continue;
    const own = table.flag.reduce(
      (sum, flag, row) => sum + (lacking[flag] === true && (table.replica[row] ?? -1) < 0 ? 1 : 0),
      0,
    );
    count += own;
    if (own > 0) origins.push(table.origin);
  }
  const messages = view.dossier.messages.filter(
    ({ code, text }) => code === 'no-live-upstreams' || /no healthy (?:upstream|host)/i.test(text),
  );
  return { count: count + messages.length, origins: [...origins, ...messages.map(({ origin }) => origin)].slice(0, 4) };
}
