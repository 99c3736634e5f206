// `plimsoll compare` as a pipeline meets it: runs made in imagined time, exit codes, JUnit.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { compare } from './commands/compare.ts';
import { UsageError } from './exit.ts';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-compare-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function plimsoll(words: string, more: readonly string[]): Ended {
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...words.split(' '), ...more], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

test('a release is played A-B-B-A, rejected with 21, and the runs can be compared again from their folders', () => {
  const out = join(folder, 'runs');
  const made = plimsoll(
    'compare --run convoy --world sim --rounds 1 --duration 12s --seed 5 --base-set faults.0.slow.factor=1',
    ['--set', 'services.api.service_time=exponential 30ms', '--out', out, '--junit', join(folder, 'junit.xml')],
  );
  assert.equal(made.code, 21, made.stdout + made.stderr);
  assert.match(made.stdout, /reject\nDo not release: throughput −3\d\.\d %/);
  assert.deepEqual(readdirSync(join(out, 'base')), ['01', '04']);
  assert.deepEqual(readdirSync(join(out, 'candidate')), ['02', '03']);
  assert.match(
    readFileSync(join(folder, 'junit.xml'), 'utf8'),
    /<testcase classname="release" name="throughput is not worse">\n +<failure/,
  );
  const again = plimsoll('compare --markdown', [join(out, 'base'), join(out, 'candidate')]);
  assert.equal(again.code, 21);
  assert.match(again.stdout, /^# reject\n/);
  const turned = plimsoll('compare --json', [join(out, 'candidate'), join(out, 'base')]);
  assert.equal(
    turned.code,
    20,
    'what is much better is still no release without knowing its failures and times for sure',
  );
  assert.match(turned.stdout, /"schema": "plimsoll.dev\/comparison\/v1"/);
  const single = plimsoll('compare', [join(out, 'base', '01'), join(out, 'base', '04', 'record.jsonl')]);
  assert.equal(single.code, 20);
  assert.match(single.stdout, /one run a side cannot show/);
});

const asGiven = { world: 'sim', gateway: 'plimsoll', rounds: '1' };

test('what a person gets wrong is said with what would be right', async () => {
  const cases: readonly (readonly [readonly string[], object, RegExp])[] = [
    [['only-one'], {}, /found 1 paths, expected two/],
    [['no-such', 'file'], {}, /there is no such file/],
    [['a', 'b'], { run: 'convoy', set: ['x=1'] }, /leave the paths out/],
    [[], { run: 'convoy' }, /--run needs what differs/],
    [[], { run: 'convoy', set: ['nonsense=1'] }, /nonsense/],
    [['a', 'b'], { smallestEffect: ['three'] }, /expected a share such as 3% or p99=10%/],
    [['a', 'b'], { smallestEffect: ['p98=3%'] }, /no figure "p98".*p99/],
    [['a', 'b'], { objective: ['p(95)<3'] }, /expected a metric and an expression/],
    [['a', 'b'], { objective: ['http_req_duration{group:users}: p(95)<3'] }, /leave the filter and the window out/],
    [['a', 'b'], { rounds: 'none' }, /--rounds: expected a whole number/],
    [[folder, folder], {}, /record|run/],
  ];
  for (const [paths, options, expected] of cases) {
    await assert.rejects(compare(paths, { ...asGiven, ...options }), (error) => {
      assert.ok(error instanceof UsageError, String(error));
      assert.match(error.message, expected);
      return true;
    });
  }
});
