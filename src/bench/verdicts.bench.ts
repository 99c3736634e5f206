// How often is the verdict right? Runs scenarios on the real lab with other seeds, other slow replicas and other slow factors, and
// scores each verdict against what was really injected. Prints a line a run and a row a scenario, and puts the rows into
// docs/background/lab-verdicts.md.
//
//   npm run bench:verdicts                                          every scenario, three runs and more of each
//   npm run bench:verdicts -- --only black-hole,zone-skew --runs 3 --gateway plimsoll,haproxy
//   npm run bench:verdicts -- --only convoy --seed 7 --parallel 1 --dry      nothing is written
//
// A run takes a minute and a fifth of a core, so two at a time do not disturb each other on two cores.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { dice } from '../base.ts';
import { mergedRows, rowsOfPage, type VerdictRow, verdictPage } from './verdicts/page.ts';
import { type GatewayProgram, gatewayPrograms, type Plan, type PlanKind, planKinds } from './verdicts/plans.ts';

const said = z.object({
  pattern: z.string(),
  culprit: z.string().optional(),
  confidence: z.number(),
  sentence: z.string(),
});
type Said = z.infer<typeof said>;

interface Turn {
  readonly kind: PlanKind;
  readonly gateway: GatewayProgram | '–';
  readonly plan: Plan;
  readonly seed: number;
}

interface Outcome extends Turn {
  readonly verdict: Said;
  readonly right: boolean;
  readonly load: number;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string' },
    seed: { type: 'string', default: '1' },
    gateway: { type: 'string', default: 'plimsoll' },
    parallel: { type: 'string', default: '2' },
    dry: { type: 'boolean', default: false },
  },
});

const root = join(import.meta.dirname, '..', '..');
const pageFile = join(root, 'docs', 'background', 'lab-verdicts.md');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-verdicts-'));
const turns = [...turnsOf()];
const outcomes: Outcome[] = [];
let next = 0;
await Promise.all(Array.from({ length: Number(values.parallel) }, worker));
rmSync(folder, { recursive: true, force: true });

const fresh = rowsOf(outcomes);
for (const row of fresh) console.log(`${row.scenario} ${row.gateway}: ${row.right} of ${row.runs} right`);
if (!values.dry) {
  const old = existsSync(pageFile) ? rowsOfPage(readFileSync(pageFile, 'utf8')) : [];
  const rows = mergedRows(
    old,
    fresh,
    planKinds.map(({ name }) => name),
  );
  writeFileSync(pageFile, verdictPage(rows));
}

function* turnsOf(): Generator<Turn> {
  const only = values.only?.split(',');
  const wanted = values.gateway.split(',');
  for (const kind of planKinds) {
    if (only !== undefined && !only.includes(kind.name)) continue;
    const gateways = kind.gateways.length === 0 ? (['–'] as const) : gatewayPrograms.filter(isWanted);
    for (const gateway of gateways) {
      const die = dice(Number(values.seed), `verdicts of ${kind.name} through ${gateway}`);
      for (let count = 0; count < Number(values.runs ?? kind.runs); count++) {
        yield { kind, gateway, plan: kind.draw(die), seed: 1 + die.below(1e9) };
      }
    }
    function isWanted(program: GatewayProgram): boolean {
      return kind.gateways.includes(program) && wanted.includes(program);
    }
  }
}

async function worker(): Promise<void> {
  for (let index = next++; index < turns.length; index = next++) {
    const turn = turns[index];
    if (turn === undefined) return;
    const outcome = await outcomeOf(turn, index);
    outcomes.push(outcome);
    console.log(lineOf(outcome));
  }
}

async function outcomeOf(turn: Turn, index: number): Promise<Outcome> {
  const { plan } = turn;
  const verdict = await run(turn, join(folder, String(index)));
  const blamed = plan.culprit === undefined || (verdict.culprit ?? '').includes(plan.culprit);
  return { ...turn, verdict, right: verdict.pattern === plan.pattern && blamed, load: loadavg()[0] ?? 0 };
}

async function run({ plan, seed, gateway }: Turn, out: string): Promise<Said> {
  const launcher = join(root, 'bin', 'plimsoll.js');
  const args = ['run', plan.scenario, '--world', 'lab', '--seed', String(seed), '--quiet', '--json', '--out', out];
  if (gateway !== '–') args.push('--gateway', gateway);
  args.push(...plan.settings.flatMap((setting) => ['--set', setting]));
  const child = spawn(process.execPath, [launcher, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let stdout = '';
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  await new Promise((resolve) => child.on('close', resolve));
  if (stdout === '') return { pattern: 'no result', confidence: 0, sentence: lastLineOf(out) };
  return z.object({ verdict: said }).parse(JSON.parse(stdout)).verdict;
}

function lastLineOf(out: string): string {
  const record = join(out, 'record.jsonl');
  return existsSync(record) ? (readFileSync(record, 'utf8').split('\n').at(-2)?.slice(0, 300) ?? '') : 'no record';
}

function lineOf({ kind, gateway, plan, seed, verdict, right, load }: Outcome): string {
  const settings = plan.settings.map((setting) => setting.replace(/^.*\./, '')).join(' ');
  const told = `${verdict.pattern} ${verdict.culprit ?? ''} ${verdict.confidence}`;
  const word = right ? 'right' : 'WRONG';
  return `${word}  ${kind.name}  ${gateway}  seed ${seed}  ${settings}  load ${load.toFixed(1)}  →  ${told}${right ? '' : `  ${verdict.sentence}`}`;
}

function rowsOf(all: readonly Outcome[]): VerdictRow[] {
  const revision = revisionOf();
  const groups = Map.groupBy(all, ({ kind, gateway }) => `${kind.name} ${gateway}`);
  return [...groups.values()].flatMap((group): VerdictRow[] => {
    const [first] = group;
    if (first === undefined) return [];
    const loads = group.map(({ load }) => load).toSorted((one, other) => one - other);
    const others = group
      .filter(({ right }) => !right)
      .map(({ verdict, seed }) => `${[verdict.pattern, verdict.culprit ?? ''].join(' ').trim()} (seed ${seed})`);
    return [
      {
        scenario: first.kind.name,
        gateway: first.gateway,
        runs: group.length,
        right: group.filter(({ right }) => right).length,
        else: others.join(', '),
        load: `${(loads[Math.floor(loads.length / 2)] ?? 0).toFixed(1)}, ${(loads.at(-1) ?? 0).toFixed(1)}`,
        revision,
      },
    ];
  });
}

function revisionOf(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  } catch {
    return '–';
  }
}
