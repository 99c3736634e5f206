// The program as a person or a pipeline meets it: real processes on loopback, a few seconds each.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const resultShape = z.object({
  schema: z.literal('plimsoll.dev/result/v1'),
  seed: z.number(),
  verdict: z.looseObject({ pattern: z.string(), culprit: z.string().optional() }),
  limits: z.array(z.string()),
  ledgers: z.array(
    z.object({
      planned: z.number(),
      answered: z.number(),
      failed: z.number(),
      timed_out: z.number(),
      refused: z.number(),
      in_flight_at_end: z.number(),
      never_sent: z.number(),
    }),
  ),
});

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
  return { child, ended };
}

const plimsoll = (...args: string[]): Promise<Ended> => start(args).ended;

test('a short healthy run ends in 0, with JSON on stdout and talk on stderr', async () => {
  const out = join(folder, 'healthy');
  const { code, stdout, stderr } = await plimsoll(
    'run',
    'healthy',
    '--seed',
    '3',
    '--set',
    'warm_up=1s',
    '--duration',
    '4s',
    '--experiments',
    'none',
    '--json',
    '--out',
    out,
  );
  const result = resultShape.parse(JSON.parse(stdout));
  assert.equal(result.verdict.culprit, undefined, 'nobody is accused of anything');
  // On a machine that is too busy to measure on, the run says so, and then it may give no verdict on the service.
  if (result.limits.length === 0) {
    assert.equal(result.verdict.pattern, 'healthy', stdout);
    assert.equal(code, 0, stderr);
  } else assert.ok(['healthy', 'undecided', 'generator-saturated'].includes(result.verdict.pattern), stdout);
  assert.equal(result.seed, 3);
  const [ledger] = result.ledgers;
  assert.ok(ledger !== undefined);
  assert.equal(
    ledger.answered + ledger.failed + ledger.timed_out + ledger.refused + ledger.in_flight_at_end + ledger.never_sent,
    ledger.planned,
  );
  assert.ok(ledger.answered > 1000, `${ledger.answered} answered`);
  assert.match(stderr, /baseline/);
  assert.deepEqual(readdirSync(out).toSorted(), ['lab', 'record.jsonl', 'report.html', 'truth.json']);

  const shown = await plimsoll('show', out);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /healthy {2}lab, seed 3/);
  assert.match(shown.stdout, /api-4/);

  const again = await plimsoll('diagnose', out, '--json');
  assert.equal(again.code, result.verdict.pattern === 'generator-saturated' ? 10 : 0);
  assert.deepEqual(
    resultShape.pick({ verdict: true }).parse(JSON.parse(again.stdout)).verdict,
    result.verdict,
    'the record alone gives the same verdict',
  );
});

test('an objective that is not met ends in 99', async () => {
  const file = join(folder, 'strict.yaml');
  const scenario = (await plimsoll('scenarios', '--print', 'healthy')).stdout;
  writeFileSync(file, `${scenario}objectives:\n  http_req_duration: ['p(95)<1']\n`);
  const { code, stdout } = await plimsoll(
    'run',
    file,
    '--set',
    'warm_up=500ms',
    '--duration',
    '2s',
    '--experiments',
    'none',
    '--quiet',
    '--out',
    join(folder, 'strict'),
  );
  assert.equal(code, 99, stdout);
  assert.match(stdout, /p\(95\)<1 .* not met/);
});

test('kill -9 in mid-run leaves no process behind, and a record that opens', async () => {
  const out = join(folder, 'killed');
  const { child, ended } = start(['run', 'convoy', '--seed', '1', '--out', out]);
  const runner = await waitFor(
    () => readLines(join(out, 'record.jsonl')).filter((line) => line.includes('"kind":"tick"')).length >= 2,
    15_000,
  ).then(() => childOf(child.pid));
  assert.ok(runner !== undefined, 'the launcher has started the runner');
  const family = familyOf(runner);
  assert.ok(family.length >= 6, `four replicas, a gateway and a warden at least, found ${family.length}`);
  process.kill(runner, 'SIGKILL');
  await ended;
  await waitFor(() => family.every((pid) => !isAlive(pid)), 5000);
  assert.deepEqual(family.filter(isAlive), []);
  const shown = await plimsoll('show', out);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /cut off/);
  assert.match(shown.stdout, /api-2/);
});

test('the first interrupt ends the run with everything recorded so far, exit code 130', async () => {
  const out = join(folder, 'interrupted');
  const { child, ended } = start(['run', 'healthy', '--out', out]);
  await waitFor(() => readLines(join(out, 'record.jsonl')).some((line) => line.includes('"kind":"tick"')), 15_000);
  const runner = childOf(child.pid);
  const family = runner === undefined ? [] : familyOf(runner);
  child.kill('SIGINT');
  const { code } = await ended;
  assert.equal(code, 130);
  const lines = readLines(join(out, 'record.jsonl'));
  assert.match(lines.at(-1) ?? '', /"kind":"end".*"reason":"interrupted"/);
  assert.ok(lines.some((line) => line.includes('"kind":"ledger"')));
  assert.deepEqual(family.filter(isAlive), []);
});

test('every mistake of a person is one clear error and exit code 2', async () => {
  const broken = join(folder, 'broken.yaml');
  writeFileSync(broken, 'plimsoll: 1\nname: x\nabout: y\nservices:\n  api: { replica: 4 }\n');
  const cases: readonly [readonly string[], RegExp][] = [
    [['run', 'convoi'], /no built-in scenario is called "convoi"\. Did you mean convoy\?/],
    [['run', './nothing.yaml'], /nothing\.yaml: there is no such file/],
    [['run', broken], /broken\.yaml:5:10: .*replica.*Did you mean replicas/],
    [['run', 'healthy', '--gateway', 'apache'], /--gateway/],
    [['run', 'healthy', '--seed', 'x'], /--seed: expected a whole number/],
    [
      ['run', 'healthy', '--experiments', 'stop'],
      /--experiments: there is no "stop"; expected auto, none, or of stop-replica/,
    ],
    [['run', 'healthy', '--raet', '5'], /unknown option '--raet'/],
    [['diagnose', './nothing.log'], /nothing\.log: there is no such file/],
    [['diagnose', broken], /not a format that is known here/],
    [['scenarios', '--print', 'helthy'], /Did you mean healthy\?/],
    [['fly'], /unknown command 'fly'/],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await plimsoll(...args);
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.match(stderr, message, args.join(' '));
    assert.equal(stdout, '', args.join(' '));
    assert.ok(!stderr.includes('    at '), `no stack: ${stderr}`);
  }
});

test('scenarios are listed one a line', async () => {
  const { code, stdout } = await plimsoll('scenarios');
  assert.equal(code, 0);
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0]);
  for (const name of ['healthy', 'convoy', 'pick-first', 'slow-replica', 'overload'])
    assert.ok(names.includes(name), name);
});

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}

async function waitFor(holds: () => boolean, mostMs: number): Promise<void> {
  for (let waited = 0; waited < mostMs && !holds(); waited += 50) await sleep(50);
}

/** Every process below this one, with the detached ones: a lab's processes carry its token, inherited from the runner. */
function familyOf(pid: number): number[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const family: number[] = [];
  const open = [pid];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    const children = all.filter((one) => parentOf(one) === parent);
    family.push(...children);
    open.push(...children);
  }
  return family;
}

function childOf(pid: number | undefined): number | undefined {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((one) => parentOf(one) === pid);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}
