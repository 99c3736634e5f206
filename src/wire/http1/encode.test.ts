// What we write must come through a reader unchanged. (That it comes through readers of other make too is seen wherever we
// talk to nginx, HAProxy and Node.)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeChunk,
  encodeRequest,
  encodeResponse,
  isTarget,
  isText,
  isToken,
  lastChunk,
  writeBytes,
  writeChunkSize,
  writeContentLength,
  writeDecimal,
  writeField,
  writeStatusLine,
  writeText,
} from './encode.ts';
import { readRequests, readResponses } from './testing/transcript.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

test('a request is written as RFC 9112 draws it', () => {
  const head = encodeRequest({ method: 'POST', target: '/a', headers: [['Host', 'x']], bodyLength: 3 });
  assert.equal(text(head), 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n');
  assert.equal(text(encodeRequest({ method: 'GET', target: '/' })), 'GET / HTTP/1.1\r\n\r\n');
});

test('a chunked response is read as it was meant', () => {
  const stream = [
    encodeResponse({ status: 200, chunked: true, headers: [['X-A', 'é']] }),
    encodeChunk(Buffer.from('hello')),
    encodeChunk(Buffer.alloc(300, 'x')),
    lastChunk,
  ];
  assert.equal(readResponses(stream).transcript, `200 OK 1.1 chunked | "hello${'x'.repeat(300)}" | end`);
});

test('what would break out of its line is refused', () => {
  assert.throws(() => encodeRequest({ method: 'GET', target: '/ HTTP/1.1\r\nX: y' }), /target/);
  assert.throws(() => encodeRequest({ method: 'G T', target: '/' }), /method/);
  assert.throws(() => encodeRequest({ method: 'GET', target: '/', headers: [['X', 'a\r\nY: b']] }), /value/);
  assert.throws(() => encodeRequest({ method: 'GET', target: '/', headers: [['X', 'a\u0100']] }), /value/);
  assert.throws(() => encodeRequest({ method: 'GET', target: '/', headers: [['X:', 'a']] }), /name/);
  assert.throws(() => encodeRequest({ method: 'GET', target: '/', headers: [['Content-Length', '1']] }), /length/);
  assert.throws(() => encodeResponse({ status: 200, reason: 'a\nb' }), /reason/);
  assert.throws(() => encodeResponse({ status: 99 }), /status/);
  assert.throws(() => encodeChunk(new Uint8Array(0)), /chunk/);
});

test('any target, name and value that is said to be fit comes through a reader unchanged', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (target, name, value) => {
      const fit = isTarget(`/${target}`) && isToken(name) && isText(value);
      fc.pre(fit);
      fc.pre(!/^(host|content-length|transfer-encoding|connection|upgrade|expect)$/i.test(name));
      const head = encodeRequest({
        method: 'GET',
        target: `/${target}`,
        headers: [
          ['Host', 'x'],
          [name, value],
        ],
      });
      assert.equal(readRequests([head]).transcript, `GET /${target} 1.1 | end`);
    }),
  );
});

test('numbers are written as the language writes them', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      const into = new Uint8Array(40);
      assert.equal(text(into.subarray(0, writeDecimal(into, 0, value))), String(value));
      assert.equal(text(into.subarray(0, writeChunkSize(into, 0, value))), `${value.toString(16)}\r\n`);
    }),
    { examples: [[0], [9], [10], [15], [16], [Number.MAX_SAFE_INTEGER]] },
  );
});

test('the small writers put a head together in the caller’s buffer', () => {
  const into = new Uint8Array(200);
  let at = writeStatusLine(into, 0, 404);
  at = writeStatusLine(into, at, 200, 'Fine');
  at = writeField(into, at, 'X', 'y');
  at = writeContentLength(into, at, 120);
  at = writeText(into, at, '<é>');
  at = writeBytes(into, at, Buffer.from('short'));
  at = writeBytes(into, at, Buffer.alloc(70, 'l'));
  const expected = `HTTP/1.1 404 Not Found\r\nHTTP/1.1 200 Fine\r\nX: y\r\nContent-Length: 120\r\n<é>short${'l'.repeat(70)}`;
  assert.equal(text(into.subarray(0, at)), expected);
});
