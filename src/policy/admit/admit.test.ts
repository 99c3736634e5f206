import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, dice, type Duration, Heap, type Instant, instantAt, ms, ns, seconds, start } from '../../base.ts';
import { type Ceiling, CeilingCounts } from './ceilings.ts';
import { defaultGradientSettings, GradientLimit, nextLimit } from './gradient.ts';
import { WaitingRoom } from './waiting-room.ts';

test('a ceiling lets in as many as it says, refuses the next, and has room again when one leaves', () => {
  const counts = new CeilingCounts({ connections: 1, requests: 2, waiting: 0, retries: 3 });
  assert.deepEqual([counts.enter('requests'), counts.enter('requests'), counts.enter('requests')], [true, true, false]);
  assert.equal(counts.remaining('requests'), 0);
  counts.leave('requests');
  assert.ok(counts.enter('requests'));
  assert.ok(!counts.enter('waiting'));
  assert.equal(counts.refused('requests'), 1);
  assert.throws(() => counts.leave('retries'), /who leaves has entered/);
});

test('no ceiling is ever exceeded', () => {
  const kinds: readonly Ceiling[] = ['connections', 'requests', 'waiting', 'retries'];
  const ceilings = { connections: 3, requests: 2, waiting: 1, retries: 0 };
  fc.assert(
    fc.property(fc.array(fc.record({ kind: fc.constantFrom(...kinds), enter: fc.boolean() })), (events) => {
      const counts = new CeilingCounts(ceilings);
      for (const { kind, enter } of events) {
        if (enter) counts.enter(kind);
        else if (counts.present(kind) > 0) counts.leave(kind);
        assert.ok(counts.present(kind) <= ceilings[kind] && counts.remaining(kind) >= 0);
      }
    }),
  );
});

test('the limit grows while latency is the least, holds where the queue is √limit, and shrinks beyond', () => {
  const settings = { ...defaultGradientSettings, buffer: 0 };
  assert.equal(nextLimit(100, 10, 10, settings), 110);
  // At rest: gradient · L + √L = L, so the gradient is 1 − 1/√L.
  assert.ok(Math.abs(nextLimit(100, 9, 10, settings) - 100) < 1e-9);
  assert.ok(nextLimit(100, 10, 40, settings) < 100);
  assert.equal(nextLimit(100, 10, 1e9, settings), 60, 'at most by half, less the root');
  assert.equal(nextLimit(900, 10, 1, settings), 1000, 'up to the most');
  assert.equal(nextLimit(2, 1, 1e9, settings), 3, 'down to the least');
});

/** A server with so many workers and a constant service time, fed by more clients than it can serve. Returns the limit, the
 * mean latency of the served, and the throughput, over the last half. */
function overload(workers: number, service: Duration, clients: number, length: Duration) {
  const limiter = new GradientLimit(
    { ...defaultGradientSettings, measureInterval: seconds(20) },
    dice(1, 'gradient'),
    start,
  );
  const events = new Heap<{ readonly kind: 'ask' } | { readonly kind: 'done'; readonly from: Instant }>();
  const freeAt: number[] = Array.from({ length: workers }, () => 0);
  for (let client = 0; client < clients; client++) events.push(client * 1e4, { kind: 'ask' });
  let served = 0;
  let latency = 0;
  let limitSum = 0;
  for (;;) {
    const now = instantAt(events.nextKey ?? 0);
    const event = events.pop();
    if (event === undefined || now > length) break;
    if (event.kind === 'done') {
      limiter.leave(ns(now - event.from), now);
      if (now > length / 2) {
        served += 1;
        latency += now - event.from;
        limitSum += limiter.limit;
      }
      events.push(now, { kind: 'ask' });
    } else if (limiter.enter(now)) {
      const worker = freeAt.indexOf(Math.min(...freeAt));
      const done = Math.max(now, freeAt[worker] ?? 0) + service;
      freeAt[worker] = done;
      events.push(done, { kind: 'done', from: now });
    } else events.push(now + 5e6, { kind: 'ask' });
  }
  return { limit: limitSum / served, latency: latency / served, perSecond: served / (length / 2e9) };
}

