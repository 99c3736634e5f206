// The machines that judge endpoints: active checks, outliers, breakers. Events as small scripts, one word each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, dice, type Dice, type Instant, instantAt, ms, seconds, start } from '../../base.ts';
import { ActiveCheck, type ActiveCheckSettings } from './active.ts';
import { Breaker, type BreakerSettings, defaultBreakerSettings } from './breaker.ts';
import { belowTheRest, failingOften, slowerThanTheRest } from './detectors.ts';
import { defaultOutlierSettings, OutlierDetector, type OutlierSettings } from './outlier.ts';

/** Dice that always show the same: 0.5 is no jitter. */
const fixed = (value: number): Dice => ({
  next: () => value,
  below: () => 0,
  exponential: (mean) => mean,
  normal: () => 0,
});

// ── active checks ───────────────────────────────────────────────────────────────────────────────────────────────────────

const settings: ActiveCheckSettings = { interval: seconds(2), timeout: seconds(1), fall: 3, rise: 2 };

/** `+` a good answer, `-` a bad one; the script shows the state after each: `U` up, `D` down. */
function states(script: string, own: Partial<ActiveCheckSettings> = {}): string {
  const check = new ActiveCheck({ ...settings, ...own }, fixed(0.5), start);
  let shown = '';
  let now = start;
  for (const answer of script) {
    now = check.next ?? assert.fail('it wants to be asked');
    check.asked(now);
    check.observe(answer === '+', now);
    shown += check.healthy ? 'U' : 'D';
  }
  return shown;
}

test('an endpoint falls after so many bad answers in a row and rises after so many good ones', () => {
  assert.equal(states('--+---'), 'UUUUUD');
  assert.equal(states('---+-++'), 'UUDDDDU');
  assert.equal(states('-+', { fall: 1, rise: 1 }), 'DU');
  assert.equal(states('+++', { initially: 'down' }), 'DUU');
  assert.equal(states('+-++', { initially: 'down' }), 'DDDU');
});

test('for any answers, a state changes only with its streak, against a plain model', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      (answers, fall, rise) => {
        let up = true;
        let expected = '';
        answers.forEach((_, index) => {
          const streak = (good: boolean, length: number): boolean =>
            index + 1 >= length && answers.slice(index + 1 - length, index + 1).every((answer) => answer === good);
          // A streak must have begun after the last change; since it is against the state, it cannot reach over it.
          if (up && streak(false, fall)) up = false;
          else if (!up && streak(true, rise)) up = true;
          expected += up ? 'U' : 'D';
        });
        assert.equal(states(answers.map((good) => (good ? '+' : '-')).join(''), { fall, rise }), expected);
      },
    ),
  );
});

test('the first question falls anywhere in the interval, the next ones near it, never two at a time', () => {
  for (let seed = 0; seed < 100; seed++) {
    const check = new ActiveCheck(settings, dice(seed, 'health'), start);
    const first = check.next ?? assert.fail();
    assert.ok(first >= start && first <= after(start, settings.interval));
    assert.equal(check.asked(first), after(first, settings.timeout));
    assert.equal(check.next, undefined);
    check.observe(true, first);
    const gap = (check.next ?? 0) - first;
    assert.ok(Math.abs(gap / settings.interval - 1) <= 0.1, `${gap}`);
  }
});

test('an answer that took longer than the interval is followed by one question, not by several', () => {
  const check = new ActiveCheck({ ...settings, timeout: seconds(10) }, fixed(0.5), start);
  const first = check.next ?? assert.fail();
  check.asked(first);
  const late = after(first, seconds(9));
  check.observe(false, late);
  assert.equal(check.next, late);
});

// ── outliers ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const counts = (requests: number, failures: number, medianLatency = 1) => ({ requests, failures, medianLatency });

test('a success rate is an outlier below mean − 1.9 σ, and only among enough with enough requests', () => {
  const question = { endpointsMin: 5, requestsMin: 100, deviations: 1.9 };
  const fine = Array.from({ length: 9 }, () => counts(100, 1));
  assert.deepEqual(belowTheRest([...fine, counts(100, 30)], question), [9]);
  assert.deepEqual(belowTheRest([...fine, counts(99, 99)], question), [], 'too few requests to say');
  assert.deepEqual(belowTheRest([...fine.slice(0, 3), counts(100, 90)], question), [], 'too few endpoints to say');
  assert.deepEqual(belowTheRest(fine, question), [], 'all alike: nobody is below');
  assert.deepEqual(
    belowTheRest(
      Array.from({ length: 6 }, () => counts(100, 90)),
      question,
    ),
    [],
    'a bad hour for all',
  );
});

