// How fast is the diagnosis of a log, and how much memory does it take? Four questions, each with its own generated log, which is
// not kept:
//
//   reading     bytes a second of processor time, for the text logs of HAProxy, nginx and Envoy, in one thread. Beside it, as
//               multiples, what else one may do with the same bytes, because a busy machine slows all alike: a plain pass (adding
//               them up), making a string of them and splitting it into lines, `grep -c` for a word of every line, and `wc -l`
//   verdict     seconds of processor time from the first byte of a million requests to the verdict, as a process of its own
//   start       the same for a log of three lines
//   memory      the most that a process held while so many gigabytes came in on standard input
//
//   npm run bench:diagnose                        all of it, with two gigabytes
//   npm run bench:diagnose -- --gigabytes 10      what the memory is like with more
//   npm run bench:diagnose -- --megabytes 60 --gigabytes 0     quickly

import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Dice, dice } from '../base.ts';
import { readDossierStreams } from '../observe.ts';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '150' },
    gigabytes: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-diagnose-'));
const main = join(import.meta.dirname, '..', 'cli', 'main.ts');
const forms = ['haproxy', 'nginx', 'envoy'] as const;
type Form = (typeof forms)[number];

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const beganMs = Date.UTC(2026, 2, 4, 14);

console.log('| log | MB/s of processor time | plain passes | splits into lines | grep -c | wc -l |');
console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
for (const form of forms) console.log(await readingRow(form));
console.log('\n| to a verdict | processor time | on the clock | memory at most |');
console.log('| --- | ---: | ---: | ---: |');
for (const form of forms) console.log(await verdictRow(`a million requests of ${form}`, logFile(form, 1_000_000)));
console.log(await verdictRow('three requests', logFile('haproxy', 3)));
if (Number(values.gigabytes) > 0) console.log(await memoryLine(Number(values.gigabytes)));
rmSync(folder, { recursive: true, force: true });

/** The best of several rounds, in which everything takes turns: what disturbs only ever makes it slower. */
async function readingRow(form: Form): Promise<string> {
  const bytes = Buffer.from(logOf(form, Number(values.megabytes) * 1e6));
  const path = join(folder, form);
  writeFileSync(path, bytes);
  const never = Number.POSITIVE_INFINITY;
  const best = { reading: never, plain: never, split: never, grep: never, count: never };
  for (let round = 0; round < Number(values.rounds); round++) {
    best.plain = Math.min(best.plain, await cpuSeconds(() => Promise.resolve(addedUp(bytes))));
    best.reading = Math.min(
      best.reading,
      await cpuSeconds(() => readDossierStreams([{ name: form, pieces: inPieces(bytes) }])),
    );
    best.split = Math.min(best.split, await cpuSeconds(() => Promise.resolve(linesOf(bytes))));
    best.grep = Math.min(best.grep, commandSeconds(`grep -c HTTP/1.1 < ${path}`));
    best.count = Math.min(best.count, commandSeconds(`wc -l < ${path}`));
  }
  const times = [best.plain, best.split, best.grep, best.count].map((peer) => (best.reading / peer).toFixed(1));
  return `| ${form} | ${(bytes.length / 1e6 / best.reading).toFixed(0)} | ${times.join(' | ')} |`;
}

function linesOf(bytes: Buffer): number {
  return bytes.toString('latin1').split('\n').length;
}

/** Processor time of a command, as the shell that waited for it tells. */
function commandSeconds(command: string): number {
  const { stdout } = spawnSync('bash', ['-c', `${command} > /dev/null; times`], { encoding: 'utf8' });
  const [, children = ''] = stdout.split('\n');
  return children
    .split(' ')
    .map((time) => /^(\d+)m([\d.]+)s$/.exec(time))
    .reduce((sum, found) => sum + Number(found?.[1] ?? 0) * 60 + Number(found?.[2] ?? 0), 0);
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1 << 20) yield bytes.subarray(at, at + (1 << 20));
  await Promise.resolve();
}

function addedUp(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at++) sum = (sum + (bytes[at] ?? 0)) | 0;
  return sum;
}

async function cpuSeconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** A log of so many requests as a file. */
function logFile(form: Form, requests: number): string {
  const path = join(folder, `${requests}-${form}.log`);
  const file = openSync(path, 'w');
  for (let from = 0; from < requests; from += 100_000)
    writeSync(file, logOf(form, Number.POSITIVE_INFINITY, from, Math.min(100_000, requests - from)));
  closeSync(file);
  return path;
}

