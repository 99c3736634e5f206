// The gateway as a process: reads its file, says when it is ready, takes another configuration on SIGHUP, hands its sockets over
// to a new process on SIGUSR2, drains on SIGTERM, and ends when whoever started it has gone.
//
//   SIGHUP    the file is read again; what is wrong in it is said on standard error, and the old configuration stays
//   SIGUSR2   the same command is started again with our listening sockets; once it is ready, we finish what we have and end
//   SIGTERM   what is under way is finished

import { fstatSync } from 'node:fs';
import { type Duration, seconds } from '../base.ts';
import { chooseEngine } from '../net.ts';
import type { GatewayConfig } from './config.ts';
import { InheritedSockets } from './inherited.ts';
import { announce, held, onSignal, readGatewayFile, rereadGatewayFile, startFailed, type Stop } from './operator.ts';
import { type RunningGateway, startGateway } from './start.ts';
import { startSuccessor, tellPredecessor } from './successor.ts';
import { runSupervisor } from './supervisor.ts';
import { runWorker, workerNumber } from './worker.ts';

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
  const worker = workerNumber();
  if (worker !== undefined) return runWorker(file, worker);
  const parsed = await readGatewayFile(file);
  if ('problems' in parsed) {
    for (const problem of parsed.problems) console.error(problem);
    return 2;
  }
  const { config } = parsed;
  const stopWithStdin = options.stopWithStdin ?? stdinIsHeld();
  if (config.workers > 1)
    return runSupervisor(config, file, stopWithStdin, () => toldToStop(stopWithStdin), options.version);
  return runAlone(config, file, stopWithStdin, options.version);
}

async function runAlone(
  config: GatewayConfig,
  file: string,
  stopWithStdin: boolean,
  version: string | undefined,
): Promise<number> {
  const chosen = chooseEngine(config.engine, { waitsInRing: true });
  if ('impossible' in chosen) {
    announce(`cannot start: ${chosen.impossible}`);
    return 1;
  }
  const { engine } = chosen;
  let gateway: RunningGateway;
  const stopped = Promise.withResolvers<Stop>();
  const restart = async (): Promise<readonly string[]> => {
    if (stopWithStdin) return [held];
    const problem = await startSuccessor(gateway.sockets());
    if (problem !== undefined) return [problem];
    stopped.resolve('succeeded');
    return [];
  };
  const reload = async (): Promise<readonly string[]> => {
    const read = await rereadGatewayFile(file);
    if ('problems' in read) return read.problems;
    if (read.config.workers !== 1) return ['workers: cannot change in a running process; restart it'];
    return gateway.reload(read.config);
  };
  try {
    const inherited = InheritedSockets.fromEnvironment();
    gateway = await startGateway(config, engine, { inherited, reload, restart, announce });
  } catch (error) {
    await engine.close();
    return startFailed(error, file);
  }
  onSignal('SIGHUP', () => reload(), `${file} is in force`);
  onSignal('SIGUSR2', () => restart(), 'a new process has taken over');
  const { port, adminPort } = gateway;
  console.log(JSON.stringify({ ready: true, port, admin_port: adminPort, pid: process.pid, version }));
  tellPredecessor();
  void toldToStop(stopWithStdin).then(stopped.resolve);
  const stop = await stopped.promise;
  // The address of the admin API belongs to the new process.
  if (stop === 'succeeded') await gateway.stopAdmin();
  const unfinished = await gateway.drain(stop === 'orphaned' ? orphanPatience : undefined);
  await engine.close();
  releaseStdin();
  if (unfinished === 0) return 0;
  announce(`${unfinished} requests were not finished in time`);
  return 1;
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
function toldToStop(withStdin: boolean): Promise<Stop> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(signal === 'SIGTERM' ? 143 : 130));
        if (withStdin) releaseStdin();
        resolve('signal');
      });
    }
    if (!withStdin) return;
    process.stdin.once('end', () => resolve('orphaned'));
    process.stdin.once('error', () => resolve('orphaned'));
    process.stdin.resume();
  });
}

/** An open stdin would keep the process alive after everything else has ended. */
function releaseStdin(): void {
  process.stdin.destroy();
}
