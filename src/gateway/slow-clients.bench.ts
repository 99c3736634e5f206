// What clients cost that do nothing, or nothing more: memory of the gateway's process for each connection of a kind, beyond what it
// has with two hundred of them. `node src/gateway/slow-clients.bench.ts [connections]`

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { shop } from './stand/certificates.ts';
import { certificateFolder } from './stand/certificate-files.ts';
import { gatewayChild } from './stand/child.ts';
import { httpEndpoint } from './stand/stand.ts';

interface Held {
  destroy(): unknown;
}

const connections = Number(process.argv[2] ?? 2000);
const warmUp = 200;
const address = { host: '127.0.0.1', port: 0 };

await using files = await certificateFolder({ shop });
await using api = await httpEndpoint('api-1', () => {});

/** Opens a connection and says this. */
const saying =
  (text: string) =>
  async (port: number): Promise<Held> => {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };

for (const engine of ['node', 'uring']) {
  await measure(`${engine}: idle`, { engine }, saying(''));
  await measure(
    `${engine}: half a head of 4 KB`,
    { engine },
    saying(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(4000)}`),
  );
  const upload = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nsome';
  await measure(`${engine}: an upload that stands still`, { engine }, saying(upload));
}
const secure = { listen: { ...address, tls: { certificates: [files.entry('shop')] } } };
await measure('TLS: idle', secure, async (port) => {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'shop.test', ca: shop.cert });
  await once(socket, 'secureConnect');
  return socket.on('error', () => {});
});
await measure('HTTP/2 in the clear: idle', { listen: { ...address, http2: true } }, async (port) => {
  const session = http2.connect(`http://127.0.0.1:${port}`).on('error', () => {});
  await once(session, 'remoteSettings');
  return session;
});

async function measure(name: string, settings: object, open: (port: number) => Promise<Held>): Promise<void> {
  const { id, host, port } = api;
  const patient = { limits: { head_timeout_ns: 60e9, body_timeout_ns: 60e9 }, timeout_ns: 60e9 };
  const config = { listen: address, admin: address, endpoints: [{ id, host, port }], ...patient, ...settings };
  await using child = await gatewayChild(config);
  const place = await child.ready();
  const held: Held[] = [];
  const grow = async (count: number): Promise<number> => {
    for (let index = 0; index < count; index++) held.push(await open(place.port));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return residentKib(place.pid);
  };
  const before = await grow(warmUp);
  const after = await grow(connections);
  console.log(`${name.padEnd(40)} ${((after - before) / connections).toFixed(1).padStart(6)} KiB a connection`);
  for (const one of held) one.destroy();
}

function residentKib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}
