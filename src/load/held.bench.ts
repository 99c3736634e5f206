// How many connections can be held, how fast they open, what each costs our memory, and whether requests flow meanwhile.
//
//   npm run bench:held                     18,000 in one process, then 100,000 in six
//   npm run bench:held -- 18000 --processes 1 --ramp 5000
//
// Servers are processes of ours too (each end needs a file): one for each client process. The memory told is that of the
// client processes, less what they had before the first connection (which the rubble of starting has made room for), and the
// whole of it.
//
// Every seven thousand connections have a source address of their own: from a bound address Linux finds the odd ports of the
// lower half of the range at once (7,058 of 28,232), and beyond them each connect walks through used ports. Seen here: 6,000
// new/s up to there, 500 to 1,000 beyond.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inMs, ms, seconds } from '../base.ts';
import type { HeldGroup, LoadGroup, LoadPlan, LoadTarget } from './contract.ts';
import { startCrew } from './crew.ts';

const server = fileURLToPath(new URL('testing/holding-server.ts', import.meta.url));

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      processes: { type: 'string' },
      ramp: { type: 'string', default: '6000' },
      rate: { type: 'string', default: '500' },
    },
    allowPositionals: true,
  });
  const sizes = positionals.length > 0 ? positionals.map(Number) : [18_000, 100_000];
  for (const size of sizes) {
    const processes = values.processes === undefined ? Math.ceil(size / 18_000) : Number(values.processes);
    await hold(size, processes, Number(values.ramp), Number(values.rate));
  }
}

async function hold(
  connections: number,
  processes: number,
  rampPerSecond: number,
  ratePerSecond: number,
): Promise<void> {
  const servers: ChildProcess[] = [];
  try {
    const targets: LoadTarget[] = [];
    for (let index = 0; index < processes; index++) {
      const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', server], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      servers.push(child);
      const port = await new Promise<number>((resolve) =>
        child.stdout.once('data', (text: Buffer) => resolve(Number(text))),
      );
      targets.push({ id: `server-${index + 1}`, host: '127.0.0.1', port });
    }
    await measure(connections, processes, { rampPerSecond, ratePerSecond, targets });
  } finally {
    for (const child of servers) child.kill();
  }
}

async function measure(
  connections: number,
  processes: number,
  asked: { readonly rampPerSecond: number; readonly ratePerSecond: number; readonly targets: readonly LoadTarget[] },
): Promise<void> {
  const { rampPerSecond, ratePerSecond, targets } = asked;
  const localAddresses = Array.from({ length: Math.ceil(connections / 7_000) }, (_, index) => `127.0.0.${index + 2}`);
  const held: HeldGroup = { group: 'held', targets, held: { from: connections }, rampPerSecond, localAddresses };
  const asking: LoadGroup = {
    group: 'requests',
    targets,
    choice: 'round-robin',
    timeout: seconds(10),
    // A server that falls behind must not cost us the files that the held connections need.
    connectionsMax: 50 * processes,
    demand: {
      kind: 'open',
      clients: 'requests',
      ratePerSecond,
      arrivals: 'constant',
      flow: [{ method: 'GET', path: '/', headers: {}, body: undefined }],
    },
  };
  const plan: LoadPlan = { seed: 1, groups: [asking], held: [held] };
  const run = await startCrew(plan, { workers: processes, as: 'process' });
  const workers = childrenOf(process.pid).filter((pid) => commandOf(pid).includes('worker.ts'));
  const memoryBefore = memoryOf(workers);
  const begun = performance.now();
  let full: number | undefined;
  console.log(
    `\n${connections} connections in ${processes} processes, ${rampPerSecond}/s asked, ${ratePerSecond} requests/s meanwhile`,
  );
  for (let second = 0; second < 60; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const snapshot = run.snapshot();
    const [state] = snapshot.held ?? [];
    const [requests] = snapshot.groups;
    if (state === undefined || requests === undefined) continue;
    const latency = requests.latency === undefined ? '-' : `${inMs(ms(requests.latency.p99_ns / 1e6)).toFixed(1)} ms`;
    const trouble = Object.entries(state.errors).map(([kind, count]) => `, ${count} ${kind}`);
    console.log(
      `  ${String(state.held).padStart(7)} held, ${String(state.opened).padStart(6)} opened, ${String(state.lost).padStart(4)} lost, ` +
        `${String(requests.answered).padStart(5)} requests answered, p99 ${latency}${trouble.join('')}`,
    );
    if (state.held >= connections && full === undefined) {
      full = (performance.now() - begun) / 1000;
      second = Math.max(second, 55);
    }
  }
  const memory = memoryOf(workers);
  const each = (memory - memoryBefore) / connections;
  const result = await run.stop(seconds(1));
  console.log(
    `  full after ${full === undefined ? 'never' : `${full.toFixed(1)} s (${Math.round(connections / full)} new/s)`}, ` +
      `${(each / 1024).toFixed(2)} KiB more of our memory a connection (${(memory / connections / 1024).toFixed(2)} with all that Node takes), ledger ${JSON.stringify(result.ledgers[0])}`,
  );
  for (const limit of result.limits) console.log(`  ${limit}`);
}

function memoryOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return sum + Number(kilobytes ?? 0) * 1024;
  }, 0);
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number);
}

const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'latin1');

await main();
