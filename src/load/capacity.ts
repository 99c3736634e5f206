// How many requests of a group can be under way at once: as many as it may hold connections, times the streams on each where
// HTTP/2 is spoken.

import type { LoadGroup } from './contract.ts';

const defaultConnectionsMax = 10_000;

export const connectionsMaxOf = ({ connectionsMax }: LoadGroup): number => connectionsMax ?? defaultConnectionsMax;

export const streamsOf = ({ http2 }: LoadGroup): number => http2?.streamsMax ?? 1;

/** Connections to each target that so many carriers need. */
export const connectionsFor = (carriers: number, group: LoadGroup): number => Math.ceil(carriers / streamsOf(group));
