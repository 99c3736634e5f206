// What TLS by OpenSSL must do beyond a handshake: keep each peer's bytes apart from the others', whatever these do, and the order of
// things when somebody pauses, ends, or stops speaking TLS. The peer is Node's own TLS.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { Duplex } from 'node:stream';
import { after, suite, test } from 'node:test';
import tls from 'node:tls';
import { dice } from '../../base.ts';
import type { Engine, NetError, Socket, SocketHandler } from '../engine.ts';
import { nodeEngine } from '../node-engine.ts';
import { ServerTls } from '../server-tls.ts';
import { testCertificate, testKey } from '../test-certificate.ts';
import { uringEngine } from '../uring/uring-engine.ts';
import { reachTlsServer } from './tls-server.ts';

const timeout = 20_000;
const host = '127.0.0.1';
const skip = reachTlsServer() === undefined ? 'this Node does not show its OpenSSL' : false;

/** Says back what it hears, as fast as that is taken. */
const echo: SocketHandler = {
  onData: (socket, bytes) => {
    if (!socket.write(bytes)) socket.pause();
  },
  onDrain: (socket) => socket.resume(),
  onClose: () => {},
};

for (const [name, engine] of [
  ['node', nodeEngine()],
  ['uring', uringEngine()],
] as const) {
  if ('why' in engine) test(`secure sockets on ${name}`, { skip: engine.why }, () => {});
  else suite(`secure sockets on ${name}`, { skip, concurrency: false }, () => tests(engine));
}

function tests(engine: Engine): void {
  after(() => engine.close());

  test(
    'forty clients that come, stutter, break the protocol and go each hear their own bytes',
    { timeout },
    async () => {
      const port = await listening(engine, () => echo);
      const chance = dice(7, 'clients');
      const visits = Array.from({ length: 40 }, async (_, index) => {
        if (index % 4 === 3) return vandal(port, index);
        const said = Buffer.alloc(1 + Math.floor(chance.next() * 90_000), `${index}.`);
        const client = stuttering(port);
        client.write(said);
        assert.ok((await heard(client, said.length)).equals(said), `client ${index}`);
        client.destroy();
        return undefined;
      });
      await Promise.all(visits);
    },
  );

  test('ten megabytes come back through a socket that pauses after each piece', { timeout }, async () => {
    const port = await listening(engine, () => ({
      ...echo,
      onData: (socket, bytes) => {
        socket.write(bytes);
        socket.pause();
        setImmediate(() => socket.resume());
      },
    }));
    const said = Buffer.alloc(10_000_000, 'abcdefghijklm');
    const client = secure(port);
    client.end(said);
    assert.ok((await heard(client, said.length)).equals(said));
    await once(client, 'end');
    client.destroy();
  });

  test('the end of a peer is told once, behind its last bytes, and may be answered', { timeout }, async () => {
    const lines: string[] = [];
    const port = await listening(engine, () => ({
      onData: (socket, bytes) => {
        lines.push(`data ${text(bytes)}`);
        socket.pause();
        setImmediate(() => socket.resume());
      },
      onEnd: (socket) => {
        lines.push('end');
        socket.write(Buffer.from('goodbye'));
        socket.end();
      },
      onClose: (_socket, error) => void lines.push(`close ${error?.kind ?? ''}`),
    }));
    const client = secure(port);
    client.end('hello');
    assert.equal(text(await heard(client, 7)), 'goodbye');
    await once(client, 'close');
    await until(() => lines.length === 3);
    assert.deepEqual(lines, ['data hello', 'end', 'close ']);
  });

  test('after destroy only the close comes, even when more was there to be read', { timeout }, async () => {
    const lines: string[] = [];
    const port = await listening(engine, () => ({
      onData: (socket) => {
        lines.push('data');
        socket.destroy();
        assert.equal(socket.write(Buffer.from('nothing')), false);
      },
      onEnd: () => void lines.push('end'),
      onClose: (_socket, error) => void lines.push(`close ${error?.kind ?? ''}`),
    }));
    const client = secure(port);
    client.write(Buffer.alloc(50_000));
    await once(client, 'close');
    await until(() => lines.length === 2);
    assert.deepEqual(lines, ['data', 'close ']);
  });

  test('a peer that stops speaking TLS hears an alert, and its socket closes with an error', { timeout }, async () => {
    const errors: (NetError | undefined)[] = [];
    const port = await listening(engine, () => ({ ...echo, onClose: (_socket, error) => void errors.push(error) }));
    const under = net.connect(port, host);
    const client = tls.connect({ socket: under, rejectUnauthorized: false });
    client.write('hello');
    await heard(client, 5);
    const failed = once(client, 'error') as Promise<[Error]>;
    under.write('GET / HTTP/1.1\r\n\r\n');
    assert.match((await failed)[0].message, /alert/);
    await until(() => errors.length === 1);
    assert.equal(errors[0]?.kind, 'tls');
    client.destroy();
  });

  test('a client that says HTTP instead of hello is let go without a word to the handler', { timeout }, async () => {
    const port = await listening(engine, () => assert.fail('no handshake'));
    const client = net.connect(port, host);
    client.on('error', () => {});
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    client.resume();
    await once(client, 'close');
  });

  const hasClient = spawnSync('openssl', ['version']).status === 0;
  const noClient = hasClient ? false : 'openssl is not on the path';
  test('new keys that a peer asks for are taken and answered', { timeout, skip: noClient }, async () => {
    const port = await listening(engine, () => echo);
    // A line of K asks for new keys on both sides.
    const typed = [
      [/Verify return code/, 'hello'],
      [/hello/, 'K'],
      [/KEYUPDATE/, 'again'],
      [/again/, 'Q'],
    ] as const;
    assert.match(await opensslClient(port, ['-tls1_3'], typed), /DONE/);
  });

  test('a new handshake within TLS 1.2 is refused', { timeout, skip: noClient }, async () => {
    const port = await listening(engine, () => echo);
    const typed = [
      [/Verify return code/, 'hello'],
      [/hello/, 'R'],
    ] as const;
    assert.match(await opensslClient(port, ['-tls1_2'], typed), /no renegotiation/);
  });
}

