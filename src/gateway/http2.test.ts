// HTTP/2 at the front door: the same life of a request, in frames. The client is node:http2's, curl's and nghttp2's where they
// are installed, and a raw one where no well-behaved client would do.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import http2 from 'node:http2';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { shop } from './stand/certificates.ts';
import { certificateFolder } from './stand/certificate-files.ts';
import { echo, gate, get, httpEndpoint, rawEndpoint, sample, seenOf, type Stand, stand, Talk } from './stand/stand.ts';

const clear = { listen: { host: '127.0.0.1', port: 0, http2: true } };
const run = promisify(execFile);

test('a request in HTTP/2 becomes the same request of HTTP/1.1, over TLS and in the clear', async () => {
  await using files = await certificateFolder({ shop });
  await using api = await httpEndpoint('api-1', echo);
  const secure = { listen: { host: '127.0.0.1', port: 0, tls: { certificates: [files.entry('shop')] } } };
  for (const settings of [clear, secure]) {
    await using gateway = await stand([api], settings);
    using client = connect(gateway, settings === secure);
    const fields = { ':method': 'POST', ':path': '/a/b?c=d', 'x-own': 'Value', cookie: ['a=b', 'c=d'] };
    const answer = await client.ask(fields, 'twelve bytes');
    const seen = seenOf(answer.body);
    assert.equal(answer.headers[':status'], 200);
    assert.equal(answer.headers['x-plimsoll-replica'], 'api-1');
    assert.equal(answer.headers['connection'], undefined);
    assert.deepEqual([seen.method, seen.url, seen.size], ['POST', '/a/b?c=d', 12]);
    assert.equal(seen.headers['host'], 'shop.test');
    assert.equal(seen.headers['x-own'], 'Value');
    assert.equal(seen.headers['cookie'], 'a=b; c=d');
    assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1');
    assert.equal(seen.headers['x-forwarded-proto'], settings === secure ? 'https' : undefined);
    assert.equal(seen.headers['connection'], undefined);
  }
});

test('many streams at once are served by the policy, counted one by one, and the connection is one', async () => {
  await using one = await httpEndpoint('api-1');
  await using two = await httpEndpoint('api-2');
  await using gateway = await stand([one, two], clear);
  using client = connect(gateway);
  const answers = await Promise.all(Array.from({ length: 40 }, () => client.ask({})));
  assert.deepEqual(new Set(answers.map((answer) => answer.headers[':status'])), new Set([200]));
  assert.deepEqual([one.served(), two.served()], [20, 20]);
  const page = gateway.gateway.metrics();
  assert.equal(sample(page, 'plimsoll_gateway_requests_total{code="200"}'), 40);
  assert.equal(sample(page, 'plimsoll_gateway_connections'), 1);
});

test('a listener that knows both still serves HTTP/1.1, even when its first bytes come one by one', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api], clear);
  assert.equal((await get(gateway.port)).status, 200);
  for (const method of ['GET', 'POST', 'PROPFIND']) {
    using talk = await Talk.with(gateway.port);
    for (const letter of `${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`) {
      talk.say(letter);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(await talk.toTheEnd(), /^HTTP\/1\.1 200 OK/);
  }
});

test('answers without a body, with a status of their own, with fields of one name, and to HEAD', async () => {
  await using api = await httpEndpoint('api-1', (request, response) => {
    if (request.url === '/empty') return response.writeHead(204).end();
    if (request.url === '/cookies') response.setHeader('set-cookie', ['a=1', 'b=2']);
    return response.writeHead(404, { 'content-length': 5 }).end('never');
  });
  await using gateway = await stand([api], clear);
  using client = connect(gateway);
  assert.equal((await client.ask({ ':path': '/empty' })).headers[':status'], 204);
  const cookies = await client.ask({ ':path': '/cookies' });
  assert.deepEqual(cookies.headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal(cookies.body, 'never');
  const head = await client.ask({ ':method': 'HEAD' });
  assert.deepEqual([head.headers[':status'], head.headers['content-length'], head.body], [404, '5', '']);
});

test('a client that resets a stream cancels what an endpoint does for it, and the others go on', async () => {
  const arrived = gate();
  const cancelled = gate();
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (request, response) => {
    if (request.url === '/doomed') {
      response.on('close', () => cancelled.open());
      arrived.open();
      return;
    }
    await finish.opened;
    response.end('finished');
  });
  await using gateway = await stand([api], clear);
  using client = connect(gateway);
  const other = client.ask({ ':path': '/other' });
  const doomed = client.session.request({ ':path': '/doomed' });
  doomed.on('error', () => {});
  await arrived.opened;
  doomed.close(http2.constants.NGHTTP2_CANCEL);
  await cancelled.opened;
  finish.open();
  assert.equal((await other).body, 'finished');
  const page = gateway.gateway.metrics();
  assert.equal(sample(page, 'plimsoll_gateway_ways_out_total{way="client-gone"}'), 1);
});

