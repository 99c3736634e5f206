// How often does `compare` reject what is equal, and how much worse must a release be before it is caught? Many comparisons in
// imagined time, each of its own A-B-B-A runs, with seeds that nothing else uses. Prints a row a case.
//
//   npm run bench:compare                      300 comparisons of equal sides a fleet, 40 of each worse release
//   npm run bench:compare -- --equal 50 --worse 10 --seed 7

import { parseArgs } from 'node:util';
import { recordOf, type RunRecord } from '../../record.ts';
import { baselineOf } from '../../scenario.ts';
import { simulate } from '../../sim.ts';
import { binomialUpperBound } from '../../stats.ts';
import { scenarioWith } from '../testing/imagined-sides.ts';
import { compareRuns } from './compare.ts';
import { defaultSmallest } from './run-figures.ts';

const { values } = parseArgs({
  options: {
    equal: { type: 'string', default: '300' },
    worse: { type: 'string', default: '40' },
    seed: { type: 'string', default: '9000000' },
  },
});
const short = ['warm_up=3s', 'duration=12s'];
let seed = Number(values.seed);

interface Case {
  readonly name: string;
  readonly scenario: string;
  readonly settings: readonly string[];
  readonly candidate: readonly string[];
  readonly comparisons: number;
}

const equal = (name: string, scenario: string, settings: readonly string[]): Case => ({
  name: `equal: ${name}`,
  scenario,
  settings,
  candidate: [],
  comparisons: Number(values.equal),
});

const slower = (percent: number): Case => ({
  name: `service time +${percent} %, below the knee`,
  scenario: 'healthy',
  settings: [],
  candidate: [`services.api.service_time=exponential ${20 * (1 + percent / 100)}ms`],
  comparisons: Number(values.worse),
});

const cases: readonly Case[] = [
  equal('below the knee', 'healthy', []),
  equal('a saturated closed loop', 'convoy', ['faults.0.slow.factor=1']),
  equal('a convoy on both sides', 'convoy', []),
  slower(3),
  slower(5),
  slower(10),
  slower(20),
  {
    name: 'one replica of four slower by 15 %, a convoy',
    scenario: 'convoy',
    settings: ['faults.0.slow.factor=1'],
    candidate: ['faults.0.slow.factor=1.15'],
    comparisons: Number(values.worse),
  },
];

console.log('| sides | comparisons | reject | conditional | sign off | equal sides rejected at most (95 %) |');
console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
for (const one of cases) {
  const counts = { reject: 0, conditional: 0, 'sign off': 0 };
  for (let index = 0; index < one.comparisons; index++) {
    const [base, candidate] = sides(one);
    const comparison = compareRuns(base, candidate, { smallest: defaultSmallest, objectives: [] });
    if (typeof comparison !== 'string') counts[comparison.verdict] += 1;
  }
  const most = one.name.startsWith('equal') ? percentOf(binomialUpperBound(counts.reject, one.comparisons)) : '';
  const shares = (['reject', 'conditional', 'sign off'] as const).map((verdict) => counts[verdict]);
  console.log(`| ${one.name} | ${one.comparisons} | ${shares.join(' | ')} | ${most} |`);
}

function percentOf(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}

/** Two rounds of A-B-B-A; the start of each run stands in for the clock. */
function sides({ scenario, settings, candidate }: Case): readonly [readonly RunRecord[], readonly RunRecord[]] {
  const found: [RunRecord[], RunRecord[]] = [[], []];
  for (const [place, side] of ([0, 1, 1, 0, 0, 1, 1, 0] as const).entries()) {
    const played = scenarioWith(scenario, [...settings, ...short, ...(side === 0 ? [] : candidate)]);
    const record = recordOf([...simulate(played, { seed: seed++, phases: [{ arrangement: baselineOf(played) }] })]);
    const started_at = new Date(Date.UTC(2026, 0, 1, 0, place)).toISOString();
    found[side].push({ ...record, header: { ...record.header, started_at } });
  }
  return found;
}
