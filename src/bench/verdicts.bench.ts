// How often is the verdict right? Runs scenarios on the real lab with other seeds, other slow replicas and other slow
// factors, and scores each verdict against what was really injected. Prints a line a run and the counts at the end.
//
//   npm run bench:verdicts                        20 × convoy above the knee, 6 below it, 20 × healthy, 3 of each other
//   npm run bench:verdicts -- --only convoy --runs 5 --gateway haproxy --parallel 2
//
// A run takes a minute and a fifth of a core, so two at a time do not disturb each other on two cores.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { dice } from '../base.ts';

const said = z.object({
  pattern: z.string(),
  culprit: z.string().optional(),
  confidence: z.number(),
  sentence: z.string(),
});

interface Plan {
  readonly kind: string;
  readonly scenario: string;
  readonly settings: readonly string[];
  readonly pattern: string;
  readonly culprit: string | undefined;
  readonly experiments: string;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string' },
    seed: { type: 'string', default: '1' },
    gateway: { type: 'string', default: 'plimsoll' },
    parallel: { type: 'string', default: '2' },
  },
});

const die = dice(Number(values.seed), 'verdicts');
const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-verdicts-'));

const makers: Readonly<Record<string, { readonly runs: number; readonly plan: () => Plan }>> = {
  convoy: {
    runs: 20,
    plan: () => {
      const replica = `api-${1 + die.below(4)}`;
      const factor = (1.05 + die.next() * 0.45).toFixed(2);
      return {
        kind: 'convoy',
        scenario: 'convoy',
        settings: [`faults.0.slow.replica=${replica}`, `faults.0.slow.factor=${factor}`],
        pattern: 'convoy',
        culprit: replica,
        experiments: 'auto',
      };
    },
  },
  'below the knee': {
    runs: 6,
    plan: () => {
      const replica = `api-${1 + die.below(4)}`;
      const factor = (1.05 + die.next() * 0.45).toFixed(2);
      const crowd =
        die.below(2) === 0 ? ['demand.0.closed.users=12'] : ['demand.0.closed.users=40', 'demand.0.closed.think=100ms'];
      return {
        kind: 'below the knee',
        scenario: 'convoy',
        settings: [`faults.0.slow.replica=${replica}`, `faults.0.slow.factor=${factor}`, ...crowd],
        pattern: 'healthy',
        culprit: undefined,
        experiments: 'auto',
      };
    },
  },
  healthy: {
    runs: 20,
    plan: () => ({
      kind: 'healthy',
      scenario: 'healthy',
      settings: [],
      pattern: 'healthy',
      culprit: undefined,
      experiments: 'auto',
    }),
  },
  'slow-replica': {
    runs: 3,
    plan: () => {
      const replica = `api-${1 + die.below(4)}`;
      return {
        kind: 'slow-replica',
        scenario: 'slow-replica',
        settings: [`faults.0.slow.replica=${replica}`],
        pattern: 'slow-replica',
        culprit: replica,
        experiments: 'auto',
      };
    },
  },
  overload: {
    runs: 3,
    plan: () => ({
      kind: 'overload',
      scenario: 'overload',
      settings: [],
      pattern: 'overload',
      culprit: undefined,
      experiments: 'auto',
    }),
  },
  'pick-first': {
    runs: 3,
    plan: () => ({
      kind: 'pick-first',
      scenario: 'pick-first',
      settings: [],
      pattern: 'pick-first',
      culprit: 'callers',
      experiments: 'auto',
    }),
  },
};

const chosen = Object.entries(makers).filter(
  ([kind]) => values.only === undefined || values.only.split(',').includes(kind),
);
const plans = chosen.flatMap(([, maker]) =>
  Array.from({ length: values.runs === undefined ? maker.runs : Number(values.runs) }, () => maker.plan()),
);
const counts = new Map<string, { right: number; runs: number }>();
let next = 0;
await Promise.all(Array.from({ length: Number(values.parallel) }, worker));
for (const [kind, { right, runs }] of counts) console.log(`${kind}: ${right} of ${runs} right`);
rmSync(folder, { recursive: true, force: true });

async function worker(): Promise<void> {
  for (let index = next++; index < plans.length; index = next++) {
    const plan = plans[index];
    if (plan === undefined) return;
    const seed = 1 + die.below(1e9);
    const verdict = await run(plan, seed, index);
    const right =
      verdict.pattern === plan.pattern &&
      (plan.culprit === undefined || (verdict.culprit ?? '').includes(plan.culprit));
    const count = counts.get(plan.kind) ?? { right: 0, runs: 0 };
    counts.set(plan.kind, { right: count.right + (right ? 1 : 0), runs: count.runs + 1 });
    const settings = plan.settings.map((setting) => setting.replace(/^.*\./, '')).join(' ');
    console.log(
      `${right ? 'right' : 'WRONG'}  ${plan.kind}  seed ${seed}  ${settings}  →  ${verdict.pattern} ${verdict.culprit ?? ''} ${verdict.confidence}${right ? '' : `  ${verdict.sentence}`}`,
    );
  }
}

async function run(plan: Plan, seed: number, index: number): Promise<z.infer<typeof said>> {
  const out = join(folder, String(index));
  const args = ['run', plan.scenario, '--seed', String(seed), '--quiet', '--json', '--out', out];
  args.push(
    '--gateway',
    values.gateway,
    '--experiments',
    plan.experiments,
    ...plan.settings.flatMap((setting) => ['--set', setting]),
  );
  const child = spawn(process.execPath, [launcher, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let stdout = '';
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  await new Promise((resolve) => child.on('close', resolve));
  if (stdout === '') return { pattern: 'no result', confidence: 0, sentence: readTail(out) };
  return z.object({ verdict: said }).parse(JSON.parse(stdout)).verdict;
}

function readTail(out: string): string {
  try {
    return readFileSync(join(out, 'record.jsonl'), 'utf8').split('\n').at(-2)?.slice(0, 300) ?? '';
  } catch {
    return 'no record';
  }
}
