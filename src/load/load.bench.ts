// What one request costs the generator: CPU time, side by side with the programs that people know, against the same nginx
// (one worker on core 0), the generator on core 1, keep-alive, an answer of 100 bytes.
//
//   npm run bench:load                          64 and 1,000 connections, 5 s each, 3 rounds
//   npm run bench:load -- 64 --seconds 3 --rounds 1
//
// CPU per request does not depend on what else the machine does as throughput does, but caches and frequency still move it by
// a tenth: read the ratio to wrk in the same round, not the figure. Ours is measured with everything on: histograms, ledger,
// who answered. Peers that are not on the PATH are left out; wrk2 is looked for by that name. Each is told to go as fast as it can on
// so many connections, and its children count.

import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chooseEngine } from '../net.ts';
import { withNginx } from './testing/nginx.ts';

interface Measured {
  readonly requests: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
}

interface Peer {
  readonly name: string;
  readonly version: () => string | undefined;
  readonly run: (url: string, connections: number, seconds: number) => Promise<Measured | undefined>;
}

const peers: readonly Peer[] = [
  { name: 'plimsoll, uring', version: () => (uringWorks() ? process.version : undefined), run: ours('uring') },
  { name: 'plimsoll, node', version: () => process.version, run: ours('node') },
  {
    name: 'wrk',
    version: () => versionOf('wrk', ['-v'], /wrk (\S+)/),
    run: program(
      (url, connections, seconds) => ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, url],
      /(\d+) requests in/,
    ),
  },
  {
    name: 'wrk2',
    version: () => versionOf('wrk2', ['-v'], /wrk (\S+)/),
    run: program(
      // It wants a rate: one that it cannot reach.
      (url, connections, seconds) => ['wrk2', '-t1', `-c${connections}`, `-d${seconds}s`, '-R1000000', url],
      /(\d+) requests in/,
    ),
  },
  {
    name: 'h2load --h1',
    version: () => versionOf('h2load', ['--version'], /nghttp2\/(\S+)/),
    run: program(
      (url, connections, seconds) => ['h2load', '--h1', '-t1', `-c${connections}`, `-D${seconds}`, url],
      /requests: \d+ total, \d+ started, (\d+) done/,
    ),
  },
  {
    name: 'ab -k',
    version: () => versionOf('ab', ['-V'], /Version (\S+)/),
    run: program(
      (url, connections, seconds) => [
        'ab',
        '-q',
        '-k',
        '-r',
        `-c${connections}`,
        `-t${seconds}`,
        '-n10000000',
        `${url}/`,
      ],
      /Complete requests:\s+(\d+)/,
    ),
  },
  {
    name: 'hey',
    version: () => versionOf('hey', ['-h'], /Usage: (hey)/),
    run: program(
      (url, connections, seconds) => ['hey', '-cpus', '1', '-c', `${connections}`, '-z', `${seconds}s`, url],
      /\[200\]\s+(\d+) responses/,
    ),
  },
  {
    name: 'oha',
    version: () => versionOf('oha', ['--version'], /oha (\S+)/),
    run: program(
      (url, connections, seconds) => ['oha', '--no-tui', '-c', `${connections}`, '-z', `${seconds}s`, url],
      /\[200\]\s+(\d+) responses/,
    ),
  },
  {
    name: 'vegeta',
    version: () => versionOf('vegeta', ['--version'], /(?:Version: |Runtime: )(\S+)/),
    run: piped(
      (url, connections, seconds) =>
        `echo 'GET ${url}' | vegeta attack -rate=0 -workers=${connections} -max-workers=${connections} ` +
        `-duration=${seconds}s | vegeta report`,
      /Requests\s+\[total, rate, throughput\]\s+(\d+)/,
    ),
  },
  {
    name: 'k6',
    version: () => versionOf('k6', ['version'], /k6 (\S+)/),
    run: piped(
      (url, connections, seconds) =>
        `echo "import http from 'k6/http'; export default () => { http.get('${url}'); };" | ` +
        `k6 run --no-usage-report --quiet --vus ${connections} --duration ${seconds}s -`,
      /http_reqs[.:\s]+(\d+)/,
    ),
  },
  {
    name: 'autocannon',
    version: () => versionOf('autocannon', ['--version'], /autocannon (\S+)/),
    run: program(
      (url, connections, seconds) => ['autocannon', '--json', '-c', `${connections}`, '-d', `${seconds}`, url],
      /"requests":\{[^}]*"total":(\d+)/,
    ),
  },
];

