// nginx as a server to be loaded in tests, where it is installed: one worker, an answer of 100 bytes, an access log to count.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilConnectable } from './ports.ts';

interface NginxOptions {
  readonly core?: string;
  readonly log?: boolean;
  /** It speaks HTTP/2 only, and takes its leave after every hundred requests. */
  readonly http2?: boolean;
}

export const withNginx = { present, use };

function present(): boolean {
  return spawnSync('nginx', ['-v']).status === 0;
}

/** Starts nginx, hands over its port and a way to count its log, and ends it. `core`: the one it is pinned to. */
async function use(
  body: (port: number, requests: () => number) => Promise<void>,
  options: NginxOptions = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-nginx-'));
  const port = await freePort();
  const log = join(folder, 'access.log');
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, options, log));
  const command = ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')];
  const [program = '', ...args] = options.core === undefined ? command : ['taskset', '-c', options.core, ...command];
  const nginx = spawn(program, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => nginx.once('exit', resolve));
  try {
    await untilConnectable(port, 'nginx');
    await body(port, () => readFileSync(log, 'utf8').split('\n').length - 1);
  } finally {
    nginx.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  }
}

const configuration = (folder: string, port: number, { log, http2 }: NginxOptions, file: string): string => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log ${log === false ? 'off' : file};
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_requests ${http2 === true ? 100 : 1000000};
  server { listen 127.0.0.1:${port}${http2 === true ? ' http2' : ''}; location / { return 200 '${'x'.repeat(100)}'; } }
}
`;
