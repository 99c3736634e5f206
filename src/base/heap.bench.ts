// What one event costs a simulator: out of the heap and a later one in, with as many waiting as in a small and a large run.
//
//   node src/base/heap.bench.ts

import { Bench } from 'tinybench';
import { dice } from './chance.ts';
import { Heap } from './heap.ts';

const turns = 10_000;
const die = dice(1, 'bench');
const steps: readonly number[] = Array.from({ length: turns }, () => die.exponential(1000));

const bench = new Bench({ time: 1000, warmupTime: 200 });
for (const waiting of [64, 1000, 100_000]) {
  const heap = new Heap<number>();
  for (let index = 0; index < waiting; index++) heap.push(die.exponential(1000), index);
  bench.add(`${waiting} waiting`, () => {
    for (const step of steps) {
      const now = heap.nextKey ?? 0;
      heap.push(now + step, heap.pop() ?? 0);
    }
  });
}
await bench.run();

for (const task of bench.tasks) {
  if (!('latency' in task.result)) continue;
  console.log(
    `${task.name.padEnd(16)} ${((task.result.latency.p50 * 1e6) / turns).toFixed(0).padStart(5)} ns an event`,
  );
}
