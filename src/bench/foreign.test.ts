// The waist holds: what HAProxy, nginx or Envoy wrote of a run, and nothing else, gives the verdict that the run's own record gives.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { z } from 'zod';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-foreign-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const shape = z.object({
  verdict: z.object({ pattern: z.string(), culprit: z.string().optional() }),
  limits: z.array(z.string()).optional(),
});

async function plimsoll(args: readonly string[]): Promise<z.infer<typeof shape>> {
  const child = spawn(process.execPath, [launcher, ...args, '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  await new Promise((resolve) => child.on('close', resolve));
  assert.notEqual(stdout, '', stderr);
  return shape.parse(JSON.parse(stdout));
}

function missing(program: string): string | false {
  if (program === 'envoy') {
    const { error } = spawnSync(process.env['PLIMSOLL_ENVOY'] ?? program, ['--version'], { stdio: 'ignore' });
    return error === undefined ? false : 'envoy is neither in PLIMSOLL_ENVOY nor on the path';
  }
  const found = ['/usr/sbin', '/usr/local/sbin', ''].some(
    (place) => spawnSync(join(place, program), ['-v'], { stdio: 'ignore' }).error === undefined,
  );
  return found ? false : `${program} is not installed: apt-get install ${program}`;
}

const peers = [
  { program: 'haproxy', left: (out: string) => [join(out, 'baseline.log'), join(out, 'baseline-stats.csv')] },
  { program: 'nginx', left: (out: string) => [join(out, 'baseline.log'), join(out, 'lab', 'gateway-nginx.conf')] },
  { program: 'envoy', left: (out: string) => [join(out, 'baseline.log')] },
] as const;

for (const { program, left } of peers) {
  test(
    `${program}'s own log of a convoy names the convoy and the same culprit`,
    { skip: missing(program) },
    async () => {
      const out = join(folder, program);
      const settings = ['warm_up=3s', 'duration=8s', 'faults.0.slow.factor=1.5', 'faults.0.slow.replica=api-3'];
      const own = await plimsoll([
        'run',
        'convoy',
        '--gateway',
        program,
        '--experiments',
        'none',
        '--seed',
        '5',
        '--out',
        out,
        ...settings.flatMap((setting) => ['--set', setting]),
      ]);
      const foreign = await plimsoll(['diagnose', ...left(out)]);
      assert.deepEqual(own.verdict, { pattern: 'convoy', culprit: 'api-3' });
      assert.deepEqual(foreign.verdict, own.verdict);
    },
  );
}
