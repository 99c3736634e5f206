// `plimsoll compare BASE CANDIDATE`, or `plimsoll compare --run SCENARIO --set …`: may the candidate be released?
//
// Runs that are made here alternate A-B-B-A, each a process of its own that knows nothing of the others.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { compareRuns, defaultSmallest, figureKinds, type Smallest } from '../../bench.ts';
import type { Comparison } from '../../diagnose.ts';
import { chanceSeed } from '../../host.ts';
import type { RunRecord } from '../../record.ts';
import { comparisonJunit, comparisonMarkdown, comparisonText } from '../../report.ts';
import { didYouMean, type Objective } from '../../scenario.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { loadScenario } from '../load-scenario.ts';
import { objectiveOf } from '../objective-flag.ts';
import { readRecordAt } from '../read-evidence.ts';
import { columnsOf, paintFor } from '../terminal.ts';

const whole = (max: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(max));

const flags = z.object({
  run: z.string().optional(),
  set: z.array(z.string()).default([]),
  baseSet: z.array(z.string()).default([]),
  world: z.enum(['lab', 'sim']),
  gateway: z.enum(['plimsoll', 'haproxy', 'nginx', 'envoy']),
  duration: z.string().optional(),
  rounds: whole(50),
  seed: whole(1e15).optional(),
  out: z.string().optional(),
  smallestEffect: z.array(z.string()).default([]),
  objective: z.array(z.string()).default([]),
  json: z.boolean().optional(),
  markdown: z.boolean().optional(),
  junit: z.string().optional(),
});

type Flags = z.infer<typeof flags>;

export async function compare(paths: readonly string[], options: object): Promise<ExitCode> {
  const parsed = flags.safeParse(options);
  if (!parsed.success) {
    throw new UsageError(parsed.error.issues.map((issue) => `--${flagOf(issue.path[0])}: ${issue.message}`).join('\n'));
  }
  const chosen = parsed.data;
  const settings = { smallest: smallestOf(chosen.smallestEffect), objectives: objectivesOf(chosen.objective) };
  const [base, candidate] = await sidesOf(paths, chosen);
  const comparison = compareRuns(base, candidate, settings);
  if (typeof comparison === 'string') throw new UsageError(`compare: ${comparison}`);
  if (chosen.junit !== undefined) writeFileSync(chosen.junit, comparisonJunit(comparison));
  process.stdout.write(`${said(comparison, chosen).join('\n')}\n`);
  return { 'sign off': exit.ok, conditional: exit.conditional, reject: exit.rejected }[comparison.verdict];
}

function said(comparison: Comparison, { json, markdown }: Flags): readonly string[] {
  if (json === true) return [JSON.stringify({ schema: 'plimsoll.dev/comparison/v1', ...comparison }, undefined, 2)];
  if (markdown === true) return comparisonMarkdown(comparison);
  return comparisonText(comparison, columnsOf(process.stdout), paintFor(process.stdout));
}

type Sides = readonly [readonly RunRecord[], readonly RunRecord[]];

async function sidesOf(paths: readonly string[], chosen: Flags): Promise<Sides> {
  if (chosen.run === undefined) {
    const [base, candidate] = paths;
    if (base === undefined || candidate === undefined || paths.length > 2) {
      throw new UsageError(
        `compare: found ${paths.length} paths, expected two (the base and the candidate, each a record, the folder of a run, or a folder of such), or --run SCENARIO`,
      );
    }
    return [await recordsAt(base), await recordsAt(candidate)];
  }
  if (paths.length > 0) throw new UsageError('compare: --run makes the runs itself; leave the paths out');
  if (chosen.set.length === 0 && chosen.baseSet.length === 0) {
    throw new UsageError(
      'compare: --run needs what differs, such as --set services.api.service_time="exponential 23ms"',
    );
  }
  return playedSides(chosen.run, chosen);
}

/** One record, or those of every run in the folder. */
async function recordsAt(path: string): Promise<readonly RunRecord[]> {
  if (existsSync(path) && statSync(path).isDirectory() && !existsSync(join(path, 'record.jsonl'))) {
    const runs = readdirSync(path)
      .toSorted()
      .map((name) => join(path, name))
      .filter((inner) => existsSync(join(inner, 'record.jsonl')) || /\.jsonl(?:\.gz)?$/.test(inner));
    if (runs.length === 0) {
      throw new UsageError(`${path}: there is no run in it; expected record files or folders with a record.jsonl each`);
    }
    return Promise.all(runs.map(recordAt));
  }
  return [await recordAt(path)];
}

