import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { dice, ms, seconds } from '../base.ts';
import type { Gateway, Service, Topology } from '../scenario.ts';
import type { Lab, LabEvent, LabOptions } from './contract.ts';
import { findProgram } from './gateways/find-program.ts';
import { LabError } from './lab-error.ts';
import { startLab } from './start-lab.ts';

const gateway: Gateway = {
  policy: 'round-robin',
  timeout: seconds(5),
  connectTimeout: seconds(1),
  retries: 0,
  health: undefined,
};

const service: Service = {
  name: 'api',
  replicas: 2,
  workers: 4,
  serviceTime: { kind: 'constant', value: ms(5) },
  cpuTime: { kind: 'constant', value: ms(0) },
  queue: { limit: 100, abandoned: 'served' },
  cpuQuota: undefined,
  calls: [],
  healthSharesPool: true,
};

const plimsollGateway = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, '..', 'cli', 'main.ts'),
  'gateway',
];

interface Started {
  readonly lab: Lab;
  readonly folder: string;
  readonly events: readonly LabEvent[];
}

/** A lab of one service, without a gateway unless one is given; closed when the test ends. */
async function start(
  context: TestContext,
  wanted: Partial<Omit<LabOptions, 'topology'>> & { readonly topology?: Partial<Topology> } = {},
): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-lab-'));
  const events: LabEvent[] = [];
  const via = wanted.topology?.gateway === undefined ? 'registry' : 'gateway';
  const lab = await startLab({
    seed: 1,
    gateway: 'haproxy',
    gatewayCommand: plimsollGateway,
    folder,
    onEvent: (event) => events.push(event),
    ...wanted,
    topology: {
      services: [service],
      dependencies: [],
      gateway: undefined,
      clients: [{ name: 'users', service: 'api', via, choice: 'round-robin', timeout: seconds(5) }],
      ...wanted.topology,
    },
  });
  context.after(async () => {
    await lab.close();
    rmSync(folder, { recursive: true });
  });
  return { lab, folder, events };
}

interface Answer {
  readonly code: number;
  readonly replica: string;
  readonly ms: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

function visit(
  at: { readonly host: string; readonly port: number },
  path = '/',
  signal?: AbortSignal,
): Promise<Answer> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    get({ host: at.host, port: at.port, path, agent, ...(signal === undefined ? {} : { signal }) }, (response) => {
      response.resume();
      response.on('end', () =>
        resolve({
          code: response.statusCode ?? 0,
          replica: String(response.headers['x-plimsoll-replica']),
          ms: performance.now() - begun,
        }),
      );
    }).on('error', reject);
  });
}

function gatewayOf(lab: Lab): { readonly host: string; readonly port: number } {
  if (lab.gateway === undefined) assert.fail('there is a gateway');
  return lab.gateway;
}

function envoyIsHere(): boolean {
  try {
    return findProgram('envoy') !== '';
  } catch {
    return false;
  }
}

function replicaOf(lab: Lab, id: string): Lab['replicas'][number] {
  const replica = lab.replicas.find((one) => one.id === id);
  if (replica === undefined) assert.fail(`there is ${id}`);
  return replica;
}

async function metric(lab: Lab, id: string, name: string): Promise<number> {
  const text = (await lab.scrape(seconds(2))).replicas.get(id) ?? assert.fail(`${id} is silent`);
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1),
  );
}

/** How many answers came from each replica. */
async function shares(
  at: { readonly host: string; readonly port: number },
  count: number,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const one = async (): Promise<void> => {
    const { replica, code } = await visit(at);
    assert.equal(code, 200);
    counts[replica] = (counts[replica] ?? 0) + 1;
  };
  for (let done = 0; done < count; done += 4) await Promise.all([one(), one(), one(), one()]);
  return counts;
}

