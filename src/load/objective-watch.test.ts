import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Duration, ms, seconds } from '../base.ts';
import { parseObjective } from '../scenario.ts';
import { ObjectiveWatch } from './objective-watch.ts';
import type { Measured } from './objectives.ts';
import { Tally } from './tally.ts';

/** A second in which ten requests took so many milliseconds. */
function second(latency: number, span: Duration = seconds(1)): Measured {
  const tally = new Tally();
  for (let count = 0; count < 10; count++) {
    tally.planned += 1;
    tally.sent += 1;
    tally.answer(0, 200, ms(latency), ms(latency), 0);
  }
  return { span, tallies: [tally], groupNames: ['shop'], replicaName: () => 'api-1' };
}

function watch(expression: string, metric = 'http_req_duration'): ObjectiveWatch {
  const objective = parseObjective(metric, expression);
  if (typeof objective === 'string') assert.fail(objective);
  return new ObjectiveWatch([objective]);
}

test('a window that was broken once is not met, whatever came later, and the worst is told', () => {
  const watched = watch('max<100 over 2s');
  for (const latency of [10, 10, 500, 10, 10, 10, 10, 10]) watched.add(second(latency));
  const [result] = watched.results(second(10));
  assert.equal(result?.met, false);
  assert.equal(result.observed, 500);
});

test('a window averages over its own length: one slow second in five is not three', () => {
  const failing = watch('med<100 over 3s');
  const holding = watch('med<100 over 3s');
  for (const latency of [10, 500, 10, 10, 500, 10]) holding.add(second(latency));
  for (const latency of [10, 500, 10, 500, 10]) failing.add(second(latency));
  assert.equal(holding.results(second(10))[0]?.met, true);
  assert.equal(failing.results(second(10))[0]?.met, false);
});

test('a window is judged when it is full, and a shorter run as a whole', () => {
  const watched = watch('max<100 over 5s');
  for (const latency of [500, 10, 10]) watched.add(second(latency));
  assert.equal(watched.results(second(10))[0]?.met, true);
  watched.add(second(10));
  watched.add(second(10));
  assert.equal(watched.results(second(10))[0]?.met, false);
});

test('seconds that are a little short still fill a window', () => {
  const watched = watch('max<100 over 2s');
  watched.add(second(500, ms(995)));
  watched.add(second(500, ms(995)));
  assert.equal(watched.results(second(10))[0]?.met, false);
});

test('what would have the load ended is told while it is so', () => {
  const watched = watch('max<100 over 2s or abort');
  watched.add(second(10));
  watched.add(second(10));
  assert.equal(watched.broken.length, 0);
  watched.add(second(500));
  assert.equal(watched.broken[0]?.observed, 500);
  const whole = watch('max<100 or abort');
  whole.add(second(500));
  assert.equal(whole.broken.length, 1);
  const silent = watch('max<100 over 1s');
  silent.add(second(500));
  assert.deepEqual(silent.broken, []);
});

test('the warm-up does not count', () => {
  const watched = watch('max<100 over 1s or abort');
  watched.add(second(500));
  watched.restart();
  assert.deepEqual(watched.broken, []);
  watched.add(second(10));
  assert.equal(watched.results(second(10))[0]?.met, true);
});

test('for a lower bound the worst is the least', () => {
  const watched = watch('rate>5 over 1s', 'http_reqs');
  watched.add(second(10, seconds(1)));
  watched.add(second(10, seconds(2)));
  watched.add(second(10, seconds(1)));
  assert.equal(watched.results(second(10))[0]?.observed, 5);
});

test('a load is not ended before so much has been judged', () => {
  const watched = watch('max<100 or abort after 3s');
  for (const expected of [0, 0, 1]) {
    watched.add(second(500));
    assert.equal(watched.broken.length, expected);
  }
  watched.restart();
  watched.add(second(500));
  assert.equal(watched.broken.length, 0);
});

test('what cannot be narrowed or windowed is told', () => {
  for (const [metric, expression, pattern] of [
    ['http_req_duration{pod:x}', 'p(95)<1', /cannot be narrowed to a 'pod': expected replica or group/],
    ['http_req_duration{replica:}', 'p(95)<1', /expected the name of a replica/],
    ['http_req_duration{replica', 'p(95)<1', /expected a metric such as/],
    ['http_req_duration', 'p(95)<1 over 10', /expected a window of a second or more such as 10s, found '10'/],
    ['http_req_duration', 'p(95)<1 over 500ms', /a second or more/],
    ['http_req_duration', 'p(95)<1 or else', /expected an expression such as/],
  ] as const) {
    const problem = parseObjective(metric, expression);
    assert.match(typeof problem === 'string' ? problem : '', pattern);
  }
});
