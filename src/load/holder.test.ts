import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Instant, instantAt, ms, ns, seconds } from '../base.ts';
import type { HeldGroup, HeldSnapshot, LoadRun } from './contract.ts';
import { dialAt } from './dial.ts';
import { ImaginedEngine, type ImaginedSocket } from './testing/imagined-engine.ts';
import { startLoad } from './run.ts';

const at = (milliseconds: number): Instant => instantAt(ms(milliseconds));

interface Held {
  readonly engine: ImaginedEngine;
  readonly run: LoadRun;
  /** Lets the time come and tells what the span since the last time was like. */
  readonly until: (milliseconds: number) => HeldSnapshot;
  readonly open: () => readonly ImaginedSocket[];
}

function hold(group: Partial<HeldGroup>, onConnect = (socket: ImaginedSocket): void => socket.open()): Held {
  const engine = new ImaginedEngine({ onConnect });
  const targets = [{ id: 'gateway', host: '10.0.0.1', port: 80 }];
  const run = startLoad(
    { groups: [], seed: 1, held: [{ group: 'idle', targets, held: { from: 0 }, ...group }] },
    engine,
    {
      cpu: () => ns(0),
    },
  );
  return {
    engine,
    run,
    until(milliseconds) {
      engine.advance(at(milliseconds));
      return run.snapshot().held?.[0] ?? assert.fail('the plan holds connections');
    },
    open: () => engine.sockets.filter((socket) => !socket.closed),
  };
}

test('connections are opened at the ramp rate until as many are held as asked', () => {
  const { until } = hold({ held: { from: 500 }, rampPerSecond: 1000 });
  const half = until(250);
  assert.deepEqual([half.asked, half.held, half.opened], [500, 250, 250]);
  const whole = until(1000);
  assert.deepEqual([whole.asked, whole.held, whole.opened], [500, 500, 250]);
  assert.equal(until(2000).opened, 0);
});

test('a dial that falls closes the oldest', () => {
  const held = {
    from: 100,
    stages: [
      { over: seconds(1), to: 100 },
      { over: seconds(1), to: 40 },
    ],
  };
  const { until, open, engine } = hold({ held, rampPerSecond: 1000 });
  assert.equal(until(1000).held, 100);
  assert.equal(until(1500).held, 70);
  assert.equal(until(3000).held, 40);
  assert.deepEqual(
    open().map((socket) => socket.number),
    engine.sockets.slice(60).map((socket) => socket.number),
  );
});

test('new connections a second take the place of the oldest while as many are held', () => {
  const { until, open } = hold({ held: { from: 50 }, rampPerSecond: 1000, newPerSecond: { from: 20 } });
  // Full after 50 ms; by 100 ms the first exchange is made.
  assert.equal(until(100).held, 50);
  const second = until(1100);
  assert.deepEqual([second.held, second.opened, second.newAsked, second.lost], [50, 20, 20, 0]);
  assert.deepEqual(
    open().map((socket) => socket.number),
    Array.from({ length: 50 }, (_, index) => index + 22),
  );
});

test('what the peer closes is counted as lost and opened again', () => {
  const { until, engine } = hold({ held: { from: 10 }, rampPerSecond: 1000 });
  until(100);
  engine.sockets.slice(0, 4).forEach((socket) => socket.hangUp());
  const after = until(200);
  assert.deepEqual([after.held, after.lost, after.opened], [10, 4, 4]);
});

test('a refusal is counted by its kind, and tried again at the ramp rate only', () => {
  const { until } = hold({ held: { from: 10 }, rampPerSecond: 100 }, (socket) => socket.fail('refused', 'connect'));
  const { held, errors } = until(1000);
  assert.equal(held, 0);
  assert.deepEqual(errors, { refused: 100 });
});

test('the time to connect counts from when the connection was due', () => {
  const { until, engine } = hold({ held: { from: 10 }, rampPerSecond: 1000 }, (socket) =>
    engine.at(instantAt(engine.now() + ms(5)), () => socket.open()),
  );
  const { connect } = until(100);
  // Due every millisecond, looked at every two: at most two late.
  assert.ok(connect !== undefined && connect.p50_ns >= ms(5) && connect.max_ns <= ms(7), JSON.stringify(connect));
});

test('source addresses are used in turn', () => {
  const { until, engine } = hold({
    held: { from: 4 },
    rampPerSecond: 1000,
    localAddresses: ['127.0.0.2', '127.0.0.3'],
  });
  until(100);
  assert.deepEqual(
    engine.sockets.map((socket) => socket.target.localAddress),
    ['127.0.0.2', '127.0.0.3', '127.0.0.2', '127.0.0.3'],
  );
});

test('at the stop everything is closed and summed up, and files that ran out are told', async () => {
  let count = 0;
  const { until, run, engine, open } = hold({ held: { from: 8 }, rampPerSecond: 1000 }, (socket) =>
    ++count > 5 ? socket.fail('no-files', 'connect') : socket.open(),
  );
  until(100);
  const stopped = run.stop(ns(0));
  engine.advance(at(110));
  const { held, limits } = await stopped;
  const [idle] = held ?? [];
  assert.deepEqual([idle?.heldMost, idle?.heldAtEnd, idle?.opened], [5, 5, 5]);
  assert.equal(open().length, 0);
  assert.match(limits.join(), /idle: \d+ connections could not be opened: this process has no more files/);
});

test('a dial moves in straight lines and stays at the last', () => {
  const dial = {
    from: 10,
    stages: [
      { over: seconds(10), to: 110 },
      { over: seconds(0), to: 50 },
    ],
  };
  assert.deepEqual(
    [-5, 0, 5, 9.99, 10, 99].map((second) => Math.round(dialAt(dial, at(0), at(second * 1000)))),
    [10, 10, 60, 110, 50, 50],
  );
});