test('an answer that breaks off resets its stream, so that nobody takes a part for the whole', async () => {
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.once('data', (asked) => {
      const framing = asked.includes('/length')
        ? 'Content-Length: 10\r\n\r\n'
        : 'Transfer-Encoding: chunked\r\n\r\n5\r\n';
      socket.end(`HTTP/1.1 200 OK\r\n${framing}five!`);
    });
  });
  await using gateway = await stand([api], clear);
  using client = connect(gateway);
  for (const path of ['/length', '/chunked']) {
    await assert.rejects(client.ask({ ':path': path }), /NGHTTP2_INTERNAL_ERROR/, path);
  }
});

test('a drain lets requests that were on their way in, finishes what is under way, and says GOAWAY', async () => {
  const arrived = gate();
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (_request, response) => {
    arrived.open();
    await finish.opened;
    response.end('finished');
  });
  await using gateway = await stand([api], clear);
  using client = connect(gateway);
  const goneAway = new Promise((resolve) => client.session.once('goaway', (_code, last: number) => resolve(last)));
  const slow = client.ask({});
  await arrived.opened;
  // On the wire before the client can have heard of the end: node:http2's sends nothing more after it has.
  const late = client.ask({ ':path': '/late' });
  await new Promise((resolve) => setImmediate(resolve));
  const drained = gateway.gateway.drain();
  finish.open();
  assert.equal((await slow).body, 'finished');
  assert.equal((await late).body, 'finished');
  assert.equal(await goneAway, 2 ** 31 - 1);
  assert.equal(await drained, 0);
});

test('bodies of a megabyte go through in both directions, to readers that take their time', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'plimsoll');
  await using api = await httpEndpoint('api-1', (request, response) => {
    let size = 0;
    request.on('data', (piece: Buffer) => {
      size += piece.length;
      request.pause();
      setImmediate(() => request.resume());
    });
    request.on('end', () => response.setHeader('x-got', size).end(megabyte));
  });
  await using gateway = await stand([api], clear);
  using client = connect(gateway);
  const answers = await Promise.all(
    [{}, { 'content-length': megabyte.length }].map((fields) => client.ask({ ':method': 'POST', ...fields }, megabyte)),
  );
  for (const { headers, body } of answers) {
    assert.equal(headers['x-got'], String(megabyte.length));
    assert.equal(body, megabyte.toString('latin1'));
  }
});

test('a client that stops reading stops the endpoint, not the gateway’s memory', async () => {
  const piece = Buffer.alloc(1024 * 1024);
  let written = 0;
  const began = gate();
  await using api = await httpEndpoint('api-1', (_request, response) => {
    const offer = (): void => {
      while (written < 256 * piece.length) {
        written += piece.length;
        if (!response.write(piece)) break;
      }
      response.once('drain', offer);
    };
    offer();
    began.open();
  });
  await using gateway = await stand([api], clear);
  using client = connect(gateway);
  const stream = client.session.request({ ':path': '/' });
  stream.on('error', () => {});
  stream.pause();
  await began.opened;
  for (let before = -1; before !== written;) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(written < 16 * piece.length, `${written} bytes left the endpoint while nobody read`);
});

test('interim answers and trailers arrive', async () => {
  await using api = await httpEndpoint('api-1', (request, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    response.writeHead(200, { trailer: 'x-sum' });
    request.resume().on('end', () => {
      response.write('body');
      response.addTrailers({ 'x-sum': String(request.trailers['x-sent']) });
      response.end();
    });
  });
  await using gateway = await stand([api], clear);
  using client = connect(gateway);
  const stream = client.session.request({ ':method': 'POST', te: 'trailers' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sent': 'forty-two' }));
  const hints: unknown[] = [];
  stream.on('headers', (headers) => hints.push(headers['link']));
  const trailers = new Promise<http2.IncomingHttpHeaders>((resolve) => stream.on('trailers', resolve));
  stream.end('a body');
  stream.resume();
  assert.equal((await trailers)['x-sum'], 'forty-two');
  assert.deepEqual(hints, ['</style.css>; rel=preload']);
});

test('a WebSocket over HTTP/2 is an upgrade behind us, and bytes flow both ways until one side ends', async () => {
  const heard = gate();
  let head = '';
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.once('data', (bytes) => {
      head = bytes.toString('latin1');
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nfirst ');
      socket.on('data', (piece) => socket.write(piece));
      socket.on('end', () => (heard.open(), socket.end()));
    });
  });
  await using gateway = await stand([api], clear);
  using client = connect(gateway);
  await new Promise((resolve) => client.session.once('remoteSettings', resolve));
  const stream = client.session.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat' });
  const status = new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
  let body = '';
  stream.on('data', (piece: Buffer) => {
    body += piece.toString();
    if (body.endsWith('second')) stream.end();
  });
  stream.write('second');
  assert.equal(await status, 200);
  await heard.opened;
  await new Promise((resolve) => stream.once('close', resolve));
  assert.equal(body, 'first second');
  assert.match(head, /^GET \/chat HTTP\/1\.1\r\n/);
  assert.match(head, /\r\nupgrade: websocket\r\n/i);
  assert.match(head, /\r\nsec-websocket-key: .{24}\r\n/);
});