async function recordAt(path: string): Promise<RunRecord> {
  const { record, remarks } = await readRecordAt(path);
  for (const remark of remarks) process.stderr.write(`${remark}\n`);
  return record;
}

/** `rounds` times base, candidate, candidate, base. */
async function playedSides(nameOrFile: string, chosen: Flags): Promise<Sides> {
  // What is wrong with the scenario is said once, before anything is started.
  loadScenario(nameOrFile, chosen.baseSet);
  loadScenario(nameOrFile, [...chosen.baseSet, ...chosen.set]);
  const started = new Date().toISOString().replaceAll(/[-:]/g, '').slice(0, 15);
  const folder = resolve(chosen.out ?? join('plimsoll-runs', `${started}-compare`));
  const seed = chosen.seed ?? chanceSeed();
  const sides: [RunRecord[], RunRecord[]] = [[], []];
  const order = Array.from({ length: chosen.rounds }, () => [0, 1, 1, 0] as const).flat();
  for (const [index, side] of order.entries()) {
    const name = side === 0 ? 'base' : 'candidate';
    const out = join(folder, name, String(index + 1).padStart(2, '0'));
    mkdirSync(join(folder, name), { recursive: true });
    process.stderr.write(`${index + 1} of ${order.length}: ${name}\n`);
    const settings = side === 0 ? chosen.baseSet : [...chosen.baseSet, ...chosen.set];
    await play([nameOrFile, ...runFlags(chosen, settings, seed + index, out)]);
    sides[side].push(await recordAt(out));
  }
  process.stderr.write(`runs: ${folder}\n`);
  return sides;
}

function runFlags(chosen: Flags, settings: readonly string[], seed: number, out: string): readonly string[] {
  return [
    '--world',
    chosen.world,
    '--gateway',
    chosen.gateway,
    '--experiments',
    'none',
    '--quiet',
    '--seed',
    String(seed),
    '--out',
    out,
    ...(chosen.duration === undefined ? [] : ['--duration', chosen.duration]),
    ...settings.flatMap((setting) => ['--set', setting]),
  ];
}

/** A run in a process of its own. What it found wrong with the service is no failure here; that it could not run is. */
function play(args: readonly string[]): Promise<void> {
  const main = join(import.meta.dirname, '..', 'main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'run', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let talk = '';
  child.stderr.on('data', (piece: Buffer) => (talk += piece.toString()));
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => {
      const ran = code === exit.ok || code === exit.fault || code === exit.objective;
      if (ran) done();
      else failed(new UsageError(`a run ended with code ${code}\n${talk.trim()}`));
    });
  });
}

/** `3%` for all, `p99=10%` for one. */
function smallestOf(texts: readonly string[]): Smallest {
  const known = figureKinds(defaultSmallest).map(({ name }) => name);
  let all: number | undefined;
  const own = new Map<string, number>();
  for (const text of texts) {
    const [, name, percent] = /^(?:(.+)=)?(\d+(?:\.\d+)?)\s*%$/.exec(text) ?? [];
    const share = Number(percent) / 100;
    if (percent === undefined || share <= 0) {
      throw new UsageError(`--smallest-effect: found "${text}", expected a share such as 3% or p99=10%`);
    }
    if (name === undefined) all = share;
    else if (known.includes(name)) own.set(name, share);
    else {
      throw new UsageError(
        `--smallest-effect: there is no figure "${name}".${didYouMean(name, known)} There are ${known.join(', ')}`,
      );
    }
  }
  return all === undefined
    ? { all: defaultSmallest.all, own: new Map([...defaultSmallest.own, ...own]) }
    : { all, own };
}

function objectivesOf(lines: readonly string[]): readonly Objective[] {
  return lines.map((line) => {
    const objective = objectiveOf(line);
    if (typeof objective === 'string') throw new UsageError(`--objective "${line}": ${objective}`);
    if (objective.filters === undefined && objective.window === undefined) return objective;
    throw new UsageError(
      `--objective "${line}": a record tells of all requests of a run together; leave the filter and the window out`,
    );
  });
}

const flagOf = (key: PropertyKey | undefined): string =>
  String(key).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
