// TLS on both sides of the gateway: whose certificate a client is shown, what it may speak, and how endpoints are trusted.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import https from 'node:https';
import { test } from 'node:test';
import tls from 'node:tls';
import { parseGatewayConfig } from './config.ts';
import { bank, renewed, shop } from './stand/certificates.ts';
import { certificateFolder } from './stand/certificate-files.ts';
import { echo, get, httpEndpoint, seenOf, stand } from './stand/stand.ts';

const address = { host: '127.0.0.1', port: 0 };

test('each name is served with its own certificate, and what arrives says that it came over TLS', async () => {
  await using files = await certificateFolder({ shop, bank });
  await using api = await httpEndpoint('api-1', echo);
  const certificates = [files.entry('shop'), files.entry('bank')];
  await using gateway = await stand([api], { listen: { ...address, tls: { certificates } } });
  for (const [name, pair] of [
    ['shop.test', shop],
    ['www.shop.test', shop],
    ['bank.test', bank],
  ] as const) {
    const { status, body, shown } = await ask(gateway.port, name, pair.cert);
    assert.equal(status, 200);
    assert.equal(shown, subjectOf(pair.cert));
    assert.equal(seenOf(body).headers['x-forwarded-proto'], 'https');
    assert.equal(seenOf(body).headers['host'], name);
  }
  // Whoever names nobody gets the first.
  assert.equal((await ask(gateway.port, '', shop.cert, { checkServerIdentity: () => undefined })).shown, 'shop');
});

test('a client cannot claim to have come over TLS when it has not, nor say otherwise when it has', async () => {
  await using files = await certificateFolder({ shop });
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api], {
    listen: [address, { ...address, tls: { certificates: [files.entry('shop')] } }],
  });
  const [plain = 0, secure = 0] = gateway.gateway.ports;
  const said = { 'x-forwarded-proto': 'http' };
  const { body } = await ask(secure, 'shop.test', shop.cert, {}, said);
  assert.equal(seenOf(body).headers['x-forwarded-proto'], 'https');
  // On a plain listener it may stand there because of a balancer before us: passed on.
  assert.equal(seenOf((await get(plain, '/', { headers: said })).body).headers['x-forwarded-proto'], 'http');
});

test('the least version is held, and HTTP/1.1 is agreed on where HTTP/2 is switched off', async () => {
  await using files = await certificateFolder({ shop });
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api], {
    listen: { ...address, http2: false, tls: { certificates: [files.entry('shop')], min_version: 'TLSv1.3' } },
  });
  const old = ask(gateway.port, 'shop.test', shop.cert, { maxVersion: 'TLSv1.2' });
  await assert.rejects(old, /protocol version/);
  const socket = tls.connect({
    port: gateway.port,
    host: '127.0.0.1',
    ca: shop.cert,
    servername: 'shop.test',
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  assert.equal(socket.alpnProtocol, 'http/1.1');
  socket.destroy();
});

test('a certificate that is not there, is none, or has another’s key keeps the gateway from starting, each by name', async () => {
  await using files = await certificateFolder({
    shop,
    mixed: { cert: shop.cert, key: renewed.key },
    junk: { cert: 'no', key: 'no' },
  });
  const certificates = ['shop', 'missing', 'mixed', 'junk'].map(files.entry);
  await assert.rejects(stand([], { listen: { ...address, tls: { certificates } } }), (error: Error) => {
    const lines = error.message.split('\n').map((line) => line.replaceAll(`${files.folder}/`, ''));
    assert.equal(lines.length, 5);
    assert.match(lines[0] ?? '', /^listen\.tls\.certificates\.1\.cert_file: ENOENT.*missing\.pem/);
    assert.match(
      lines[2] ?? '',
      /^listen\.tls\.certificates\.2\.key_file: mixed\.key: not the key of this certificate/,
    );
    assert.match(lines[3] ?? '', /^listen\.tls\.certificates\.3\.cert_file: junk\.pem: not a certificate/);
    return true;
  });
});

test('endpoints are spoken to in TLS and verified, by the name and the authority that are configured', async () => {
  await using files = await certificateFolder({ shop });
  const server = https.createServer({ cert: shop.cert, key: shop.key }, (request, response) => echo(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  assert.ok(typeof at === 'object' && at !== null);
  const endpoint = { id: 'api-1', host: '127.0.0.1', port: at.port };
  const ca_file = files.entry('shop').cert_file;
  const upstreams: readonly [object, number][] = [
    [{ server_name: 'shop.test', ca_file }, 200],
    [{ verify: false }, 200],
    [{ server_name: 'bank.test', ca_file }, 503],
    [{ server_name: 'shop.test' }, 503],
  ];
  const health = { path: '/', interval_ns: 5e6, timeout_ns: 1e9, fall: 1, rise: 1 };
  for (const [secure, status] of upstreams) {
    await using gateway = await stand([endpoint], { upstream: { tls: secure } });
    assert.equal((await get(gateway.port)).status, status, JSON.stringify(secure));
    if (status !== 200) continue;
    // The checks go the same way.
    await using checked = await stand([endpoint], {
      upstream: { tls: secure },
      health: { ...health, initially: 'down' },
      unsafe: ['eviction-empties-fleet'],
    });
    while ((await get(checked.adminPort, '/readyz')).status !== 200);
  }
  server.closeAllConnections();
  server.close();
});

test('every mistake in a listener is named at its place, in either form', () => {
  const problems = (listen: unknown): readonly string[] => {
    const parsed = parseGatewayConfig(JSON.stringify({ listen, endpoints: [] }), 'g');
    return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  assert.deepEqual(problems({ host: 'a', port: 1, tls: { certificates: [] }, http3: true }), [
    'listen.tls.certificates: found [], expected at least one certificate',
    'listen.http3: unknown key; the keys here are host, port, tls, http2, proxy_protocol, connections_max',
  ]);
  assert.deepEqual(
    problems([
      { host: 'a', port: 1, proxy_protocol: { trusted: ['10.0.0.0/33', 'x'] } },
      { host: 'a', port: 2 },
    ]),
    [
      'listen.0.proxy_protocol.trusted.0: found "10.0.0.0/33", expected an address, or a network such as 10.0.0.0/8',
      'listen.0.proxy_protocol.trusted.1: found "x", expected an address, or a network such as 10.0.0.0/8',
    ],
  );
  assert.deepEqual(
    problems([
      { host: 'a', port: 1 },
      { host: 'a', port: 1 },
    ]),
    ['listen.1.port: found 1, listener 0 has that address'],
  );
  assert.deepEqual(problems([]), ['listen: found [], expected at least one listener']);
  assert.deepEqual(problems(undefined), ['listen: found nothing, expected an object with host and port']);
});

interface Shown {
  readonly status: number;
  readonly body: string;
  /** The common name of the certificate that was shown. */
  readonly shown: string;
}

function ask(
  port: number,
  servername: string,
  ca: string,
  options: https.RequestOptions = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: '127.0.0.1',
        port,
        servername,
        ca,
        agent: false,
        ...options,
        headers: { host: servername, ...headers },
      },
      (response) => {
        const { socket } = response;
        assert.ok(socket instanceof tls.TLSSocket);
        const shown = String(socket.getPeerCertificate().subject.CN);
        let body = '';
        response.on('data', (piece: Buffer) => (body += piece.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body, shown }));
      },
    );
    request.on('error', reject);
    request.end();
  });
}

function subjectOf(cert: string): string {
  return new X509Certificate(cert).subject.replace('CN=', '');
}
