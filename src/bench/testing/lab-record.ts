// A record from the real lab, made as a person would make it: by the command line. For tests and benches that hold the lab against
// something.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measuredTicks, readRecord, type RunRecord } from '../../record.ts';
import { medianOf } from '../../stats.ts';

const launcher = join(import.meta.dirname, '..', '..', '..', 'bin', 'plimsoll.js');

/** Plays a scenario without experiments, or with those named. Throws what the program said when it left no record. */
export async function labRecord(
  scenario: string,
  seed: number,
  settings: readonly string[],
  experiments = 'none',
): Promise<RunRecord> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-lab-'));
  try {
    const wanted = ['--world', 'lab', '--seed', String(seed), '--experiments', experiments, '--out', folder];
    const args = ['run', scenario, ...wanted, '--quiet'];
    const child = spawn(process.execPath, [launcher, ...args, ...settings.flatMap((one) => ['--set', one])], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
    await new Promise((resolve) => child.on('close', resolve));
    const read = readRecord(readText(join(folder, 'record.jsonl'), said));
    if ('problem' in read) throw new Error(`${read.problem.message}\n${said}`);
    return read.record;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readText(path: string, said: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Error(`the lab left no record: ${said}`);
  }
}

/** How late the generator usually was in the judged part, for the latest tenth of the requests of a second: a machine on which this is
 * more than some milliseconds measures itself. */
export function usualLag(record: RunRecord): number {
  const lags = record.phases
    .flatMap((phase) => measuredTicks(phase))
    .flatMap((tick) => tick.clients.map((client) => client.lag?.p90_ns ?? 0));
  return medianOf(lags) ?? 0;
}