for (const [program, installed] of [
  ['plimsoll', true],
  ['haproxy', existsSync('/usr/sbin/haproxy')],
  ['nginx', existsSync('/usr/sbin/nginx')],
  ['envoy', envoyIsHere()],
] as const) {
  test(
    `${program} spreads requests in turn, logs them, and takes another policy and more replicas`,
    { skip: installed ? false : `${program} is not installed` },
    async (context) => {
      const { lab, folder, events } = await start(context, { gateway: program, topology: { gateway } });
      const at = gatewayOf(lab);
      assert.equal(lab.gateway?.program, program);
      assert.match(lab.gateway.version, /^\d+\.\d+/);

      await shares(at, 4);
      const log = await lab.logTo('first');
      assert.deepEqual(await shares(at, 40), { 'api-1': 20, 'api-2': 20 });
      assert.equal(await metric(lab, 'api-1', 'plimsoll_replica_started_total'), 22);
      assert.equal(await metric(lab, 'api-2', 'plimsoll_replica_served_total{code="200"}'), 22);
      const scrape = await lab.scrape(seconds(2));
      assert.deepEqual(scrape.silent, []);
      assert.equal(scrape.gateway?.program, program);
      assert.deepEqual([...scrape.cpu.keys()], ['api-1', 'api-2', 'gateway']);
      const statistics = await lab.saveStatistics('first');

      await lab.setPolicy('least-request');
      assert.equal(lab.gateway.policy, 'least-request');
      assert.equal(lab.gateway.port, at.port);
      await lab.logTo('second');
      assert.deepEqual(await lab.addReplicas('api', 1), ['api-3']);
      const second = await shares(at, 24);
      assert.deepEqual(Object.keys(second).toSorted(), ['api-1', 'api-2', 'api-3']);
      await lab.close();

      if (program === 'plimsoll') {
        assert.equal(log, undefined);
      } else {
        assert.equal(log, join(folder, 'first.log'));
        assert.equal(readFileSync(join(folder, 'first.log'), 'utf8').trim().split('\n').length, 40);
        assert.equal(readFileSync(join(folder, 'second.log'), 'utf8').trim().split('\n').length, 24);
      }
      if (program === 'haproxy') {
        assert.equal(statistics, join(folder, 'first-stats.csv'));
        const lines = readFileSync(statistics, 'utf8').split('\n');
        const column = (lines[0] ?? '').split(',').indexOf('stot');
        const totals = lines.filter((line) => line.startsWith('api,api-')).map((line) => line.split(',')[column]);
        assert.deepEqual(totals, ['20', '20'], 'the statistics begin again with the log');
      }
      assert.deepEqual(events, []);
    },
  );
}

test('a stopped replica is silent and answers when it goes on; a killed one comes back under its address', async (context) => {
  const { lab, events } = await start(context);
  const before = replicaOf(lab, 'api-2');
  await lab.inject({ kind: 'stop', replica: 'api-2' });
  const waiting = visit(before);
  assert.deepEqual((await lab.scrape(ms(300))).silent, ['api-2']);
  assert.equal((await visit(replicaOf(lab, 'api-1'))).code, 200);
  await lab.inject({ kind: 'resume', replica: 'api-2' });
  assert.equal((await waiting).replica, 'api-2');
  assert.deepEqual((await lab.scrape(seconds(2))).silent, []);

  await lab.inject({ kind: 'kill', replica: 'api-2' });
  await assert.rejects(visit(before), /ECONNREFUSED|ECONNRESET/);
  assert.deepEqual((await lab.scrape(seconds(2))).silent, ['api-2']);
  await assert.rejects(lab.inject({ kind: 'stop', replica: 'api-2' }), /api-2 does not run/);
  await lab.inject({ kind: 'restart', replica: 'api-2' });
  const restarted = replicaOf(lab, 'api-2');
  assert.deepEqual([restarted.port, restarted.adminPort], [before.port, before.adminPort]);
  assert.notEqual(restarted.pid, before.pid);
  assert.equal((await visit(before)).replica, 'api-2');
  assert.deepEqual(events, [], 'what the lab did itself is no news');
});

