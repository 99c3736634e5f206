// Orders that a running replica takes on its admin port: one JSON object with one of these members.
//
//   {"slow": 1.3}                    service and CPU times are multiplied from now on
//   {"workers": 8}                   the pool grows at once, or shrinks as workers become idle
//   {"burn": 0.5, "for_ms": 2000}    this share of the process's time goes to something else; 0, or the end of for_ms, ends it
//   {"pause": 200}                   the process stands still for so many milliseconds, once
//   {"fail": 1, "after_ms": 1}       this share of the requests is answered with an error after so many milliseconds; 0 ends it
//   {"targets": [ … ], "of": "api"}  the registry's list of a service that this replica calls

import type { TargetConfiguration } from './replica-configuration.ts';

export type Order =
  | { readonly kind: 'slow'; readonly factor: number }
  | { readonly kind: 'workers'; readonly workers: number }
  | { readonly kind: 'burn'; readonly share: number; readonly forMs: number | undefined }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'fail'; readonly share: number; readonly afterMs: number }
  | { readonly kind: 'targets'; readonly of: string; readonly targets: readonly TargetConfiguration[] };

/** The longest pause: a replica that stands still longer looks dead rather than slow; SIGSTOP is for that. */
const pauseMsMax = 60_000;

/** An order, or what is wrong with it as a sentence. */
export function parseOrder(text: string): Order | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  if (typeof value !== 'object' || value === null) return 'not a JSON object';
  if ('slow' in value) {
    const factor = numberIn(value.slow, { above: 0, max: 1e6 });
    return factor === undefined ? 'slow: a number above 0' : { kind: 'slow', factor };
  }
  if ('workers' in value) {
    const workers = numberIn(value.workers, { above: 0, max: 1e6 });
    if (workers === undefined || !Number.isInteger(workers)) return 'workers: a whole number from 1';
    return { kind: 'workers', workers };
  }
  if ('burn' in value) {
    const share = numberIn(value.burn, { above: -1, max: 0.99 });
    const forMs = 'for_ms' in value ? numberIn(value.for_ms, { above: 0, max: 1e9 }) : undefined;
    if (share === undefined || share < 0) return 'burn: a share from 0 to 0.99';
    if ('for_ms' in value && forMs === undefined) return 'for_ms: a number above 0';
    return { kind: 'burn', share, forMs };
  }
  if ('pause' in value) {
    const ms = numberIn(value.pause, { above: 0, max: pauseMsMax });
    return ms === undefined ? `pause: milliseconds, above 0, at most ${pauseMsMax}` : { kind: 'pause', ms };
  }
  if ('fail' in value) {
    const share = numberIn(value.fail, { above: -1, max: 1 });
    const afterMs = 'after_ms' in value ? numberIn(value.after_ms, { above: -1, max: 1e6 }) : 1;
    if (share === undefined || share < 0) return 'fail: a share from 0 to 1';
    if (afterMs === undefined || afterMs < 0) return 'after_ms: a number from 0';
    return { kind: 'fail', share, afterMs };
  }
  if ('targets' in value && 'of' in value) {
    const targets = Array.isArray(value.targets) ? value.targets.filter(isTarget) : [];
    if (typeof value.of !== 'string' || targets.length === 0) return 'targets: a list of {id, host, port}; of: a name';
    return { kind: 'targets', of: value.of, targets };
  }
  return 'one of slow, workers, burn, pause, fail, targets';
}

function numberIn(value: unknown, range: { above: number; max: number }): number | undefined {
  return typeof value === 'number' && value > range.above && value <= range.max ? value : undefined;
}

function isTarget(value: unknown): value is TargetConfiguration {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    typeof value.id === 'string' &&
    'host' in value &&
    typeof value.host === 'string' &&
    'port' in value &&
    typeof value.port === 'number'
  );
}
