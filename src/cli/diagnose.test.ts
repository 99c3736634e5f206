// `plimsoll diagnose` as a person meets it, on files that incidents left behind.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { isTar, untar } from './untar.ts';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const cases = join(import.meta.dirname, '..', 'observe', 'fixtures', 'cases');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-diagnose-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const resultShape = z.object({
  schema: z.literal('plimsoll.dev/result/v1'),
  sources: z.array(z.object({ file: z.string(), format: z.string(), lines: z.number(), understood: z.number() })),
  verdict: z.looseObject({ pattern: z.string(), culprit: z.string().optional(), confidence: z.number() }),
  audit: z.array(z.looseObject({ theory: z.string(), claim: z.string(), result: z.string() })),
});

function diagnose(args: readonly string[], input = ''): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, 'diagnose', ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
    encoding: 'utf8',
    input,
  });
  return { code: status, stdout, stderr };
}

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return name;
}

test('a folder comes out with a verdict, and what was understood goes to stderr', () => {
  const { code, stdout, stderr } = diagnose([join(cases, 'fails-in-two-milliseconds')]);
  assert.equal(code, 10);
  assert.match(stdout, /^fast-fail-blackhole: replica c {2}confidence 0\.\d\d$/m);
  assert.match(stdout, /Fast-fail black hole.*established/);
  assert.match(stderr, /hosts\.csv: table with a header, 6 of 6 lines understood/);
});

test('the JSON says the same, with the audit and the sources', () => {
  const { code, stdout } = diagnose([join(cases, 'eight-and-two-zones'), '--json']);
  const result = resultShape.parse(JSON.parse(stdout));
  assert.equal(code, 10);
  assert.equal(result.verdict.pattern, 'zone-imbalance');
  assert.equal(result.sources.length, 3);
  assert.ok(result.audit.some(({ theory, result: held }) => theory === 'zone-imbalance' && held === 'supports'));
});

test('the document about an incident has the evidence, what was ruled out, and the files', () => {
  const { stdout } = diagnose([join(cases, 'keepalive-pool-over-cluster-ip'), '--markdown']);
  assert.match(stdout, /^# connection-pinning: front nginx/);
  assert.match(stdout, /^## Evidence: Connection pinning/m);
  assert.match(stdout, /^\| Every connection carries .* \| supports \|/m);
  assert.match(stdout, /^## Ruled out/m);
  assert.match(stdout, /nginx\.conf: nginx configuration, 15 of 15 lines understood/);
});

test('what is harmless ends in 0', () => {
  const { code, stdout } = diagnose([join(cases, 'eight-preforked-workers')]);
  assert.equal(code, 0);
  assert.match(stdout, /^benign-accept-order {2}confidence/m);
});

test('what only the settings say is said to be only that', () => {
  const { code, stdout } = diagnose([join(cases, 'idle-hour-before-75-seconds')]);
  assert.equal(code, 10);
  assert.match(stdout, /^keepalive-race: nginx .* confidence/m);
});

test('standard input and gzip are read like files', () => {
  const scrape = readFileSync(join(cases, 'streams-on-one-connection', 'scrape-peak.prom'), 'utf8');
  const settings = join(cases, 'streams-on-one-connection', 'settings.json');
  assert.match(diagnose(['-', settings], scrape).stdout, /^h2-stream-cap: /m);
  assert.match(diagnose([file('scrape.prom.gz', gzipSync(scrape)), settings]).stdout, /^h2-stream-cap: /m);
});

test('a gzip that was cut off gives what came before the cut', () => {
  const log = readFileSync(join(cases, 'many-cursors-one-beginning', 'ingress-access.log'), 'utf8');
  const cut = gzipSync(log).subarray(0, 4000);
  const { stderr } = diagnose([file('cut.log.gz', cut)]);
  assert.match(stderr, /cut\.log\.gz: the gzip was cut off/);
  assert.match(stderr, /cut\.log: nginx access log, \d+ of \d+ lines understood/);
});

test('an archive is taken apart', () => {
  const name = 'fails-in-two-milliseconds';
  const archive = join(folder, 'all.tar');
  const made = spawnSync('tar', ['cf', archive, '-C', cases, name]);
  assert.equal(made.status, 0);
  const bytes = readFileSync(archive);
  assert.ok(isTar(bytes));
  assert.deepEqual(
    untar(bytes).map((entry) => [entry.name, Buffer.from(entry.content).toString()]),
    ['cluster.json', 'hosts.csv'].map((own) => [`${name}/${own}`, readFileSync(join(cases, name, own), 'utf8')]),
  );
  assert.deepEqual(
    untar(bytes.subarray(0, 700)).map((entry) => entry.name),
    [],
  );
  assert.match(diagnose([archive]).stdout, /^fast-fail-blackhole: replica c/m);
});

test('what cannot be read is said with the file and the reason, exit code 2', () => {
  const check = (name: string, said: RegExp): void => {
    const { code, stdout, stderr } = diagnose([name]);
    assert.equal(code, 2, stdout);
    assert.match(stderr, said);
  };
  check(file('empty.log', ''), /empty\.log: the file is empty/);
  check(file('binary.dat', new Uint8Array([127, 69, 76, 70, 0, 0, 1, 2])), /binary\.dat: this is no text/);
  check(file('prose.txt', 'It was a dark night.\nThe pager rang.\n'), /prose\.txt: not a format that is known here/);
  check('nowhere.log', /nowhere\.log: there is no such file/);
  mkdirSync(join(folder, 'nothing'), { recursive: true });
  check('nothing', /there is no file in there/);
});

test('one unknown file among good ones is a remark', () => {
  const { code, stderr } = diagnose([file('odd.txt', 'hello there\n'), join(cases, 'neighbour-of-the-unhealthy')]);
  assert.equal(code, 10);
  assert.match(stderr, /odd\.txt: not a format that is known here/);
});

test('files from other days, and of another system, are remarked on', () => {
  const { stderr } = diagnose([
    join(cases, 'rare-502-without-target-status'),
    join(cases, 'many-cursors-one-beginning'),
  ]);
  assert.match(stderr, /times that do not meet/);
  assert.match(stderr, /share no replica, service, route or client/);
});
