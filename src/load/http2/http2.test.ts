// HTTP/2 before Node's own server, which is another implementation of the protocol's other side, and before nginx: both sides
// count the same, and each way in which a server can end a request or a connection is a counted outcome.

import assert from 'node:assert/strict';
import http2 from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { ms, seconds } from '../../base.ts';
import { type ClosedDemand, constant, type OpenDemand, type Step } from '../../scenario.ts';
import type { LoadGroup } from '../contract.ts';
import { certificate, key } from '../testing/certificate.ts';
import { loadUntil } from '../testing/load-until.ts';
import { withNginx } from '../testing/nginx.ts';

const flow: readonly Step[] = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
const closed = (users: number, change: Partial<ClosedDemand> = {}): ClosedDemand => ({
  kind: 'closed',
  clients: 'shop',
  users,
  flow,
  think: constant(ms(1)),
  ...change,
});
const open = (ratePerSecond: number, steps = flow): OpenDemand => ({
  kind: 'open',
  clients: 'shop',
  ratePerSecond,
  arrivals: 'constant',
  flow: steps,
});

interface Shape {
  readonly streams?: number;
  readonly tls?: boolean;
}

function group(port: number, demand: LoadGroup['demand'], { streams = 8, tls = false }: Shape = {}): LoadGroup {
  const secure = tls ? { tls: { serverName: 'shop.test', ca: certificate } } : {};
  return {
    group: 'shop',
    demand,
    targets: [{ id: 'gateway', host: '127.0.0.1', port, ...secure }],
    choice: 'round-robin',
    timeout: seconds(2),
    connectionsMax: 2,
    http2: { streamsMax: streams },
  };
}

type Answer = (
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  session: http2.ServerHttp2Session,
) => void;

/** A server of Node's, with TLS or without, and the sessions that it has seen. */
async function withServer(
  answer: Answer,
  use: (port: number, sessions: readonly http2.ServerHttp2Session[]) => Promise<void>,
  options: { readonly tls?: boolean; readonly streams?: number } = {},
): Promise<void> {
  const settings = options.streams === undefined ? {} : { settings: { maxConcurrentStreams: options.streams } };
  const server =
    options.tls === true
      ? http2.createSecureServer({ cert: certificate, key, ...settings })
      : http2.createServer(settings);
  const sessions: http2.ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream: http2.ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    const { session } = stream;
    if (session !== undefined) answer(stream, headers, session as http2.ServerHttp2Session);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use((server.address() as AddressInfo).port, sessions);
  } finally {
    for (const session of sessions) session.destroy();
    server.close();
  }
}

for (const [name, demand] of [
  ['closed users', closed(16)],
  ['open arrivals', open(800)],
] as const) {
  for (const secure of [false, true]) {
    test(`${name} over ${secure ? 'h2' : 'h2c'}: both sides count the same, by replica too`, async () => {
      let served = 0;
      let bySecond = 0;
      await withServer(
        (stream) => {
          served += 1;
          const replica = served % 4 === 0 ? 'api-2' : 'api-1';
          if (replica === 'api-2') bySecond += 1;
          stream.respond({ ':status': 200, 'x-plimsoll-replica': replica });
          stream.end('hello');
        },
        async (port, sessions) => {
          const { result, errors } = await loadUntil(group(port, demand, { tls: secure }));
          const { answered = 0, planned = 0, never_sent = 0 } = result.ledgers[0] ?? {};
          assert.ok(answered > 0);
          assert.equal(answered, served);
          assert.equal(planned, served + never_sent);
          assert.deepEqual(errors, {});
          const second = result.histograms.find(({ of }) => of.replica === 'api-2' && of.what === 'latency');
          assert.equal(second?.count, bySecond);
          assert.ok(sessions.length <= 2, `two connections at most, there were ${sessions.length}`);
        },
        { tls: secure },
      );
    });
  }
}

test('as many streams as were asked for are under way on one connection, and no more', async () => {
  let now = 0;
  let most = 0;
  await withServer(
    (stream) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        stream.respond({ ':status': 200 });
        stream.end('hello');
      }, 5);
    },
    async (port, sessions) => {
      const users = { ...group(port, closed(16), { streams: 16 }) };
      await loadUntil(users);
      assert.equal(most, 16);
      assert.equal(sessions.length, 1);
    },
  );
});

