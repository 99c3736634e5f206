// Several threads or processes against one server on loopback: what they count together is what it counted.

import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import type { EngineChoice } from '../net.ts';
import type { LoadGroup, LoadPlan, LoadResult, LoadSnapshot } from './contract.ts';
import { startCrew } from './crew.ts';
import { constant } from '../scenario.ts';

const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
const closed = { kind: 'closed', clients: 'shop', users: 5, flow, think: constant(ms(2)) } as const;
const open = { kind: 'open', clients: 'shop', ratePerSecond: 300, arrivals: 'poisson', flow } as const;

interface Loaded {
  readonly result: LoadResult;
  readonly snapshots: readonly LoadSnapshot[];
  readonly served: number;
}

/** Loads a counting server with three workers until it has served so many requests. */
async function load(
  demand: LoadGroup['demand'],
  requests: number,
  as: 'thread' | 'process',
  engine: EngineChoice,
): Promise<Loaded> {
  let served = 0;
  let enough = (): void => {};
  const servedEnough = new Promise<void>((resolve) => (enough = resolve));
  const server = http.createServer((_request, response) => {
    served += 1;
    if (served === requests) enough();
    response.setHeader('x-plimsoll-replica', `api-${1 + (served % 2)}`);
    response.end('hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const targets = [{ id: 'gateway', host: '127.0.0.1', port: address.port }];
  const group: LoadGroup = { group: 'shop', demand, targets, choice: 'round-robin', timeout: seconds(10) };
  const snapshots: LoadSnapshot[] = [];
  try {
    const run = await startCrew({ groups: [group], seed: 1 }, { workers: 3, as, engine });
    const looks = setInterval(() => snapshots.push(run.snapshot()), 20);
    await servedEnough;
    clearInterval(looks);
    const result = await run.stop(seconds(10));
    return { result, snapshots, served };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

for (const [name, demand, as, engine] of [
  ['threads of closed users', closed, 'thread', 'node'],
  ['threads of open arrivals', open, 'thread', 'auto'],
  ['processes of open arrivals', open, 'process', 'auto'],
] as const) {
  test(`three ${name}: one ledger, equal to what the server counted`, async () => {
    const { result, snapshots, served } = await load(demand, 150, as, engine);
    const ledger = result.ledgers[0];
    assert.equal(ledger?.answered, served);
    assert.equal(ledger?.planned, served + (ledger?.never_sent ?? 0));
    const latency = result.histograms.find(({ of }) => of.group === 'shop' && of.what === 'latency');
    assert.equal(latency?.count, served);
    const byReplica = result.histograms.filter(
      ({ of }) => of.replica?.startsWith('api-') === true && of.what === 'latency',
    );
    assert.deepEqual(
      byReplica.map(({ count }) => count).toSorted((a, b) => a - b),
      [Math.floor(served / 2), Math.ceil(served / 2)],
    );
    // Snapshots are whole rounds, one after another, and hold nothing that the ledger does not.
    const seen = snapshots.reduce((sum, snapshot) => sum + (snapshot.groups[0]?.answered ?? 0), 0);
    assert.ok(seen <= served);
    assert.ok(snapshots.every((snapshot, index) => index === 0 || snapshot.at >= (snapshots[index - 1]?.at ?? 0)));
  });
}

test('a crew of one is a run like any other', async () => {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const plan: LoadPlan = {
    seed: 1,
    groups: [],
    held: [
      {
        group: 'idle',
        targets: [{ id: 'gateway', host: '127.0.0.1', port: address.port }],
        held: { from: 20 },
        rampPerSecond: 10_000,
      },
    ],
  };
  const run = await startCrew(plan, { workers: 1 });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if ((run.snapshot().held?.[0]?.held ?? 0) === 20) break;
  }
  const { held } = await run.stop(ms(0));
  assert.equal(held?.[0]?.heldAtEnd, 20);
  server.close();
});

test('a worker that is lost is told, and the run ends all the same', async () => {
  const broken = [{ method: 'GET', path: '/', headers: { 'X-Broken': 'two\r\nlines' }, body: undefined }];
  const targets = [{ id: 'gateway', host: '127.0.0.1', port: 9 }];
  const demand = { ...closed, flow: broken };
  const group: LoadGroup = { group: 'shop', demand, targets, choice: 'round-robin', timeout: seconds(1) };
  const run = await startCrew({ groups: [group], seed: 1 }, { workers: 2 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { limits, ledgers } = await run.stop(seconds(5));
  assert.equal(limits.length, 2);
  assert.match(limits[1] ?? '', /^worker 2 of 2 was lost after .* \(a line of a request head is one line\): its share/);
  assert.equal(ledgers[0]?.planned, 0);
});
