// Recovery is read off ticks; a course is drawn with one letter a second: g good, b bad, s silent (nothing ends).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import type { PhaseRecord, TickLine } from '../record.ts';
import { constant } from '../scenario.ts';
import { healedAt, recoveryOf } from './recovery.ts';

function tick(letter: string, second: number): TickLine {
  const answered = letter === 'g' ? 95 : letter === 'b' ? 80 : 0;
  const errors = letter === 's' ? {} : { 'status-5xx': letter === 'g' ? 5 : 20 };
  return {
    kind: 'tick',
    at_ns: second * 1e9,
    span_ns: 1e9,
    phase: 'baseline',
    replicas: [],
    clients: [{ group: 'users', planned: 100, sent: 100, answered, errors, in_flight_mean: 1 }],
  };
}

function phase(course: string): PhaseRecord {
  return {
    line: { kind: 'phase', at_ns: 0, name: 'baseline', measure_from_ns: 0 },
    untilNs: course.length * 1e9,
    events: [],
    ticks: Array.from(course, tick),
    histograms: [],
    ledgers: [],
  };
}

const table: readonly (readonly [course: string, healed: number, after: number, back: boolean])[] = [
  ['gggbbbgggg', 6, 0, true],
  ['gggbbbbbgg', 6, 2, true],
  // One good second between bad ones is no recovery.
  ['gggbbbbgbg', 6, 3, true],
  ['gggbbbssgg', 6, 2, true],
  ['gggbbbbbbb', 6, 4, false],
  ['gggggggggb', 6, 4, false],
];

for (const [course, healed, after, back] of table) {
  test(`${course}, well again at ${healed} s: back after ${after} s${back ? '' : ', and not even then'}`, () => {
    assert.deepEqual(recoveryOf(phase(course), seconds(healed)), { after: seconds(after), back });
  });
}

test('nothing is said of a run that ends with its fault, or in which nothing ends', () => {
  assert.equal(recoveryOf(phase('gggbbb'), seconds(6)), undefined);
  const slow = { kind: 'slow', replica: 'api-1', factor: 2 } as const;
  assert.equal(healedAt({ faults: [{ at: seconds(1), for: undefined, ...slow }] }), undefined);
  const faults = [
    { at: seconds(4), for: seconds(3), ...slow },
    { at: seconds(5), for: seconds(1), ...slow },
  ];
  assert.equal(healedAt({ faults }), seconds(7));
  const partition = { at: seconds(6), for: seconds(2), kind: 'partition', of: 'api-1', from: undefined } as const;
  const network = { delay: constant(ms(1)), loss: 0, faults: [partition] };
  assert.equal(healedAt({ faults, network }), seconds(8), 'a partition that ends is one of them');
});
