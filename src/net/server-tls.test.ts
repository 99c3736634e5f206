// Which certificate whom is shown, and what becomes of a pair that does not fit.

import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import type { Engine } from './engine.ts';
import { nodeEngine } from './node-engine.ts';
import { ServerTls } from './server-tls.ts';
import { otherCertificate, otherKey, testCertificate, testKey } from './test-certificate.ts';
import { uringEngine } from './uring/uring-engine.ts';

const pair = { cert: testCertificate, key: testKey };
const strangeKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
});

test('a name gets its own certificate, else that of its wildcard, else the first', () => {
  const serving = new ServerTls({
    certificates: [pair, { ...pair, names: ['a.example'] }, { ...pair, names: ['*.b.example', 'A.example'] }],
  });
  const [first, exact, wild] = [
    serving.firstContext,
    serving.contextFor('a.example'),
    serving.contextFor('x.b.example'),
  ];
  assert.equal(new Set([first, exact, wild]).size, 3);
  const shown: readonly [string, tls.SecureContext][] = [
    ['A.EXAMPLE', exact],
    ['y.b.example', wild],
    ['b.example', first],
    ['x.y.b.example', first],
    ['.b.example', first],
    ['plimsoll.test', first],
    ['', first],
  ];
  for (const [name, context] of shown) assert.equal(serving.contextFor(name), context, name);
});

test('a key that is not of its certificate and a file that is none are named, and nothing is replaced', () => {
  const broken = [{ ...pair, key: strangeKey }, pair, { cert: 'none', key: 'neither' }];
  const made = ServerTls.of({ certificates: broken });
  assert.ok('problems' in made);
  assert.deepEqual(
    made.problems.map(({ index, part }) => [index, part]),
    [
      [0, 'key'],
      [2, 'cert'],
      [2, 'key'],
    ],
  );
  const serving = new ServerTls({ certificates: [pair] });
  const before = serving.firstContext;
  assert.equal(serving.replace({ certificates: broken }).length, 3);
  assert.equal(serving.firstContext, before);
});

/** Whoever serves TLS: OpenSSL called by us, on either engine, and Node's own sockets. */
const servers: readonly (readonly [name: string, make: () => ReturnType<typeof uringEngine>])[] = [
  ['node', () => nodeEngine()],
  ['uring', () => uringEngine()],
  ['node by itself', () => nodeEngine({ servesTlsBy: 'node' })],
];

/** A test on each of them. */
function onEach(title: string, body: (engine: Engine) => Promise<void>): void {
  for (const [name, make] of servers) {
    test(`${title}, on ${name}`, async (context) => {
      const engine = make();
      if ('why' in engine) return context.skip(engine.why);
      await body(engine);
    });
  }
}

onEach(
  'after a replacement new handshakes see the new settings, and a kept session still shortens them',
  async (engine) => {
    await withEcho(engine, false, async (port, serving) => {
      const before = await shake(port, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });
      assert.equal(before.protocol, 'TLSv1.2');
      const again = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', session: before.session } as const;
      assert.equal((await shake(port, again)).resumed, true);
      serving.replace({ certificates: [pair], alpn: ['h2'] });
      assert.equal((await shake(port, again)).resumed, true);
      assert.equal((await shake(port, { ALPNProtocols: ['http/1.1', 'h2'] })).alpn, 'h2');
      serving.replace({ certificates: [pair], alpn: ['h2'], versionMin: 'TLSv1.3' });
      await assert.rejects(shake(port, { maxVersion: 'TLSv1.2' }), /alert protocol version|version/);
      await assert.rejects(shake(port, { ALPNProtocols: ['http/1.1'] }), /alert no application protocol/);
    });
  },
);

onEach('a client that does not go on with its handshake is dropped, and so is one too many', async (engine) => {
  const serving = new ServerTls({ certificates: [pair], handshakeTimeoutMs: 50, connectionsMax: 1 });
  const listener = await engine.listen({ host: '127.0.0.1', port: 0, tls: serving }, () => assert.fail('no handshake'));
  const first = tls.connect({ port: listener.port, host: '127.0.0.1', rejectUnauthorized: false });
  first.destroy();
  const silent = net.connect(listener.port, '127.0.0.1');
  await new Promise<void>((resolve) =>
    silent
      .on('close', () => resolve())
      .on('error', () => {})
      .resume(),
  );
  await engine.close();
});

