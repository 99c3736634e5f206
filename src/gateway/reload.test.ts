// Another configuration in a running gateway: in force at once, for everything in it, and not one request the worse for it.

import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { test } from 'node:test';
import tls from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { parseGatewayConfig } from './config.ts';
import { bank, renewed, shop } from './stand/certificates.ts';
import { certificateFolder } from './stand/certificate-files.ts';
import { crowd, numbered } from './stand/ledger.ts';
import {
  deadEndpoint,
  type EndpointAddress,
  gate,
  get,
  httpEndpoint,
  sample,
  type Stand,
  stand,
  Talk,
} from './stand/stand.ts';

const address = { host: '127.0.0.1', port: 0 };

/** Puts these settings in force; returns what kept them from being. */
async function reload(
  { gateway }: Stand,
  endpoints: readonly EndpointAddress[],
  settings: object = {},
): Promise<readonly string[]> {
  const list = endpoints.map(({ id, host, port }) => ({ id, host, port }));
  const whole = { listen: address, admin: address, endpoints: list, unsafe: ['eviction-empties-fleet'], ...settings };
  const parsed = parseGatewayConfig(JSON.stringify(whole), 'again.json');
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return gateway.reload(parsed.config);
}

test('endpoints, policy, limits, checks and certificates change fifty times under load, and every request is answered', async () => {
  await using files = await certificateFolder({ shop, bank });
  await using one = await httpEndpoint('api-1', numbered);
  await using two = await httpEndpoint('api-2', numbered);
  await using three = await httpEndpoint('api-3', numbered);
  await using gateway = await stand([one, two]);
  using users = crowd(() => gateway.port);
  const policies = ['round-robin', 'least-request', 'peak-ewma', 'maglev', 'prequal'];
  const secure = { ...address, tls: { certificates: [files.entry('shop'), files.entry('bank')] } };
  for (let turn = 0; turn < 50; turn++) {
    await users.more(20);
    const problems = await reload(gateway, turn % 2 === 0 ? [two, three] : [one, two], {
      listen: turn % 4 === 0 ? [address, secure] : [address],
      policy: policies[turn % policies.length],
      limits: { head_bytes_max: 2048 + turn },
      ...(turn % 3 === 0 ? { outlier: {}, ceilings: {}, hedge: {} } : {}),
      ...(turn % 5 === 0
        ? { health: { path: '/', interval_ns: 1e9, timeout_ns: 5e8, fall: 1, rise: 1 }, breaker: {}, explain: {} }
        : {}),
    });
    assert.deepEqual(problems, []);
  }
  const ledger = await users.stop();
  assert.deepEqual(ledger.failed, []);
  assert.equal(ledger.answered, ledger.planned);
  assert.ok(three.served() > 0);
  assert.equal(sample(gateway.gateway.metrics(), 'plimsoll_gateway_reloads_total{result="taken"}'), 50);
  assert.equal(sample(gateway.gateway.metrics(), 'plimsoll_gateway_in_flight'), 0);
});

test('what cannot be put in force is told with every reason, and nothing of it is', async () => {
  await using files = await certificateFolder({ mixed: { cert: shop.cert, key: bank.key } });
  await using api = await httpEndpoint('api-1');
  await using taken = await httpEndpoint('other');
  await using gateway = await stand([api]);
  const dead = await deadEndpoint('api-2');
  const refused: readonly [object, RegExp][] = [
    [{ engine: 'auto', admin: null }, /^engine: cannot change.*\nadmin: cannot change/],
    [{ listen: { ...address, tls: { certificates: [files.entry('mixed')] } } }, /not the key of this certificate/],
    [{ listen: [address, { host: '127.0.0.1', port: taken.port }] }, /EADDRINUSE/],
    [{ access_log: '/nowhere/at/all' }, /ENOENT/],
  ];
  for (const [settings, reason] of refused) {
    assert.match((await reload(gateway, [dead], settings)).join('\n'), reason);
    assert.equal((await get(gateway.port)).status, 200);
  }
  assert.equal(gateway.gateway.ports.length, 1);
  assert.equal(sample(gateway.gateway.metrics(), 'plimsoll_gateway_reloads_total{result="refused"}'), refused.length);
});

test('a listener that is gone takes nobody new, and whoever is inside finishes', async () => {
  const arrived = gate();
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (request, response) => {
    if (request.url === '/slow') {
      arrived.open();
      await finish.opened;
    }
    response.end('fine');
  });
  // Two listeners at ports of their own: they are told apart by their hosts.
  const second = { host: '::1', port: 0 };
  await using gateway = await stand([api], { listen: [address, second] });
  const [first = 0, other = 0] = gateway.gateway.ports;
  const slow = get(other, '/slow', { host: '::1', agent: false });
  await arrived.opened;
  assert.deepEqual(await reload(gateway, [api]), []);
  await assert.rejects(get(other, '/', { host: '::1', agent: false }), /ECONNREFUSED/);
  assert.deepEqual(gateway.gateway.ports, [first]);
  finish.open();
  assert.equal((await slow).body, 'fine');
  assert.deepEqual(await reload(gateway, [api], { listen: [second, address] }), []);
  assert.equal(gateway.gateway.ports[1], first);
  assert.equal((await get(gateway.gateway.port, '/', { host: '::1', agent: false })).status, 200);
});

