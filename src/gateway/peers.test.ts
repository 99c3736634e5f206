// Foreign servers behind us and beside us. nginx and HAProxy stand in as endpoints where they are installed; a machine without
// them skips those tests. What they make of the bytes we send is the proof that `wire` writes HTTP and not just our idea of it.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type EndpointAddress, get, httpEndpoint, stand, Talk } from './stand/stand.ts';
import { vectors } from './stand/smuggling-vectors.ts';

const installed = (program: string): boolean => spawnSync(program, ['-v']).error === undefined;
const noNginx = installed('nginx') ? false : 'nginx is not installed';
const noHaproxy = installed('haproxy') ? false : 'haproxy is not installed';

test('nginx behind us answers everything that we pass on, and logs no bad request', { skip: noNginx }, async () => {
  await using folder = await temporaryFolder();
  await using nginx = await nginxEndpoint(folder.path);
  await speaksWell(nginx);
});

test('HAProxy behind us answers everything that we pass on', { skip: noHaproxy }, async () => {
  await using folder = await temporaryFolder();
  await using api = await httpEndpoint('api-1', (request, response) => {
    request.resume();
    request.on('end', () => response.end('fine'));
  });
  await using haproxy = await haproxyEndpoint(folder.path, api.port);
  await speaksWell(haproxy);
});

/** Every vector that has one reading must be answered by the peer with 200, together with the request behind it. */
async function speaksWell(peer: EndpointAddress): Promise<void> {
  await using gateway = await stand([peer]);
  for (const { name, bytes, status } of vectors) {
    if (status !== undefined) continue;
    using talk = await Talk.with(gateway.port);
    talk.say(`${bytes}GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const heard = await talk.toTheEnd();
    assert.equal(heard.match(/HTTP\/1\.1 200 OK\r\n/g)?.length, 2, `${name}: ${heard}`);
  }
  const large = await get(gateway.port, '/', { method: 'POST', body: 'x'.repeat(1024 * 1024) });
  assert.equal(large.status, 200);
  const head = await get(gateway.port, '/', { method: 'HEAD' });
  assert.equal(head.status, 200);
}

async function nginxEndpoint(folder: string): Promise<EndpointAddress & AsyncDisposable> {
  const port = await freePort();
  const config = `
    daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit;
    events { worker_connections 64; }
    http {
      access_log off; client_body_temp_path ${folder}; client_max_body_size 8m;
      proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
      server { listen 127.0.0.1:${port}; location / { return 200 "fine"; } }
    }`;
  await writeFile(join(folder, 'nginx.conf'), config);
  return started('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], port);
}

async function haproxyEndpoint(folder: string, behind: number): Promise<EndpointAddress & AsyncDisposable> {
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
  bind 127.0.0.1:${port}
  default_backend out
backend out
  server api-1 127.0.0.1:${behind}
`;
  await writeFile(join(folder, 'haproxy.cfg'), config);
  return started('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], port);
}

async function started(
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

async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'plimsoll-peer-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
