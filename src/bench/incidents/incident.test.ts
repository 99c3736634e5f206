// The generator of labelled incidents and its scorer: the same seed gives the same files, every file is one that the ordinary readers
// know, loud things that have to do with nothing change no verdict, and the scorer counts what it says it counts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier } from '../../observe.ts';
import { dossierTheories, theories } from '../../diagnose.ts';
import { faultKinds, healthyKinds, incidentOf } from './incident.ts';
import { judgeFiles } from './judge-files.ts';
import { calibrationOf, confusionOf, isCalm, type Scored, scoredOf, scoreOf } from './score.ts';

const all = { missing: 0, herrings: true };
const kinds = [...faultKinds, ...healthyKinds];

test('every pattern of a dossier has its kind of incident, and no kind has a name that no theory has', () => {
  const slugs = new Set(kinds.map(({ slug }) => slug));
  const missing = dossierTheories.filter(({ slug }) => !slugs.has(slug)).map(({ slug }) => slug);
  assert.deepEqual(missing, []);
  const known = new Set<string>([
    ...dossierTheories.map(({ slug }) => slug),
    ...theories.map(({ pattern }) => pattern),
  ]);
  for (const { slug, alike = [] } of kinds) for (const name of [slug, ...alike]) assert.ok(known.has(name), name);
});

test('a seed gives the same incident again, another seed another, and what is missing changes nothing else', () => {
  const [kind] = kinds;
  assert.ok(kind !== undefined);
  const once = incidentOf(kind, 7, all);
  assert.deepEqual(incidentOf(kind, 7, all), once);
  assert.notDeepEqual(incidentOf(kind, 8, all).files, once.files);
  const less = incidentOf(kind, 7, { missing: 1 / 3, herrings: false });
  assert.ok(less.files.length >= 1 && less.files.length < once.files.length);
  for (const file of less.files) assert.ok(once.files.some((one) => one.name === file.name && one.text === file.text));
});

test('every file of every kind is understood by a reader, line by line', () => {
  for (const kind of kinds) {
    const { files, id } = incidentOf(kind, 3, all);
    const { dossier, problems } = readDossier(files);
    assert.deepEqual(problems, [], id);
    for (const { file, lines, understood } of dossier.sources) {
      assert.ok(understood >= 0.5 * lines, `${id} ${file}: ${understood} of ${lines} lines`);
    }
  }
});

test('with all the evidence each kind is named, whatever else was going on, and where nothing is wrong nobody is accused', () => {
  for (const kind of kinds) {
    const { files, id, truth } = incidentOf(kind, 11, all);
    const { verdict } = judgeFiles(files);
    const said = { pattern: verdict.pattern, culprit: verdict.culprit, confidence: verdict.confidence };
    const fine = isCalm(kind.slug) ? isCalm(verdict.pattern) : scoredOf(id, truth, said).right;
    assert.ok(fine, `${id}: ${verdict.pattern} ${verdict.culprit ?? ''}: ${verdict.sentence}`);
  }
});

const truth = { pattern: 'slow-replica', alike: ['convoy'], culprit: ['api-3'] };
const said = (pattern: string, culprit?: string, confidence = 0.9): Scored =>
  scoredOf('one', truth, { pattern, culprit, confidence });

test('right is the pattern or another name of it, and the culprit', () => {
  assert.equal(said('slow-replica', 'the replica API-3').right, true);
  assert.equal(said('convoy', 'api-3').right, true);
  assert.equal(said('slow-replica', 'api-2').right, false);
  assert.equal(said('slow-replica').right, false);
  assert.equal(said('undecided').right, false);
});

test('the score counts accusations of those in whom nothing was wrong, and the Brier score is the mean square', () => {
  const calm = { pattern: 'healthy', alike: ['benign-accept-order'], culprit: [] };
  const scored = [
    said('slow-replica', 'api-3', 0.9),
    said('undecided', undefined, 0.5),
    scoredOf('two', calm, { pattern: 'healthy', culprit: undefined, confidence: 1 }),
    scoredOf('three', calm, { pattern: 'overload', culprit: undefined, confidence: 0.6 }),
  ];
  const score = scoreOf(scored);
  assert.deepEqual(
    { ...score, brier: Number(score.brier.toFixed(6)) },
    {
      cases: 4,
      right: 2,
      faultsRight: 1,
      wrong: 1,
      undecided: 1,
      healthy: 2,
      accused: 1,
      calmUndecided: 0,
      brier: 0.155,
    },
  );
  assert.deepEqual(
    calibrationOf(scored, 2).map(({ cases, right }) => [cases, right]),
    [[4, 0.5]],
  );
  assert.deepEqual(
    [...confusionOf(scored)].map(([pattern, row]) => [pattern, Object.fromEntries(row)]),
    [
      ['slow-replica', { 'slow-replica': 1, undecided: 1 }],
      ['healthy', { healthy: 1, overload: 1 }],
    ],
  );
});
