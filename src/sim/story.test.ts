import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Duration, ms, ns, seconds } from '../base.ts';
import { baselineOf } from '../scenario.ts';
import { scenarioFrom } from './measured-run.ts';
import { Simulation } from './simulation.ts';
import { type StoryLine, storyOf } from './story.ts';
import { eventNames } from './world.ts';

/** A request every 100 ms, which takes 30 ms and then calls the store for 20 ms. */
const shop = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 2, workers: 1, service_time: constant 30ms, calls: [{ to: store, timeout: 1s }] } }
dependencies: { store: { service_time: constant 20ms } }
gateway: { policy: round-robin }
demand: [{ open: { rate: 10/s, arrivals: constant } }]
warm_up: 1s
duration: 4s
`);

function told(from: Duration, length: Duration) {
  const story = storyOf(shop, { seed: 1, from, length });
  const lines: StoryLine[] = [];
  for (;;) {
    const next = story.next();
    if (next.done === true) return { lines, ...next.value };
    lines.push(next.value);
  }
}

test('each event of a stretch is told with whose it was and what the replicas hold after it', () => {
  const { lines } = told(ns(0), ms(110));
  const work = lines.filter(({ event }) => event === 'arrival' || event === 'due');
  assert.deepEqual(
    work.map(({ at_ns, event, of }) => `${at_ns / 1e6} ${event} ${of}`),
    [
      '0 arrival a request of users',
      '30 due request 0 at api-1',
      '50 due a call of api-1 at store-1',
      '100 arrival a request of users',
    ],
  );
  assert.deepEqual(work[0]?.changes, [{ id: 'api-1', in_flight: 1, busy: 1, waiting: 0 }]);
  assert.deepEqual(work[1]?.changes, [{ id: 'store-1', in_flight: 1, busy: 1, waiting: 0 }]);
  assert.deepEqual(
    work[2]?.changes.map(({ id, in_flight }) => [id, in_flight]),
    [
      ['api-1', 0],
      ['store-1', 0],
    ],
  );
  assert.deepEqual(work[3]?.changes, [{ id: 'api-2', in_flight: 1, busy: 1, waiting: 0 }]);
});

test('stretches put together are the whole, and end in the digest of a run that nobody watched', () => {
  const whole = told(ns(0), seconds(5));
  const first = told(ns(0), ns(2e9 - 1));
  const second = told(seconds(2), seconds(3));
  assert.deepEqual([...first.lines, ...second.lines], whole.lines);
  const unwatched = new Simulation(shop, { seed: 1, tick: seconds(5) });
  for (const line of unwatched.play(baselineOf(shop))) if (line.kind === 'tick' && unwatched.now === 5e9) break;
  assert.equal(whole.digest, unwatched.digest);
  assert.equal(whole.events, unwatched.events);
  assert.notEqual(first.digest, whole.digest);
});

test('the reference names every kind of event', () => {
  const page = readFileSync(new URL('../../docs/reference/trace.md', import.meta.url), 'utf8');
  for (const name of eventNames) assert.ok(page.includes(`| \`${name}\``), `no row for ${name}`);
});