test('limits hold from the next request on, on connections that are open already and were busy', async () => {
  const arrived = gate();
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (request, response) => {
    if (request.url === '/slow') {
      arrived.open();
      await finish.opened;
    }
    response.end('api-1\n');
  });
  await using gateway = await stand([api]);
  using busy = await Talk.with(gateway.port);
  busy.say('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived.opened;
  using talk = await Talk.with(gateway.port);
  const large = `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(3000)}\r\n\r\n`;
  talk.say(large);
  assert.match(await talk.until(/api-1\n$/), /^HTTP\/1\.1 200/);
  assert.deepEqual(await reload(gateway, [api], { limits: { head_bytes_max: 2048 } }), []);
  talk.heard = '';
  talk.say(large);
  assert.match(await talk.toTheEnd(), /^HTTP\/1\.1 431/);
  finish.open();
  await busy.until(/api-1\n$/);
  busy.heard = '';
  busy.say(large);
  assert.match(await busy.toTheEnd(), /^HTTP\/1\.1 431/);
});

test('a certificate that is renewed on disk is shown to the next client; a broken one is not, and the old one stays', async () => {
  await using files = await certificateFolder({ shop });
  await using api = await httpEndpoint('api-1');
  const secure = { listen: { ...address, tls: { certificates: [files.entry('shop')] } } };
  await using gateway = await stand([api], secure);
  const before = http2.connect('https://shop.test', { createConnection: () => handshake(gateway.port) });
  assert.equal(await shown(gateway.port), 'shop');
  // The key first: for a moment the pair does not fit.
  await files.write('shop', { cert: shop.cert, key: renewed.key });
  while (sample(gateway.gateway.metrics(), 'plimsoll_gateway_reloads_total{result="refused"}') === 0) await pause();
  assert.equal(await shown(gateway.port), 'shop');
  await files.write('shop', renewed);
  while ((await shown(gateway.port)) !== 'renewed') await pause();
  // Whoever was connected is still served.
  const stream = before.request({});
  const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
  assert.equal(status, 200);
  before.destroy();
});

test('other certificates for a listener are shown to the next client', async () => {
  await using files = await certificateFolder({ shop, renewed });
  await using api = await httpEndpoint('api-1');
  const secure = (name: string): object => ({ listen: { ...address, tls: { certificates: [files.entry(name)] } } });
  await using gateway = await stand([api], secure('shop'));
  const { port } = gateway;
  assert.equal(await shown(port), 'shop');
  assert.deepEqual(await reload(gateway, [api], secure('renewed')), []);
  assert.deepEqual([await shown(port), gateway.gateway.port], ['renewed', port]);
});

test('TLS may come and go at one address', async () => {
  await using files = await certificateFolder({ shop });
  await using api = await httpEndpoint('api-1');
  await using finder = await stand([api]);
  const fixed = { host: '127.0.0.1', port: finder.port };
  await finder.gateway.close();
  await using gateway = await stand([api], { listen: fixed });
  const secure = { ...fixed, tls: { certificates: [files.entry('shop')] } };
  assert.deepEqual(await reload(gateway, [api], { listen: secure }), []);
  assert.equal(await shown(gateway.port), 'shop');
  assert.deepEqual(await reload(gateway, [api], { listen: { ...fixed, http2: true } }), []);
  assert.equal((await get(gateway.port)).status, 200);
  // When something else cannot be had, the address is as it was.
  const problems = await reload(gateway, [api], { listen: [secure, { host: '127.0.0.1', port: api.port }] });
  assert.match(problems.join(), /EADDRINUSE/);
  assert.equal((await get(gateway.port, '/', { agent: false })).status, 200);
});

test('what a listener asks of a connection changes with the next one', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api]);
  const { port } = gateway;
  const spoken = async (bytes: string): Promise<string> => {
    using talk = await Talk.with(port);
    talk.say(`${bytes}GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    return (await talk.toTheEnd()).slice(9, 12);
  };
  assert.deepEqual([await spoken(''), await spoken('PROXY UNKNOWN\r\n')], ['200', '400']);
  const proxied = { ...address, proxy_protocol: { trusted: ['127.0.0.0/8'] } };
  assert.deepEqual(await reload(gateway, [api], { listen: proxied }), []);
  assert.deepEqual([await spoken(''), await spoken('PROXY UNKNOWN\r\n')], ['', '200']);
});

function handshake(port: number): tls.TLSSocket {
  const ca = [shop.cert, renewed.cert];
  return tls.connect({ port, host: '127.0.0.1', servername: 'shop.test', ca, ALPNProtocols: ['h2'] });
}

/** The name in the certificate that a new client sees. */
async function shown(port: number): Promise<string> {
  const socket = handshake(port);
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return new X509Certificate(raw).subject.replace('CN=', '');
}

/** The kernel tells of changed files when it likes. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));