async function listening(engine: Engine, accept: (socket: Socket) => SocketHandler): Promise<number> {
  const serving = new ServerTls({ certificates: [{ cert: testCertificate, key: testKey }] });
  return (await engine.listen({ host, port: 0, tls: serving }, accept)).port;
}

function secure(port: number): tls.TLSSocket {
  return tls.connect({ port, host, rejectUnauthorized: false });
}

/** A client whose bytes are sent in pieces that cut records wherever they please. */
function stuttering(port: number): tls.TLSSocket {
  const under = net.connect({ port, host, noDelay: true });
  const pieces = new Duplex({
    read: () => under.resume(),
    write: (bytes: Buffer, _encoding, done) => {
      const cut = bytes.length >> 1;
      under.write(bytes.subarray(0, cut));
      setImmediate(() => under.write(bytes.subarray(cut), done));
    },
    destroy: (error, done) => {
      under.destroy();
      done(error);
    },
  });
  under.on('data', (bytes) => {
    if (!pieces.push(bytes)) under.pause();
  });
  under.on('end', () => pieces.push(null));
  return tls.connect({ socket: pieces, rejectUnauthorized: false });
}

/** Says something that is no TLS, before or after the handshake, together with what looks like data. */
async function vandal(port: number, index: number): Promise<void> {
  const under = net.connect(port, host);
  const junk = Buffer.alloc(3000, `junk of ${index} `);
  under.on('error', () => {});
  if (index % 8 === 3) under.write(junk);
  else {
    const client = tls.connect({ socket: under, rejectUnauthorized: false });
    client.on('error', () => {});
    client.write('hello');
    await heard(client, 5);
    under.write(junk);
  }
  under.resume();
  await once(under, 'close');
}

/** What `openssl s_client` prints when each line is typed as soon as what was expected before has been printed. */
async function opensslClient(
  port: number,
  flags: readonly string[],
  steps: readonly (readonly [awaited: RegExp, line: string])[],
): Promise<string> {
  const child = spawn('openssl', ['s_client', '-connect', `${host}:${port}`, ...flags]);
  let printed = '';
  const print = (bytes: Buffer): void => void (printed += text(bytes));
  child.stdout.on('data', print);
  child.stderr.on('data', print);
  for (const [awaited, line] of steps) {
    await until(() => awaited.test(printed));
    child.stdin.write(`${line}\n`);
  }
  await once(child, 'close');
  return printed;
}

function heard(client: tls.TLSSocket, length: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let left = length;
  return new Promise((resolve, reject) => {
    client.once('error', reject);
    client.on('data', (piece: Buffer) => {
      pieces.push(piece);
      left -= piece.length;
      if (left <= 0) resolve(Buffer.concat(pieces));
    });
  });
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
