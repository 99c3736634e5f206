import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Diagnosis, Verdict } from '../diagnose.ts';
import { together } from './together.ts';

type Pattern = Verdict['pattern'];

/** `convoy 0.9` or `keepalive-race 0.8 configured`, as a diagnosis. */
function diagnosis(text: string): Diagnosis {
  const [pattern = '', confidence, basis] = text.split(' ');
  const verdict: Verdict = {
    pattern: pattern as Pattern,
    confidence: Number(confidence),
    ...(basis === 'configured' ? { basis } : {}),
    sentence: pattern,
    arithmetic: [],
    fix: '',
  };
  return { verdict, theories: [], audit: [], checks: [], phases: [] };
}

/** From what the record says and what the dossier says, the verdict and what stands beside it. */
function check(record: string, dossier: string, expected: string): void {
  const { verdict } = together(diagnosis(record), diagnosis(dossier));
  const beside = (verdict.simultaneous ?? []).map(({ pattern }) => pattern);
  assert.equal([verdict.pattern, ...beside].join(' + '), expected, `${record} and ${dossier}`);
}

test('where one has no verdict the other’s stands', () => {
  check('undecided 0.5', 'drain-race 0.8', 'drain-race');
  check('convoy 0.9', 'undecided 0.5', 'convoy');
  check('undecided 0.5', 'healthy 0.8', 'healthy');
});

test('a fault that was seen stands before “nothing is wrong”', () => {
  check('healthy 0.95', 'keepalive-race 0.7', 'keepalive-race');
  check('convoy 0.7', 'healthy 0.95', 'convoy');
});

test('what only settings predict yields to what was seen, and is told beside it', () => {
  check('healthy 0.95', 'keepalive-race 0.9 configured', 'healthy + keepalive-race');
  check('convoy 0.7', 'drain-race 0.9 configured', 'convoy + drain-race');
  check('undecided 0.5', 'drain-race 0.9 configured', 'drain-race');
});

test('a theory that brings about what the other says stands, however certain the other is', () => {
  check('convoy 0.7', 'slow-replica 0.95', 'convoy');
  check('slow-replica 0.95', 'zone-imbalance 0.8', 'zone-imbalance');
  check('pick-first 0.95', 'generator-single-connection 0.8', 'generator-single-connection');
});

test('two that have nothing to do with each other stand together, the more certain first', () => {
  check('convoy 0.7', 'discovery-outage 0.9', 'discovery-outage + convoy');
  check('convoy 0.9', 'discovery-outage 0.7', 'convoy + discovery-outage');
});

test('one look alone is the verdict', () => {
  const alone = diagnosis('convoy 0.9');
  assert.equal(together(alone, undefined), alone);
  assert.equal(together(undefined, alone), alone);
  assert.equal(together(undefined, undefined).verdict.pattern, 'undecided');
});
