import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { parse } from 'yaml';
import { formatProblem } from '../../../scenario.ts';
import { readDossier } from '../../dossier.ts';
import { dossierOf, eventLines, expected, messageLines, sampleLines, settingLines } from '../../testing/facts.ts';
import { notesSample } from '../../testing/notes-sample.ts';
import { parseNotes } from './notes.ts';
import { notesJsonSchema } from './schema.ts';
import { allKeys, kindOf } from './values.ts';

const root = new URL('../../../../', import.meta.url);
const reference = readFileSync(new URL('docs/reference/notes.md', root), 'utf8');

/** The problems of these notes, as a person sees them. */
function problemsOf(text: string): string[] {
  const parsed = parseNotes(text, 'n.yaml');
  return 'problems' in parsed ? parsed.problems.map(formatProblem) : [];
}

test('settings, with their units, their scopes and their lines', () => {
  assert.deepEqual(
    settingLines(dossierOf(notesSample)),
    expected(`
      [upstream shop] balance.policy = least-request :9
      [upstream shop] upstream.idle-timeout = 60 :10
      [upstream shop] retry.budget = 0.2 :11
      [all] health.shares-workers = true (implied)
      [all] workers.count = 8 (implied)
      [all] dependency.timeout = Infinity (implied)
      [all] cpu.limit = 0.5 (implied)
      [service shop] upstream.endpoints = 2 :22
      [service shop] upstream.endpoint-list = 10.0.2.11:8080,10.0.2.12:8080 :22
      [service shop] replicas.zone-layout = b=1 :22
    `),
  );
});

test('events, with sentences taken by what they tell', () => {
  assert.deepEqual(
    eventLines(dossierOf(notesSample)),
    expected(`
      07:00:00.000 deploy shop (version 2)
      07:01:00.000 trigger-start
      - note (nobody knows when the cache was emptied)
    `),
  );
});

test('counts and the registry are samples; what is counted again is another reading', () => {
  assert.deepEqual(
    sampleLines(dossierOf(notesSample)),
    expected(`
      endpoint_healthy{service=shop,endpoint=10.0.2.12:8080,zone=b} 0
      endpoint_weight{service=shop,endpoint=10.0.2.12:8080,zone=b} 2
      requests{worker=w1} +10
      requests{worker=w2} +30
      sessions 4
      requests{worker=w1} +15 #1
      requests{worker=w2} +90 #1
    `),
  );
});

test('remarks are kept, and a registry names the addresses of logs', () => {
  assert.deepEqual(messageLines(dossierOf(notesSample)), ['- remark', '- remark']);
  const log =
    '192.0.2.9 - - [02/Apr/2026:07:00:00 +0000] "GET / HTTP/1.1" 200 5 rt=0.1 ua="10.0.2.12:8080" us="200" ut="0.1"\n';
  const { dossier } = readDossier([
    { name: 'log', text: log },
    { name: 'notes', text: notesSample },
  ]);
  assert.deepEqual(dossier.requests[0]?.services, ['shop']);
});

