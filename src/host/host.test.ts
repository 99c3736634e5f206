import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ms } from '../base.ts';
import { clockResolution, now, wallClockAt } from './clock.ts';
import { cpuTimeOf, LoopWatch } from './process-facts.ts';
import { RecordFile } from './record-file.ts';
import { chanceSeed } from './seed.ts';

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-host-'));
after(() => rmSync(folder, { recursive: true }));

const spinUntil = (isOver: () => boolean): void => {
  while (!isOver());
};

test('the clock never goes back and can tell microseconds apart', () => {
  let previous = now();
  for (let read = 0; read < 1000; read++) {
    const next = now();
    assert.ok(next >= previous && Number.isSafeInteger(next));
    previous = next;
  }
  assert.ok(clockResolution() > 0);
  assert.ok(clockResolution() < ms(1));
});

test('an instant has a place on the wall clock', () => {
  const distance = Math.abs(wallClockAt(now()).getTime() - Date.now());
  // A day: the wall clock may have been set meanwhile, but not by more than that while a test runs.
  assert.ok(distance < 86_400_000, `${distance} ms`);
});

test('lines that were appended are in the file though the writer is killed at once', () => {
  const path = join(folder, 'killed.jsonl');
  const program = `
    import { RecordFile } from ${JSON.stringify(new URL('record-file.ts', import.meta.url).href)};
    const file = new RecordFile(${JSON.stringify(path)});
    for (let line = 0; line < 1000; line++) file.append('{"line":' + line + '}\\n');
    process.kill(process.pid, 'SIGKILL');
  `;
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  assert.equal(child.signal, 'SIGKILL', String(child.stderr));
  const lines = readFileSync(path, 'utf8').split('\n');
  assert.equal(lines.length, 1001);
  assert.equal(lines[999], '{"line":999}');
});

test('a record is never written over', () => {
  const path = join(folder, 'kept.jsonl');
  const file = new RecordFile(path);
  file.append('één\n');
  file.close();
  file.close();
  assert.throws(() => new RecordFile(path), { code: 'EEXIST' });
  assert.throws(() => file.append('more\n'), /is closed/);
  assert.equal(readFileSync(path, 'utf8'), 'één\n');
});

test('a seed is a whole number that can be typed', () => {
  const seeds = Array.from({ length: 100 }, chanceSeed);
  for (const seed of seeds) assert.match(String(seed), /^\d{1,9}$/);
  assert.ok(new Set(seeds).size > 90);
});

test('processor time is read from behind a name that tries to look like more fields', () => {
  const stat = '7 (a) S 1 2 (b) R 1 7 7 0 -1 4194560 1 0 0 0 150 25 0 0 20 0 11 0 5 6 7';
  assert.equal(
    cpuTimeOf(7, () => stat),
    ms(1750),
  );
  assert.equal(
    cpuTimeOf(7, () => undefined),
    undefined,
  );
  assert.equal(
    cpuTimeOf(7, () => 'nonsense'),
    undefined,
  );
});

test('our own processor time grows by what we burn', { skip: process.platform !== 'linux' }, () => {
  const before = cpuTimeOf(process.pid) ?? assert.fail('there is a /proc');
  // Until 50 ms of processor time are gone, however long that takes on a busy machine.
  const start = process.cpuUsage();
  spinUntil(() => process.cpuUsage(start).user + process.cpuUsage(start).system > 50_000);
  const grown = (cpuTimeOf(process.pid) ?? 0) - before;
  assert.ok(grown >= ms(30), `${grown} ns`);
});

test('a stall shows in the lag of the loop, even while it goes on', () => {
  const watch = new LoopWatch();
  const until = now() + ms(60);
  spinUntil(() => now() >= until);
  const { worst } = watch.read();
  watch.stop();
  assert.ok(worst >= ms(45), `${worst} ns`);
});
