// The wheel against the plainest model there is: a list of due instants, looked through at every step.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, type Instant, instantAt, ms } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';
import { Timeout, Timeouts } from './timeouts.ts';

/** Time that a test moves by hand; rings alarms in order on the way. */
class HandClock {
  at: Instant = instantAt(1e9);
  alarmsSet = 0;
  readonly #alarms = new Set<{ at: Instant; ring: (now: Instant) => void }>();

  readonly engine: Engine = {
    name: 'node',
    now: () => this.at,
    alarm: (at, ring): Alarm => {
      this.alarmsSet += 1;
      const alarm = { at, ring };
      this.#alarms.add(alarm);
      return { cancel: () => void this.#alarms.delete(alarm) };
    },
    connect: () => assert.fail('no sockets here'),
    keep: () => assert.fail('no sockets here'),
    listen: () => assert.fail('no sockets here'),
    secure: () => assert.fail('no sockets here'),
    close: async () => {},
  };

  moveTo(until: Instant): void {
    for (;;) {
      const next = [...this.#alarms].filter((alarm) => alarm.at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#alarms.delete(next);
      this.at = next.at > this.at ? next.at : this.at;
      next.ring(this.at);
    }
    this.at = until;
  }
}

const slot = ms(4);

test('each timeout rings once, never early and at most one slot late, whatever is set, put off and cancelled', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), which: fc.nat(9), in: fc.integer({ min: 0, max: 30_000 }) }),
    fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(9) }),
    fc.record({ kind: fc.constant('forget' as const), which: fc.nat(9) }),
    fc.record({ kind: fc.constant('move' as const), by: fc.integer({ min: 0, max: 20_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new HandClock();
      const wheel = new Timeouts(clock.engine);
      const due: (Instant | undefined)[] = [];
      const timeouts = Array.from(
        { length: 10 },
        (_, which) =>
          new Timeout((now) => {
            const expected = due[which];
            assert.ok(expected !== undefined, 'rings only when set');
            assert.ok(now >= expected, `early by ${expected - now}`);
            assert.ok(now - expected <= slot, `late by ${now - expected}`);
            due[which] = undefined;
          }),
      );
      const at = (which: number): Timeout => timeouts[which] ?? assert.fail();
      for (const one of steps) {
        switch (one.kind) {
          case 'set':
            due[one.which] = after(clock.at, ms(one.in));
            wheel.set(at(one.which), after(clock.at, ms(one.in)));
            break;
          case 'cancel':
            due[one.which] = undefined;
            wheel.cancel(at(one.which));
            break;
          case 'forget':
            due[one.which] = undefined;
            wheel.forget(at(one.which));
            break;
          case 'move':
            clock.moveTo(after(clock.at, ms(one.by)));
        }
        for (const expected of due)
          assert.ok(expected === undefined || expected + slot >= clock.at, 'nothing is forgotten');
      }
    }),
  );
});

test('putting a timeout off again and again sets hardly any alarm', () => {
  const clock = new HandClock();
  const wheel = new Timeouts(clock.engine);
  const timeout = new Timeout(() => assert.fail('it is always put off in time'));
  for (let count = 0; count < 10_000; count++) {
    wheel.set(timeout, after(clock.at, ms(1000)));
    clock.moveTo(after(clock.at, ms(1)));
  }
  assert.ok(clock.alarmsSet <= 12, `${clock.alarmsSet} alarms for 10,000 settings in 10 s: one a second`);
});

test('those due together ring together, and then what was made is sent', () => {
  const clock = new HandClock();
  const order: string[] = [];
  const wheel = new Timeouts(clock.engine, () => order.push('afterwards'));
  for (const name of ['one', 'two']) wheel.set(new Timeout(() => order.push(name)), after(clock.at, ms(10)));
  clock.moveTo(after(clock.at, ms(20)));
  assert.deepEqual(order.toSorted(), ['afterwards', 'one', 'two']);
  assert.equal(order.at(-1), 'afterwards');
});

test('a timeout may set itself again from within', () => {
  const clock = new HandClock();
  const wheel = new Timeouts(clock.engine);
  let rung = 0;
  const timeout: Timeout = new Timeout((now) => {
    rung += 1;
    if (rung < 5) wheel.set(timeout, after(now, ms(10)));
  });
  wheel.set(timeout, after(clock.at, ms(10)));
  clock.moveTo(after(clock.at, ms(1000)));
  assert.equal(rung, 5);
});

test('after a sleep of many laps everything that is due rings', () => {
  const clock = new HandClock();
  const wheel = new Timeouts(clock.engine);
  let rung = 0;
  for (const wait of [5, 3000, 8000, 20_000, 60_000])
    wheel.set(new Timeout(() => (rung += 1)), after(clock.at, ms(wait)));
  clock.at = after(clock.at, ms(61_000));
  clock.moveTo(after(clock.at, ms(0)));
  clock.moveTo(after(clock.at, ms(10)));
  assert.equal(rung, 5);
});