test('CONNECT to anywhere is not what a gateway does', async () => {
  await using gateway = await stand([], clear);
  using client = connect(gateway);
  const answer = await client.ask({ ':method': 'CONNECT', ':authority': 'elsewhere.example:443' });
  assert.equal(answer.headers[':status'], 501);
});

test('requests that two readers could take in two ways are reset', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api], clear);
  const malformed: readonly http2.OutgoingHttpHeaders[] = [
    { ':path': '/a b' },
    { ':path': '/a\u0001b' },
    { ':path': '' },
    { host: 'other.example' },
  ];
  for (const fields of malformed) {
    using client = connect(gateway);
    await assert.rejects(client.ask(fields), /NGHTTP2|ERR_HTTP2/, JSON.stringify(fields));
  }
  assert.equal(api.served(), 0);
});

test('curl and h2load are served, where they are installed', async (context) => {
  await using files = await certificateFolder({ shop });
  await using api = await httpEndpoint('api-1', (_request, response) => response.end('x'.repeat(10_000)));
  await using gateway = await stand([api], {
    listen: [clear.listen, { host: '127.0.0.1', port: 0, tls: { certificates: [files.entry('shop')] } }],
  });
  const [plain = 0, secure = 0] = gateway.gateway.ports;
  const curl = (...options: readonly string[]): Promise<{ stdout: string }> =>
    run('curl', ['-sS', '-o', '/dev/null', '-w', '%{http_version} %{http_code} %{size_download}', ...options]);
  try {
    await run('curl', ['--version']);
  } catch {
    return context.skip('no curl here');
  }
  const port = String(secure);
  const trust = ['--resolve', `shop.test:${port}:127.0.0.1`, '--cacert', files.entry('shop').cert_file];
  assert.equal((await curl('--http2', ...trust, `https://shop.test:${port}/`)).stdout, '2 200 10000');
  assert.equal((await curl('--http1.1', ...trust, `https://shop.test:${port}/`)).stdout, '1.1 200 10000');
  assert.equal((await curl('--http2-prior-knowledge', `http://127.0.0.1:${plain}/`)).stdout, '2 200 10000');
  // An upgrade to h2c is not taken: the answer comes in HTTP/1.1.
  assert.equal((await curl('--http2', `http://127.0.0.1:${plain}/`)).stdout, '1.1 200 10000');
  try {
    const load = await run('h2load', ['-n', '400', '-c', '4', '-m', '32', `https://127.0.0.1:${port}/`]);
    assert.match(load.stdout, /400 total, 400 started, 400 done, 400 succeeded, 0 failed, 0 errored, 0 timeout/);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  return undefined;
});

interface Client {
  readonly session: http2.ClientHttp2Session;
  ask(fields: http2.OutgoingHttpHeaders, body?: string | Buffer): Promise<Answered>;
  [Symbol.dispose](): void;
}

interface Answered {
  readonly headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader;
  readonly body: string;
}

function connect(gateway: Stand, secure = false): Client {
  const authority = secure ? 'https://shop.test' : 'http://shop.test';
  const session = http2.connect(authority, { port: gateway.port, host: '127.0.0.1', ca: shop.cert, lookup });
  session.on('error', () => {});
  return {
    session,
    ask: (fields, body) =>
      answered(session.request({ ':authority': 'shop.test', ...fields }, { endStream: body === undefined }), body),
    [Symbol.dispose]: () => session.destroy(),
  };
}

/** Every name is this machine. */
const lookup: NonNullable<http2.SecureClientSessionOptions['lookup']> = (_name, options, done) =>
  done(null, options.all === true ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1', 4);

function answered(stream: http2.ClientHttp2Stream, body: string | Buffer | undefined): Promise<Answered> {
  return new Promise((resolve, reject) => {
    let headers: Answered['headers'] = {};
    const pieces: Buffer[] = [];
    stream.on('error', reject);
    stream.on('response', (got) => (headers = got));
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => {
      if (stream.rstCode === 0) resolve({ headers, body: Buffer.concat(pieces).toString('latin1') });
    });
    if (body !== undefined) stream.end(body);
  });
}