test('under overload the limit finds the number of workers, within its root, and latency stays near the service time', () => {
  const workers = 16;
  const result = overload(workers, ms(10), 200, seconds(40));
  // Capacity is 1,600 a second; 200 clients without a limit would see 125 ms.
  assert.ok(result.perSecond > 1450, `${result.perSecond} a second`);
  assert.ok(result.limit > workers && result.limit < 2 * workers, `limit ${result.limit}`);
  assert.ok(result.latency < ms(20), `${result.latency / 1e6} ms`);
});

test('a measurement holds the limit low for so many requests, and comes again in time', () => {
  const limiter = new GradientLimit(defaultGradientSettings, dice(1, 'gradient'), start);
  assert.equal(limiter.phase, 'measuring');
  assert.equal(limiter.limit, 3);
  const serve = (now: Instant): void => {
    assert.ok(limiter.enter(now));
    limiter.leave(ms(10), now);
  };
  for (let count = 0; count < 50; count++) serve(start);
  assert.equal(limiter.phase, 'following');
  assert.equal(limiter.limit, 50);
  serve(after(start, seconds(59)));
  assert.equal(limiter.phase, 'following');
  serve(after(start, seconds(70)));
  assert.equal(limiter.phase, 'measuring');
});

/** A room in which every guest has a number; takes and turns away as the script says.
 * `e`: the next number enters; `t`: one is taken; a digit: so many ms pass. Shows what happened: `3` taken, `!3` turned away,
 * `x` no place. */
function room(script: string, places = 10): string {
  const waiting = new WaitingRoom<number>({ places, target: ms(5), interval: ms(20) }, start);
  let now = start;
  let next = 1;
  const shown: string[] = [];
  for (const step of script) {
    if (/\d/.test(step)) now = after(now, ms(Number(step)));
    else if (step === 'e') {
      if (!waiting.enter(next++, now)) shown.push('x');
    } else shown.push(String(waiting.take(now, (late) => shown.push(`!${late}`)) ?? '-'));
  }
  return shown.join(' ');
}

test('a calm room serves first come, first served', () => {
  assert.equal(room('eee ttt t'.replaceAll(' ', '')), '1 2 3 -');
  assert.equal(room('e9e9tt'), '1 2');
});

test('a room that has not been empty for an interval is crowded: the newest first, and patience is short', () => {
  // Somebody always waits. After 20 ms it is crowded: 4, who has just come, is served; 2 and 3 have waited for too long.
  assert.equal(room('ee9te9te3et'), '1 2 !3 5');
  // Emptied once, it is calm again.
  assert.equal(room('e9e9e4tttt eet'.replaceAll(' ', '')), '!1 !2 3 - - - 4');
});

test('a full room refuses, and has a place again when somebody was taken', () => {
  assert.equal(room('eeetett', 2), 'x 1 2 4');
});

test('guests enter, are taken, turned away or cancelled exactly once', () => {
  const event = fc.oneof(
    fc.constant({ kind: 'enter' as const }),
    fc.constant({ kind: 'take' as const }),
    fc.constant({ kind: 'expire' as const }),
    fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(20) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(15) }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), fc.integer({ min: 1, max: 6 }), (events, places) => {
      const waiting = new WaitingRoom<number>({ places, target: ms(5), interval: ms(20) }, start);
      const inside = new Map<number, Instant>();
      let now = start;
      let next = 0;
      const turnAway = (guest: number): void => {
        assert.ok(now - (inside.get(guest) ?? now) > ms(5), 'nobody is turned away before the short patience');
        assert.ok(inside.delete(guest));
      };
      for (const one of events) {
        if (one.kind === 'wait') now = after(now, ms(one.ms));
        else if (one.kind === 'enter') {
          const guest = next++;
          if (waiting.enter(guest, now)) inside.set(guest, now);
        } else if (one.kind === 'take') {
          const guest = waiting.take(now, turnAway);
          if (guest === undefined) assert.equal(inside.size, 0);
          else {
            assert.ok(now - (inside.get(guest) ?? now) <= ms(20), 'nobody is served after the long patience');
            assert.ok(inside.delete(guest));
          }
        } else if (one.kind === 'expire') waiting.expire(now, turnAway);
        else {
          const guest = [...inside.keys()][one.which % Math.max(1, inside.size)];
          if (guest === undefined) continue;
          waiting.cancel(guest);
          inside.delete(guest);
        }
        assert.equal(waiting.size, inside.size);
        assert.ok(inside.size <= places);
      }
    }),
  );
});
