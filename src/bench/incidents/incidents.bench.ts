// The benchmark of labelled incidents: all kinds, with all the evidence and with a third of it missing, against the truth that only
// this program opens. Prints the tables and writes its part of docs/background/incident-benchmark.md.
//
//   npm run bench:incidents                            seeds that were not used while developing
//   npm run bench:incidents -- --each 6 --healthy 360  so many of each kind of fault, and so many in which nothing is wrong
//   npm run bench:incidents -- --seed 1 --each 4       others; nothing is written
//   npm run bench:incidents -- --world lab             incidents on real processes, about five minutes
//   npm run bench:incidents -- --fit                   the calibration, from the development seeds
//   npm run bench:incidents -- --write bench/incidents/sample --seed 1 --each 1     the files themselves, for another tool

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { readDossier } from '../../observe.ts';
import { accusedFrom, type BaselineSaid, robustScore, zScore } from './baselines.ts';
import { fittedKnots } from './fit.ts';
import { Draw } from './draw.ts';
import { faultKinds, healthyKinds, type Incident, incidentFrom, incidentOf } from './incident.ts';
import { judgeFiles } from './judge-files.ts';
import type { Made } from './kind.ts';
import { type LabCase, labCases } from './lab/cases.ts';
import { playIncident } from './lab/play.ts';
import { benchmarkPage, type Condition, labPart, labPartOf } from './page.ts';
import { isCalm, type Scored, scoredOf } from './score.ts';

/** Seeds below are for developing. */
const heldOut = 700_000;
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    each: { type: 'string', default: '10' },
    healthy: { type: 'string', default: '360' },
    fit: { type: 'boolean', default: false },
    write: { type: 'string' },
    only: { type: 'string' },
    world: { type: 'string', default: 'sim' },
  },
});
const pageFile = join(import.meta.dirname, '../../../docs/background/incident-benchmark.md');
const first = Number(values.seed ?? (values.fit ? 1 : heldOut));
const chosen = faultKinds.filter(({ slug }) => values.only === undefined || values.only.split(',').includes(slug));

if (values.world === 'lab') await onRealProcesses();
else if (values.write !== undefined) writeSamples(values.write);
else if (values.fit) {
  const scored = [0, 1 / 3].flatMap((missing) => judged(missing, incidents(missing)).scored);
  console.log(fittedKnots(scored.filter(({ said }) => said.pattern !== 'undecided')));
} else {
  const conditions = [0, 1 / 3].map((missing) => judged(missing, incidents(missing)));
  const page = benchmarkPage(conditions, { seed: first, each: Number(values.each) });
  console.log(page);
  if (values.seed === undefined && values.only === undefined) {
    writeFileSync(pageFile, `${page}${labPartOf(oldPage())}`);
  }
}

function* incidents(missing: number): Generator<Incident> {
  const options = { missing, herrings: true };
  for (const kind of chosen) {
    for (let index = 0; index < Number(values.each); index++) yield incidentOf(kind, first + index, options);
  }
  if (values.only !== undefined) return;
  // Dealt to the kinds in turn.
  for (let index = 0; index < Number(values.healthy); index++) {
    const kind = healthyKinds[index % healthyKinds.length];
    if (kind !== undefined) yield incidentOf(kind, first + Math.floor(index / healthyKinds.length), options);
  }
}

function oldPage(): string {
  return existsSync(pageFile) ? readFileSync(pageFile, 'utf8') : '';
}

async function onRealProcesses(): Promise<void> {
  const seed = Number(values.seed ?? 1);
  const plays: { readonly labCase: LabCase; readonly made: Made }[] = [];
  for (const labCase of labCases) {
    if (values.only !== undefined && !values.only.split(',').includes(labCase.slug)) continue;
    plays.push({ labCase, made: await playIncident(labCase, seed) });
  }
  const conditions = [0, 1 / 3].map((missing) => {
    const options = { missing, herrings: true };
    const all = plays.map(({ labCase, made }) =>
      incidentFrom(labCase, made, seed, options, new Draw(seed, labCase.slug)),
    );
    return judged(missing, all);
  });
  const part = labPart(conditions, seed);
  console.log(part);
  if (values.only !== undefined) return;
  const page = oldPage();
  writeFileSync(pageFile, `${page.slice(0, page.length - labPartOf(page).length)}${part}`);
}

function judged(missing: number, all: Iterable<Incident>): Condition {
  const scored: Scored[] = [];
  const baselines = { z: { hits: 0, accused: 0 }, robust: { hits: 0, accused: 0 } };
  let [named, calm, own] = [0, 0, 0];
  for (const { id, files, truth } of all) {
    const { verdict } = judgeFiles(files);
    const said = { pattern: verdict.pattern, culprit: verdict.culprit, confidence: verdict.confidence };
    const result = scoredOf(id, truth, said);
    scored.push(result);
    const { dossier } = readDossier(files);
    const healthy = isCalm(truth.pattern);
    const isNamed = truth.culprit.length > 0;
    calm += healthy ? 1 : 0;
    named += isNamed ? 1 : 0;
    own += isNamed && result.right ? 1 : 0;
    for (const [name, score] of [
      ['z', zScore(dossier)],
      ['robust', robustScore(dossier)],
    ] as const) {
      if (healthy && (score?.score ?? 0) > accusedFrom) baselines[name].accused += 1;
      if (isNamed && points(score, truth.culprit)) baselines[name].hits += 1;
    }
  }
  return { missing, scored, baselines, named, calm, own };
}

function points(said: BaselineSaid | undefined, culprit: readonly string[]): boolean {
  return said !== undefined && culprit.some((word) => word !== '' && said.subject.includes(word));
}

function writeSamples(folder: string): void {
  for (const { id, files, truth } of incidents(0)) {
    for (const { name, text } of files) {
      const path = join(folder, id, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    mkdirSync(join(folder, 'truth'), { recursive: true });
    writeFileSync(join(folder, 'truth', `${id}.json`), `${JSON.stringify(truth, undefined, 2)}\n`);
  }
}
