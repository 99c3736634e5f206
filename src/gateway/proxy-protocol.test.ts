// The PROXY protocol at both ends: who is believed, what is said, and HAProxy and nginx on the other side of it.

import assert from 'node:assert/strict';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import { readPreamble } from '../wire.ts';
import { shop } from './stand/certificates.ts';
import { certificateFolder } from './stand/certificate-files.ts';
import { haproxy, nginx, noHaproxy, noNginx, temporaryFolder } from './stand/peers.ts';
import { echo, get, httpEndpoint, rawEndpoint, sample, seenOf, stand, Talk } from './stand/stand.ts';

const address = { host: '127.0.0.1', port: 0 };
const trusting = { ...address, proxy_protocol: { trusted: ['127.0.0.0/8', '::1'], timeout_ns: 100e6 } };
const line = 'PROXY TCP4 203.0.113.7 198.51.100.1 4711 443\r\n';
const v2 = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb007107c633640112671bbb', 'hex').toString('latin1');
const request = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

test('a preamble of either version says who the client is, whole or byte by byte', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api], { listen: trusting });
  for (const preamble of [line, v2]) {
    using whole = await Talk.with(gateway.port);
    whole.say(preamble + request);
    assert.match(await whole.toTheEnd(), /"x-forwarded-for":"203\.0\.113\.7"/);
    using dripping = await Talk.with(gateway.port);
    for (const byte of preamble + request) {
      dripping.say(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(await dripping.toTheEnd(), /"x-forwarded-for":"203\.0\.113\.7"/);
  }
  // The balancer's own connections are its own.
  using own = await Talk.with(gateway.port);
  own.say(`PROXY UNKNOWN\r\n${request}`);
  assert.match(await own.toTheEnd(), /"x-forwarded-for":"127\.0\.0\.1"/);
});

test('without a preamble, with one that is not exact, and from a stranger the connection is closed without a word', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api], { listen: trusting });
  for (const bytes of [
    request,
    'PROXY TCP4 1.2.3.4\r\n',
    line.replace('\r\n', '\n'),
    `${'\r\n'.repeat(2)}\0\r\nQUIX`,
  ]) {
    using talk = await Talk.with(gateway.port);
    talk.say(bytes + request);
    assert.equal(await talk.toTheEnd(), '', JSON.stringify(bytes));
  }
  await using elsewhere = await stand([api], {
    listen: { ...address, proxy_protocol: { trusted: ['10.0.0.0/8'] } },
  });
  using stranger = await Talk.with(elsewhere.port);
  stranger.say(line + request);
  assert.equal(await stranger.toTheEnd(), '');
  assert.equal(api.served(), 0);
  const page = gateway.gateway.metrics();
  assert.equal(sample(page, 'plimsoll_gateway_refused_connections_total'), 4);
});

test('whoever does not say in time who they are is sent away', async () => {
  await using gateway = await stand([], { listen: trusting });
  for (const bytes of ['', 'PROXY TCP4 203', v2.slice(0, 20)]) {
    using talk = await Talk.with(gateway.port);
    talk.say(bytes);
    assert.equal(await talk.toTheEnd(), '');
  }
});

test('on a listener without it a preamble is a bad request', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say(line + request);
  assert.match(await talk.toTheEnd(), /^HTTP\/1\.1 400 /);
});

test('TLS and HTTP/2 begin behind the preamble', async () => {
  await using files = await certificateFolder({ shop });
  await using api = await httpEndpoint('api-1', echo);
  const secure = { certificates: [files.entry('shop')] };
  await using gateway = await stand([api], {
    listen: [
      { ...trusting, tls: secure },
      { ...trusting, http2: true },
    ],
  });
  const [port = 0, clear = 0] = gateway.gateway.ports;
  const introduced = (at: number): net.Socket => {
    const socket = net.connect(at, '127.0.0.1');
    socket.write(v2, 'latin1');
    return socket;
  };
  const encrypted = (alpn: string): tls.TLSSocket =>
    tls.connect({ socket: introduced(port), servername: 'shop.test', ca: shop.cert, ALPNProtocols: [alpn] });
  const body = await new Promise<string>((resolve, reject) => {
    const asked = http.get({ createConnection: () => encrypted('http/1.1'), host: 'shop.test' }, (response) => {
      response.once('data', (piece: Buffer) => resolve(piece.toString()));
    });
    asked.on('error', reject);
  });
  assert.equal(seenOf(body).headers['x-forwarded-for'], '203.0.113.7');
  assert.equal(seenOf(body).headers['x-forwarded-proto'], 'https');
  for (const createConnection of [() => encrypted('h2'), () => introduced(clear)]) {
    const session = http2.connect('http://shop.test', { createConnection });
    const stream = session.request({});
    const seen = await new Promise<string>((resolve, reject) => {
      stream.once('data', (piece: string | Buffer) => resolve(piece.toString()));
      stream.on('error', reject);
    });
    assert.equal(seenOf(seen).headers['x-forwarded-for'], '203.0.113.7');
    session.destroy();
  }
});

