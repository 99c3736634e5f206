// One load from many machines: what an agent and a coordinator are told on the command line.

import { type Agent, machinesTold, type MachinePlace, reachMachines, type RemoteThread, startAgent } from '../load.ts';
import { exit, type ExitCode, UsageError } from './exit.ts';
import { version } from './version.ts';

/** Lends this machine's threads to whoever knows the token, until it is interrupted. */
export async function lendThreads(at: string, threads: number, token: string | undefined): Promise<ExitCode> {
  const place = placeOf('--worker-listen', at);
  const talk = (text: string): void => void process.stderr.write(`${text}\n`);
  const secret = tokenOf('--worker-listen', token);
  let agent: Agent;
  try {
    agent = await startAgent({ ...place, token: secret, version, workers: threads, talk });
  } catch (error) {
    throw new UsageError(`--worker-listen ${at}: ${error instanceof Error ? error.message : String(error)}`);
  }
  process.stdout.write(`${JSON.stringify({ ready: true, port: agent.port })}\n`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
  await agent.close();
  return exit.ok;
}

export interface Borrowed {
  readonly threads: readonly RemoteThread[];
  readonly told: string;
}

/** The threads of the machines in a list such as `10.0.0.7:7000,10.0.0.8:7000`. */
export async function borrowThreads(list: string, token: string | undefined): Promise<Borrowed> {
  const places = list.split(',').map((each) => placeOf('--on', each.trim()));
  const { threads, problems } = await reachMachines(places, { token: tokenOf('--on', token), version });
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `--on ${problem}`).join('\n'));
  return { threads, told: machinesTold(threads).join('; ') };
}

/** Not a flag by necessity: what stands on a command line is seen by everybody on the machine. */
function tokenOf(flag: string, given: string | undefined): string {
  const token = given ?? process.env['PLIMSOLL_TOKEN'] ?? '';
  if (token.length >= 8) return token;
  const found = token === '' ? 'no token' : 'a token of fewer than eight characters';
  throw new UsageError(`${flag}: found ${found}, expected one in the environment variable PLIMSOLL_TOKEN (or --token)`);
}

function placeOf(flag: string, text: string): MachinePlace {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(text);
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new UsageError(`${flag}: found "${text}", expected HOST:PORT such as 10.0.0.7:7000 or [::1]:7000`);
}
