// Several machines, played by processes with a listener each on loopback: what they count together is what the server counted, and
// one that dies, stands still, or was never of ours is told.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ms, seconds } from '../../base.ts';
import type { LoadGroup, LoadPlan, LoadResult, LoadRun } from '../contract.ts';
import { startCrew } from '../crew.ts';
import { startAgent } from './agent.ts';
import { field } from './lines.ts';
import { machinesTold, type MachinePlace, reachMachines, type RemoteThread } from './remote-hand.ts';

const timeout = 30_000;
const version = '1.2.3';
const token = 'a token for tests';
const program = fileURLToPath(new URL('../testing/agent-process.ts', import.meta.url));
const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
const demand = { kind: 'open', clients: 'shop', ratePerSecond: 400, arrivals: 'constant', flow } as const;

interface Machine {
  readonly process: ChildProcess;
  readonly place: MachinePlace;
}

async function machine(itsToken = token, itsVersion = version, workers = 1): Promise<Machine> {
  const args = ['--disable-warning=ExperimentalWarning', program, itsToken, itsVersion, String(workers)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (bytes: Buffer) => resolve(String(bytes))),
  );
  const ready: unknown = JSON.parse(line);
  return { process: child, place: { host: '127.0.0.1', port: Number(field(ready, 'port')) } };
}

