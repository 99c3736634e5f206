// What a lab replica costs and how true its times are: `node src/lab/replica.bench.ts`. One replica of 8 workers and a constant
// 20 ms, asked openly at 200 requests a second for 10 s; then 4 workers kept saturated by 16 closed users.
//
// Measured on two cores of a virtual machine, Node 26.10, nothing else running: 4.2 % of a core at 200/s; service 20.00 ms, from
// arrival to answer 20.20 ms, at the client 20.55 ms; saturated 199.7/s of 200 at 5.8 % of a core. With a busy process for each
// core beside it the replica is kept waiting for its turn, and serves in 21 to 26 ms: a lab needs a machine of its own.

import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ms, seconds } from '../base.ts';
import type { Lab } from './contract.ts';
import { startLab } from './start-lab.ts';

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const length = seconds(10);

await bench('open, 200/s, 8 workers', 8, async (visit) => {
  const begun = performance.now();
  const answers: Promise<void>[] = [];
  while (performance.now() - begun < length / 1e6) {
    const due = ((performance.now() - begun) / 1e3) * 200;
    while (answers.length < due) answers.push(visit());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(answers);
});

await bench('closed, 16 users, 4 workers', 4, async (visit) => {
  const begun = performance.now();
  const user = async (): Promise<void> => {
    while (performance.now() - begun < length / 1e6) await visit();
  };
  await Promise.all(Array.from({ length: 16 }, user));
});

agent.destroy();

async function bench(
  name: string,
  workers: number,
  load: (visit: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));
  const lab = await startLab({
    topology: {
      services: [
        {
          name: 'api',
          replicas: 1,
          workers,
          serviceTime: { kind: 'constant', value: ms(20) },
          cpuTime: { kind: 'constant', value: ms(0) },
          queue: { limit: 1000, abandoned: 'served' },
          cpuQuota: undefined,
          calls: [],
          healthSharesPool: true,
        },
      ],
      dependencies: [],
      gateway: undefined,
      clients: [{ name: 'bench', service: 'api', via: 'registry', choice: 'random', timeout: seconds(5) }],
    },
    seed: 1,
    gateway: 'plimsoll',
    gatewayCommand: [],
    folder,
    onEvent: () => {},
  });
  const port = lab.replicas[0]?.port ?? 0;
  const latencies: number[] = [];
  const visit = async (): Promise<void> => void latencies.push(await latencyOf(port));
  for (let warm = 0; warm < 50; warm++) await latencyOf(port);
  const before = await reading(lab);
  const begun = performance.now();
  await load(visit);
  const elapsed = performance.now() - begun;
  const after = await reading(lab);
  const mean = (what: string): string => {
    const grown = (one: string): number => after.value(one) - before.value(one);
    const metric = `plimsoll_replica_${what}_seconds`;
    return `${((grown(`${metric}_sum`) / grown(`${metric}_count`)) * 1e3).toFixed(2)} ms`;
  };
  const atClient = latencies.reduce((sum, one) => sum + one, 0) / latencies.length;
  console.log(
    [
      name.padEnd(28),
      `${((latencies.length / elapsed) * 1e3).toFixed(1)}/s`,
      `service ${mean('service')}`,
      `in the replica ${mean('latency')}`,
      `at the client ${atClient.toFixed(2)} ms`,
      `${((after.cpu - before.cpu) / elapsed / 1e4).toFixed(1)} % of a core`,
    ].join('  '),
  );
  await lab.close();
  rmSync(folder, { recursive: true });
}

async function reading(lab: Lab): Promise<{ value(name: string): number; readonly cpu: number }> {
  const scrape = await lab.scrape(seconds(1));
  const lines = (scrape.replicas.get('api-1') ?? '').split('\n');
  return {
    value: (name) => Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]),
    cpu: scrape.cpu.get('api-1')?.cpuNs ?? 0,
  };
}

function latencyOf(port: number): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(performance.now() - begun));
    }).on('error', reject);
  });
}
