// The two loads of a comparison, both on core 1: as much as 64 clients can ask for (wrk), and a steady rate whose latencies are
// counted from when each request was due (`plimsoll load`, started as a program: this room knows nothing of how it works).

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { loadCore } from './site.ts';

export interface Flood {
  readonly requests: number;
  readonly seconds: number;
}

/** `errors`: answers that were not 2xx, and sockets that failed, in wrk's words. */
export function flood(
  url: string,
  connections: number,
  seconds: number,
): Flood & { readonly errors: string | undefined } {
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, url];
  const { stdout } = spawnSync('taskset', ['-c', String(loadCore), ...wrk], { encoding: 'utf8' });
  const [, requests, took] = /(\d+) requests in ([\d.]+)s/.exec(stdout) ?? [];
  const errors = /.*(?:Non-2xx|Socket errors).*/.exec(stdout)?.[0]?.trim();
  return { requests: Number(requests), seconds: Number(took), errors };
}

export interface Paced {
  /** From when a request was due to the last byte of its answer, in seconds. */
  readonly p50: number;
  readonly p99: number;
}

const resultShape = z.object({
  distribution: z.array(z.object({ percentile: z.number(), value_ns: z.number() })),
});

/** A steady rate, over that many connections. */
export async function paced(url: string, connections: number, perSecond: number, seconds: number): Promise<Paced> {
  const program = fileURLToPath(new URL('../../../bin/plimsoll.js', import.meta.url));
  const load = [program, 'load', url, '-R', String(perSecond), '-c', String(connections), '-d', `${seconds}s`];
  const options = ['--warm-up', '1s', '--json', '--quiet', '--anyway'];
  const command = [
    '-c',
    String(loadCore),
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    ...load,
    ...options,
  ];
  const child = spawn('taskset', command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  await once(child, 'close');
  const { distribution } = resultShape.parse(JSON.parse(text));
  const at = (percentile: number): number =>
    (distribution.find((entry) => entry.percentile === percentile)?.value_ns ?? NaN) / 1e9;
  return { p50: at(50), p99: at(99) };
}