test('a replica that ends by itself is news', async (context) => {
  const { lab, events } = await start(context);
  process.kill(replicaOf(lab, 'api-1').pid, 'SIGKILL');
  while (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(events, [{ event: 'replica-exited', target: 'api-1', detail: 'it was ended by SIGKILL' }]);
});

test('a replica can be made slower and larger, and stays so when it is started again', async (context) => {
  const { lab } = await start(context);
  const api = replicaOf(lab, 'api-1');
  await lab.setSlowness('api-1', 40);
  await lab.setWorkers('api-1', 7);
  assert.ok((await visit(api)).ms >= 199);
  await lab.inject({ kind: 'restart', replica: 'api-1' });
  assert.ok((await visit(api)).ms >= 199);
  assert.equal(await metric(lab, 'api-1', 'plimsoll_replica_workers'), 7);
  await lab.inject({ kind: 'slow', replica: 'api-1', factor: 1 });
  assert.ok((await visit(api)).ms < 199);
  assert.equal(replicaOf(lab, 'api-1').workers, 4, 'the settings are those of the scenario');
});

test('a pause stops everything once, burning stretches all work by what it takes', async (context) => {
  const steady = { ...service, serviceTime: { kind: 'constant', value: ms(40) } as const };
  const { lab } = await start(context, { topology: { services: [steady] } });
  const api = replicaOf(lab, 'api-1');
  const usual = await meanService(lab, () => visits(api, 12));
  await lab.inject({ kind: 'burn', replica: 'api-1', share: 0.5 });
  const burnt = await meanService(lab, () => visits(api, 12));
  await lab.inject({ kind: 'burn', replica: 'api-1', share: 0 });
  // Half of the time is gone, so everything takes twice as long: 80 ms, give or take one slice of 5 ms at each end. Above there
  // is room for a busy machine.
  assert.ok(usual >= 39.9 && usual < 60, `${usual} ms`);
  assert.ok(burnt > 70 && burnt < 120, `${burnt} ms`);

  const begun = performance.now();
  await lab.inject({ kind: 'pause', replica: 'api-1', length: ms(150) });
  await visit(api);
  // Whether the request came before the pause or in it, it took the pause and its own 40 ms.
  assert.ok(performance.now() - begun > 189, `${performance.now() - begun} ms`);
});

async function visits(api: Lab['replicas'][number], count: number): Promise<void> {
  for (let done = 0; done < count; done += 4) await Promise.all([visit(api), visit(api), visit(api), visit(api)]);
}

/** Mean worker time of `api-1` during `act`, in milliseconds. */
async function meanService(lab: Lab, act: () => Promise<void>): Promise<number> {
  const read = async (): Promise<readonly [number, number]> => [
    await metric(lab, 'api-1', 'plimsoll_replica_service_seconds_sum'),
    await metric(lab, 'api-1', 'plimsoll_replica_service_seconds_count'),
  ];
  const [sumBefore, countBefore] = await read();
  await act();
  const [sum, count] = await read();
  return ((sum - sumBefore) / (count - countBefore)) * 1e3;
}

test('service takes what was drawn for it', async (context) => {
  const mean = ms(20);
  const random = { ...service, replicas: 1, workers: 16, serviceTime: { kind: 'exponential', mean } as const };
  const ratePerSecond = 100;
  const count = 2 * ratePerSecond;
  // The mean of n exponential times has a deviation of mean / √n.
  const sampling = (4 * 20) / Math.sqrt(count) + 0.02 * 20;
  const drawn = dice(11, 'api-1/service');
  const drawnMs = Array.from({ length: count }, () => drawn.exponential(mean) / 1e6).reduce((sum, one) => sum + one, 0);
  // The stream is known, so the very times are: nothing may be lost, and no more added than what a busy machine takes a
  // process away for, of which this process has its share too. On an idle one that is 0.1 %. Other tests come and go beside
  // this one, so it may try again; if nobody ever leaves it in peace, there is nothing to measure on.
  const exact = drawnMs / count;
  let excess = Infinity;
  for (let attempt = 0; attempt < 3 && excess > 0; attempt++) {
    const { lab } = await start(context, { seed: 11, topology: { services: [random] } });
    const api = replicaOf(lab, 'api-1');
    let stallMs = 0;
    const served = await meanService(lab, async () => {
      stallMs = await openLoop(api, { count, ratePerSecond });
    });
    assert.ok(served > exact - 0.01, `${served} ms for ${exact} ms`);
    excess = Math.max(served - exact * 1.04, Math.abs(served - 20) - sampling) - 3 * stallMs;
  }
  const busy = (loadavg()[0] ?? 0) / availableParallelism();
  if (excess > 0 && busy > 1.5)
    context.skip(`this machine is too busy to measure on: ${busy.toFixed(1)} runnable a core`);
  else assert.ok(excess <= 0, `${excess} ms too long`);
});

/** Asks at a constant rate, whatever the answers do. Resolves with how long, in the mean over time, this process was still
 * to stand still: the machine's share in every lateness, in milliseconds. */
async function openLoop(
  api: Lab['replicas'][number],
  plan: { readonly count: number; readonly ratePerSecond: number },
): Promise<number> {
  const begun = performance.now();
  const answers: Promise<Answer>[] = [];
  let last = begun;
  let stalledArea = 0;
  while (answers.length < plan.count) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = performance.now();
    // A timer of one millisecond is on time up to two.
    stalledArea += Math.max(0, now - last - 2) ** 2 / 2;
    last = now;
    const due = Math.min(plan.count, ((now - begun) / 1e3) * plan.ratePerSecond);
    while (answers.length < due) answers.push(visit(api));
  }
  await Promise.all(answers);
  return stalledArea / (last - begun);
}

test('the queue has an end, and who leaves it makes room', async (context) => {
  const narrow: Service = {
    ...service,
    replicas: 1,
    workers: 1,
    serviceTime: { kind: 'constant', value: ms(500) },
    queue: { limit: 1, abandoned: 'dropped' },
  };
  const { lab } = await start(context, { topology: { services: [narrow] } });
  const api = replicaOf(lab, 'api-1');
  const leaving = new AbortController();
  const served = visit(api);
  await metric(lab, 'api-1', 'plimsoll_replica_queue');
  const left = visit(api, '/', leaving.signal);
  left.catch(() => {});
  while ((await metric(lab, 'api-1', 'plimsoll_replica_queue')) < 1);
  assert.equal((await visit(api)).code, 503);
  leaving.abort();
  await assert.rejects(left);
  while ((await metric(lab, 'api-1', 'plimsoll_replica_queue')) > 0);
  assert.equal(await metric(lab, 'api-1', 'plimsoll_replica_abandoned_total'), 1);
  const health = visit(api, '/healthz');
  assert.equal((await served).code, 200);
  assert.equal((await health).code, 200, 'a health check waits for a worker');
  assert.equal(await metric(lab, 'api-1', 'plimsoll_replica_served_total{code="200"}'), 1, 'and is not counted');
});

