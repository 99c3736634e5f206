import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../../base.ts';
import { dossierTheories, theories } from '../../diagnose.ts';
import { builtinScenarios, parseScenario } from '../../scenario.ts';
import { mergedRows, rowsOfPage, type VerdictRow, verdictPage } from './page.ts';
import { planKinds } from './plans.ts';

const row = (scenario: string, gateway: string, right: number): VerdictRow => ({
  scenario,
  gateway,
  runs: 3,
  right,
  else: right === 3 ? '' : 'undecided (seed 7)',
  load: '1.2, 2.0',
  revision: 'abc1234',
});

test('a page tells the rows that it was written from', () => {
  const rows = [row('convoy', 'plimsoll', 3), row('zone-skew', '–', 2)];
  assert.deepEqual(rowsOfPage(verdictPage(rows)), rows);
  assert.match(verdictPage(rows), /5 of 6 right/);
});

test('new rows stand in the places of the old, in the order of the scenarios and of their balancers', () => {
  const old = [row('convoy', 'haproxy', 1), row('gone', 'plimsoll', 3), row('zone-skew', '–', 1)];
  const merged = mergedRows(old, [row('convoy', 'haproxy', 3), row('convoy', 'plimsoll', 2)], ['convoy', 'zone-skew']);
  assert.deepEqual(
    merged.map(({ scenario, gateway, right }) => [scenario, gateway, right]),
    [
      ['convoy', 'plimsoll', 2],
      ['convoy', 'haproxy', 3],
      ['zone-skew', '–', 1],
    ],
  );
});

test('every plan is a scenario that parses, with a verdict that some theory gives', () => {
  const patterns = new Set<string>([
    ...theories.map(({ pattern }) => pattern),
    ...dossierTheories.map(({ slug }) => slug),
  ]);
  for (const kind of planKinds) {
    for (let seed = 1; seed <= 5; seed++) {
      const { scenario, settings, pattern } = kind.draw(dice(seed, 'plans'));
      const source = builtinScenarios.find(({ name }) => name === scenario)?.text ?? '';
      const parsed = parseScenario(source, scenario, settings);
      assert.ok('scenario' in parsed, `${scenario} ${settings.join(' ')}`);
      assert.ok(patterns.has(pattern), pattern);
      assert.equal(
        kind.gateways.length > 0,
        parsed.scenario.topology.gateway !== undefined && pattern !== '',
        scenario,
      );
    }
  }
});

test('every built-in scenario has its plan', () => {
  const planned = new Set(planKinds.map((kind) => kind.draw(dice(1, 'plans')).scenario));
  for (const { name } of builtinScenarios) assert.ok(planned.has(name), name);
});
