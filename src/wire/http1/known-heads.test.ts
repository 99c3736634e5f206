import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KnownHeads } from './known-heads.ts';
import { readRequests, readResponses } from './testing/transcript.ts';

interface Remembered {
  readonly length: number;
  readonly text: string;
}

/** Heads over few letters, so that they share beginnings; `⏎` ends each and stands nowhere else. */
const heads = fc.array(fc.stringMatching(/^[ab]{0,9}⏎$/), { minLength: 1, maxLength: 60 });

const bytesOf = (text: string): Uint8Array => Buffer.from(text.replaceAll('⏎', '\n'), 'latin1');

test('what was learnt is found again, wherever it stands in a chunk, and nothing else is', () => {
  fc.assert(
    fc.property(heads, heads, fc.nat(5), (learnt, asked, offset) => {
      const known = new KnownHeads<Remembered>();
      const model = new Set<string>();
      for (const text of learnt) {
        const bytes = bytesOf('x'.repeat(offset) + text);
        known.learn(bytes, offset, { length: text.length, text });
        bytes.fill(0);
        model.add(text);
      }
      for (const text of asked) {
        const bytes = bytesOf(`${'y'.repeat(offset)}${text}rest`);
        const found = known.recall(bytes, offset, bytes.length);
        assert.equal(found?.text, model.has(text) ? text : undefined);
        // Cut anywhere it is not yet known.
        assert.equal(known.recall(bytes, offset, offset + text.length - 1), undefined);
      }
    }),
    { seed: 20_261 },
  );
});

test('its memory is bounded, and fills again with what is current', () => {
  const known = new KnownHeads<Remembered>();
  for (let index = 0; index < 1000; index++) {
    const text = `head ${index}⏎`;
    known.learn(bytesOf(text), 0, { length: text.length, text });
    const found = known.recall(bytesOf(text), 0, text.length);
    assert.equal(found?.text, text);
  }
  assert.equal(known.recall(bytesOf('head 0⏎'), 0, 7), undefined);
});

test('it rests when few heads come again, and wakes up later', () => {
  const known = new KnownHeads<Remembered>();
  const bytes = bytesOf('again⏎');
  known.learn(bytes, 0, { length: 6, text: 'again' });
  for (let index = 0; index < 1024; index++) known.recall(bytesOf(`never ${index}⏎`), 0, 12);
  assert.equal(known.recall(bytes, 0, 6), undefined);
  assert.equal(known.wants(6), false);
  for (let index = 0; index < 16 * 1024; index++) known.recall(bytes, 0, 6);
  assert.equal(known.recall(bytes, 0, 6)?.text, 'again');
});

test('a head that is too long is not wanted', () => {
  const known = new KnownHeads<Remembered>();
  assert.equal(known.wants(1024), true);
  assert.equal(known.wants(1025), false);
});

test('a head that comes again means the same, also with other questions and other bodies', () => {
  const response = (length: number): Uint8Array =>
    Buffer.from(`HTTP/1.1 200 OK\r\nX-Known: ${length}\r\nContent-Length: ${length}\r\n\r\n`);
  const get = readResponses([response(2), Buffer.from('ab')]).transcript;
  assert.equal(get, '200 OK 1.1 len=2 | "ab" | end');
  assert.equal(readResponses([response(2), Buffer.from('cd')]).transcript, '200 OK 1.1 len=2 | "cd" | end');
  assert.equal(readResponses([response(2)], ['HEAD']).transcript, '200 OK 1.1 len=2 | end');
  assert.equal(readResponses([response(2)], []).transcript, '!unsolicited 502');
  const connect = Buffer.from('CONNECT known:443 HTTP/1.1\r\nHost: known\r\n\r\n');
  for (let time = 0; time < 3; time++) {
    const reading = readRequests([Buffer.concat([connect, Buffer.from('tunnel')])]);
    assert.deepEqual(reading, { transcript: 'CONNECT known:443 1.1 | end', left: 6 });
  }
});

test('limits of one reader do not let heads into another that has smaller ones', () => {
  const request = Buffer.from(`GET /known HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(60)}\r\n\r\n`);
  for (let time = 0; time < 2; time++) assert.equal(readRequests([request]).transcript, 'GET /known 1.1 | end');
  assert.equal(readRequests([request], { maxHeadBytes: 64 }).transcript, '!head-too-large 431');
  assert.equal(readRequests([request], { maxUriBytes: 5 }).transcript, '!uri-too-long 414');
});