test('a call that takes too long holds the worker for each try, and fails the request', async (context) => {
  const caller: Service = {
    ...service,
    calls: [{ to: 'store', timeout: ms(300), retries: 1, choice: 'pick-first' }],
  };
  const slowStore = { name: 'store', workers: 8, serviceTime: { kind: 'constant', value: ms(20) } as const };
  const { lab } = await start(context, { topology: { services: [caller], dependencies: [slowStore] } });
  const api = replicaOf(lab, 'api-1');
  assert.deepEqual(
    lab.replicas.map(({ id, role }) => `${id} ${role}`),
    ['api-1 service', 'api-2 service', 'store-1 dependency'],
  );
  assert.equal((await visit(api)).code, 200);
  assert.equal(await metric(lab, 'store-1', 'plimsoll_replica_served_total{code="200"}'), 1);
  await lab.setSlowness('store-1', 50);
  const late = await visit(api);
  assert.equal(late.code, 504);
  assert.ok(late.ms > 600, `two tries of 300 ms: ${late.ms} ms`);
  assert.equal(await metric(lab, 'store-1', 'plimsoll_replica_started_total'), 3);
  await lab.inject({ kind: 'kill', replica: 'store-1' });
  assert.equal((await visit(api)).code, 502);
});

test('a CPU quota throttles in truth where a cgroup can be written, and is missed in words elsewhere', async (context) => {
  const hungry: Service = {
    ...service,
    replicas: 1,
    serviceTime: { kind: 'constant', value: ms(0) },
    cpuTime: { kind: 'constant', value: ms(10) },
    cpuQuota: 0.05,
  };
  const { lab, events } = await start(context, { topology: { services: [hungry] } });
  const api = replicaOf(lab, 'api-1');
  const before = (await lab.scrape(seconds(2))).cpu.get('api-1');
  await visits(api, 8);
  const after = (await lab.scrape(seconds(2))).cpu.get('api-1');
  if (before?.throttledNs === undefined || after?.throttledNs === undefined) {
    assert.match(events[0]?.detail ?? '', /^no CPU quota: /);
    return;
  }
  assert.equal(api.cpuQuota, 0.05);
  assert.ok(after.cpuNs - before.cpuNs > 8 * 10e6, 'the processor time was spent');
  // 80 ms of work at 5 ms in each period of 100 ms: sixteen periods on an idle machine. On a busy one the process also waits for
  // its turn, and is throttled less.
  assert.ok((after.throttledPeriods ?? 0) - (before.throttledPeriods ?? 0) >= 3);
  assert.ok(after.throttledNs - before.throttledNs > 100e6);
});

test('a replica that has garbage to collect stands still again and again, from its first start on', async (context) => {
  const collecting: Service = {
    ...service,
    replicas: 1,
    gcPauses: { every: { kind: 'constant', value: ms(100) }, length: { kind: 'constant', value: ms(150) } },
  };
  const { lab } = await start(context, { topology: { services: [collecting] } });
  const api = replicaOf(lab, 'api-1');
  const begun = performance.now();
  const answers: Answer[] = [];
  while (performance.now() - begun < 1500) answers.push(await visit(api));
  // One visitor is in every pause: six in 1.5 s on an idle machine, and fewer where the process also waits for its turn.
  const paused = answers.filter(({ ms: took }) => took > 120).length;
  assert.ok(paused >= 4 && paused <= 7, `${paused} of ${answers.length}`);
});

test('a forwarder stands where there is no gateway, and is told of new replicas', async (context) => {
  const { lab } = await start(context, { gateway: 'plimsoll' });
  assert.equal(lab.gateway, undefined);
  const forwarder = await lab.forwarder();
  assert.equal((await lab.forwarder()).pid, forwarder.pid);
  await lab.addReplicas('api', 1);
  assert.deepEqual(await shares(forwarder, 12), { 'api-1': 4, 'api-2': 4, 'api-3': 4 });
  await assert.rejects(lab.setPolicy('random'), LabError);
});

test('names that are not there are told with those that are', async (context) => {
  const { lab } = await start(context);
  await assert.rejects(lab.setSlowness('api-9', 2), /there is no replica api-9; there are api-1, api-2/);
  await assert.rejects(lab.addReplicas('web', 1), /there is no service web/);
});