/** Through the program itself, from its start to its end. */
async function verdictRow(what: string, path: string): Promise<string> {
  let [cpu, wall, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    const usage = await diagnosed([path], undefined);
    wall = Math.min(wall, (performance.now() - began) / 1000);
    cpu = Math.min(cpu, usage.cpuSeconds);
    most = Math.max(most, usage.mostMiB);
  }
  rmSync(path);
  return `| ${what} | ${cpu.toFixed(1)} s | ${wall.toFixed(1)} s | ${most.toFixed(0)} MiB |`;
}

/** So many gigabytes on standard input; the same hundred megabytes again and again, with other times each. */
async function memoryLine(gigabytes: number): Promise<string> {
  let written = 0;
  const began = performance.now();
  const usage = await diagnosed(['-'], async (write) => {
    for (let index = 0; written < gigabytes * 1e9; index++) {
      const piece = Buffer.from(logOf('haproxy', Number.POSITIVE_INFINITY, index * 20_000, 20_000));
      written += piece.length;
      await write(piece);
    }
  });
  const seconds = (performance.now() - began) / 1000;
  return `\n${(written / 1e9).toFixed(1)} GB on standard input: ${usage.mostMiB.toFixed(0)} MiB at most, ${usage.cpuSeconds.toFixed(0)} s of processor time, ${seconds.toFixed(0)} s on the clock`;
}

interface Usage {
  readonly mostMiB: number;
  readonly cpuSeconds: number;
}

/** `plimsoll diagnose`, looked at from outside as long as it lives. */
async function diagnosed(
  args: readonly string[],
  feed: ((write: (piece: Buffer) => Promise<void>) => Promise<void>) | undefined,
): Promise<Usage> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', main, 'diagnose', ...args, '--json'],
    {
      stdio: [feed === undefined ? 'ignore' : 'pipe', 'ignore', 'ignore'],
    },
  );
  let usage: Usage = { mostMiB: 0, cpuSeconds: 0 };
  const timer = setInterval(() => (usage = seenOf(child.pid) ?? usage), 20);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const { stdin } = child;
  if (feed !== undefined && stdin !== null) {
    await feed((piece) => new Promise((resolve) => stdin.write(piece, () => resolve())));
    stdin.end();
  }
  await ended;
  clearInterval(timer);
  return usage;
}

/** The kernel's own book of a process: the most memory it held, and its processor time in hundredths of a second. */
function seenOf(pid: number | undefined): Usage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const most = /VmHWM:\s*(\d+) kB/.exec(status)?.[1];
    return most === undefined
      ? undefined
      : { mostMiB: Number(most) / 1024, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 };
  } catch {
    return undefined;
  }
}

/** Lines of one form, up to so many bytes or lines, from a place on that gives them their times. */
function logOf(form: Form, bytes: number, from = 0, lines = Number.POSITIVE_INFINITY): string {
  const die = dice(1 + from, `a log of ${form}`);
  const parts: string[] = [];
  let length = 0;
  for (let index = from; length < bytes && index < from + lines; index++) {
    const line = lineOf(form, index, die);
    parts.push(line);
    length += line.length;
  }
  return parts.join('');
}

function lineOf(form: Form, index: number, die: Dice): string {
  const at = new Date(beganMs + index);
  const took = 5 + Math.floor(-20 * Math.log(1 - die.next()));
  const client = `10.0.${index % 7}.${1 + die.below(200)}`;
  const path = `/api/items/${die.below(40)}`;
  const iso = at.toISOString();
  const time = `${iso.slice(8, 10)}/${months[at.getUTCMonth()]}/${iso.slice(0, 4)}:${iso.slice(11, 19)}`;
  const size = 500 + (index % 900);
  switch (form) {
    case 'haproxy':
      return `Mar  4 14:00:00 lb1 haproxy[1234]: ${client}:${20_000 + die.below(500)} [${time}.${iso.slice(20, 23)}] www api/api-${1 + (index % 4)} 0/0/1/${took}/${took + 1} 200 ${size} - - ---- 64/64/32/8/0 0/0 "GET ${path} HTTP/1.1"\n`;
    case 'nginx':
      return `${client} - - [${time} +0000] "GET ${path} HTTP/1.1" 200 ${size} rt=0.${String(took).padStart(3, '0')} ua="10.1.0.${1 + (index % 4)}:8080" us="200" ut="0.${String(took).padStart(3, '0')}"\n`;
    case 'envoy':
      return `[${iso}] "GET ${path} HTTP/1.1" 200 - 0 ${size} ${took + 1} ${took} "${client}" "curl/7.88.1" "4c1d8f9e-${String(index % 10_000).padStart(4, '0')}-4b1a-9c5f-${String(index).padStart(12, '0')}" "shop.example.com" "10.1.0.${1 + (index % 4)}:8080"\n`;
  }
}
