// CPU a request of our gateway beside nginx and HAProxy: same backends, same load, one after another in the same run, each proxy
// alone on core 0, wrk and the backends on core 1. What counts is CPU time of the proxy's process (user and system) ÷ requests,
// because requests a second on two busy cores say more about the neighbours than about the proxy.
//
//   node src/gateway/gateway.bench.ts [--seconds 4] [--rounds 3] [--connections 64] [--bytes 135] [--only plimsoll]
//
// Needs nginx, wrk and taskset; HAProxy if it is there. Four backends are four ports of one nginx. Least request on all:
// nginx `least_conn`, HAProxy `leastconn`, ours `least-request`. Access logs off.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    bytes: { type: 'string', default: '135' },
    only: { type: 'string' },
  },
});

const backends = [18_081, 18_082, 18_083, 18_084];
const proxyPort = 18_090;
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));
const children: ChildProcess[] = [];

interface Proxy {
  readonly name: string;
  start(): ChildProcess;
}

interface Result {
  readonly cpuUs: number;
  readonly perSecond: number;
  readonly p50: string;
  readonly p99: string;
}

const nginxTemporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
  .join(' ');

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    start: () => {
      const servers = backends.map((port) => `server 127.0.0.1:${port};`).join(' ');
      const file = join(folder, 'proxy.conf');
      writeFileSync(
        file,
        `daemon off; master_process off; pid ${folder}/proxy.pid; error_log stderr crit; worker_rlimit_nofile 8192;
         events { worker_connections 4096; }
         http { access_log off; ${nginxTemporary} keepalive_requests 1000000;
           upstream api { least_conn; ${servers} keepalive 256; keepalive_requests 1000000; }
           server { listen 127.0.0.1:${proxyPort} backlog=4096;
             location / { proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection "";
               proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; } } }`,
      );
      return pinned(0, 'nginx', ['-p', folder, '-c', file]);
    },
  },
  {
    name: 'haproxy',
    start: () => {
      const servers = backends.map((port, index) => `  server s${index} 127.0.0.1:${port}`).join('\n');
      const file = join(folder, 'haproxy.cfg');
      writeFileSync(
        file,
        `global\n  nbthread 1\n  maxconn 8192\ndefaults\n  mode http\n  timeout connect 1s\n  timeout client 30s\n  timeout server 30s\n` +
          `  option forwardfor\n  http-reuse always\nfrontend in\n  bind 127.0.0.1:${proxyPort}\n  default_backend api\n` +
          `backend api\n  balance leastconn\n${servers}\n`,
      );
      return pinned(0, 'haproxy', ['-db', '-f', file]);
    },
  },
  ours('plimsoll', 'node'),
  ours('plimsoll on io_uring', 'uring'),
];

function ours(name: string, engine: 'node' | 'uring'): Proxy {
  return {
    name,
    start: () => {
      const file = join(folder, 'gateway.json');
      const endpoints = backends.map((port, index) => ({ id: `s${index}`, host: '127.0.0.1', port }));
      const listen = { host: '127.0.0.1', port: proxyPort };
      writeFileSync(file, JSON.stringify({ listen, engine, policy: 'least-request', endpoints, timeout_ns: 30e9 }));
      const main = new URL('./process.ts', import.meta.url).href;
      const code = `import { runGatewayProcess } from ${JSON.stringify(main)}; process.exitCode = await runGatewayProcess(${JSON.stringify(file)});`;
      const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', ...process.execArgv, '-e', code];
      return pinned(0, process.execPath, args);
    },
  };
}

function pinned(core: number, program: string, args: readonly string[]): ChildProcess {
  const child = spawn('taskset', ['-c', String(core), program, ...args], { stdio: ['pipe', 'ignore', 'inherit'] });
  children.push(child);
  return child;
}