test('an endpoint is told who the client is, on a connection that is used once', async () => {
  for (const version of ['v1', 'v2']) {
    const heard: Buffer[] = [];
    await using api = await rawEndpoint('api-1', (socket) => {
      socket.once('data', (bytes: Buffer) => {
        heard.push(bytes);
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
    await using gateway = await stand([api], { upstream: { proxy_protocol: version } });
    using talk = await Talk.with(gateway.port);
    talk.say('GET /1 HTTP/1.1\r\nHost: x\r\n\r\n');
    await talk.until(/\r\n\r\n/);
    talk.say('GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await talk.toTheEnd();
    assert.equal(api.connections(), 2);
    for (const [index, bytes] of heard.entries()) {
      const read = readPreamble(bytes);
      assert.ok(read.kind === 'complete');
      assert.deepEqual(read.ends, {
        source: { address: '127.0.0.1', port: talk.socket.localPort },
        destination: { address: '127.0.0.1', port: gateway.port },
      });
      assert.match(bytes.subarray(read.length).toString('latin1'), new RegExp(`^GET /${index + 1} HTTP/1\\.1\r\n`));
    }
  }
});

test('HAProxy and nginx introduce clients to us', { skip: noHaproxy || noNginx }, async () => {
  await using folder = await temporaryFolder();
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api], { listen: trusting });
  for (const send of ['send-proxy', 'send-proxy-v2', 'send-proxy-v2 crc32c on']) {
    const options = send.startsWith('send-proxy-v2 ') ? 'send-proxy-v2 proxy-v2-options crc32c' : send;
    await using before = await haproxy(
      folder.path,
      'bind 127.0.0.1:PORT accept-proxy',
      `server us 127.0.0.1:${gateway.port} ${options}`,
    );
    using talk = await Talk.with(before.port);
    talk.say(line + request);
    assert.match(await talk.toTheEnd(), /"x-forwarded-for":"203\.0\.113\.7"/, send);
  }
});

test('we introduce clients to HAProxy and nginx', { skip: noHaproxy || noNginx }, async () => {
  await using folder = await temporaryFolder();
  await using api = await httpEndpoint('api-1', echo);
  const back = 'http-request set-header x-seen %[src]:%[src_port]';
  await using hap = await haproxy(
    folder.path,
    `bind 127.0.0.1:PORT accept-proxy\n  ${back}`,
    `server api-1 127.0.0.1:${api.port}`,
  );
  await using ngx = await nginx(
    folder.path,
    'server { listen 127.0.0.1:PORT proxy_protocol; location / { return 200 "$proxy_protocol_addr:$proxy_protocol_port"; } }',
  );
  for (const version of ['v1', 'v2']) {
    const settings = { listen: trusting, upstream: { proxy_protocol: version } };
    await using toHaproxy = await stand([hap], settings);
    using one = await Talk.with(toHaproxy.port);
    one.say(line + request);
    assert.match(await one.toTheEnd(), /"x-seen":"203\.0\.113\.7:4711"/, version);
    await using toNginx = await stand([ngx], settings);
    using other = await Talk.with(toNginx.port);
    other.say(line + request);
    assert.match(await other.toTheEnd(), /203\.0\.113\.7:4711$/, version);
  }
});

test('health checks say that they are our own', { skip: noHaproxy }, async () => {
  await using folder = await temporaryFolder();
  await using api = await httpEndpoint('api-1');
  await using hap = await haproxy(
    folder.path,
    'bind 127.0.0.1:PORT accept-proxy',
    `server api-1 127.0.0.1:${api.port}`,
  );
  const health = { path: '/', interval_ns: 5e6, timeout_ns: 1e9, fall: 1, rise: 1, initially: 'down' };
  await using gateway = await stand([hap], {
    health,
    upstream: { proxy_protocol: 'v2' },
    unsafe: ['eviction-empties-fleet'],
  });
  while ((await get(gateway.adminPort, '/readyz')).status !== 200);
  assert.equal((await get(gateway.port)).status, 200);
});