test('a server that allows fewer streams is obeyed: the others wait, and the result says so', async () => {
  let now = 0;
  let most = 0;
  await withServer(
    (stream) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        stream.respond({ ':status': 200 });
        stream.end('hello');
      }, 5);
    },
    async (port) => {
      const { result, errors } = await loadUntil(group(port, closed(12), { streams: 12 }));
      assert.equal(most, 3);
      assert.deepEqual(errors, {});
      assert.match(result.limits.join('\n'), /the server allows 3 streams on a connection, and 12 were asked for/);
    },
    { streams: 3 },
  );
});

test('a stream that is reset or refused is counted by its kind, and the connection goes on', async () => {
  let served = 0;
  const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;
  await withServer(
    (stream) => {
      served += 1;
      if (served % 3 === 0) stream.close(NGHTTP2_INTERNAL_ERROR);
      else if (served % 3 === 1) stream.close(NGHTTP2_REFUSED_STREAM);
      else stream.respond({ ':status': 204 }, { endStream: true });
    },
    async (port, sessions) => {
      const { result, errors } = await loadUntil(group(port, closed(4)));
      const ledger = result.ledgers[0];
      assert.equal(ledger?.answered, Math.floor((served + 1) / 3));
      assert.equal(errors['stream-reset'], Math.floor(served / 3));
      assert.equal(errors['stream-refused'], Math.floor((served + 2) / 3));
      assert.equal(sessions.length, 1);
    },
  );
});

test('an answer cut off after half its length is truncated, whatever code it was reset with', async () => {
  for (const code of [http2.constants.NGHTTP2_NO_ERROR, http2.constants.NGHTTP2_INTERNAL_ERROR]) {
    await withServer(
      (stream) => {
        stream.respond({ ':status': 200, 'content-length': '10' });
        stream.write('hello', () => stream.close(code));
      },
      async (port) => {
        const { result, errors } = await loadUntil(group(port, closed(2)));
        assert.equal(result.ledgers[0]?.answered, 0);
        assert.deepEqual(Object.keys(errors), ['truncated']);
      },
    );
  }
});

test('after a GOAWAY what is under way is answered, and what follows goes over a new connection', async () => {
  let served = 0;
  await withServer(
    (stream, _headers, session) => {
      served += 1;
      if (served % 10 === 0) session.goaway();
      setTimeout(() => {
        if (stream.destroyed) return;
        stream.respond({ ':status': 200 });
        stream.end('hello');
      }, 2);
    },
    async (port, sessions) => {
      const { result, errors } = await loadUntil(group(port, closed(2), { streams: 2 }));
      const { answered = 0, failed = 0, planned } = result.ledgers[0] ?? {};
      assert.equal(answered + failed, planned);
      assert.ok(answered > failed);
      assert.deepEqual(
        Object.keys(errors).filter((kind) => kind !== 'goaway'),
        [],
      );
      assert.ok(sessions.length > 2, `a connection after each GOAWAY, there were ${sessions.length}`);
    },
  );
});

test('a connection that breaks takes every request on it along, each counted', async () => {
  let served = 0;
  await withServer(
    (stream, _headers, session) => {
      served += 1;
      if (served % 8 === 0) session.destroy();
      else if (served % 2 === 0) stream.respond({ ':status': 200 }, { endStream: true });
    },
    async (port) => {
      const { result, errors } = await loadUntil(group(port, closed(8), { streams: 8 }));
      const { answered = 0, failed = 0, planned, in_flight_at_end = 0, timed_out = 0 } = result.ledgers[0] ?? {};
      assert.equal(answered + failed + in_flight_at_end + timed_out, planned);
      assert.ok((errors['closed'] ?? 0) + (errors['reset'] ?? 0) + (errors['goaway'] ?? 0) > 0, JSON.stringify(errors));
    },
  );
});

test('a request that times out is reset, and its connection serves the next one', async () => {
  let cancelled = 0;
  let served = 0;
  await withServer(
    (stream) => {
      served += 1;
      stream.on('close', () => {
        if (stream.rstCode === http2.constants.NGHTTP2_CANCEL) cancelled += 1;
      });
      if (served % 2 === 0) stream.respond({ ':status': 200 }, { endStream: true });
    },
    async (port, sessions) => {
      const patient = { ...group(port, closed(2)), timeout: ms(30) };
      const { result } = await loadUntil(patient, { requests: 8 });
      assert.ok((result.ledgers[0]?.timed_out ?? 0) > 0);
      assert.ok((result.ledgers[0]?.answered ?? 0) > 0);
      assert.ok(cancelled > 0);
      assert.equal(sessions.length, 1);
    },
  );
});