test('a failure share is an outlier at its threshold, not below', () => {
  const question = { endpointsMin: 2, requestsMin: 50, threshold: 0.85 };
  assert.deepEqual(failingOften([counts(100, 85), counts(100, 84), counts(49, 49)], question), [0]);
});

test('a latency is an outlier against the median of medians, which one slow endpoint does not move', () => {
  const question = { endpointsMin: 3, requestsMin: 10, factor: 3 };
  assert.deepEqual(
    slowerThanTheRest(
      [10, 11, 12, 36, 34].map((median) => counts(10, 0, median)),
      question,
    ),
    [],
  );
  assert.deepEqual(
    slowerThanTheRest(
      [10, 11, 12, 37, 34].map((median) => counts(10, 0, median)),
      question,
    ),
    [3],
  );
});

const bad = { ok: false, latency: ms(1) };
const good = { ok: true, latency: ms(1) };

function detector(size: number, own: Partial<OutlierSettings> = {}): OutlierDetector {
  const made = new OutlierDetector({ ...defaultOutlierSettings, ...own }, start);
  made.follow(Array.from({ length: size }, (_, index) => `e${index}`));
  return made;
}

/** So many failures in a row. The last change, in words. */
function fail(made: OutlierDetector, id: string, times: number, now: Instant): string {
  let last = 'nothing';
  for (let count = 0; count < times; count++) last = made.observe(id, bad, now)?.kind ?? last;
  return last;
}

test('five failures in a row eject, four do not, and a success between begins anew', () => {
  const made = detector(4);
  assert.equal(fail(made, 'e0', 4, start), 'nothing');
  made.observe('e0', good, start);
  assert.equal(fail(made, 'e0', 4, start), 'nothing');
  assert.equal(fail(made, 'e0', 1, start), 'ejected');
  assert.ok(made.isEjected('e0'));
});

test('an ejection ends after base · n; n grows with each ejection and shrinks with each quiet interval', () => {
  const made = detector(2);
  let now = start;
  const lengths: number[] = [];
  for (let round = 0; round < 3; round++) {
    fail(made, 'e0', 5, now);
    const until = made.isEjected('e0') ? leaveEjection(made, now) : assert.fail();
    lengths.push((until - now) / 1e9);
    now = until;
  }
  // Each ejection covers whole intervals, in which nothing is forgiven; between them not one is quiet.
  assert.deepEqual(lengths, [30, 60, 90]);
  for (let quiet = 0; quiet < 2; quiet++) {
    now = after(now, seconds(10));
    made.sweep(now);
  }
  fail(made, 'e0', 5, now);
  assert.ok(leaveEjection(made, now) - now <= 90e9);
});

/** Sweeps as the machine asks until `e0` is back; returns when. */
function leaveEjection(made: OutlierDetector, from: Instant): Instant {
  let now = from;
  while (made.isEjected('e0')) {
    now = made.next;
    made.sweep(now);
  }
  return now;
}

test('there is room to eject one in any fleet of two, a share in larger ones, and never the last', () => {
  const ejected = (size: number): number => {
    const made = detector(size);
    for (let index = 0; index < size; index++) fail(made, `e${index}`, 5, start);
    return Array.from({ length: size }, (_, index) => made.isEjected(`e${index}`)).filter(Boolean).length;
  };
  assert.deepEqual([1, 2, 3, 4, 9, 10, 20].map(ejected), [0, 1, 1, 1, 2, 3, 6]);
});

test('one for whom there is no room is spared, and said to be', () => {
  const made = detector(2);
  assert.equal(fail(made, 'e0', 5, start), 'ejected');
  assert.equal(fail(made, 'e1', 5, start), 'spared');
});

test('a sweep ejects by what the interval showed, and each interval counts for itself', () => {
  const made = detector(6, { consecutive: undefined });
  const interval = (failuresOfFirst: number, now: Instant) => {
    for (let index = 0; index < 6; index++) {
      for (let count = 0; count < 100; count++) {
        made.observe(`e${index}`, index === 0 && count < failuresOfFirst ? bad : good, now);
      }
    }
    return made.sweep(after(now, seconds(10)));
  };
  assert.deepEqual(interval(0, start), []);
  const [change] = interval(40, instantAt(10e9));
  assert.deepEqual(
    [change?.kind, change?.id, change?.kind === 'ejected' && change.reason],
    ['ejected', 'e0', 'success-rate'],
  );
});

