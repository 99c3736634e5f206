// Every built-in scenario in the lab and in imagined time, figure beside figure. Writes the table to docs/background/twins.md.
//
//   npm run bench:twins                     all scenarios
//   npm run bench:twins -- --only convoy    one of them, printed and not written

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RunRecord } from '../record.ts';
import { builtinScenarios, onlyImagined, parseScenario, type Scenario } from '../scenario.ts';
import { figuresOf } from './figures.ts';
import { replicate, seedsFrom } from './replications.ts';
import { labRecord, usualLag } from './testing/lab-record.ts';
import { type Twin, twinsOf } from './twins.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, seed: { type: 'string', default: '1' } } });
const seed = Number(values.seed);
const rows: string[] = [];
let strays = 0;

for (const { name, text } of builtinScenarios) {
  if (values.only !== undefined && values.only !== name) continue;
  const parsed = parseScenario(text, name);
  if (!('scenario' in parsed)) throw new Error(`${name} is not a scenario`);
  const { scenario } = parsed;
  if (!playsInLab(scenario)) continue;
  const record = await quietRecord(name);
  if (record === undefined) {
    rows.push(`| ${name} | – | – | – | – | not measured: the machine was too busy |`);
    console.log(rows.at(-1));
    continue;
  }
  const phase = record.phases[0];
  if (phase === undefined) throw new Error(`${name}: the lab recorded no phase`);
  const balanced = new Set(scenario.topology.services.map((service) => service.name));
  const { figures } = figuresOf(phase, (id) => balanced.has(id.replace(/-\d+$/, '')));
  const sim = seedsFrom(seed, 20).map((each) => replicate(scenario, each));
  for (const twin of twinsOf(figures, sim)) {
    if (!twin.agrees) strays += 1;
    rows.push(row(name, twin));
    console.log(rows.at(-1));
  }
}
if (values.only === undefined) {
  const folder = join(import.meta.dirname, '..', '..', 'docs', 'background');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'twins.md'), page(rows));
}
console.log(strays === 0 ? 'the worlds agree' : `${strays} figures stray`);
process.exitCode = strays === 0 ? 0 : 1;

/** A generator that is itself late measures the machine and not the fleet: then once more, three times at most. */
async function quietRecord(name: string): Promise<RunRecord | undefined> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const record = await labRecord(name, seed, []);
    const lag = usualLag(record);
    if (lag <= 5e6) return record;
    console.log(`${name}: the generator was usually ${(lag / 1e6).toFixed(0)} ms late, so this run does not count`);
  }
  return undefined;
}

/** What only the simulator has is not asked of the lab. */
function playsInLab(scenario: Scenario): boolean {
  const { clients } = scenario.topology;
  return (
    onlyImagined(scenario).length === 0 && clients.every((group) => group.retry === undefined && group.pinned !== true)
  );
}

function row(scenario: string, twin: Twin): string {
  const show = (value: number): string => shown(value, twin.unit);
  const verdict = twin.agrees ? 'yes' : '**no**';
  return `| ${scenario} | ${twin.figure} | ${show(twin.lab)} | ${show(twin.sim)} | ${show(twin.low)} … ${show(twin.high)} | ${verdict} |`;
}

function shown(value: number, unit: Twin['unit']): string {
  if (unit === 'share') return `${(value * 100).toFixed(1)} %`;
  if (unit === 'nanoseconds') return `${(value / 1e6).toFixed(1)} ms`;
  return unit === 'per-second' ? `${value.toFixed(1)}/s` : value.toFixed(2);
}

function page(table: readonly string[]): string {
  return `# Twins: one scenario in two worlds

Does the simulator tell the truth? Every built-in scenario that the lab can play is played there once, with real processes and real
sockets, and in imagined time twenty times. The table shows both, and the interval in which the lab's figure has to lie:

- throughput within 5 % of the simulator's mean;
- each replica's share of what is in flight within 10 points;
- the failed share within 2 points;
- or within where one run in fifty would stray by chance alone, where that is further;
- quantiles within that interval widened by 10 % and 3 ms for what the model leaves out: sockets, the proxy's own work, timers of
  a millisecond.

\`npm run bench:twins\` plays them all and writes this page; it fails when a figure strays.

| scenario | figure | lab | simulator | allowed | agrees |
| --- | --- | ---: | ---: | ---: | --- |
${table.join('\n')}
`;
}