test('every mistake is told at once, with its place and what would be right', () => {
  const text = `plimsoll_notes: 2
settings:
  - scope: a
    set:
      pool.sise: 3
      upstream.idle: 5s
      upstream.idle-timeout: 5
      balance.layer: htpp
      retry.budget: 3
      foo.bar: 1
  - sett: {}
events:
  - { at: yesterday, event: deploy }
  - { evnt: deploy }
registry:
  shop: 10.0.0.1
counts: [{ name: x, value: many }]
remark: none
`;
  assert.deepEqual(problemsOf(text), [
    'n.yaml:1:17: plimsoll_notes: expected 1, found 2',
    "n.yaml:5:7: settings.0.set.pool.sise: unknown setting 'pool.sise'. Did you mean pool.size?",
    "n.yaml:6:7: settings.0.set.upstream.idle: unknown setting 'upstream.idle'. Did you mean upstream.idle-timeout?",
    'n.yaml:7:30: settings.0.set.upstream.idle-timeout: expected a duration with its unit, such as 250ms or 1.5s, or none, found 5',
    "n.yaml:8:22: settings.0.set.balance.layer: expected one of http, tcp, found 'htpp'. Did you mean http?",
    'n.yaml:9:21: settings.0.set.retry.budget: expected a share from 0 to 1, such as 0.3 or 30%, found 3',
    "n.yaml:10:7: settings.0.set.foo.bar: unknown setting 'foo.bar': expected one of the groups balance, upstream, queue, downstream, route, retry, breaker, limit, outlier, health, workers, pool, dependency, listen, kernel, cpu, replicas, scale, rollout, balancer, h2, dns, program, client, load",
    'n.yaml:11:5: settings.1.set: the key set is missing: expected a mapping of settings',
    "n.yaml:11:5: settings.1.sett: unknown key 'sett': expected one of program, scope, implied, set. Did you mean set?",
    'n.yaml:13:11: events.0.at: expected a point in time such as 2026-03-04T14:00:00Z, found yesterday',
    'n.yaml:14:5: events.1.event: the key event is missing: expected a text',
    "n.yaml:14:7: events.1.evnt: unknown key 'evnt': expected one of at, event, subject, detail. Did you mean event?",
    "n.yaml:16:9: registry.shop: expected a list of endpoints, found '10.0.0.1'",
    "n.yaml:17:28: counts.0.value: expected a number, found 'many'",
    "n.yaml:18:1: remark: unknown key 'remark': expected one of plimsoll_notes, about, settings, events, registry, counts, remarks. Did you mean remarks?",
  ]);
});

test('what is wrong between keys is told too', () => {
  const of = (count: string): string[] => problemsOf(`plimsoll_notes: 1\ncounts: [${count}]\n`);
  assert.deepEqual(of('{ name: x }'), ['n.yaml:2:10: counts.0: expected value, or by with values']);
  assert.match(of('{ name: x, value: 1, values: { a: 1 }, by: b }')[0] ?? '', /found both$/);
  assert.match(of('{ name: x, values: { a: 1 } }')[0] ?? '', /by says what the names in values are$/);
  assert.deepEqual(of('{ name: x, value: 1 }'), []);
});

test('problems of notes are problems of the dossier, and nothing of them is half read', () => {
  const { dossier, problems } = readDossier([
    { name: 'n.yaml', text: 'plimsoll_notes: 1\nevents: [{ event: deploy }]\nremarks: [3]\n' },
  ]);
  assert.deepEqual(problems, ['n.yaml: 3:11: remarks.0: expected a text, found 3']);
  assert.deepEqual(dossier.events, []);
});

test('every setting of the vocabulary has a kind, and a row in the reference with its meaning', () => {
  const rows = reference.split('\n').filter((line) => line.startsWith('| `'));
  for (const key of allKeys) {
    assert.ok(kindOf(key) !== undefined, `say in values.ts what a value of ${key} is`);
    assert.ok(
      rows.some((row) => row.startsWith(`| \`${key}\` `)),
      `no row for ${key}: run node tools/write-schema.ts and npm run format`,
    );
  }
});

test('the published JSON Schema is the one that the reader uses, and another validator agrees with it', () => {
  const published: unknown = JSON.parse(readFileSync(new URL('schema/notes.schema.json', root), 'utf8'));
  const now: unknown = JSON.parse(JSON.stringify(notesJsonSchema()));
  assert.deepEqual(published, now, 'stale: run node tools/write-schema.ts');
  const validate = new Ajv2020({ strict: false }).compile(notesJsonSchema());
  assert.ok(validate(parse(notesSample)), JSON.stringify(validate.errors));
  assert.ok(!validate({ plimsoll_notes: 1, settings: [{ set: { 'pool.sise': 3 } }] }));
  assert.ok(!validate({ plimsoll_notes: 1, settings: [{ set: { 'upstream.idle-timeout': 30 } }] }));
});

test('the example of the reference has no problem', () => {
  const [example] = [...reference.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1] ?? '');
  assert.deepEqual(problemsOf(example ?? ''), []);
});

test('notes that are damaged anywhere throw nothing', () => {
  fc.assert(
    fc.property(fc.nat(notesSample.length), fc.nat(30), fc.string({ maxLength: 6 }), (from, length, insert) => {
      parseNotes(notesSample.slice(0, from) + insert + notesSample.slice(from + length), 'n.yaml');
    }),
    { numRuns: 200 },
  );
});