test('nobody is ever ejected beyond the room there is, whatever happens', () => {
  const event = fc.record({ who: fc.nat(5), ok: fc.boolean(), wait: fc.integer({ min: 0, max: 3000 }) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(event, { maxLength: 300 }), (size, events) => {
      const made = detector(size, { ejectionBase: seconds(5), ejectionMax: seconds(20) });
      let now = start;
      for (const { who, ok, wait } of events) {
        now = after(now, ms(wait));
        while (made.next <= now) made.sweep(now);
        made.observe(`e${who % size}`, { ok, latency: ms(1) }, now);
        const out = Array.from({ length: size }, (_, index) => made.isEjected(`e${index}`)).filter(Boolean).length;
        assert.ok(out <= Math.min(size - 1, Math.max(1, Math.floor(0.3 * size))));
      }
    }),
    { numRuns: 50 },
  );
});

// ── breaker ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Plays a script; the state after each step, one letter each: c closed, o open, p probation.
 * `+` and `-`: a request that succeeds or fails, if it is allowed (`.` shows that it was not); `3`: three seconds pass. */
function play(script: string, own: Partial<BreakerSettings> = {}): string {
  const breaker = new Breaker({ ...defaultBreakerSettings, jitter: 0, ...own }, fixed(0.5));
  let now = start;
  let shown = '';
  for (const step of script) {
    if (/\d/.test(step)) now = after(now, seconds(Number(step)));
    else if (!breaker.allows(now)) {
      shown += '.';
      continue;
    } else {
      breaker.started(now);
      breaker.finished(step === '+', now);
    }
    shown += breaker.stateAt(now)[0] ?? '';
  }
  return shown;
}

const inARow = { failuresInARow: 3, requestsMin: 1000 };

test('a breaker opens after so many failures in a row, and lets one request try after the pause', () => {
  assert.equal(play('--+---+', inARow), 'ccccco.');
  assert.equal(play('---1+', inARow), 'ccopc');
});

test('a failed trial opens it for twice as long, up to the longest pause', () => {
  assert.equal(play('---1-1+1+', inARow), 'ccopoo.pc');
  // Pauses of 1, 2, 4, 4, 4.
  assert.equal(play('---1-2-4-4-4+', { ...inARow, pauseMax: seconds(4) }), 'ccopopopopopc');
});

test('a success on probation that holds for a window makes the next pause short again', () => {
  assert.equal(play('---1-2+---3.', inARow).at(-2), 'o', 'not yet: the pause is 4 s');
  assert.equal(play('---1-2+9+2+---1', inARow).at(-1), 'p', 'after a good window it is 1 s');
});

test('a breaker opens when too few succeed, once there are enough to say', () => {
  const share = { failuresInARow: 1000, requestsMin: 5, successShareMin: 0.8 };
  assert.equal(play('-+++', share), 'cccc');
  assert.equal(play('-+++-', share), 'cccco', 'three of five');
  assert.equal(play('++++-', share), 'ccccc', 'four of five is enough');
  assert.equal(play('-+++99-', share), 'ccccccc', 'what is older than the window is forgotten');
});

test('on probation one request is out at a time, until it has come back or hung for too long', () => {
  const breaker = new Breaker({ ...defaultBreakerSettings, ...inARow, jitter: 0 }, fixed(0));
  for (let count = 0; count < 3; count++) {
    breaker.started(start);
    breaker.finished(false, start);
  }
  const trial = after(start, seconds(1));
  assert.equal(breaker.nextAt(start), trial);
  assert.ok(breaker.allows(trial) && breaker.allows(trial), 'asking is free');
  breaker.started(trial);
  assert.ok(!breaker.allows(trial), 'one trial at a time');
  assert.ok(!breaker.allows(after(trial, seconds(14))));
  assert.ok(breaker.allows(after(trial, seconds(15))), 'a trial that hangs does not hang the endpoint');
});

test('answers to requests that were out when it opened change nothing', () => {
  const breaker = new Breaker({ ...defaultBreakerSettings, ...inARow, jitter: 0 }, fixed(0));
  for (let count = 0; count < 5; count++) breaker.started(start);
  for (let count = 0; count < 3; count++) breaker.finished(false, start);
  assert.equal(breaker.stateAt(start), 'open');
  assert.equal(breaker.finished(true, start), undefined);
  assert.equal(breaker.finished(false, start), undefined);
  assert.equal(breaker.stateAt(start), 'open');
});

test('pauses are jittered, so that many balancers do not try together', () => {
  const ends = new Set(
    Array.from({ length: 20 }, (_, seed) => {
      const breaker = new Breaker({ ...defaultBreakerSettings, ...inARow }, dice(seed, 'breaker'));
      for (let count = 0; count < 3; count++) breaker.finished(false, start);
      const end = breaker.nextAt(start) ?? 0;
      assert.ok(end >= 1e9 && end <= 1.5e9);
      return end;
    }),
  );
  assert.equal(ends.size, 20);
});