const generatorCore = '1';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { seconds: { type: 'string', default: '5' }, rounds: { type: 'string', default: '3' } },
    allowPositionals: true,
  });
  const sizes = positionals.length > 0 ? positionals.map(Number) : [64, 1000];
  const present = peers.flatMap((peer) => {
    const version = peer.version();
    return version === undefined ? [] : [{ ...peer, shown: version }];
  });
  if (!withNginx.present()) {
    console.error('bench:load needs nginx to measure against');
    process.exit(2);
  }
  await withNginx.use(
    async (port) => {
      for (const connections of sizes) {
        console.log(`\n${connections} connections          µs CPU a request (ratio to wrk in that round), requests/s`);
        for (let round = 0; round < Number(values.rounds); round++) {
          let wrk: number | undefined;
          const lines: { name: string; cost: number; rate: number }[] = [];
          for (const peer of present) {
            const measured = await peer.run(`http://127.0.0.1:${port}`, connections, Number(values.seconds));
            if (measured === undefined || measured.requests === 0) continue;
            const cost = (measured.cpuSeconds / measured.requests) * 1e6;
            if (peer.name === 'wrk') wrk = cost;
            lines.push({ name: `${peer.name} ${peer.shown}`, cost, rate: measured.requests / measured.seconds });
          }
          for (const { name, cost, rate } of lines) {
            const ratio = wrk === undefined ? '' : `  × ${(cost / wrk).toFixed(2)}`;
            console.log(`  ${name.padEnd(28)} ${cost.toFixed(2).padStart(7)}${ratio}   ${Math.round(rate)}/s`);
          }
          console.log('');
        }
      }
    },
    { core: '0', log: false },
  );
}

/** Our own driver in a process of its own, told by its last line. */
function ours(engine: string): Peer['run'] {
  const script = fileURLToPath(new URL('testing/load-once.ts', import.meta.url));
  return async (url, connections, seconds) => {
    const { port } = new URL(url);
    const args = ['-c', generatorCore, process.execPath, '--disable-warning=ExperimentalWarning', script];
    const { stdout } = await output('taskset', [...args, port, `${connections}`, `${seconds}`, engine]);
    const parsed: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    return isMeasured(parsed) ? parsed : undefined;
  };
}

function uringWorks(): boolean {
  const chosen = chooseEngine('uring');
  if ('impossible' in chosen) console.error(chosen.impossible);
  else void chosen.engine.close();
  return !('impossible' in chosen);
}

function program(argv: (url: string, connections: number, seconds: number) => string[], requests: RegExp): Peer['run'] {
  return piped(
    (...asked) =>
      argv(...asked)
        .map((word) => `'${word}'`)
        .join(' '),
    requests,
  );
}

/** A command of the shell, whose processes count together. */
function piped(command: (url: string, connections: number, seconds: number) => string, requests: RegExp): Peer['run'] {
  return async (url, connections, seconds) => {
    const script = `TIMEFORMAT='cpu %U %S %R'; time { ${command(url, connections, seconds)}; }`;
    const { stdout, stderr } = await output('taskset', ['-c', generatorCore, 'bash', '-c', script]);
    const [, user = '0', system = '0', real = '1'] = /cpu (\S+) (\S+) (\S+)/.exec(stderr) ?? [];
    const count = Number(requests.exec(stdout)?.[1] ?? 0);
    return { requests: count, cpuSeconds: Number(user) + Number(system), seconds: Number(real) };
  };
}

function output(command: string, args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('close', () => resolve({ stdout, stderr }));
  });
}

function versionOf(command: string, args: readonly string[], pattern: RegExp): string | undefined {
  const { stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  return error === undefined ? (pattern.exec(`${stdout}${stderr}`)?.[1] ?? '') : undefined;
}

function isMeasured(value: unknown): value is Measured {
  return (
    typeof value === 'object' && value !== null && 'requests' in value && 'cpuSeconds' in value && 'seconds' in value
  );
}

await main();
