// Where a comparison takes place: a folder for configurations, fixed ports on loopback, processes each on a core of its own, and
// what the kernel says that they used. The proxy that is measured has core 0 for itself; load and backends share core 1.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export const proxyCore = 0;
export const loadCore = 1;

export const backendPorts: readonly number[] = [19_181, 19_182, 19_183, 19_184];
export const countsPort = 19_185;
export const proxyPort = 19_190;
export const tlsPort = 19_191;
export const adminPort = 19_192;

export class Site {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));
  readonly #children = new Set<ChildProcess>();

  /** Writes a file of the comparison and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Starts a program on one core. Its standard input is a pipe, so that ours end with us. */
  start(core: number, command: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess {
    const child = spawn('taskset', ['-c', String(core), ...command], {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, ...environment },
    });
    this.#children.add(child);
    return child;
  }

  async stop(child: ChildProcess): Promise<void> {
    this.#children.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Ends everything and removes the folder. */
  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The first executable of this name on the path or in the places of system programs; undefined when there is none. */
export function programPath(name: string): string | undefined {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return places.map((place) => join(place, name)).find((path) => spawnSync('test', ['-x', path]).status === 0);
}

/** What a program prints first when asked for its version; empty when it prints nothing of that form. */
export function versionOf(command: readonly string[], form: RegExp): string {
  const [program = '', ...rest] = command;
  const { stdout, stderr } = spawnSync(program, rest, { encoding: 'utf8' });
  return form.exec(`${stdout}${stderr}`)?.[1] ?? '';
}

/** Waits until somebody listens there, or nobody any more: the sockets of a killed process on io_uring outlive it a little. */
export async function until(port: number, wanted: 'listens' | 'is free'): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    if ((await listens(port)) === (wanted === 'listens')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`port ${port}: waited for 10 s until it ${wanted}`);
}

async function listens(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  const open = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return open;
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** User and system time of a process with all its threads, in seconds. */
export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Memory that a process has in the machine, in bytes. */
export function residentBytesOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
