// The suite that every engine must pass, and TLS, which only this one speaks.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import { after, ms } from '../base.ts';
import { conformance } from './testing/conformance.ts';
import type { Engine, Listener, NetError, TlsFacts, TlsTarget } from './engine.ts';
import { nodeEngine } from './node-engine.ts';
import { ServerTls } from './server-tls.ts';
import { testCertificate, testKey } from './test-certificate.ts';

conformance('node', () => nodeEngine());
conformance('node with fine alarms', () => nodeEngine({ fineAlarms: true }));

const host = '127.0.0.1';
const trusted: TlsTarget = { serverName: 'plimsoll.test', ca: testCertificate };

test('a TLS connection carries bytes both ways, agrees on a protocol, and closes in order', async () => {
  await withServer(async (engine, listener) => {
    const { heard, facts, error } = await talk(engine, listener, { ...trusted, alpn: ['h2', 'http/1.1'] });
    assert.equal(heard, 'hello');
    assert.equal(error, undefined);
    assert.deepEqual(facts, { alpn: 'http/1.1', resumed: false, protocol: 'TLSv1.3' });
  });
});

test('the second TLS connection to a target resumes the session of the first', async () => {
  await withServer(async (engine, listener) => {
    assert.equal((await talk(engine, listener, trusted)).facts?.resumed, false);
    assert.equal((await talk(engine, listener, trusted)).facts?.resumed, true);
    // Another name is another server, as far as sessions go.
    assert.equal((await talk(engine, listener, { ...trusted, serverName: 'localhost' })).facts?.resumed, false);
  });
});

test('the server name is sent to the server', async () => {
  const names: string[] = [];
  const server = tls.createServer({
    key: testKey,
    cert: testCertificate,
    SNICallback: (name, done) => {
      names.push(name);
      done(null);
    },
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const engine = nodeEngine();
  await talk(engine, { port: address.port }, { serverName: 'plimsoll.test', insecure: true }, false);
  await engine.close();
  server.close();
  assert.deepEqual(names, ['plimsoll.test']);
});

test('a certificate that nobody vouches for is an error of its own kind, unless told not to care', async () => {
  await withServer(async (engine, listener) => {
    const told = (error: NetError | undefined) => error && `${error.kind} ${error.stage} ${error.code}`;
    const unknown = await talk(engine, listener, { serverName: 'plimsoll.test' });
    assert.equal(told(unknown.error), 'tls connect DEPTH_ZERO_SELF_SIGNED_CERT');
    const wrongName = await talk(engine, listener, { ...trusted, serverName: 'other.test' });
    assert.equal(told(wrongName.error), 'tls connect ERR_TLS_CERT_ALTNAME_INVALID');
    const insecure = await talk(engine, listener, { insecure: true });
    assert.equal(insecure.heard, 'hello');
  });
});

test('TLS to a server that does not speak it is a tls error', async () => {
  const engine = nodeEngine();
  const plain = await engine.listen({ host, port: 0 }, (socket) => {
    socket.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
    return { onData: () => {}, onClose: () => {} };
  });
  const { error } = await talk(engine, plain, trusted);
  assert.deepEqual([error?.kind, error?.stage], ['tls', 'connect']);
  await engine.close();
});

async function withServer(body: (engine: Engine, listener: Listener) => Promise<void>): Promise<void> {
  const engine = nodeEngine();
  const serving = new ServerTls({ certificates: [{ key: testKey, cert: testCertificate }], alpn: ['http/1.1'] });
  const listener = await engine.listen({ host, port: 0, tls: serving }, () => ({
    onData: (socket, bytes) => void socket.write(bytes),
    onClose: () => {},
  }));
  try {
    await body(engine, listener);
  } finally {
    await engine.close();
  }
}

interface Talk {
  readonly heard: string;
  readonly facts: TlsFacts | undefined;
  readonly error: NetError | undefined;
}

/** Says hello, waits for an answer when there will be one, and hangs up. */
function talk(engine: Engine, at: { readonly port: number }, target: TlsTarget, answers = true): Promise<Talk> {
  let heard = '';
  let facts: TlsFacts | undefined;
  return new Promise((resolve) => {
    engine.connect(
      { host, port: at.port, tls: target },
      {
        onOpen: (socket) => {
          facts = socket.tls;
          socket.write(Buffer.from('hello'));
          if (!answers) socket.destroy();
        },
        onData: (socket, bytes) => {
          heard += Buffer.from(bytes).toString();
          socket.end();
        },
        onClose: (_, error) => resolve({ heard, facts, error }),
      },
    );
  });
}

test('what is written in one turn leaves in order, and a writer told to wait is told to go on', async () => {
  let heard = '';
  const server = net.createServer((socket) => {
    socket.on('data', (bytes) => (heard += bytes.toString('latin1')));
    socket.on('end', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const engine = nodeEngine({ highWaterMark: 4 });
  const sent = Buffer.from('x'.repeat(100_000));
  await new Promise<void>((resolve) => {
    engine.connect(
      { host, port: address.port },
      {
        onOpen: (socket) => {
          assert.equal(socket.write(Buffer.from('one ')), true);
          assert.equal(socket.write(Buffer.from('two ')), false);
          assert.equal(socket.queued, 8);
        },
        onDrain: (socket) => {
          // Larger than the batch: it goes by itself, behind what is there already.
          socket.write(Buffer.from('three '));
          socket.write(sent);
          socket.end();
        },
        onData: () => {},
        onClose: () => resolve(),
      },
    );
  });
  await engine.close();
  server.close();
  assert.equal(heard, `one two three ${sent.toString()}`);
});

test('time does not go back when an alarm rings within a turn', async () => {
  const engine = nodeEngine();
  const instants: number[] = [];
  const heard = Promise.withResolvers<void>();
  const listener = await engine.listen({ host, port: 0 }, () => ({
    onData: (_socket, _bytes, now) => {
      instants.push(now);
      heard.resolve();
    },
    onClose: () => {},
  }));
  const client = net.connect(listener.port, host);
  try {
    await once(client, 'connect');
    // The turn begins in an immediate, before the timers of the next round of the loop and before its sockets.
    setImmediate(() => {
      const from = engine.now();
      engine.alarm(after(from, ms(1)), (now) => {
        instants.push(now);
      });
      client.write('x');
      while (performance.now() * 1e6 < from + ms(5));
    });
    await heard.promise;
    assert.equal(instants.length, 2);
    assert.ok((instants[1] ?? 0) >= (instants[0] ?? Infinity), String(instants));
  } finally {
    client.destroy();
    await engine.close();
  }
});
