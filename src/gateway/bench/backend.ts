// What stands behind every proxy: four ports of one nginx, which answers from memory, counts what it was asked, and serves a
// longer body from a file that lies in the kernel's cache.

import { type Site, backendPorts, countsPort, loadCore, programPath, until } from './site.ts';

/** The short answer, with its head, is of the size that most measurements of proxies use. */
const smallBytes = 135;
const largeBytes = 22 * 1024;

export const smallPath = '/';
export const largePath = '/large';

export const temporaryFolders = (folder: string): string =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');

export async function startBackend(site: Site): Promise<void> {
  const nginx = programPath('nginx');
  if (nginx === undefined) throw new Error('the backends are an nginx, and there is none');
  site.write('large', 'x'.repeat(largeBytes));
  const servers = backendPorts
    .map(
      (port) =>
        `server { listen 127.0.0.1:${port} backlog=4096; root ${site.folder};
           location = ${largePath} { open_file_cache max=10; }
           location / { return 200 "${'x'.repeat(smallBytes)}"; } }`,
    )
    .join('\n');
  const file = site.write(
    'backend.conf',
    `daemon off; master_process off; pid ${site.folder}/backend.pid; error_log stderr crit; worker_rlimit_nofile 8192;
     events { worker_connections 4096; }
     http { access_log off; ${temporaryFolders(site.folder)} keepalive_requests 100000000; sendfile on; ${servers}
       server { listen 127.0.0.1:${countsPort}; location / { stub_status; } } }`,
  );
  await until(backendPorts[0] ?? 0, 'is free');
  site.start(loadCore, [nginx, '-p', site.folder, '-c', file]);
  await until(backendPorts[0] ?? 0, 'listens');
}

/** How many requests the backends have been asked since they started, this question included. */
export async function requestsSeen(): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${countsPort}/`);
  const [, , requests] = /(\d+) (\d+) (\d+)/.exec(await answer.text())?.slice(1) ?? [];
  return Number(requests);
}
