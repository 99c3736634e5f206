// `npm test`: everything that must hold before a change is kept, in one command. Cheap stages first; the first that fails
// ends the run and names those that were not reached. The test runner's own summary is the last thing printed.
//
//   npm test                                   all stages
//   node tools/check.ts --only types           one stage; --only may be given several times
//   node tools/check.ts --only tests src/policy tools/tidy/imports.test.ts
//                                              the tests under these paths

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { killHungFiles } from './hung-files.ts';
import { openTree } from './tree.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const nodeNeeded = 26;

interface Stage {
  readonly name: string;
  /** What it holds the tree against, for the heading. */
  readonly about: string;
  /** Arguments of the Node that runs this file. */
  readonly command: readonly string[];
}

/** The program called `name` of an installed package, as an argument for Node. */
function program(packageName: string, name: string): string {
  return join(root, 'node_modules', packageName, 'bin', name);
}

const stages: readonly Stage[] = [
  { name: 'format', about: 'oxfmt', command: [program('oxfmt', 'oxfmt'), '--check', '.'] },
  { name: 'types', about: 'TypeScript', command: [program('typescript', 'tsc'), '--noEmit'] },
  {
    name: 'pure',
    about: 'TypeScript once more, the pure rooms without ambient types',
    command: [program('typescript', 'tsc'), '--noEmit', '-p', 'tsconfig.pure.json'],
  },
  { name: 'lint', about: 'oxlint, with types', command: [program('oxlint', 'oxlint')] },
];

/** A test that waits in vain fails after this long; a file that does not end, after longer (file-deadline.ts); and one that
 * spins, at last. So the run always ends, and can say which it was. */
const testTimeoutMs = 60_000;
const spinningMs = 120_000;

/** The tests under these paths (all of them by default), each file in a process of its own behind the guard. */
function tests(paths: readonly string[]): Stage {
  const below = paths.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''));
  const files = openTree(root)
    .files.filter((file) => /^(src|tools)\/.*\.test\.ts$/.test(file))
    .filter((file) => below.length === 0 || below.some((path) => file === path || file.startsWith(`${path}/`)));
  if (files.length === 0) usage(`no test under ${paths.join(', ')}`);
  const options = [
    '--test',
    '--test-reporter=spec',
    `--test-concurrency=${availableParallelism()}`,
    `--test-timeout=${testTimeoutMs}`,
    '--disable-warning=ExperimentalWarning',
    ...['pure-guard.ts', 'file-deadline.ts', 'property-seed.ts'].flatMap((preload) => [
      '--import',
      join(root, 'tools', preload),
    ]),
  ];
  return {
    name: 'tests',
    about: `${files.length} ${files.length === 1 ? 'file' : 'files'}`,
    command: [...options, ...files],
  };
}

async function main(): Promise<void> {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < nodeNeeded) {
    usage(
      `this is Node ${process.versions.node} and the tests need ${nodeNeeded}: start them with "npm test" after "npm ci"`,
    );
  }
  const { only, paths } = readArguments();
  const all = [...stages, tests(paths)];
  const unknown = only.find((name) => !all.some((stage) => stage.name === name));
  if (unknown !== undefined) usage(`no stage "${unknown}"; there are ${all.map(({ name }) => name).join(', ')}`);

  const chosen = all.filter(({ name }) => only.length === 0 || only.includes(name));
  for (const [index, stage] of chosen.entries()) {
    const code = await run(stage);
    if (code === 0) continue;
    const missed = chosen.slice(index + 1).map(({ name }) => name);
    if (missed.length > 0) say(`\n${stage.name} failed. Not run: ${missed.join(', ')}.`);
    process.exitCode = code;
    return;
  }
}

function readArguments(): { readonly only: readonly string[]; readonly paths: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      options: { only: { type: 'string', multiple: true } },
      allowPositionals: true,
    });
    // Paths choose among tests, so they choose the tests.
    const only = values.only ?? (positionals.length > 0 ? ['tests'] : []);
    return { only, paths: positionals };
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
}

/** Runs one stage to its end, its output passed through. Returns its exit code. */
async function run({ name, about, command }: Stage): Promise<number> {
  say(`\n── ${name} · ${about} `.padEnd(100, '─'));
  const begun = performance.now();
  const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit', env: environment() });
  const watch = name === 'tests' ? killHungFiles(child.pid ?? 0, spinningMs, 5000, say) : undefined;
  await once(child, 'exit');
  clearInterval(watch);
  if (child.signalCode !== null) say(`${name} was ended by ${child.signalCode}`);
  if (name !== 'tests') say(`${((performance.now() - begun) / 1000).toFixed(1)} s`);
  return child.exitCode ?? 1;
}

/**
 * Stages and what they start find the same Node and the same programs first, wherever this was started from, and share what
 * Node has compiled: a hundred test files load the same modules.
 */
function environment(): NodeJS.ProcessEnv {
  return {
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
    ...process.env,
    PATH: `${join(root, 'node_modules', '.bin')}:${process.env['PATH'] ?? ''}`,
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function usage(problem: string): never {
  process.stderr.write(`check: ${problem}\n`);
  process.exit(2);
}

await main();
