// What went wrong is read off imagined records in which it is known; nothing may be seen where nothing was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordOf } from '../../record.ts';
import { baselineOf, builtinScenarios, type Fault, parseScenario } from '../../scenario.ts';
import { simulate } from '../../sim.ts';
import { faultsSeen } from './seen-faults.ts';

function seenIn(name: string, seed: number, settings: readonly string[] = []): readonly Fault[] {
  const found = builtinScenarios.find((each) => each.name === name) ?? assert.fail(`no scenario ${name}`);
  const parsed = parseScenario(found.text, name, settings);
  const scenario = 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
  const record = recordOf([...simulate(scenario, { seed, phases: [{ arrangement: baselineOf(scenario) }] })]);
  return faultsSeen(record.phases[0] ?? assert.fail('a phase'), record.topology).faults;
}

test('nothing is seen where nothing was wrong for a while: healthy, overload, convoy, four seeds each', () => {
  for (const name of ['healthy', 'overload', 'convoy']) {
    for (let seed = 1; seed <= 4; seed++) assert.deepEqual(seenIn(name, seed), [], `${name} ${seed}`);
  }
});

test('a datastore that takes 4,000 times as long: when, for how long, and by how much, though it ends five calls', () => {
  const factors: number[] = [];
  for (let seed = 1; seed <= 5; seed++) {
    const [fault, ...more] = seenIn('no-healthy-upstream', seed);
    assert.deepEqual(more, [], `the replicas only waited, seed ${seed}`);
    assert.ok(fault?.kind === 'slow' && fault.replica === 'store-1');
    assert.equal(fault.at, 8e9);
    // A second in which hardly anything ended looks like those before it.
    assert.ok(fault.for === 6e9 || fault.for === 7e9, `${fault.for}`);
    factors.push(Math.log(fault.factor / 4000));
  }
  // 24 calls of exponential length tell their mean to 20 %, and a second too many takes some of it away.
  const mean = factors.reduce((sum, factor) => sum + factor, 0) / factors.length;
  assert.ok(Math.abs(mean) < 0.4, `${mean}`);
});

test('all replicas at half speed for ten seconds, seen one by one', () => {
  const faults = seenIn('retry-storm', 1);
  assert.equal(faults.length, 4);
  for (const fault of faults) {
    assert.ok(fault.kind === 'slow' && fault.at === 10e9 && fault.for === 10e9);
    // Some 1,000 pieces of work: 3 % is one standard error.
    assert.ok(Math.abs(fault.factor / 2 - 1) < 0.12, `${fault.factor}`);
  }
});

test('who stands still holds what it was given, who is gone holds nothing, and each for as long as it was so', () => {
  const fault = (text: string): readonly string[] => [`faults.0=${text}`, 'duration=20s'];
  const [stopped] = seenIn('healthy', 1, fault('{ at: 8s, for: 4s, stop: api-2 }'));
  assert.deepEqual(stopped, { at: 8e9, for: 4e9, kind: 'stop', replica: 'api-2' });
  const [killed] = seenIn('healthy', 1, fault('{ at: 8s, for: 4s, kill: api-2 }'));
  assert.deepEqual(killed, { at: 8e9, for: 4e9, kind: 'kill', replica: 'api-2' });
});

test('a replica that answers errors in no time', () => {
  const [fault] = seenIn('black-hole', 1);
  assert.ok(fault?.kind === 'fail' && fault.replica === 'api-2' && fault.for === undefined);
  assert.ok(fault.share > 0.98 && Math.abs(fault.after / 1e6 - 1) < 0.3, JSON.stringify(fault));
});
