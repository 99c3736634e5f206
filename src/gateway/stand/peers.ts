// Foreign programs for the tests: nginx and HAProxy, where they are installed, each with the configuration a test gives it.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EndpointAddress } from './stand.ts';

const installed = (program: string): boolean => spawnSync(program, ['-v']).error === undefined;
/** For the `skip` of a test: false, or the reason. */
export const noNginx = installed('nginx') ? false : 'nginx is not installed';
export const noHaproxy = installed('haproxy') ? false : 'haproxy is not installed';

export type Peer = EndpointAddress & AsyncDisposable;

/** nginx with `inside` in its http block, where `PORT` is its own. */
export async function nginx(folder: string, inside: string): Promise<Peer> {
  const port = await freePort();
  const config = `
    daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit;
    events { worker_connections 64; }
    http {
      access_log off; client_body_temp_path ${folder}; client_max_body_size 8m;
      proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
      ${inside.replaceAll('PORT', String(port))}
    }`;
  await writeFile(join(folder, 'nginx.conf'), config);
  return started('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], port);
}

/** HAProxy with one frontend and one backend, each with these lines; `PORT` is its own. */
export async function haproxy(folder: string, frontend: string, backend: string): Promise<Peer> {
  const port = await freePort();
  const config = `
global
  maxconn 64
defaults
  mode http
  timeout connect 1s
  timeout client 5s
  timeout server 5s
frontend in
  ${frontend.replaceAll('PORT', String(port))}
  default_backend out
backend out
  ${backend}
`;
  await writeFile(join(folder, 'haproxy.cfg'), config);
  return started('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], port);
}

/** A foreign program that listens on `port`; resolves once it does. */
export async function started(
  program: string,
  args: readonly string[],
  port: number,
): Promise<EndpointAddress & AsyncDisposable> {
  const child: ChildProcess = spawn(program, args, { stdio: 'ignore' });
  for (let attempt = 0; ; attempt++) {
    const socket = net.connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) break;
    assert.ok(attempt < 200 && child.exitCode === null, `${program} listens within 4 s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    id: program,
    host: '127.0.0.1',
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

export async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'plimsoll-peer-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
