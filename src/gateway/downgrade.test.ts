// From HTTP/2 to HTTP/1.1: in frames a field may hold anything, in text it may not. What has no single form in text is reset, and
// whatever reaches an endpoint is one request that says what the frames said. Raw frames: proper clients refuse to send these.

import assert from 'node:assert/strict';
import net from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { rawEndpoint, stand } from './stand/stand.ts';

type Fields = readonly (readonly [name: string, value: string])[];

const good: Fields = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'shop.example'],
  [':path', '/'],
];

/** A header block without compression: each field a literal that is not indexed (RFC 7541 section 6.2.2). */
function headerBlock(fields: Fields): Buffer {
  const literal = (text: string): Buffer => {
    const bytes = Buffer.from(text, 'latin1');
    assert.ok(bytes.length < 127, 'one byte says how long it is');
    return Buffer.concat([Buffer.of(bytes.length), bytes]);
  };
  return Buffer.concat(fields.map(([name, value]) => Buffer.concat([Buffer.of(0), literal(name), literal(value)])));
}

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const settings = frame(4, 0, 0);
const dataType = 0;
const headersType = 1;
const resetType = 3;
const goAwayType = 7;

/** Sends one request and waits for what becomes of its stream. */
async function ask(port: number, fields: Fields, body?: string): Promise<'answered' | 'reset'> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const ends = body === undefined ? 5 : 4;
  socket.write(
    Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      settings,
      frame(headersType, ends, 1, headerBlock(fields)),
      ...(body === undefined ? [] : [frame(dataType, 1, 1, Buffer.from(body))]),
    ]),
  );
  let seen = Buffer.alloc(0);
  try {
    for await (const piece of socket) {
      assert.ok(Buffer.isBuffer(piece));
      seen = Buffer.concat([seen, piece]);
      for (
        ;
        seen.length >= 9 && seen.length >= 9 + seen.readUIntBE(0, 3);
        seen = seen.subarray(9 + seen.readUIntBE(0, 3))
      ) {
        if (seen[3] === headersType) return 'answered';
        if (seen[3] === resetType || seen[3] === goAwayType) return 'reset';
      }
    }
    return 'reset';
  } finally {
    socket.destroy();
  }
}

const withField = (name: string, value: string): Fields => [...good, [name, value]];
const without = (name: string): Fields => good.filter((field) => field[0] !== name);
const instead = (name: string, value: string): Fields =>
  good.map((field) => (field[0] === name ? [name, value] : field));

/** Node's HTTP/2 leaves such a field out and goes on. */
const leftOut: readonly (readonly [what: string, fields: Fields, body?: string])[] = [
  ['a line end in a value', withField('x', 'a\r\nX-Smuggled: 1')],
  ['a bare LF in a value', withField('x', 'a\nX-Smuggled: 1')],
  ['a bare CR in a value', withField('x', 'a\rX-Smuggled: 1')],
  ['NUL in a value', withField('x', 'a\0b')],
  ['a line end in a name', withField('x: 1\r\nx-smuggled', '1')],
  ['a colon in a name', withField('x:smuggled', '1')],
  ['a space in a name', withField('x smuggled', '1')],
  ['a name with a space behind', withField('content-length ', '5')],
  ['no name', withField('', '1')],
  ['a name in capitals', withField('X-Smuggled', '1')],
];

const malformed: readonly (readonly [what: string, fields: Fields, body?: string])[] = [
  ['Transfer-Encoding', withField('transfer-encoding', 'chunked'), '0\r\n\r\n'],
  ['Connection', withField('connection', 'keep-alive')],
  ['TE of anything but trailers', withField('te', 'chunked')],
  ['a length that the body does not have', withField('content-length', '3'), 'abcdGET /smuggled HTTP/1.1\r\n\r\n'],
  ['a length and no body', withField('content-length', '3')],
  ['two lengths', [...withField('content-length', '3'), ['content-length', '4']], 'abc'],
  ['a length of letters', withField('content-length', 'x3'), 'abc'],
  ['a line end in the path', instead(':path', '/ HTTP/1.1\r\nX-Smuggled: 1')],
  ['a space in the path', instead(':path', '/ HTTP/1.1')],
  ['a line end in the method', instead(':method', 'GET / HTTP/1.1\r\nX-Smuggled: 1')],
  ['a space in the method', instead(':method', 'GET /smuggled')],
  ['a line end in the authority', instead(':authority', 'x\r\nX-Smuggled: 1')],
  ['a user in the authority', instead(':authority', 'a@shop.example')],
  ['two paths', [...good, [':path', '/smuggled']]],
  ['no path', without(':path')],
  ['no method', without(':method')],
  ['a pseudo field behind others', [...withField('x', '1'), [':path', '/smuggled']]],
  ['a pseudo field that is none', withField(':smuggled', '1')],
];

/** What reaches an endpoint of a request in these frames, and what becomes of its stream. */
async function passedOn(fields: Fields, body?: string): Promise<{ reached: string; became: 'answered' | 'reset' }> {
  let reached = '';
  await using api = await rawEndpoint('api-1', (socket) => {
    socket.on('data', (piece) => {
      reached += piece.toString('latin1');
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await using gateway = await stand([api], { listen: { host: '127.0.0.1', port: 0, http2: true } });
  const became = await ask(gateway.port, fields, body);
  return { reached, became };
}

test('a request whose end or target could be read in two ways is reset, and nothing of it reaches an endpoint', async (context) => {
  for (const [what, fields, body] of malformed) {
    await context.test(what, async () => {
      const { reached, became } = await passedOn(fields, body);
      assert.doesNotMatch(reached, /smuggled/i, what);
      assert.equal(became, 'reset', reached);
    });
  }
});

test('a field that has no form in HTTP/1.1 does not reach an endpoint', async (context) => {
  const { reached: plain } = await passedOn(good);
  assert.match(plain, /^GET \/ HTTP\/1\.1\r\nhost: shop\.example\r\n/);
  for (const [what, fields] of leftOut) {
    await context.test(what, async () => {
      const { reached, became } = await passedOn(fields);
      if (became === 'reset') assert.equal(reached, '');
      else assert.equal(reached, plain);
    });
  }
});

test('space around a value is no part of it, whatever the frames say', async () => {
  const { reached } = await passedOn(withField('x', ' padded '));
  assert.doesNotMatch(reached, /x: {2}|padded \r/);
});
