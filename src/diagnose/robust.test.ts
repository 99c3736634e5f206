import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dice } from '../base.ts';
import { recordOf, type RecordLine } from '../record.ts';
import { complaints } from './checks.ts';
import { diagnose } from './diagnose.ts';
import { planExperiments } from './plan.ts';
import { convoyFleet, overloadFleet, pickFirstFleet, slowReplicaFleet, thoughtfulFleet } from './testing/fleets.ts';
import { allExperiments, linesOf } from './testing/run.ts';

const needed = new Set([
  'kind',
  'at_ns',
  'span_ns',
  'phase',
  'name',
  'measure_from_ns',
  'id',
  'group',
  'services',
  'clients',
]);
const kept = new Set([
  'replicas',
  'role',
  'via',
  'program',
  'planned',
  'sent',
  'answered',
  'in_flight_mean',
  'did',
  'model',
]);

/** The same value with some of its optional fields gone, some numbers nothing, and some elements of lists lost. */
function gnawed(value: unknown, chance: () => number, rate: number, path = ''): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.filter(() => chance() >= rate / 4).map((item) => gnawed(item, chance, rate, path));
  }
  if (typeof value === 'number') return chance() < rate / 4 ? 0 : value;
  // There as a whole or not at all, as the reader of records sees to.
  if (['latency', 'lag', 'demand', 'experiment'].includes(path)) return value;
  if (typeof value !== 'object' || value === null) return value;
  // A client's mean in flight has to be there; a replica's need not.
  const mayGo = (key: string): boolean =>
    !needed.has(key) && (!kept.has(key) || (key === 'in_flight_mean' && path === 'replicas'));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      mayGo(key) && chance() < rate
        ? []
        : [[key, needed.has(key) && typeof inner === 'number' ? inner : gnawed(inner, chance, rate, key)]],
    ),
  );
}

const runs: readonly (readonly RecordLine[])[] = [
  convoyFleet('api-2', 1.2),
  thoughtfulFleet('api-2', 1.2),
  slowReplicaFleet('api-1', 3, 280),
  overloadFleet(1000),
  { ...pickFirstFleet(240) },
].map((fleet) => linesOf({ ...fleet, seed: 9, warmUpSeconds: 1, seconds: 6, available: allExperiments }));

test('whatever a record lacks, it is judged without a throw, in plain data, with a confidence between 0 and 1', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(runs.length - 1),
      fc.double({ min: 0, max: 0.6, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (seed, run, rate, cut) => {
        const lines = runs[run] ?? [];
        const die = dice(seed, 'gnaw');
        const phases = lines.slice(0, Math.max(2, Math.ceil(lines.length * cut)));
        const gone = phases.map(
          (line, index) => (index < 1 ? line : gnawed(line, () => die.next(), rate)) as RecordLine,
        );
        const record = recordOf(gone);
        const diagnosis = diagnose(record);
        assert.deepEqual(JSON.parse(JSON.stringify(diagnosis)), diagnosis);
        const { confidence } = diagnosis.verdict;
        assert.ok(confidence >= 0 && confidence <= 1);
        complaints(diagnosis.checks);
        const plan = planExperiments(record, allExperiments);
        assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
        assert.ok(!JSON.stringify(diagnosis).includes('NaN') && !JSON.stringify(diagnosis).includes('undefined'));
      },
    ),
    { numRuns: 150 },
  );
});

test('a pool of no workers is a pool of which nothing is known', () => {
  const [lines = []] = runs;
  const without = lines.map((line) =>
    line.kind === 'topology'
      ? {
          ...line,
          services: line.services.map((service) => ({
            ...service,
            replicas: service.replicas.map((replica) => ({ ...replica, workers: 0 })),
          })),
        }
      : line,
  );
  const diagnosis = diagnose(recordOf(without));
  assert.deepEqual(JSON.parse(JSON.stringify(diagnosis)), diagnosis);
  assert.ok(diagnosis.phases.every((phase) => phase.replicas.every((replica) => replica.utilisation === undefined)));
});

test('judging the same record twice gives the same diagnosis', () => {
  for (const lines of runs) assert.deepEqual(diagnose(recordOf(lines)), diagnose(recordOf(lines)));
});
