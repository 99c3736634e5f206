// The tables of docs/background/no-healthy-upstream.md and docs/background/convoy-by-policy.md, measured in the lab.
//
//   npm run bench:stories -- stall                     the datastore stalls, with and without budgets
//   npm run bench:stories -- convoy                    the convoy under five policies, half a minute each
//   npm run bench:stories -- convoy --policy prequal   one of them

import { parseArgs } from 'node:util';
import { figuresOf } from './figures.ts';
import { playThroughGateway } from './gateway-plays.ts';
import { budgets, convoyPolicies, latencyOf, scenarioWith, stallFigures, stallSettings } from './gateway-stories.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { policy: { type: 'string', multiple: true }, seed: { type: 'string', default: '1' } },
});
const seed = Number(values.seed);

switch (positionals[0]) {
  case 'stall':
    await stall();
    break;
  case 'convoy':
    await convoy(values.policy ?? convoyPolicies);
    break;
  default:
    console.error('say which story: stall or convoy');
    process.exitCode = 2;
}

async function stall(): Promise<void> {
  const scenario = scenarioWith('no-healthy-upstream', stallSettings);
  const fault = scenario.faults[0];
  const end = ((fault?.at ?? 0) + (fault?.for ?? 0)) / 1e9;
  console.log(
    '| budgets | answered | taken out | 503, nobody healthy | good again after | most in flight at a replica |',
  );
  console.log(
    '| ------- | -------- | --------- | ------------------- | ---------------- | --------------------------- |',
  );
  for (const which of ['off', 'on'] as const) {
    const { phase, page } = await playThroughGateway(scenario, budgets[which], seed);
    const figures = stallFigures(phase, page, end);
    const recovery = figures.recoverySeconds === undefined ? 'never' : `${figures.recoverySeconds.toFixed(0)} s`;
    const { answered, planned, falls, nobodyHealthy, inFlightMost } = figures;
    console.log(
      `| ${which} | ${answered} of ${planned} | ${falls} times | ${nobodyHealthy} | ${recovery} | ${inFlightMost.toFixed(1)} |`,
    );
  }
}

async function convoy(policies: readonly string[]): Promise<void> {
  const scenario = scenarioWith('convoy', []);
  console.log('| policy | throughput | p50 | p90 | p99 | in flight at api-1 | **api-2** | api-3 | api-4 |');
  console.log('| ------ | ---------- | --- | --- | --- | ------------------ | --------- | ----- | ----- |');
  for (const policy of policies) {
    const { phase } = await playThroughGateway(scenario, { policy }, seed);
    const { figures } = figuresOf(phase);
    const value = (name: string): number => figures.find((figure) => figure.name === name)?.value ?? Number.NaN;
    const latency = latencyOf(phase);
    const quantile = (share: number): string =>
      `${((latency.quantile(share)?.value ?? Number.NaN) / 1e6).toFixed(0)} ms`;
    const held = ['api-1', 'api-2', 'api-3', 'api-4'].map(
      (id) => `${(value(`in flight at ${id}`) * 100).toFixed(0)} %`,
    );
    const shown = [
      policy,
      `${value('throughput').toFixed(0)}/s`,
      quantile(0.5),
      quantile(0.9),
      quantile(0.99),
      ...held,
    ];
    console.log(`| ${shown.join(' | ')} |`);
  }
}