/** Waits until somebody listens there, or nobody any more: the sockets of a killed process on io_uring outlive it a little. */
async function until(port: number, wanted: 'listens' | 'is free'): Promise<void> {
  for (let attempt = 0; attempt < 250; attempt++) {
    const socket = net.connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open === (wanted === 'listens')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`port ${port}: waited for 5 s until it ${wanted}`);
}

/** User and system time of a process, in seconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function load(name: string, seconds: number, port: number): { requests: number; p50: string; p99: string } {
  const args = [
    '-c',
    '1',
    'wrk',
    '--latency',
    '-t1',
    `-c${flags.connections}`,
    `-d${seconds}s`,
    `http://127.0.0.1:${port}/`,
  ];
  const { stdout } = spawnSync('taskset', args, { encoding: 'utf8' });
  if (/Non-2xx|Socket errors/.test(stdout))
    console.error(`${name}: ${/.*(Non-2xx|Socket errors).*/.exec(stdout)?.[0]}`);
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
    p50: / 50%\s+(\S+)/.exec(stdout)?.[1] ?? '',
    p99: / 99%\s+(\S+)/.exec(stdout)?.[1] ?? '',
  };
}

async function run(proxy: Proxy, seconds: number): Promise<Result> {
  await until(proxyPort, 'is free');
  const child = proxy.start();
  child.on('exit', (code, signal) => {
    if (signal !== 'SIGKILL') console.error(`${proxy.name} ended by itself: ${code ?? signal}`);
  });
  await until(proxyPort, 'listens');
  const pid = child.pid ?? 0;
  load(proxy.name, 1, proxyPort);
  const before = cpuOf(pid);
  const { requests, p50, p99 } = load(proxy.name, seconds, proxyPort);
  const cpu = cpuOf(pid) - before;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { cpuUs: (cpu * 1e6) / requests, perSecond: requests / seconds, p50, p99 };
}

async function compare(): Promise<void> {
  const file = join(folder, 'backend.conf');
  const bytes = Number(flags.bytes);
  // A short body stands in the configuration; nginx has a limit for that, and a longer one is a file.
  writeFileSync(join(folder, 'body'), 'x'.repeat(bytes));
  const answer = bytes <= 1024 ? `return 200 "${'x'.repeat(bytes)}";` : `root ${folder}; try_files /body =404;`;
  const servers = backends
    .map((port) => `server { listen 127.0.0.1:${port} backlog=4096; location / { ${answer} } }`)
    .join('\n');
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/backend.pid; error_log stderr crit; worker_rlimit_nofile 8192;
     events { worker_connections 4096; }
     http { access_log off; ${nginxTemporary} keepalive_requests 1000000; ${servers} }`,
  );
  pinned(1, 'nginx', ['-p', folder, '-c', file]);
  await until(backends[0] ?? 0, 'listens');
  const chosen = proxies.filter(
    (proxy) =>
      (flags.only === undefined || proxy.name.startsWith(flags.only)) &&
      (proxy.name.startsWith('plimsoll') || spawnSync(proxy.name, ['-v']).error === undefined),
  );
  const all = new Map<string, Result[]>(chosen.map((proxy) => [proxy.name, []]));
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const proxy of chosen) all.get(proxy.name)?.push(await run(proxy, Number(flags.seconds)));
  }
  const median = (values: readonly number[]): number =>
    values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
  const yardstick = median(all.get('nginx')?.map((result) => result.cpuUs) ?? []);
  for (const [name, results] of all) {
    const cpu = results.map((result) => result.cpuUs);
    const ratio = yardstick > 0 ? `  ${(median(cpu) / yardstick).toFixed(2)} × nginx` : '';
    console.log(
      `${name.padEnd(20)} ${median(cpu).toFixed(1)} µs a request (${cpu.map((value) => value.toFixed(1)).join(' ')})${ratio}` +
        `  ${median(results.map((result) => result.perSecond)).toFixed(0)}/s  p50 ${results[0]?.p50} p99 ${results[0]?.p99}`,
    );
  }
}

try {
  await compare();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
