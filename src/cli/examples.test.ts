// The four stories that lie in examples/, through the program as a person would send them: the right verdict each, and in the last but
// one the theory that had to be refuted, with its reasons.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';

const root = join(import.meta.dirname, '..', '..');
const shape = z.object({
  verdict: z.looseObject({ pattern: z.string(), culprit: z.string().optional(), arithmetic: z.array(z.string()) }),
  theories: z.array(z.looseObject({ theory: z.string(), standing: z.string() })),
  audit: z.array(
    z.looseObject({
      theory: z.string(),
      bearing: z.string(),
      result: z.string(),
      observed: z.object({ text: z.string() }).optional(),
    }),
  ),
});

function diagnosed(name: string): z.infer<typeof shape> {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(root, 'bin', 'plimsoll.js'), 'diagnose', join('examples', name), '--json'],
    { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  assert.equal(status, 10, stderr);
  return shape.parse(JSON.parse(stdout));
}

test('the convoy is named from its record, with the replica it stands behind', () => {
  const { verdict } = diagnosed('convoy');
  assert.deepEqual([verdict.pattern, verdict.culprit], ['convoy', 'api-2']);
});

test('pick-first is named from its record, with the clients that do it', () => {
  const { verdict } = diagnosed('pick-first');
  assert.equal(verdict.pattern, 'pick-first');
  assert.match(verdict.culprit ?? '', /callers/);
});

test('no healthy upstream is a pool of workers that waits, and not the batch job: flat counters, other hosts, other times', () => {
  const { verdict, theories, audit } = diagnosed('no-healthy-upstream');
  assert.equal(verdict.pattern, 'worker-pool-exhaustion');
  assert.match(verdict.culprit ?? '', /32 workers blocked by a slow dependency without a timeout/);
  assert.match(verdict.arithmetic.join('\n'), /\/s × 19\.\d s = \d+\.\d workers needed, 128 there/);
  const refuted = theories.filter(({ theory, standing }) => theory === 'cpu-throttling' && standing === 'refuted');
  assert.equal(refuted.length, 1);
  const reasons = audit
    .filter((row) => row.theory === 'cpu-throttling' && row.bearing === 'necessary' && row.result === 'contradicts')
    .map(({ observed }) => observed?.text ?? '')
    .join('\n');
  assert.match(reasons, /flat counters/);
  assert.match(reasons, /other hosts \(node-b7\), the service on node-a1, node-a2/);
  assert.match(reasons, /times that do not line up/);
});

test('internet scale ended at the ports of the generator', () => {
  const { verdict } = diagnosed('internet-scale');
  assert.equal(verdict.pattern, 'generator-port-exhaustion');
  assert.match(verdict.arithmetic.join('\n'), /28232 × 1 ÷ 60 s = 471\/s/);
});
