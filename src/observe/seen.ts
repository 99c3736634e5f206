// What every access log says of one request, whoever wrote it: the shape that the log readers share. Times are epoch
// milliseconds with whatever fraction the log has; an absent field was not in the log.

import type { ErrorCounts } from '../record.ts';

export interface SeenRequest {
  /** When the balancer began with the request, and when it had answered it. */
  readonly startMs: number;
  readonly endMs: number;
  /** When the request was handed to the replica: start plus time in the balancer's queue. */
  readonly handedMs: number;
  /** The server's name or address; undefined when none was chosen. Of several tries, the last. */
  readonly replica: string | undefined;
  /** How many replicas were tried. */
  readonly attempts: number;
  readonly client: string | undefined;
  readonly service: string | undefined;
  readonly status: number;
  /** `timeout`, `refused`, `reset`, `no-server`, `status-5xx`, `client-left`; undefined: it went well. */
  readonly error: string | undefined;
  /** How precise the times are: 1 when the log counts milliseconds, 1000 for whole seconds. */
  readonly stepMs: number;
}

/** What a reader says of a file beside what it found in it. */
export interface ReaderNotes {
  readonly format: string;
  readonly lines: number;
  readonly understood: number;
  /** The first lines that were not understood, with their numbers, at most five. */
  readonly foreign: readonly { readonly line: number; readonly text: string }[];
}

export function countError(counts: Record<string, number>, kind: string): ErrorCounts {
  counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
