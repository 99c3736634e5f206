// The commands that play in imagined time, as a person meets them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-imagined-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function plimsoll(...args: string[]): {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

test('replications give every figure an interval, and need imagined time and more than one', () => {
  const { code, stdout } = plimsoll(
    'run',
    'healthy',
    '--world',
    'sim',
    '--replications',
    '4',
    '--workers',
    '2',
    '--seed',
    '1',
  );
  assert.equal(code, 0);
  assert.match(stdout, /healthy: 4 replications in imagined time\nwarm-up: 3 s as the scenario says/);
  assert.match(stdout, /throughput +3\d\d\.\d\/s +3\d\d\.\d\/s … 3\d\d\.\d\/s/);
  assert.equal(plimsoll('run', 'healthy', '--replications', '4').code, 2);
  assert.equal(plimsoll('run', 'healthy', '--world', 'sim', '--replications', '1').code, 2);
});

test('trace tells a stretch event by event, and the digest is that of the run', () => {
  const { code, stdout, stderr } = plimsoll('trace', 'convoy', '--from', '2s', '--for', '10ms', '--seed', '3');
  assert.equal(code, 0);
  assert.match(stdout, /^ {2}2\.00\d{7} s {2}due {11}request \d+ at api-\d .* api-\d: \d+ in flight, \d busy/);
  assert.match(stderr, /^\d+ events told of \d+ up to 2\.01 s; digest [0-9a-f]{8}\n$/);
  const run = (...more: string[]) =>
    plimsoll('run', 'convoy', '--world', 'sim', '--seed', '3', '--quiet', '--json', '--experiments', 'none', ...more);
  const digestOf = (text: string): string | undefined => /"digest": "([0-9a-f]{8})"/.exec(text)?.[1];
  const digest = digestOf(run('--out', 'first').stdout);
  assert.ok(digest !== undefined && digest === digestOf(run('--out', 'again').stdout));
  assert.notEqual(digest, digestOf(run('--out', 'longer', '--duration', '20s').stdout));
});

test('trace says what it cannot follow', () => {
  const wrong = (...args: string[]): string => {
    const { code, stderr } = plimsoll('trace', ...args);
    assert.equal(code, 2);
    return stderr;
  };
  assert.match(wrong('convoy', '--from', '2x'), /^--from: expected a time such as 8s or 50ms, found 2x\n$/);
  assert.match(
    wrong('convoy', '--only', 'api-9'),
    /^--only: there is no api-9; expected one of api-1, api-2, api-3, api-4\n$/,
  );
  assert.match(wrong('convoy', '--from', '10m'), /^--from: 10 m.* is past the end of the run/);
  assert.match(wrong('internet-scale'), /^50,?000 replicas: expected at most 1,?000 to follow/);
});

test('what-if fits the fleet of a record, says how well, and tells what least-request would do', () => {
  const out = join(folder, 'convoy');
  assert.equal(
    plimsoll('run', 'convoy', '--world', 'sim', '--experiments', 'none', '--seed', '1', '--quiet', '--out', out).code,
    0,
  );
  const { code, stdout } = plimsoll(
    'what-if',
    out,
    '--policy',
    'least-request',
    '--retry-budget',
    '10%',
    '--replications',
    '8',
  );
  assert.equal(code, 0);
  assert.match(stdout, /api: 4 replicas of 4 workers, .* api-2 1\.\d+ times as long/);
  assert.match(stdout, /policy least-request +7\d\d\.\d\/s/);
  assert.match(stdout, /retry budget 10 % +not played: nobody is known to ask again/);
});

test('an option that is misspelt in its value is named as it is written', () => {
  const { code, stderr } = plimsoll('run', 'healthy', '--world', 'sim', '--until-relative-error', '1');
  assert.equal(code, 2);
  assert.match(stderr, /^--until-relative-error: expected a share such as 1%$/m);
});

test('the load line of a record asks for no settings, and of what is neither says what there is', () => {
  const setting = plimsoll(
    'load-line',
    join(import.meta.dirname, '../../examples/convoy/record.jsonl.gz'),
    '--set',
    'a=1',
  );
  assert.deepEqual([setting.code, /a record has none/.test(setting.stderr)], [2, true]);
  const misspelt = plimsoll('load-line', 'convvoy');
  assert.equal(misspelt.code, 2);
  assert.match(misspelt.stderr, /no built-in scenario is called "convvoy"\. Did you mean convoy\?/);
});

test('what-if names the option that it cannot read', () => {
  const { code, stderr } = plimsoll('what-if', 'convoy', '--retry-budget', '10');
  assert.equal(code, 2);
  assert.match(stderr, /--retry-budget: expected a share such as 10%/);
});
