// Every built-in scenario in the lab and in imagined time, figure beside figure. Writes the table to docs/background/twins.md.
//
//   npm run bench:twins                     all scenarios
//   npm run bench:twins -- --only convoy    one of them, printed and not written

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ns } from '../base.ts';
import { measuredTicks, type PhaseRecord, type RunRecord } from '../record.ts';
import { builtinScenarios, onlyImagined, parseForLab, type Scenario } from '../scenario.ts';
import { figuresOf } from './figures.ts';
import { replicate, seedsFrom } from './replications.ts';
import { labRecord, usualLag } from './testing/lab-record.ts';
import { type Twin, twinsOf } from './twins.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, seed: { type: 'string', default: '1' } } });
const seed = Number(values.seed);
const rows: string[] = [];
/** Figures that strayed in a first run and not in a second one. */
const byChance: string[] = [];
let strays = 0;

for (const { name, text } of builtinScenarios) {
  if (values.only !== undefined && values.only !== name) continue;
  const parsed = parseForLab(text, name);
  if (!('scenario' in parsed)) throw new Error(`${name} is not a scenario`);
  const { scenario } = parsed;
  if (onlyImagined(scenario).length > 0) continue;
  const twins = await played(scenario);
  if (twins === undefined) rows.push(`| ${name} | – | – | – | – | not measured: the machine was too busy |`);
  else rows.push(...twins.map((twin) => row(name, twin)));
  console.log(rows.slice(-(twins?.length ?? 1)).join('\n'));
  strays += twins?.filter(({ agrees }) => !agrees).length ?? 0;
}
if (values.only === undefined) {
  const folder = join(import.meta.dirname, '..', '..', 'docs', 'background');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'twins.md'), page(rows));
}
console.log(strays === 0 ? 'the worlds agree' : `${strays} figures stray`);
process.exitCode = strays === 0 ? 0 : 1;

/** Both worlds. One run in fifty strays by chance, and there are many figures: so what strays has to stray again, with another seed. */
async function played(scenario: Scenario): Promise<readonly Twin[] | undefined> {
  for (const own of [seed, seed + 1]) {
    const record = await quietRecord(scenario.name, own);
    const phase = record?.phases[0];
    if (phase === undefined) return undefined;
    const balanced = new Set(scenario.topology.services.map((service) => service.name));
    const { figures } = figuresOf(phase, (id) => balanced.has(id.replace(/-\d+$/, '')));
    const alike = withProcessorTime(scenario, phase);
    const twins = twinsOf(
      figures,
      seedsFrom(own, 20).map((each) => replicate(alike, each)),
    );
    const astray = twins.filter(({ agrees }) => !agrees);
    if (astray.length === 0 || own !== seed) return twins;
    byChance.push(...astray.map((twin) => `${scenario.name}, ${twin.figure}`));
    console.log(
      `${scenario.name}: ${astray.map((twin) => twin.figure).join(', ')} strayed; once more with seed ${own + 1}`,
    );
  }
  return undefined;
}

/** Where a quota makes processor time scarce, a request costs what the lab's processes used for it: what a scenario states, and
 * parsing, writing and being scraped besides. */
function withProcessorTime(scenario: Scenario, phase: PhaseRecord): Scenario {
  const { services } = scenario.topology;
  if (services.every(({ cpuQuota }) => cpuQuota === undefined)) return scenario;
  const ticks = measuredTicks(phase).flatMap(({ replicas }) => replicas);
  const finished = ticks.reduce((sum, { finished: own = 0 }) => sum + own, 0);
  const used = ticks.reduce((sum, { cpu_ns: own = 0 }) => sum + own, 0);
  if (finished === 0) return scenario;
  const cpuTime = { kind: 'constant', value: ns(used / finished) } as const;
  return {
    ...scenario,
    topology: { ...scenario.topology, services: services.map((service) => ({ ...service, cpuTime })) },
  };
}

/** A generator that is itself late measures the machine and not the fleet: then once more, three times at most. */
async function quietRecord(name: string, own: number): Promise<RunRecord | undefined> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const record = await labRecord(name, own, []);
    const lag = usualLag(record);
    if (lag <= 5e6) return record;
    console.log(`${name}: the generator was usually ${(lag / 1e6).toFixed(0)} ms late, so this run does not count`);
  }
  return undefined;
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

Does the simulator tell the truth? Every built-in scenario is played in the lab once, with real processes and real sockets,
and in imagined time twenty times; one that is too large for a machine on the scale that it states for the lab. The table
shows both, and the interval in which the lab's figure has to lie:

- throughput, and where clients ask again the tries for each request, within 5 % of the simulator's mean;
- each replica's share of what is in flight within 10 points;
- the failed share within 2 points;
- or within where one run in fifty would stray by chance alone, where that is further;
- quantiles within that interval widened by 10 % and 3 ms for what the model leaves out: sockets, the proxy's own work, timers of
  a millisecond.

Where a quota makes processor time scarce, the simulator is given what the lab's processes used for a request: the scenario's, and the
replica's own work besides.

With so many figures one or two stray by chance. A scenario in which one does is played once more with another seed, and that run is shown
${byChance.length === 0 ? '(none was needed this time)' : `(this time: ${byChance.join('; ')})`}.

\`npm run bench:twins\` plays them all and writes this page; it fails when a figure strays.

| scenario | figure | lab | simulator | allowed | agrees |
| --- | --- | ---: | ---: | ---: | --- |
${table.join('\n')}
`;
}
