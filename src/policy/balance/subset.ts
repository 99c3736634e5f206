// Not everybody talks to everybody. With P balancers and N endpoints there are P·N connections; when both are hundreds, most
// of them carry nothing and cost memory and health checks. A balancer then keeps to a part of the fleet, chosen so that all
// parts together cover the fleet evenly.
//
//   random subset     the k endpoints that win a contest with this balancer's name (rendezvous). No coordination. Even on
//                     average only: an endpoint is in about P·k/N parts, give or take √(P·k/N).
//   deterministic     balancer i of P owns the arc [i/P, (i+1)/P) of a circle on which the endpoints stand evenly; an endpoint
//   aperture          that is only partly on the arc gets a part of its weight. Exactly even, but each balancer must know P
//                     and i (Finagle).
//
//        i = 0     i = 1     i = 2      P = 3 balancers
//      ├─────────┼─────────┼─────────┤
//      ├────┼────┼────┼────┼────┼────┤  here N = 6; with N = 4 the arcs cut endpoints, and weights split
//        a    b    c    d    e    f

import { assert } from '../../base.ts';
import type { Endpoint, Fleet } from './balancer.ts';
import { hashText } from './hash.ts';
import { rendezvousScore } from './rendezvous.ts';

/** `size` endpoints of the fleet, the same for the same name. The whole fleet when it is no larger. */
export function randomSubset(fleet: Fleet, options: { readonly name: string; readonly size: number }): Fleet {
  assert(Number.isInteger(options.size) && options.size >= 1, 'a part has somebody in it');
  const key = hashText(options.name);
  const winners = fleet.endpoints
    .map((endpoint, index) => ({ index, score: rendezvousScore(key, hashText(endpoint.id), 1) }))
    .toSorted((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, options.size)
    .map((entry) => entry.index)
    .toSorted((one, other) => one - other);
  return partOf(
    fleet,
    winners.map((index) => ({ index, part: 1 })),
  );
}

export interface ApertureOptions {
  /** Which of the peers this is, from 0. */
  readonly peer: number;
  readonly peers: number;
  /** Endpoints at least, 12 by default: a narrower arc is widened, which costs evenness but keeps a choice. */
  readonly widthMin?: number;
}

/** The endpoints on this peer's arc, with weights split where arcs cut an endpoint. Endpoints stand in the order of their ids. */
export function deterministicAperture(fleet: Fleet, options: ApertureOptions): Fleet {
  const { peer, peers, widthMin = 12 } = options;
  assert(Number.isInteger(peer) && peer >= 0 && peer < peers, 'a peer is one of the peers');
  const count = fleet.endpoints.length;
  const order = fleet.endpoints
    .map((endpoint, index) => ({ id: endpoint.id, index }))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const width = Math.min(count, Math.max(count / peers, widthMin));
  const from = (peer / peers) * count;
  const parts: { index: number; part: number }[] = [];
  order.forEach(({ index }, place) => {
    // The arc may run over the end of the circle and go on at its beginning.
    const part =
      overlap(place, place + 1, from, from + width) + overlap(place + count, place + count + 1, from, from + width);
    if (part > 1e-12) parts.push({ index, part: Math.min(1, part) });
  });
  return partOf(
    fleet,
    parts.toSorted((one, other) => one.index - other.index),
  );
}

function partOf(fleet: Fleet, parts: readonly { readonly index: number; readonly part: number }[]): Fleet {
  const endpoints: Endpoint[] = [];
  const healthy: boolean[] = [];
  for (const { index, part } of parts) {
    const endpoint = fleet.endpoints[index];
    assert(endpoint !== undefined, 'a part is of the fleet');
    endpoints.push(part === 1 ? endpoint : { ...endpoint, weight: endpoint.weight * part });
    healthy.push(fleet.healthy[index] ?? false);
  }
  return { version: fleet.version, endpoints, healthy };
}

function overlap(fromOne: number, toOne: number, fromOther: number, toOther: number): number {
  return Math.max(0, Math.min(toOne, toOther) - Math.max(fromOne, fromOther));
}
