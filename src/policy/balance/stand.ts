// What the tests of balancers share: small fleets, and a plain loop that picks and counts. For tests and benches only.

import { assert, type Instant, ms, start } from '../../base.ts';
import type { Balancer, Endpoint, Fleet, PickRequest } from './balancer.ts';

/** `fleet('a b:2 !c')`: three endpoints, the second with weight 2, the third unhealthy. `d/east` stands in a zone, `e^1` on a level. */
export function fleet(sketch: string, version = 1): Fleet {
  const healthy: boolean[] = [];
  const endpoints: Endpoint[] = sketch
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const match = /^(!?)(\w[\w-]*)(?::([\d.]+))?(?:\/(\w+))?(?:\^(\d+))?$/.exec(word);
      assert(match !== null, `${word} is an endpoint`);
      healthy.push(match[1] === '');
      return {
        id: match[2] ?? '',
        host: '127.0.0.1',
        port: 80,
        weight: Number(match[3] ?? 1),
        zone: match[4],
        ...(match[5] === undefined ? {} : { priority: Number(match[5]) }),
      };
    });
  return { version, endpoints, healthy };
}

/** `a1 a2 … an`, all alike. */
export function fleetOf(size: number, prefix = 'a'): Fleet {
  return fleet(Array.from({ length: size }, (_, index) => `${prefix}${index + 1}`).join(' '));
}

/** Picks so many times, each request finished before the next begins. How often each endpoint was picked. */
export function pickMany(
  balancer: Balancer,
  fleetNow: Fleet,
  count: number,
  request: (nth: number) => PickRequest = () => ({}),
  now: Instant = start,
): number[] {
  const counts = fleetNow.endpoints.map(() => 0);
  for (let nth = 0; nth < count; nth++) {
    const endpoint = balancer.pick(request(nth), now);
    if (endpoint === undefined) continue;
    balancer.started(endpoint, now);
    balancer.finished(endpoint, { ok: true, latency: ms(1) }, now);
    counts[endpoint] = (counts[endpoint] ?? 0) + 1;
  }
  return counts;
}
