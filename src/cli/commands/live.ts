// `plimsoll live ADMIN-URL`: diagnosis of a gateway that serves users. Nothing is touched without a yes, and everything is put back,
// also on Ctrl-C.

import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { inSeconds, parseDuration } from '../../base.ts';
import { conductLive, gatewayTarget, type LiveResult, type Proposal } from '../../bench.ts';
import { now, wallClockAt } from '../../host.ts';
import { encodeLine } from '../../record.ts';
import { type Outcome, resultJson, resultText } from '../../report.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { FlagReader } from '../flag-reader.ts';
import { columnsOf, paintFor } from '../terminal.ts';
import { version } from '../version.ts';

const flags = z.object({
  watch: z.string(),
  for: z.string(),
  users: z.string().optional(),
  yes: z.boolean().default(false),
  out: z.string().optional(),
  json: z.boolean().default(false),
});

/** Longer nobody experiments on others' requests. */
const experimentMax = 60;

export async function live(url: string, options: object): Promise<ExitCode> {
  const given = flags.parse(options);
  const reader = new FlagReader();
  const address = reader.url(url, '', 'http://127.0.0.1:9901');
  const watchSeconds = secondsIn('--watch', given.watch, 5, 3600, reader);
  const experimentSeconds = secondsIn('--for', given.for, 3, experimentMax, reader);
  const users = given.users === undefined ? undefined : reader.count('--users', given.users);
  reader.finish();
  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const say = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
  try {
    const startedAt = wallClockAt(now()).toISOString();
    say(`watching ${url} for ${watchSeconds} s; nothing is changed meanwhile`);
    const result = await conductLive({
      target: gatewayTarget(address?.href ?? url),
      id: `live-${startedAt.replaceAll(/[^\d]/g, '').slice(0, 14)}`,
      startedAt,
      plimsoll: version,
      watchSeconds,
      experimentSeconds,
      ...(users === undefined ? {} : { users }),
      tick: () => second(abort.signal),
      confirm: (proposal) =>
        given.yes ? Promise.resolve(true) : asked(proposal, experimentSeconds, abort.signal, say),
      announce: say,
      stop: abort.signal,
    });
    return told(result, given, abort.signal.aborted);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

async function second(stop: AbortSignal): Promise<number> {
  await pause(1000, undefined, { signal: stop }).catch(() => undefined);
  return now() / 1e9;
}

/** Shows what would be done to whom, and asks. Without a terminal the answer is no. */
async function asked(
  proposal: Proposal,
  seconds: number,
  stop: AbortSignal,
  say: (sentence: string) => void,
): Promise<boolean> {
  const tells = proposal.experiment.tellsFrom.join(', ');
  say('');
  say(`proposed: ${proposal.does}, for ${seconds} s; then ${proposal.undoes}`);
  say(`  decides ${tells === '' ? 'whether the leading theory holds' : `against ${tells}`}`);
  say(`  risk: ${proposal.risk}; it ends at once when requests begin to fail`);
  if (!process.stdin.isTTY) {
    say('  not done: there is nobody to ask here; --yes would do it');
    return false;
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question('  do it? [y/N] ', { signal: stop });
    return /^y(?:es)?$/i.test(answer.trim());
  } catch {
    return false;
  } finally {
    lines.close();
  }
}

function told(result: LiveResult, { out, json }: z.infer<typeof flags>, interrupted: boolean): ExitCode {
  const { diagnosis, record, proposals, done } = result;
  if (out !== undefined) writeFileSync(out, linesOf(result));
  const outcome: Outcome = { record, sources: [], diagnosis, objectives: [], limits: [], file: out };
  if (json) {
    const shown = proposals.map(({ experiment, ...proposal }) => ({
      kind: experiment.kind,
      tells_from: experiment.tellsFrom,
      ...proposal,
    }));
    process.stdout.write(`${JSON.stringify({ ...resultJson(outcome), proposals: shown, done }, undefined, 2)}\n`);
  } else
    process.stdout.write(`${resultText(outcome, columnsOf(process.stdout), paintFor(process.stdout)).join('\n')}\n`);
  if (interrupted) return exit.interrupted;
  const { pattern } = diagnosis.verdict;
  return pattern === 'healthy' || pattern === 'undecided' ? exit.ok : exit.fault;
}

function linesOf({ lines }: LiveResult): string {
  return lines.map((line) => encodeLine(line)).join('');
}

function secondsIn(flag: string, text: string, least: number, most: number, reader: FlagReader): number {
  const length = parseDuration(text);
  const seconds = length === undefined ? Number.NaN : inSeconds(length);
  if (seconds >= least && seconds <= most) return seconds;
  reader.wrong(`${flag}: found "${text}", expected a time from ${least}s to ${most}s`);
  return least;
}
