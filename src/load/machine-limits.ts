// The limits of this machine that a load may meet, as far as they can be read.

import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { MachineLimits } from './preflight.ts';

export function machineLimits(): MachineLimits {
  const openFiles = /^Max open files\s+(\d+)/m.exec(text('/proc/self/limits'))?.[1];
  const range = /^(\d+)\s+(\d+)/.exec(text('/proc/sys/net/ipv4/ip_local_port_range'));
  const timeWait = /^TCP: .* tw (\d+)/m.exec(text('/proc/net/sockstat'))?.[1];
  const conntrackMax = number('/proc/sys/net/netfilter/nf_conntrack_max');
  const conntrackCount = number('/proc/sys/net/netfilter/nf_conntrack_count');
  const listenBacklog = number('/proc/sys/net/core/somaxconn');
  const addresses = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  return {
    addresses,
    ...(openFiles === undefined ? {} : { openFiles: Number(openFiles) }),
    ...(range === null ? {} : { localPorts: { first: Number(range[1]), last: Number(range[2]) } }),
    ...(timeWait === undefined ? {} : { timeWait: Number(timeWait) }),
    ...(conntrackMax === undefined ? {} : { conntrackMax }),
    ...(conntrackCount === undefined ? {} : { conntrackCount }),
    ...(listenBacklog === undefined ? {} : { listenBacklog }),
  };
}

/** Empty where there is no such file, as on other systems. */
function text(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function number(path: string): number | undefined {
  const digits = /\d+/.exec(text(path))?.[0];
  return digits === undefined ? undefined : Number(digits);
}
