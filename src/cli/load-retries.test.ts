// `plimsoll load --retries` before a server that counts: its requests are the tries that are told, on the screen, as JSON and in the record.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { readRecord } from '../record.ts';
import { startPlimsoll } from './testing/run-program.ts';

const told = z.object({
  tries: z.object({ requests: z.number(), sent: z.number(), retries: z.number() }),
  ledger: z.object({ planned: z.number(), answered: z.number(), failed: z.number(), never_sent: z.number() }),
});

test('what fails is asked again: tries, retries and requests are told wherever a result is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-retries-'));
  let served = 0;
  const server = http.createServer((_request, response) => {
    served += 1;
    response.writeHead(served % 4 === 0 ? 503 : 200);
    response.end('hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const [json, record] = [join(folder, 'run.json'), join(folder, 'run.jsonl')];
  try {
    const words = `load ${address} -c 8 -R 200 -d 1s --timeout 10s --retries 20 --json-file ${json} --record ${record}`;
    const { code, stdout } = await startPlimsoll(words.split(' ')).ended;
    assert.equal(code, 0);
    const { tries, ledger } = told.parse(JSON.parse(readFileSync(json, 'utf8')));
    assert.equal(tries.sent, served);
    assert.equal(tries.requests + tries.retries, served);
    // What fails after the end is not asked again.
    assert.equal(tries.retries + ledger.failed, Math.floor(served / 4));
    assert.equal(ledger.answered + ledger.failed, ledger.planned - ledger.never_sent);
    assert.match(
      stdout,
      new RegExp(
        `^tries: ${served} sent for ${tries.requests} requests; ${tries.retries} failures were asked again$`,
        'm',
      ),
    );
    const reading = readRecord(readFileSync(record, 'utf8'));
    if ('problem' in reading) assert.fail(reading.problem.message);
    const { topology, phases } = reading.record;
    assert.equal(topology.clients[0]?.retries, 20);
    const clients = phases.flatMap(({ ticks }) => ticks.flatMap((tick) => tick.clients));
    assert.equal(
      clients.reduce((sum, { retries = 0 }) => sum + retries, 0),
      tries.retries,
    );
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
