// The gateway as a process: reads its file, says when it is ready, drains on SIGTERM, and ends when whoever started it has gone.

import { fstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Duration, seconds } from '../base.ts';
import { chooseEngine } from '../net.ts';
import { describeProblem, parseGatewayConfig } from './config.ts';
import { type RunningGateway, startGateway } from './start.ts';

export interface GatewayProcessOptions {
  /** Whether the end of stdin stops the gateway. By default it does when stdin is a pipe or a socket, so that a gateway does not
   * outlive the program that started it; a service manager gives /dev/null, a person a terminal. */
  readonly stopWithStdin?: boolean;
  /** Named in the ready line. */
  readonly version?: string;
}

/** Patience with requests under way once our parent has gone: nobody will come to kill us. */
const orphanPatience: Duration = seconds(1);

/** Runs until told to stop and returns the exit code: 0 stopped in order, 1 could not start or had to break off requests, 2 the
 * configuration is wrong. Prints `{"ready":true,"port":N,"admin_port":M}` on stdout once it serves. */
export async function runGatewayProcess(file: string, options: GatewayProcessOptions = {}): Promise<number> {
  const text = await readText(file);
  if (text === undefined) return 2;
  const parsed = parseGatewayConfig(text, file);
  if (!parsed.ok) {
    for (const problem of parsed.problems) console.error(describeProblem(problem));
    return 2;
  }
  const chosen = chooseEngine(parsed.config.engine);
  if ('impossible' in chosen) {
    console.error(`plimsoll gateway: cannot start: ${chosen.impossible}`);
    return 1;
  }
  const { engine } = chosen;
  let gateway: RunningGateway;
  try {
    gateway = await startGateway(parsed.config, engine);
  } catch (error) {
    console.error(`plimsoll gateway: cannot start: ${messageOf(error)}`);
    await engine.close();
    return 1;
  }
  const { version } = options;
  const ready = { ready: true, port: gateway.port, admin_port: gateway.adminPort, version };
  console.log(JSON.stringify(ready));
  const stop = await toldToStop(options.stopWithStdin ?? stdinIsHeld());
  const unfinished = await gateway.drain(stop === 'orphaned' ? orphanPatience : undefined);
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

/** Does another program hold the other end? */
function stdinIsHeld(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

/** A second signal does not wait for the drain. */
function toldToStop(withStdin: boolean): Promise<'signal' | 'orphaned'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(signal === 'SIGTERM' ? 143 : 130));
        // An open stdin would keep the process alive after everything else has ended.
        if (withStdin) process.stdin.destroy();
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
