// An objective that says `or abort` ends the run: its baseline before its time, and no experiment after it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectiveResult } from '../load.ts';
import type { RecordLine } from '../record.ts';
import { builtinScenarios, parseScenario } from '../scenario.ts';
import { conduct } from './conduct.ts';
import { simWorld } from './sim-world.ts';
import type { World } from './world.ts';

const broken: ObjectiveResult = {
  metric: 'http_req_failed',
  expression: 'rate<0.1 or abort',
  observed: 0.5,
  met: false,
};

/** The convoy in imagined time, whose baseline `ends` as it is told to. */
async function run(ends: readonly ObjectiveResult[]) {
  const parsed = parseScenario(builtinScenarios.find(({ name }) => name === 'convoy')?.text ?? '', 'convoy');
  assert.ok('scenario' in parsed);
  const { scenario } = parsed;
  const imagined = simWorld({ scenario, seed: 1 });
  const played: string[] = [];
  const world: World = {
    ...imagined,
    play: async (arrangement, tell, stop) => {
      played.push(arrangement.name);
      return { ...(await imagined.play(arrangement, tell, stop)), broken: ends };
    },
  };
  const lines: RecordLine[] = [];
  const result = await conduct({
    id: 'test',
    scenario,
    world,
    seed: 1,
    startedAt: '2026-11-30T00:00:00Z',
    environment: { plimsoll: 'test' },
    experiments: 'auto',
    tell: (line) => lines.push(line),
    stop: new AbortController().signal,
  });
  return { played, end: lines.at(-1), result };
}

test('no experiment follows a baseline that an objective has ended, and the record says which', async () => {
  const { played, end, result } = await run([broken]);
  assert.deepEqual(played, ['baseline']);
  assert.deepEqual(end?.kind === 'end' && [end.reason, end.detail], ['objective', 'http_req_failed rate<0.1 or abort']);
  assert.ok(result.diagnosis.verdict.pattern.length > 0, 'what was seen is judged all the same');
});

test('a baseline that runs its time is followed by its experiments', async () => {
  const { played, end } = await run([]);
  assert.ok(played.length > 1);
  assert.equal(end?.kind === 'end' && end.reason, 'finished');
});
