// What a request costs on each engine, beside wrk: `node src/net/net.bench.ts [--rounds 5] [--seconds 3] [--connections 64,1000]`.
//
// nginx (one worker, a body of 100 bytes, keep-alive) has one core, the client the other. Clients take turns, in rounds, because
// the machine's other work comes and goes; each round gives a ratio to wrk in that round, and the median of the ratios is
// the figure. CPU is the client's own (user and system, all its threads) while it was measured, divided by the answers
// in that time. Our client does no more than count bytes: what a whole load generator costs is measured where that is.
//
// Needs nginx, wrk and taskset; without them it says so and ends.

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Engine, SocketHandler } from './engine.ts';
import { nodeEngine } from './node-engine.ts';
import { uringEngine } from './uring/uring-engine.ts';

const port = 18_731;
const host = '127.0.0.1';
const [serverCore, clientCore] = ['0', '1'];

interface Cost {
  /** Microseconds of CPU for a request. */
  readonly cpu: number;
  /** Requests in a second of wall time. */
  readonly rate: number;
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64,1000' },
    clients: { type: 'string', default: 'wrk,node,uring' },
    /** Used by the bench itself, in the process that is measured. */
    client: { type: 'string' },
  },
});

async function compare(): Promise<void> {
  const seconds = Number(values.seconds);
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-net-bench-'));
  const server = startNginx(folder);
  try {
    await answering();
    const clients = values.clients.split(',');
    for (const connections of values.connections.split(',').map(Number)) {
      const costs = new Map<string, Cost[]>();
      for (let round = 0; round < Number(values.rounds); round++) {
        for (const client of clients) {
          const cost = client === 'wrk' ? await wrk(connections, seconds) : await ours(client, connections, seconds);
          costs.set(client, [...(costs.get(client) ?? []), cost]);
        }
      }
      report(connections, clients, costs);
    }
  } finally {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(connections: number, clients: readonly string[], costs: ReadonlyMap<string, readonly Cost[]>): void {
  const ofWrk = costs.get('wrk') ?? [];
  for (const client of clients) {
    const rounds = costs.get(client) ?? [];
    const cpu = rounds.map((cost) => cost.cpu);
    const ratios = rounds.map((cost, round) => cost.cpu / (ofWrk[round]?.cpu ?? Number.NaN));
    const rate = median(rounds.map((cost) => cost.rate));
    const range = `${Math.min(...cpu).toFixed(2)}–${Math.max(...cpu).toFixed(2)}`;
    process.stdout.write(
      `${String(connections).padStart(5)} connections  ${client.padEnd(6)} ${median(cpu).toFixed(2)} µs (${range})  ` +
        `${median(ratios).toFixed(2)} × wrk  ${Math.round(rate)} requests/s\n`,
    );
  }
}

/** One client of ours, in a process of its own on the client's core. */
async function ours(client: string, connections: number, seconds: number): Promise<Cost> {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', import.meta.filename];
  const options = ['--client', client, '--connections', String(connections), '--seconds', String(seconds)];
  const { stdout } = await promisify(execFile)('taskset', ['-c', clientCore, ...node, ...options]);
  const answer: unknown = JSON.parse(stdout);
  if (typeof answer === 'object' && answer !== null && 'cpu' in answer && 'rate' in answer) {
    return { cpu: Number(answer.cpu), rate: Number(answer.rate) };
  }
  throw new Error(stdout);
}

async function wrk(connections: number, seconds: number): Promise<Cost> {
  const load = `taskset -c ${clientCore} wrk -t1 -c${connections} -d${seconds}s http://${host}:${port}/`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', `TIMEFORMAT='cpu %U %S'; time ${load}`]);
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(stderr) ?? [];
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  return { cpu: ((Number(user) + Number(system)) * 1e6) / requests, rate };
}

/** Asks on every connection, and again when the answer is there, for so long. */
async function beClient(name: string, connections: number, seconds: number): Promise<void> {
  const engine = engineCalled(name);
  const request = Buffer.from(`GET / HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
  const answerBytes = await lengthOfAnswer(request);
  let answers = 0;
  const handler: SocketHandler = {
    onOpen: (socket) => {
      socket.context = { left: answerBytes };
      socket.write(request);
    },
    onData: (socket, bytes) => {
      const state = socket.context;
      if (!isState(state)) return;
      state.left -= bytes.length;
      if (state.left > 0) return;
      state.left = answerBytes;
      answers++;
      socket.write(request);
    },
    onClose: (_, error) => {
      if (error !== undefined) throw new Error(error.message);
    },
  };
  for (let index = 0; index < connections; index++) engine.connect({ host, port }, handler);
  await pause(700);
  const [from, cpuFrom, answersFrom] = [performance.now(), process.cpuUsage(), answers];
  await pause(seconds * 1000);
  const cpu = process.cpuUsage(cpuFrom);
  const counted = answers - answersFrom;
  const rate = counted / ((performance.now() - from) / 1000);
  process.stdout.write(`${JSON.stringify({ cpu: (cpu.user + cpu.system) / counted, rate })}\n`);
  await engine.close();
}

interface State {
  left: number;
}

const isState = (value: unknown): value is State => typeof value === 'object' && value !== null;

function engineCalled(name: string): Engine {
  if (name === 'node') return nodeEngine();
  const engine = uringEngine();
  if ('why' in engine) throw new Error(engine.why);
  return engine;
}

function lengthOfAnswer(request: Uint8Array): Promise<number> {
  const engine = nodeEngine();
  return new Promise((resolve) => {
    engine.connect(
      { host, port },
      {
        onOpen: (socket) => void socket.write(request),
        onData: (socket, bytes) => {
          resolve(bytes.length);
          socket.destroy();
        },
        onClose: () => void engine.close(),
      },
    );
  });
}

function startNginx(folder: string) {
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr crit;
    events { worker_connections 8192; }
    http {
      access_log off; keepalive_requests 100000000;
      server { listen ${host}:${port} backlog=4096; location / { return 200 '${'x'.repeat(100)}'; } }
    }`,
  );
  return spawn('taskset', ['-c', serverCore, 'nginx', '-c', file, '-g', 'master_process off;'], { stdio: 'inherit' });
}

async function answering(): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await fetch(`http://${host}:${port}/`);
      return;
    } catch {
      await pause(50);
    }
  }
  throw new Error('nginx does not answer');
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}

if (values.client === undefined) await compare();
else await beClient(values.client, Number(values.connections), Number(values.seconds));
