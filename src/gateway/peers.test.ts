// Foreign servers behind us and beside us. nginx and HAProxy stand in as endpoints where they are installed; a machine without
// them skips those tests. What they make of the bytes we send is the proof that `wire` writes HTTP and not just our idea of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { haproxy, nginx, noHaproxy, noNginx, temporaryFolder } from './stand/peers.ts';
import { type EndpointAddress, get, httpEndpoint, stand, Talk } from './stand/stand.ts';
import { vectors } from './stand/smuggling-vectors.ts';

test('nginx behind us answers everything that we pass on, and logs no bad request', { skip: noNginx }, async () => {
  await using folder = await temporaryFolder();
  await using peer = await nginx(folder.path, 'server { listen 127.0.0.1:PORT; location / { return 200 "fine"; } }');
  await speaksWell(peer);
});

test('HAProxy behind us answers everything that we pass on', { skip: noHaproxy }, async () => {
  await using folder = await temporaryFolder();
  await using api = await httpEndpoint('api-1', (request, response) => {
    request.resume();
    request.on('end', () => response.end('fine'));
  });
  await using peer = await haproxy(folder.path, 'bind 127.0.0.1:PORT', `server api-1 127.0.0.1:${api.port}`);
  await speaksWell(peer);
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
