// What a replica or a datastore is told when it starts. The lab writes this file and its own program reads it, nobody else:
// both sides are held to this type, and the reader only makes sure that it was given this kind of file.

import type { Choice, Distribution, GcPauses } from '../../scenario.ts';

export interface ReplicaConfiguration {
  readonly id: string;
  readonly seed: number;
  /** Name of the stream that service times are drawn from. */
  readonly stream: string;
  readonly host: string;
  /** 0: the kernel chooses, and the ready line says what. */
  readonly port: number;
  readonly admin_port: number;
  readonly workers: number;
  readonly service_time: Distribution;
  readonly cpu_time: Distribution;
  /** Multiplies service and CPU time. */
  readonly slowness: number;
  readonly queue_limit: number;
  readonly abandoned: 'served' | 'dropped';
  readonly health_shares_pool: boolean;
  readonly calls: readonly CallConfiguration[];
  /** What times are multiplied by at first; the factor falls to 1 in a straight line. Absent: warm from the start. */
  readonly cold_start?: { readonly factor: number; readonly length_ns: number };
  /** Absent: it never stands still by itself. */
  readonly gc_pauses?: GcPauses;
}

export interface CallConfiguration {
  readonly to: string;
  /** Absent: waits as long as it takes. */
  readonly timeout_ns?: number;
  readonly retries: number;
  /** Ceiling of the wait before the first retry; it doubles. Absent: at once. */
  readonly back_off_ns?: number;
  /** Retries for each call at most, over ten seconds. Absent: no budget. */
  readonly budget?: number;
  readonly choice: Choice;
  readonly targets: readonly TargetConfiguration[];
}

export interface TargetConfiguration {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

export function isReplicaConfiguration(value: unknown): value is ReplicaConfiguration {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    'stream' in value &&
    'service_time' in value &&
    'calls' in value &&
    Array.isArray(value.calls)
  );
}
