// What a person points at, as streams: the same content whatever it is wrapped in, and as much of it as there is.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { UsageError } from './exit.ts';
import { openFiles } from './open-files.ts';
import { readEvidence } from './read-evidence.ts';

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-open-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Larger than what is read before a file is closed again, and than what an archive keeps. */
const large = Array.from({ length: 420_000 }, (_, index) => `line ${index}`).join('\n');
mkdirSync(join(folder, 'all'));
writeFileSync(join(folder, 'all', 'large.log'), large);
writeFileSync(join(folder, 'all', 'small.log'), 'small\n');

async function textsAt(...paths: string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { path, pieces } of await openFiles(paths.map((name) => join(folder, name)))) {
    const own: Buffer[] = [];
    for await (const piece of pieces) own.push(Buffer.from(piece));
    found[path.slice(folder.length + 1)] = Buffer.concat(own).toString();
  }
  return found;
}

const both = (prefix: string): Record<string, string> => ({
  [`${prefix}large.log`]: large,
  [`${prefix}small.log`]: 'small\n',
});

test('a folder, an archive and a packed archive give the same files to the last byte', async () => {
  assert.deepEqual(await textsAt('all'), both('all/'));
  for (const [flags, name] of [
    ['cf', 'all.tar'],
    ['czf', 'all.tgz'],
  ] as const) {
    assert.equal(
      spawnSync('tar', [flags, join(folder, name), '-C', folder, 'all/large.log', 'all/small.log']).status,
      0,
    );
  }
  assert.deepEqual(await textsAt('all.tar'), both('all.tar/all/'));
  assert.deepEqual(await textsAt('all.tgz'), both('all.tar/all/'));
});

test('several gzips one after another are one file', async () => {
  writeFileSync(
    join(folder, 'many.gz'),
    Buffer.concat([gzipSync(large.slice(0, 100_000)), gzipSync(large.slice(100_000))]),
  );
  assert.deepEqual(await textsAt('many.gz'), { many: large });
});

test('a gzip that was cut off gives what came before, and says so', async () => {
  writeFileSync(join(folder, 'cut.log.gz'), gzipSync(large).subarray(0, 300_000));
  const [file] = await openFiles([join(folder, 'cut.log.gz')]);
  assert.ok(file !== undefined);
  let length = 0;
  for await (const piece of file.pieces) length += piece.length;
  assert.ok(length > 100_000 && length < large.length, `${length}`);
  assert.match(file.remarks.join(), /cut\.log\.gz: the gzip was cut off/);
});

test('a gzip that is none beyond its first bytes is refused with its name', async () => {
  writeFileSync(join(folder, 'broken.gz'), new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  await assert.rejects(
    async () => readEvidence([join(folder, 'broken.gz')]),
    (error) => error instanceof UsageError && /broken\.gz: a gzip that is broken/.test(error.message),
  );
});

test('a large log of a balancer is a record too, made of its columns', async () => {
  // Four servers in strict turns, one of which holds most; 130,000 requests are more than is kept as text.
  const rows = Array.from({ length: 130_000 }, (_, index) => {
    const at = new Date(Date.UTC(2026, 2, 4, 8) + index * 2);
    const [date, time] = [at.toISOString().slice(8, 10), at.toISOString().slice(11, 23)];
    const took = index % 4 === 2 ? 300 : 12;
    return `Mar  4 08:00:00 lb1 haproxy[1201]: 198.51.100.${index % 200}:${20_000 + (index % 9000)} [${date}/Mar/2026:${time}] www api/api-${1 + (index % 4)} 0/0/0/${took}/${took} 200 812 - - ---- 64/64/32/8/0 0/0 "GET /items/${index % 50}?some=${'x'.repeat(40)} HTTP/1.1"`;
  });
  writeFileSync(join(folder, 'haproxy.log'), `${rows.join('\n')}\n`);
  const { record, dossier } = await readEvidence([join(folder, 'haproxy.log')]);
  assert.equal(dossier?.requests[0]?.count, 130_000);
  const ticks = record?.phases[0]?.ticks ?? [];
  assert.ok(ticks.length > 200, `${ticks.length} seconds`);
  const inside = ticks[100]?.replicas.map(({ id, in_flight_mean: mean = 0 }) => [id, Math.round(mean)]);
  // Little: 125/s × 300 ms = 37.5, 125/s × 12 ms = 1.5.
  assert.deepEqual(inside, [
    ['api-1', 2],
    ['api-2', 2],
    ['api-3', 38],
    ['api-4', 2],
  ]);
});
