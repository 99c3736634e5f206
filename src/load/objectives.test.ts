import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import { parseObjective } from '../scenario.ts';
import { judge, subjectOf } from './objectives.ts';
import { Tally } from './tally.ts';

function hundredAnswers(): Tally {
  const tally = new Tally();
  tally.planned = 110;
  tally.sent = 105;
  for (let count = 1; count <= 100; count++) tally.answer(0, 200, ms(count), ms(count), 100);
  return tally;
}

function check(
  metric: string,
  expression: string,
  expected: { observed?: number; within?: number; met: boolean },
  of = hundredAnswers(),
): void {
  const objective = parseObjective(metric, expression);
  if (typeof objective === 'string') assert.fail(objective);
  const measured = { span: seconds(10), tallies: [of], groupNames: ['shop'], replicaName: () => 'api-1' };
  const result = judge(objective, subjectOf(objective, measured));
  assert.equal(result.met, expected.met, `${metric} ${expression}: observed ${result.observed}`);
  if (expected.observed === undefined) assert.equal(result.observed, undefined);
  // One bucket of the histogram is 0.55 % wide.
  else
    assert.ok(
      Math.abs((result.observed ?? NaN) - expected.observed) <= 0.006 * expected.observed,
      `${result.observed}`,
    );
}

test('durations are in milliseconds and of what was answered', () => {
  check('http_req_duration', 'p(95)<96', { observed: 95, met: true });
  check('http_req_duration', 'p(95)<94', { observed: 95, met: false });
  check('http_req_duration', 'avg<=51', { observed: 50.5, met: true });
  check('http_req_duration', 'min>=1', { observed: 1, met: true });
  check('http_req_duration', 'max<100', { observed: 100, met: false });
});

test('whatever was planned and not answered well is a failure', () => {
  check('http_req_failed', 'rate<0.1', { observed: 10 / 110, met: true });
  check('http_req_failed', 'rate<0.09', { observed: 10 / 110, met: false });
});

test('requests are counted, and by the second', () => {
  check('http_reqs', 'count>=105', { observed: 105, met: true });
  check('http_reqs', 'rate>10.5', { observed: 10.5, met: false });
});

test('a quantile that falls among the unanswered proves nothing from above, and something from below', () => {
  const stalled = hundredAnswers();
  for (let count = 0; count < 10; count++) stalled.timeout(0, ms(150));
  check('http_req_duration', 'p(99)<200', { observed: 150, met: false }, stalled);
  check('http_req_duration', 'p(99)>100', { observed: 150, met: true }, stalled);
  check('http_req_duration', 'med<60', { observed: 55, met: true }, stalled);
});

test('where nothing was seen, nothing is met', () => {
  check('http_req_duration', 'p(95)<200', { met: false }, new Tally());
  check('http_req_failed', 'rate<0.01', { met: false }, new Tally());
});

test('an objective may be of one replica or one group only', () => {
  const mixed = new Tally();
  mixed.planned = 20;
  for (let count = 0; count < 10; count++) {
    mixed.answer(0, 200, ms(10), ms(10), 0);
    mixed.answer(1, count < 5 ? 200 : 503, ms(100), ms(100), 0);
  }
  const measured = {
    span: seconds(10),
    tallies: [mixed, hundredAnswers()],
    groupNames: ['shop', 'search'],
    replicaName: (index: number) => `api-${index + 1}`,
  };
  const observed = (metric: string, expression: string): number | undefined => {
    const objective = parseObjective(metric, expression);
    if (typeof objective === 'string') assert.fail(objective);
    return judge(objective, subjectOf(objective, measured)).observed;
  };
  assert.equal(Math.round(observed('http_req_duration{replica:api-2}', 'med<50') ?? 0), 100);
  assert.equal(observed('http_req_failed{replica:api-2}', 'rate<0.1'), 0.5);
  assert.equal(observed('http_reqs{group:shop}', 'count>0'), 0);
  assert.equal(observed('http_req_failed{group:shop}', 'rate<0.1'), 0.25);
  assert.equal(observed('http_req_duration{replica:nobody}', 'med<50'), undefined);
});
