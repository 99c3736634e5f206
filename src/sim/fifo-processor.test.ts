import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FifoProcessor } from './fifo-processor.ts';

const ms = 1e6;

test('without a quota, or with one of a whole core, the processor is a queue and nothing more', () => {
  for (const cores of [undefined, 1, 2]) {
    const cpu = new FifoProcessor(cores);
    assert.equal(cpu.begin(0, 30 * ms, 0), 30 * ms);
    assert.equal(cpu.begin(0, 30 * ms, 10 * ms), 60 * ms);
    assert.equal(cpu.begin(0, 30 * ms, 100 * ms), 130 * ms);
    assert.equal(cpu.throttledPeriods, 0);
  }
});

test('a fifth of a core runs for 20 ms at full speed and waits for the rest of each 100 ms', () => {
  const cpu = new FifoProcessor(0.2);
  assert.equal(cpu.begin(0, 20 * ms, 0), 20 * ms);
  assert.equal(cpu.throttledNs, 0);
  assert.equal(cpu.begin(0, 1 * ms, 20 * ms), 101 * ms);
  assert.equal(cpu.throttledNs, 80 * ms);
  assert.equal(cpu.begin(0, 45 * ms, 101 * ms), 306 * ms);
  assert.equal(cpu.throttledPeriods, 3);
});

test('what is left of a period is lost with it', () => {
  const cpu = new FifoProcessor(0.2);
  cpu.begin(0, 5 * ms, 0);
  assert.equal(cpu.begin(0, 30 * ms, 190 * ms), 220 * ms);
});

test('over a long time a process gets its quota of the time and not more', () => {
  const cpu = new FifoProcessor(0.35);
  let at = 0;
  for (let count = 0; count < 1000; count++) at = cpu.begin(0, 7 * ms, at);
  assert.ok(Math.abs((1000 * 7 * ms) / at - 0.35) < 0.01, `${at / 1e9} s`);
});
