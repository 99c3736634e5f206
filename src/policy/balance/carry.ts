// What is known of an endpoint lives in arrays by index, and a new fleet gives everybody a new index. This moves each value to
// its endpoint's new place, by id.

import type { Fleet } from './balancer.ts';

export const idsOf = (fleet: Fleet): readonly string[] => fleet.endpoints.map((endpoint) => endpoint.id);

/** `values` were for `from`; the result is for `to`. Somebody new has `initial`. */
export function carried(
  values: Float64Array,
  from: readonly string[],
  to: readonly string[],
  initial: number,
): Float64Array<ArrayBuffer> {
  const before = new Map(from.map((id, index) => [id, values[index] ?? initial]));
  return Float64Array.from(to, (id) => before.get(id) ?? initial);
}