/** A server that counts, so many machines, and a plan for both; all ended afterwards. */
async function withMachines(
  machines: readonly Promise<Machine>[],
  body: (scene: { machines: readonly Machine[]; plan: LoadPlan; served: () => number }) => Promise<void>,
): Promise<void> {
  let served = 0;
  const server = http.createServer((_request, response) => {
    served += 1;
    response.end('hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const targets = [{ id: 'gateway', host: '127.0.0.1', port: address.port }];
  const group: LoadGroup = { group: 'shop', demand, targets, choice: 'round-robin', timeout: seconds(10) };
  const started = await Promise.all(machines);
  try {
    await body({ machines: started, plan: { groups: [group], seed: 1 }, served: () => served });
  } finally {
    for (const each of started) each.process.kill('SIGKILL');
    server.closeAllConnections();
    server.close();
  }
}

async function reached(machines: readonly Machine[], silenceMax = seconds(3)): Promise<readonly RemoteThread[]> {
  const found = await reachMachines(
    machines.map(({ place }) => place),
    { token, version, silenceMax },
  );
  assert.deepEqual(found.problems, []);
  return found.threads;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Loads until one is lost, and on. */
async function untilLost(run: LoadRun, served: () => number, lose: () => void): Promise<LoadResult> {
  await until(() => served() > 60);
  lose();
  const servedBefore = served();
  // No round is complete without it before the crew knows that it is lost.
  let seen = 0;
  await until(() => {
    seen += run.snapshot().groups[0]?.answered ?? 0;
    return seen > servedBefore + 60;
  });
  return run.stop(seconds(5));
}

function sums({ ledgers: [ledger] }: LoadResult): boolean {
  assert.ok(ledger !== undefined);
  const { answered, failed, timed_out, refused, in_flight_at_end, never_sent } = ledger;
  return ledger.planned === answered + failed + timed_out + refused + in_flight_at_end + never_sent;
}

test('two machines, three threads: one ledger, equal to what the server counted', { timeout }, async () => {
  await withMachines([machine(), machine(token, version, 2)], async ({ machines, plan, served }) => {
    const threads = await reached(machines);
    assert.equal(threads.length, 3);
    for (const { clock } of threads) assert.ok(clock.bound < ms(20), `clock known to ${clock.bound} ns`);
    assert.match(machinesTold(threads)[1] ?? '', /^127\.0\.0\.1:\d+: 2 threads, clock known to ± \d/);
    const run = await startCrew(plan, { workers: threads });
    await until(() => served() > 200);
    const result = await run.stop(seconds(5));
    const [ledger] = result.ledgers;
    assert.equal(ledger?.answered, served());
    assert.ok(sums(result));
    assert.deepEqual(
      result.limits.filter((limit) => limit.includes('lost')),
      [],
    );
  });
});

test('a machine that is killed is told, and its share is in the ledger', { timeout }, async () => {
  await withMachines([machine(), machine()], async ({ machines, plan, served }) => {
    const run = await startCrew(plan, { workers: await reached(machines) });
    const result = await untilLost(run, served, () => machines[1]?.process.kill('SIGKILL'));
    assert.match(
      result.limits[0] ?? '',
      /^worker 2 of 2 \(127\.0\.0\.1:\d+\) was lost after .*: its share of the load/,
    );
    const [ledger] = result.ledgers;
    assert.ok(sums(result));
    assert.ok((ledger?.never_sent ?? 0) > 0, 'what it would have sent');
    assert.ok((ledger?.answered ?? 0) > 60 && (ledger?.answered ?? 0) <= served());
  });
});

test('a machine that stands still is lost, and when it goes on it stops by itself', { timeout }, async () => {
  await withMachines([machine(), machine()], async ({ machines, plan, served }) => {
    const run = await startCrew(plan, { workers: await reached(machines, ms(400)) });
    const result = await untilLost(run, served, () => machines[1]?.process.kill('SIGSTOP'));
    assert.match(result.limits[0] ?? '', /^worker 2 of 2 .* was lost after .* \(silent for 400 ms\)/);
    assert.ok(sums(result));
    machines[1]?.process.kill('SIGCONT');
    // It lets others in again as soon as it has understood.
    const found = await reachedAgain(machines);
    const before = served();
    for (const thread of found) thread.close();
    assert.equal(served(), before);
  });
});

/** Asks until every thread is free again. */
async function reachedAgain(machines: readonly Machine[]): Promise<readonly RemoteThread[]> {
  for (;;) {
    const found = await reachMachines(
      machines.map(({ place }) => place),
      { token, version },
    );
    if (found.problems.length === 0) return found.threads;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('another token, another version, a taken machine, and nobody there: each in a sentence', { timeout }, async () => {
  const stranger = net.createServer((socket) => void socket.end('220 mail.example ESMTP\r\n'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const address = stranger.address();
  assert.ok(address !== null && typeof address === 'object');
  const started = await Promise.all([machine('another'), machine(token, '9.9.9'), machine()]);
  try {
    const [first] = await reached(started.slice(2));
    const places = [...started.map(({ place }) => place), { host: '127.0.0.1', port: address.port }];
    const { problems, threads } = await reachMachines(places, { token, version });
    const told = problems.map((problem) => problem.replace(/^127\.0\.0\.1:\d+: /, ''));
    assert.deepEqual(told, [
      'it refuses: the token is another one',
      'it is of version 9.9.9 (protocol 1), we are of 1.2.3 (protocol 1): take the same for both',
      'it refuses: all of its 1 threads are taken',
      'something that is no message',
    ]);
    assert.deepEqual(threads, []);
    first?.close();
  } finally {
    for (const each of started) each.process.kill('SIGKILL');
    stranger.close();
  }
});

test('an agent whose coordinator goes away ends what it drove for it', { timeout }, async () => {
  const said: string[] = [];
  const agent = await startAgent({
    host: '127.0.0.1',
    port: 0,
    token,
    version,
    workers: 1,
    talk: (text) => void said.push(text),
  });
  await withMachines([], async ({ plan, served }) => {
    const places = [{ host: '127.0.0.1', port: agent.port }];
    const found = await reachMachines(places, { token, version, silenceMax: ms(200) });
    const [thread] = found.threads;
    assert.ok(thread !== undefined);
    const run = await startCrew(plan, { workers: [thread] });
    await until(() => served() > 20);
    thread.close();
    await until(() => said.some((text) => text.endsWith('the connection was closed')));
    await agent.close();
    const before = served();
    const { limits } = await run.stop(seconds(5));
    assert.match(limits[0] ?? '', /was lost after .* \(silent for 200 ms\)/);
    assert.equal(served(), before);
  });
});
