// The gateway as a process: reads its file, says when it is ready, drains on SIGTERM, and ends when whoever started it has gone.

import { readFile } from 'node:fs/promises';
import { nodeEngine } from '../net.ts';
import { describeProblem, parseGatewayConfig } from './config.ts';
import { type RunningGateway, startGateway } from './start.ts';

/** Runs until told to stop and returns the exit code: 0 stopped in order, 1 could not start or had to break off requests, 2 the
 * configuration is wrong. Prints `{"ready":true,"port":N,"admin_port":M}` on stdout once it serves. `stopWithStdin`: the end
 * of stdin stops it, for processes whose parent holds the other end. */
export async function runGatewayProcess(file: string, options: { readonly stopWithStdin: boolean }): Promise<number> {
  const text = await readText(file);
  if (text === undefined) return 2;
  const parsed = parseGatewayConfig(text, file);
  if (!parsed.ok) {
    for (const problem of parsed.problems) console.error(describeProblem(problem));
    return 2;
  }
  const engine = nodeEngine();
  let gateway: RunningGateway;
  try {
    gateway = await startGateway(parsed.config, engine);
  } catch (error) {
    console.error(`plimsoll gateway: cannot start: ${messageOf(error)}`);
    await engine.close();
    return 1;
  }
  console.log(JSON.stringify({ ready: true, port: gateway.port, admin_port: gateway.adminPort ?? null }));
  const stop = await toldToStop(options.stopWithStdin);
  if (stop === 'orphaned') {
    await gateway.close();
    await engine.close();
    return 0;
  }
  const unfinished = await gateway.drain();
  await engine.close();
  if (unfinished === 0) return 0;
  console.error(`plimsoll gateway: ${unfinished} requests were not finished in time`);
  return 1;
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    console.error(`${file}: cannot be read: ${messageOf(error)}`);
    return undefined;
  }
}

/** A second signal does not wait for the drain. */
function toldToStop(withStdin: boolean): Promise<'signal' | 'orphaned'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(signal === 'SIGTERM' ? 143 : 130));
        resolve('signal');
      });
    }
    if (!withStdin) return;
    process.stdin.once('end', () => resolve('orphaned'));
    process.stdin.once('error', () => resolve('orphaned'));
    process.stdin.resume();
  });
}

function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  return String(error);
}
