import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Duration, instantAt, ms } from '../base.ts';
import { LoopWatch } from './loop-watch.ts';
import { ImaginedEngine } from './testing/imagined-engine.ts';

const at = (milliseconds: number) => instantAt(ms(milliseconds));

test('a loop that is always a little late shows just that', () => {
  const engine = new ImaginedEngine({ alarmLateness: () => ms(0.5) });
  const watch = new LoopWatch(engine, at(0));
  engine.advance(at(10_000));
  assert.equal(watch.max, ms(0.5));
});

test('a stall of one second in a hundred weighs as much as it lasted', () => {
  const engine = new ImaginedEngine();
  const watch = new LoopWatch(engine, at(0));
  engine.advance(at(50_000));
  engine.stall(at(51_000));
  engine.advance(at(100_000));
  // One look in a hundred fell into the stall; lateness there goes evenly from a second down to nothing.
  const p99 = watch.p99 ?? (0 as Duration);
  assert.ok(p99 <= ms(20), `${p99 / 1e6} ms`);
  engine.stall(at(102_000));
  engine.advance(at(110_000));
  // Now three seconds of a hundred and ten: one per cent of the time was more than some 600 ms late.
  assert.ok((watch.p99 ?? 0) > ms(400), `${(watch.p99 ?? 0) / 1e6} ms`);
});

test('from a restart on only what comes after counts', () => {
  const engine = new ImaginedEngine();
  const watch = new LoopWatch(engine, at(0));
  engine.stall(at(500));
  engine.advance(at(600));
  watch.restart();
  engine.advance(at(1000));
  assert.equal(watch.max, 0);
});
