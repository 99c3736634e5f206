// A ring of points, each belonging to an endpoint: a key goes to the first point at or after its hash. When an endpoint leaves,
// only its own arcs change hands; everybody else's keys stay where they are (Karger and others 1997, ketama).
//
//            a₁
//        c₂ ╱  ╲ b₁         key ► walk clockwise ► a₂
//          │    │
//        b₂ ╲  ╱ a₂
//            c₁
//
// An endpoint has weight · k points, and k is a power of two, the least that makes the ring large enough: with v points each,
// an endpoint's share varies by about 1/√v. A power of two, because k must not change whenever somebody joins or leaves: every
// endpoint would then get a few points more or fewer, and keys would move between endpoints that have nothing to do with it
// (7 % of all keys when one of ten leaves, with the usual rule). Built by one sort; a look-up is a binary search.
//
// Hot: `place`, `owner`.

import { assert } from '../../base.ts';
import type { Fleet } from './balancer.ts';
import { combine, hashText } from './hash.ts';

export interface RingSizes {
  /** Points in all, at least: 1,024 as in Envoy. */
  readonly sizeMin?: number;
  /** Points in all, about at most: 65,536. */
  readonly sizeMax?: number;
}

/** Owners fit into the low part of a number whose high part is the point: 2^32 · 2^21 = 2^53. */
const ownersMax = 2 ** 21;

export class HashRing {
  /** point · ownersMax + owner, ascending. */
  readonly #points: Float64Array;

  /** Points for every endpoint with a weight, fit or not: who is unfit is passed over, and gets its keys back later. */
  constructor(fleet: Fleet, sizes: RingSizes = {}) {
    assert(fleet.endpoints.length < ownersMax, 'a ring has fewer than two million owners');
    const copies = copiesPerWeight(
      fleet.endpoints.map((endpoint) => endpoint.weight).filter((weight) => weight > 0),
      sizes.sizeMin ?? 1024,
      sizes.sizeMax ?? 65_536,
    );
    const points: number[] = [];
    fleet.endpoints.forEach(({ id, weight }, owner) => {
      if (weight === 0) return;
      const base = hashText(id);
      const count = Math.max(1, Math.round(weight * copies));
      for (let copy = 0; copy < count; copy++) points.push(combine(base, copy) * ownersMax + owner);
    });
    this.#points = Float64Array.from(points).sort();
  }

  get size(): number {
    return this.#points.length;
  }

  /** The place of the first point at or after `hash`, going round at the end. The ring must not be empty. */
  place(hash: number): number {
    const points = this.#points;
    const key = hash * ownersMax;
    let low = 0;
    let high = points.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((points[middle] ?? 0) < key) low = middle + 1;
      else high = middle;
    }
    return low === points.length ? 0 : low;
  }

  owner(place: number): number {
    return (this.#points[place] ?? 0) % ownersMax;
  }

  next(place: number): number {
    return place + 1 === this.#points.length ? 0 : place + 1;
  }
}

/** Points for a weight of 1: a power of two. Enough for `sizeMin` in all and one for the lightest, unless that makes more than
 * `sizeMax`. */
function copiesPerWeight(weights: readonly number[], sizeMin: number, sizeMax: number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return 0;
  const wanted = Math.max(sizeMin / total, 1 / Math.min(...weights));
  const enough = 2 ** Math.ceil(Math.log2(wanted));
  const most = 2 ** Math.floor(Math.log2(sizeMax / total));
  return Math.min(enough, most);
}
