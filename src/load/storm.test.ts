// Any demand before any server: whatever peers do, every planned request has one end, nothing is counted twice, and no assertion
// of the driver's own fails. The world is drawn from a seed, which a failure prints.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dice, type Dice, type Instant, instantAt, ms, ns } from '../base.ts';
import type { LoadPlan } from './contract.ts';
import { startLoad } from './run.ts';
import { ImaginedEngine, type ImaginedSocket } from './testing/imagined-engine.ts';
import { answerText, groupOf } from './testing/scripted-load.ts';

const group = fc.oneof(
  fc
    .record({ users: fc.integer({ min: 1, max: 12 }), think: fc.constantFrom(0, 0, 5, 30) })
    .map(({ users, think }) => `closed users=${users} think=${think}`),
  fc
    .record({
      rate: fc.constantFrom(20, 200, 2000),
      arrivals: fc.constantFrom('constant', 'poisson'),
      max: fc.integer({ min: 1, max: 8 }),
      min: fc.nat(4),
      room: fc.constantFrom(0, 1, 5, 1000),
    })
    .map(
      ({ rate, arrivals, max, min, room }) =>
        `open rate=${rate} arrivals=${arrivals} max=${max} min=${min} room=${room}`,
    ),
);
const setting = fc.record({
  group,
  timeout: fc.constantFrom(3, 20, 200),
  targets: fc.constantFrom('gateway', 'api-1,api-2', 'api-1,api-2,api-3'),
  choice: fc.constantFrom('round-robin', 'random', 'pick-first'),
});

const world = fc.record({
  seed: fc.nat(1_000_000),
  groups: fc.array(setting, { minLength: 1, maxLength: 2 }),
  badness: fc.constantFrom(0, 0.1, 0.5, 1),
  lateness: fc.constantFrom(0, 1, 7),
  measureAt: fc.constantFrom(0, 50, 117),
  grace: fc.constantFrom(0, 1, 100),
});

type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

const at = (milliseconds: number): Instant => instantAt(ms(milliseconds));

/** A peer that mostly answers, and with `badness` does anything else that peers do. Counts whole answers that it sent. */
function peer(engine: () => ImaginedEngine, draw: Dice, badness: number, count: () => void) {
  const later = (most: number, happen: () => void): void => {
    engine().at(instantAt(engine().now() + ms(draw.next() * most)), happen);
  };
  const isBad = (): boolean => draw.next() < badness;
  return (socket: ImaginedSocket): void => {
    if (isBad()) {
      const fate = draw.below(3);
      if (fate === 0) later(5, () => socket.fail('refused', 'connect'));
      else if (fate === 1) later(5, () => socket.fail('no-ports', 'connect'));
      // Else it never opens.
      return;
    }
    later(2, () => socket.open());
    socket.onWritten = () => {
      if (socket.received() === '') return;
      if (!isBad()) {
        count();
        later(10, () => socket.answer(answerText(['200', `api-${1 + draw.below(3)}`])));
        return;
      }
      switch (draw.below(8)) {
        case 0:
          return later(10, () => socket.hangUp());
        case 1:
          return later(10, () => socket.fail('reset', 'open'));
        case 2:
          return later(10, () => socket.answer('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'));
        case 3:
          return later(10, () => socket.answer('nonsense\r\n\r\n'));
        case 4:
          return later(10, () => socket.answer(answerText(['503'])));
        case 5:
          return later(10, () => socket.answer(answerText(['200', 'api-1', 'close'])));
        case 6:
          return later(10, () => {
            socket.answer(answerText(['200', 'api-1']));
            later(3, () => socket.hangUp());
          });
        default:
        // Silence.
      }
    };
  };
}

async function play({ seed, groups, badness, lateness, measureAt, grace }: World): Promise<void> {
  const draw = dice(seed, 'storm');
  let promised = 0;
  const engine: ImaginedEngine = new ImaginedEngine({
    alarmLateness: () => ns(draw.next() * lateness * 1e6),
    onConnect: peer(
      () => engine,
      draw,
      badness,
      () => {
        promised += 1;
      },
    ),
  });
  const plan: LoadPlan = {
    seed,
    groups: groups.map((one, index) => ({
      ...groupOf(`${one.group} timeout=${one.timeout} targets=${one.targets} choice=${one.choice}`),
      group: `group-${index}`,
    })),
  };
  const run = startLoad(plan, engine, { cpu: () => ns(0) });
  const seconds: { planned: number; answered: number }[] = [];
  const look = (): void => {
    for (const { planned, answered, inFlightMin, inFlightMean, inFlightMax, group: name } of run.snapshot().groups) {
      seconds.push({ planned, answered });
      assert.ok(
        inFlightMin >= 0 && inFlightMean >= 0 && inFlightMean <= inFlightMax && inFlightMin <= inFlightMean,
        `${name}: ${inFlightMean}`,
      );
    }
  };
  engine.advance(at(measureAt));
  look();
  const before = seconds.reduce((sum, one) => sum + one.planned, 0);
  run.measure();
  for (let time = measureAt; time < 300; time += 1 + draw.below(60)) {
    engine.advance(at(time));
    if (draw.next() < 0.2) engine.stall(at(time + draw.below(40)));
    if (draw.next() < 0.5) look();
  }
  const now = engine.now();
  const stopped = run.stop(ms(grace));
  engine.advance(instantAt(now + ms(grace + 2 * lateness + 5)));
  const { ledgers } = await stopped;
  look();
  const planned = ledgers.reduce((sum, ledger) => sum + ledger.planned, 0);
  const answered = ledgers.reduce((sum, ledger) => sum + ledger.answered, 0);
  for (const ledger of ledgers) {
    const ends = [
      ledger.answered,
      ledger.failed,
      ledger.timed_out,
      ledger.refused,
      ledger.in_flight_at_end,
      ledger.never_sent,
    ];
    assert.equal(
      ends.reduce((sum, count) => sum + count, 0),
      ledger.planned,
    );
  }
  // The seconds hold everything: the warm-up too, and what was due in it and noticed only afterwards.
  assert.ok(seconds.reduce((sum, one) => sum + one.planned, 0) >= before + planned);
  assert.ok(seconds.reduce((sum, one) => sum + one.answered, 0) >= answered);
  if (badness === 0) assert.ok(answered <= promised);
}

test('whatever the demand and whatever the peers do, every planned request has exactly one end', async () => {
  await fc.assert(fc.asyncProperty(world, play), { numRuns: 100 });
});