onEach('a client is shown the certificate of the name that it asks for', async (engine) => {
  const other = { cert: otherCertificate, key: otherKey };
  await withEcho(engine, false, async (port, serving) => {
    serving.replace({ certificates: [pair, other] });
    const shown = async (servername: string) => (await shake(port, { servername })).shownTo;
    assert.deepEqual([await shown('plimsoll.test'), await shown('other.test')], ['plimsoll.test', 'other.test']);
    assert.equal(await shown('x.other.test'), 'other.test');
    assert.equal(await shown('elsewhere.test'), 'plimsoll.test');
  });
});

onEach('whoever has connected and not begun is shown what is shown when he begins', async (engine) => {
  const other = { cert: otherCertificate, key: otherKey };
  await withEcho(engine, false, async (port, serving) => {
    const under = net.connect(port, '127.0.0.1');
    await new Promise((resolve) => under.once('connect', resolve));
    // Another one, served to the end: by then the first has been accepted.
    await shake(port, {});
    serving.replace({ certificates: [other, pair] });
    assert.equal((await shaken(under, { servername: 'other.test' })).shownTo, 'other.test');
  });
});

onEach('TLS begins behind bytes that were read before', async (engine) => {
  await withEcho(engine, true, async (port) => {
    assert.deepEqual((await shake(port, { servername: 'plimsoll.test' }, 'preamble\n')).heard, 'hello');
  });
});

/** An echo behind TLS: as a listener of its own, or after a line in the clear. */
async function withEcho(
  engine: Engine,
  preamble: boolean,
  body: (port: number, serving: ServerTls) => Promise<void>,
): Promise<void> {
  const serving = new ServerTls({ certificates: [pair], alpn: ['http/1.1', 'h2'], ticketKeys: randomBytes(48) });
  const at = { host: '127.0.0.1', port: 0 };
  const echo = () => ({
    onData: (socket: { write(bytes: Uint8Array): boolean }, bytes: Uint8Array) => void socket.write(bytes),
    onClose: () => {},
  });
  const listener = preamble
    ? await engine.listen(at, (socket) => {
        let handler: ReturnType<Engine['secure']> | undefined;
        let seen = '';
        return {
          onData: (it, bytes, now) => {
            if (handler !== undefined) return handler.onData(it, bytes, now);
            seen += Buffer.from(bytes).toString('latin1');
            const end = seen.indexOf('\n');
            if (end >= 0) handler = engine.secure(socket, Buffer.from(seen.slice(end + 1), 'latin1'), serving, echo);
          },
          onDrain: (it, now) => handler?.onDrain?.(it, now),
          onEnd: (it, now) => handler?.onEnd?.(it, now),
          onClose: (it, error, now) => handler?.onClose(it, error, now),
        };
      })
    : await engine.listen({ ...at, tls: serving }, echo);
  try {
    await body(listener.port, serving);
  } finally {
    await engine.close();
  }
}

interface Shaken {
  readonly heard: string;
  /** The common name of the certificate. */
  readonly shownTo: string;
  readonly protocol: string | null;
  readonly alpn: string | false | null;
  readonly resumed: boolean;
  readonly session: Buffer | undefined;
}

/** A handshake by Node's own client, a hello and its echo. */
function shake(port: number, options: tls.ConnectionOptions, preamble = ''): Promise<Shaken> {
  const under = net.connect(port, '127.0.0.1');
  under.write(preamble);
  return shaken(under, options);
}

function shaken(under: net.Socket, options: tls.ConnectionOptions): Promise<Shaken> {
  const socket = tls.connect({ socket: under, rejectUnauthorized: false, ...options });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('secureConnect', () => socket.write('hello'));
    socket.on('data', (bytes) => {
      const facts = { protocol: socket.getProtocol(), alpn: socket.alpnProtocol, resumed: socket.isSessionReused() };
      const shownTo = socket.getPeerX509Certificate()?.subject.replace('CN=', '') ?? '';
      resolve({ heard: bytes.toString(), shownTo, ...facts, session: socket.getSession() });
      socket.destroy();
    });
  });
}
