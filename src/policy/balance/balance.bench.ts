// What one pick costs: `pick`, `started` and `finished` together, for each balancer, on fleets of 4, 64 and 1,000 endpoints, and
// how many bytes are left to the collector for each. Processor time of the thread, the best of three goes: what the neighbours
// do to it is not the balancer's doing. `npm run bench:policy`.

import { type Duration, instantAt, ms } from '../../base.ts';
import { balancerByName, balancerNames, type BalancerName } from './by-name.ts';
import { spread } from './hash.ts';
import { fleetOf } from './stand.ts';

const sizes = [4, 64, 1000] as const;
/** The kernel counts a thread's time by its ticks, some milliseconds long: a go must be much longer. */
const roundsMax = 2_000_000;
const goUs = 200_000;
/** Requests that are inside at a time. */
const inside = 32;

const outcome: { ok: boolean; latency: Duration } = { ok: true, latency: ms(10) };
const request = { hash: 0 };

/** Nanoseconds and heap bytes for one request. */
function measure(name: BalancerName, size: number): { ns: number; bytes: number } {
  const balancer = balancerByName(name, { seed: 1 });
  balancer.rebuild(fleetOf(size));
  const open = new Int32Array(inside).fill(-1);
  const run = (from: number, count: number): void => {
    for (let nth = from; nth < from + count; nth++) {
      const now = instantAt(nth * 10_000);
      const slot = nth % inside;
      const done = open[slot] ?? -1;
      if (done >= 0) balancer.finished(done, outcome, now);
      request.hash = spread(nth);
      const picked = balancer.pick(request, now) ?? 0;
      balancer.started(picked, now);
      open[slot] = picked;
    }
  };
  const warmUp = 100_000;
  const begun = performance.now();
  run(0, warmUp);
  const rounds = Math.min(roundsMax, Math.ceil((goUs / (performance.now() - begun) / 1000) * warmUp));
  let best = { ns: Infinity, bytes: Infinity };
  for (let go = 1; go <= 3; go++) {
    globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed;
    const before = threadMicroseconds();
    run(warmUp + go * rounds, rounds);
    const took = threadMicroseconds() - before;
    const grown = process.memoryUsage().heapUsed - heap;
    best = { ns: Math.min(best.ns, (took * 1e3) / rounds), bytes: Math.min(best.bytes, Math.max(0, grown) / rounds) };
  }
  return best;
}

/** Of processor time. Taken together user and system are exact; the kernel divides them by samples. */
function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

console.log(`${'balancer'.padEnd(22)}${sizes.map((size) => `${size} endpoints`.padStart(22)).join('')}`);
for (const name of balancerNames) {
  const cells = sizes.map((size) => {
    const { ns, bytes } = measure(name, size);
    return `${ns.toFixed(0)} ns  ${bytes.toFixed(1)} B`.padStart(22);
  });
  console.log(`${name.padEnd(22)}${cells.join('')}`);
}
