import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice, type Dice } from '../base.ts';
import type { ExperimentFacts, TickLine } from '../record.ts';
import type { SeenPhase } from './seen.ts';
import { criticalZ, luckMax, slownessOf } from './slowness.ts';

const ids = ['api-1', 'api-2', 'api-3', 'api-4'];

interface Work {
  readonly seconds: number;
  /** Pieces of exponential work a second at each replica. */
  readonly rate: number;
  readonly slow?: Readonly<Record<string, number>>;
  readonly experiment?: ExperimentFacts;
  readonly name?: string;
}

/** A phase of ticks in which each replica does `rate` pieces of exponential work of 20 ms times its slowness. */
function worked({ seconds, rate, slow = {}, experiment, name = 'baseline' }: Work, chance: Dice): SeenPhase {
  const ticks = Array.from({ length: seconds }, (_, second): TickLine => {
    const replicas = ids.map((id) => {
      let sum = 0;
      for (let piece = 0; piece < rate; piece++) sum += chance.exponential(0.02 * (slow[id] ?? 1));
      return { id, service_count: rate, service_sum_ns: sum * 1e9 };
    });
    return { kind: 'tick', at_ns: second * 1e9, span_ns: 1e9, phase: name, replicas, clients: [] };
  });
  const line = { kind: 'phase', at_ns: 0, name, measure_from_ns: 0 } as const;
  return { line: experiment === undefined ? line : { ...line, experiment }, events: [], ticks };
}

test('equal replicas are called slower as often as the level says', () => {
  // 400 fleets at 2 %: binomial mean 8, standard deviation 2.8.
  let accused = 0;
  for (let fleet = 0; fleet < 400; fleet++) {
    const [slowest] = slownessOf([worked({ seconds: 12, rate: 60 }, dice(fleet, 'equal'))], ids);
    assert.ok(slowest !== undefined);
    if (slowest.z > criticalZ(ids.length)) accused += 1;
  }
  assert.ok(accused <= 8 + 3 * 2.8, `${accused} of 400`);
});

test('a slower replica is found, first, with its factor inside the interval', () => {
  let covered = 0;
  for (let fleet = 0; fleet < 100; fleet++) {
    const phase = worked({ seconds: 20, rate: 150, slow: { 'api-3': 1.2 } }, dice(fleet, 'slower'));
    const [slowest] = slownessOf([phase], ids);
    assert.equal(slowest?.id, 'api-3');
    const off = Math.abs(Math.log((slowest?.ratio.value ?? 0) / 1.2));
    if (off <= 2 * (slowest?.ratio.error ?? 0)) covered += 1;
  }
  assert.ok(covered >= 88, `${covered} of 100 intervals hold the truth`);
});

test('a phase in which somebody slowed a replica says nothing about that replica', () => {
  const experiment: ExperimentFacts = { kind: 'slow-another', did: 'slowed api-2', target: 'api-2', factor: 3 };
  const phases = [
    worked({ seconds: 20, rate: 150 }, dice(1, 'quiet')),
    worked({ seconds: 20, rate: 150, slow: { 'api-2': 3 }, experiment, name: 'slow-another' }, dice(2, 'loud')),
  ];
  const touched = slownessOf(phases, ids).find((one) => one.id === 'api-2');
  assert.ok(Math.abs((touched?.ratio.value ?? 0) - 1) < 0.1);
});

test('more phases make it surer', () => {
  const one = worked({ seconds: 16, rate: 100 }, dice(3, 'a'));
  const two = worked({ seconds: 16, rate: 100, name: 'later' }, dice(4, 'b'));
  const error = (phases: readonly SeenPhase[]): number => slownessOf(phases, ids)[0]?.ratio.error ?? Number.NaN;
  const ratio = error([one]) / error([one, two]);
  assert.ok(ratio > 1.25 && ratio < 1.6, `errors shrink by ${ratio}, √2 expected`);
});

test('without worker times nobody is compared, and a single replica has nobody to be compared with', () => {
  const mute = worked({ seconds: 4, rate: 10 }, dice(5, 'mute'));
  const ticks = mute.ticks.map((tick) => ({ ...tick, replicas: ids.map((id) => ({ id, finished: 10 })) }));
  assert.deepEqual(slownessOf([{ ...mute, ticks }], ids), []);
  assert.deepEqual(slownessOf([mute], ['api-1']), []);
});

test('the level allows for how many there were to choose from', () => {
  assert.ok(Math.abs(criticalZ(1) - 2.0537) < 0.001, 'one replica at 2 %');
  assert.ok(criticalZ(4) > criticalZ(2) && criticalZ(100) > 3.4);
  assert.equal(luckMax, 0.02);
});