test('bodies larger than every window come through whole in both directions', async () => {
  const megabyte = 1024 * 1024;
  let received = 0;
  await withServer(
    (stream) => {
      stream.on('data', (bytes: Buffer) => (received += bytes.length));
      stream.on('end', () => {
        stream.respond({ ':status': 200 });
        stream.end(Buffer.alloc(6 * megabyte));
      });
    },
    async (port) => {
      const upload: readonly Step[] = [{ method: 'POST', path: '/', headers: {}, body: 'x'.repeat(megabyte) }];
      const { result } = await loadUntil(group(port, closed(2, { flow: upload }), { streams: 2 }), { requests: 4 });
      const { answered = 0, planned = 0 } = result.ledgers[0] ?? {};
      assert.equal(answered, planned);
      assert.equal(received, answered * megabyte);
      assert.ok((result.totals[0]?.bytes ?? 0) >= answered * 6 * megabyte);
    },
  );
});

test('users extract variables, keep cookies and send header fields in the form of HTTP/2', async () => {
  const seen: http2.IncomingHttpHeaders[] = [];
  await withServer(
    (stream, headers) => {
      seen.push(headers);
      stream.respond({ ':status': 200, 'x-token': 't1', 'set-cookie': 'sid=7' });
      stream.end('{"id": 42}');
    },
    async (port) => {
      const steps: readonly Step[] = [
        {
          method: 'GET',
          path: '/login',
          headers: { Host: 'shop.test', Connection: 'keep-alive', 'X-Mixed-Case': 'yes' },
          body: undefined,
          extract: [
            { variable: 'token', from: 'header', header: 'X-Token' },
            { variable: 'id', from: 'json', path: 'id' },
          ],
        },
        { method: 'GET', path: '/items/${id}', headers: { authorization: '${token}' }, body: undefined },
      ];
      const { errors } = await loadUntil(group(port, closed(1, { flow: steps, cookies: true })), { requests: 6 });
      assert.deepEqual(errors, {});
      const [login, items] = seen;
      assert.equal(login?.[':authority'], 'shop.test');
      assert.equal(login?.['x-mixed-case'], 'yes');
      assert.equal(items?.[':path'], '/items/42');
      assert.equal(items?.['authorization'], 't1');
      assert.equal(items?.['cookie'], 'sid=7');
    },
  );
});

test('who answered is read from a cookie as well', async () => {
  let served = 0;
  await withServer(
    (stream) => {
      served += 1;
      stream.respond({ ':status': 200, 'set-cookie': ['a=1', 'SERVERID=api-7; path=/'] });
      stream.end('hello');
    },
    async (port) => {
      const { result } = await loadUntil({ ...group(port, closed(2)), replicaCookie: 'SERVERID' });
      assert.deepEqual(
        result.replicas.map(({ id, finished }) => [id, finished]),
        [['api-7', served]],
      );
    },
  );
});

test('a server that speaks HTTP/1.1 only is a bad response', async () => {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { errors } = await loadUntil(group(port, closed(2)), { requests: 4 });
  server.close();
  assert.deepEqual(Object.keys(errors), ['bad-response']);
});

test('a server that offers no HTTP/2 by ALPN is a matter of TLS', async () => {
  const server = createTlsServer({ cert: certificate, key, ALPNProtocols: ['http/1.1'] });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { errors, result } = await loadUntil(group(port, closed(2), { tls: true }), { requests: 4 });
  server.close();
  assert.deepEqual(Object.keys(errors), ['tls']);
  assert.equal(result.totals[0]?.sent, 0);
});

test('a port where nobody listens refuses', async () => {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const { errors, result } = await loadUntil(group(port, closed(2)), { requests: 4 });
  assert.deepEqual(Object.keys(errors), ['refused']);
  assert.equal(result.totals[0]?.sent, 0);
});

test(
  'before nginx, which takes its leave every hundred requests: its log has as many lines as we counted ends on its side',
  { skip: !withNginx.present() },
  async () => {
    await withNginx.use(
      async (port, requests) => {
        const { result, errors } = await loadUntil(group(port, open(2000), { streams: 8 }), { requests: 400 });
        const { planned = 0, answered = 0, never_sent = 0 } = result.ledgers[0] ?? {};
        const away = errors['goaway'] ?? 0;
        assert.ok(answered >= 300);
        assert.equal(answered + away, planned - never_sent);
        assert.equal(requests(), answered);
      },
      { http2: true },
    );
  },
);
