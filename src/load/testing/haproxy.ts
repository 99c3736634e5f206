// HAProxy as a server to be loaded in tests, where it is installed: it answers by itself, and its statistics count.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilConnectable } from './ports.ts';

export const withHaproxy = { present, use };

function present(): boolean {
  return spawnSync('haproxy', ['-v']).status === 0;
}

/** Starts HAProxy, hands over its port and a way to ask how many requests it has answered with 200, and ends it. */
async function use(
  body: (port: number, answered: () => Promise<number>) => Promise<void>,
  options: { readonly http2?: boolean } = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-haproxy-'));
  const port = await freePort();
  const statistics = join(folder, 'stats');
  writeFileSync(join(folder, 'haproxy.cfg'), configuration(port, statistics, options.http2 === true));
  const haproxy = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => haproxy.once('exit', resolve));
  try {
    await untilConnectable(port, 'HAProxy');
    await body(port, () => goodAnswers(statistics));
  } finally {
    haproxy.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  }
}

const configuration = (port: number, statistics: string, http2: boolean): string => `
global
  stats socket ${statistics} mode 600 level admin
defaults
  mode http
  timeout client 10s
  timeout connect 1s
  timeout server 10s
frontend web
  bind 127.0.0.1:${port}${http2 ? ' proto h2' : ''}
  http-request return status 200 content-type text/plain string "hello" hdr x-plimsoll-replica api-1
`;

/** The column `hrsp_2xx` of the frontend in `show stat`. */
async function goodAnswers(statistics: string): Promise<number> {
  const text = await new Promise<string>((resolve, reject) => {
    let heard = '';
    const socket = net.connect(statistics, () => socket.write('show stat\n'));
    socket.on('data', (piece: Buffer) => (heard += piece.toString()));
    socket.on('end', () => resolve(heard)).on('error', reject);
  });
  const [head = '', ...rows] = text.trim().split('\n');
  const column = head.split(',').indexOf('hrsp_2xx');
  const frontend = rows.find((row) => row.startsWith('web,FRONTEND,'))?.split(',');
  return Number(frontend?.[column]);
}
