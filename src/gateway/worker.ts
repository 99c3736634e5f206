// One of several processes that serve the same addresses. It is a whole gateway but for what the supervisor does for all of them:
// it has no admin address (the supervisor asks over the channel), reads no file, and heeds no signal meant for the whole.

import { type Duration, ns } from '../base.ts';
import { chooseEngine } from '../net.ts';
import { type ParsedConfig, parseGatewayConfig } from './config.ts';
import { InheritedSockets } from './inherited.ts';
import { announce, startFailed } from './operator.ts';
import { parseAside } from './parse-aside.ts';
import { type RunningGateway, startGateway } from './start.ts';
import { toWorker, type ToSupervisor, type ToWorker } from './worker-messages.ts';

/** In the environment of a worker: which of them it is, from 1 on. */
export const workerVariable = 'PLIMSOLL_WORKER';

export function workerNumber(): number | undefined {
  const text = process.env[workerVariable];
  return text === undefined ? undefined : Number(text);
}

export async function runWorker(file: string, number: number): Promise<number> {
  try {
    return await served(file, number);
  } finally {
    // An open channel would keep the process alive.
    if (process.connected) process.disconnect?.();
  }
}

async function served(file: string, number: number): Promise<number> {
  // A terminal sends these to every process; the supervisor says what is to be done.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});
  const begin = await firstMessage();
  if (begin === undefined) return 1;
  // Workers that threw the same dice would all choose the same endpoint at the same time.
  const own = (read: ParsedConfig) =>
    read.ok ? { ...read.config, admin: undefined, seed: read.config.seed + number } : undefined;
  const config = own(parseGatewayConfig(begin.text, file));
  if (config === undefined) return 2;
  const chosen = chooseEngine(config.engine, { waitsInRing: true });
  if ('impossible' in chosen) {
    announce(`worker ${number} cannot start: ${chosen.impossible}`);
    return 1;
  }
  const { engine } = chosen;
  let gateway: RunningGateway;
  try {
    gateway = await startGateway(config, engine, {
      inherited: InheritedSockets.fromEnvironment(),
      reusePort: true,
      announce: (words) => announce(`worker ${number}: ${words}`),
      ticketKeys: Buffer.from(begin.ticketKeys, 'base64'),
    });
  } catch (error) {
    await engine.close();
    return startFailed(error, file);
  }
  say({ kind: 'ready', ports: [...gateway.ports] });
  const patience = await new Promise<Duration | undefined>((resolve) => {
    process.once('SIGTERM', () => resolve(undefined));
    // Without a supervisor nobody would start us again, or stop us.
    process.once('disconnect', () => resolve(undefined));
    process.on('message', (message) => {
      const told = toWorker.safeParse(message);
      if (!told.success) return;
      if (told.data.kind === 'drain') resolve(told.data.patienceNs === null ? undefined : ns(told.data.patienceNs));
      else void answer(gateway, told.data, async (text) => own(await parseAside(text, file)));
    });
  });
  const unfinished = await gateway.drain(patience);
  await engine.close();
  if (unfinished > 0) announce(`worker ${number}: ${unfinished} requests were not finished in time`);
  return unfinished === 0 ? 0 : 1;
}

type Configured = Parameters<RunningGateway['reload']>[0];

async function answer(
  gateway: RunningGateway,
  message: ToWorker,
  read: (text: string) => Promise<Configured | undefined>,
): Promise<void> {
  if (message.kind === 'reload') {
    const config = await read(message.text);
    const problems = config === undefined ? ['the configuration is not one'] : await gateway.reload(config);
    say({ kind: 'reloaded', id: message.id, problems: [...problems] });
  } else if (message.kind === 'ask') {
    const { method, path, accept, body } = message;
    const request = new Request(`http://worker${path}`, {
      method,
      headers: { accept, ...(body === null ? {} : { 'content-type': 'application/json' }) },
      ...(body === null ? {} : { body }),
    });
    const response = await gateway.admin.fetch(request);
    const contentType = response.headers.get('content-type') ?? 'text/plain';
    say({ kind: 'answer', id: message.id, status: response.status, contentType, body: await response.text() });
  }
}

function firstMessage(): Promise<Extract<ToWorker, { kind: 'begin' }> | undefined> {
  return new Promise((resolve) => {
    process.once('disconnect', () => resolve(undefined));
    process.once('message', (message) => {
      const told = toWorker.safeParse(message);
      resolve(told.success && told.data.kind === 'begin' ? told.data : undefined);
    });
  });
}

function say(message: ToSupervisor): void {
  if (process.connected) process.send?.(message);
}
