import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownAnswers } from './known-answers.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const get = { method: 'GET', bytes: bytes('') };
const head = { method: 'HEAD', bytes: bytes('') };

test('what was read before is known again, and only if every byte is the same', () => {
  const known = new KnownAnswers();
  assert.equal(known.find(bytes('one'), get), undefined);
  known.learn(bytes('one'), get, { status: 200, replica: 3 });
  const found = known.find(bytes('one'), get);
  assert.deepEqual([found?.status, found?.replica], [200, 3]);
  for (const other of ['onf', 'on', 'ones', '']) assert.equal(known.find(bytes(other), get), undefined, other);
});

test('the same bytes after another method are another answer', () => {
  const known = new KnownAnswers();
  known.learn(bytes('one'), get, { status: 200, replica: undefined });
  assert.equal(known.find(bytes('one'), head), undefined);
});

test('the bytes are kept, not the buffer that lent them', () => {
  const known = new KnownAnswers();
  for (const lent of [bytes('one'), Buffer.from('two')]) {
    const copy = new Uint8Array(lent);
    known.learn(lent, get, { status: 200, replica: undefined });
    lent.fill(0);
    assert.equal(known.find(copy, get)?.status, 200);
    assert.equal(known.find(lent, get), undefined);
  }
});

test('a handful are kept, the oldest gives way', () => {
  const known = new KnownAnswers();
  for (let count = 1; count <= 9; count++)
    known.learn(bytes(`answer ${count}`), get, { status: 200 + count, replica: undefined });
  assert.equal(known.find(bytes('answer 1'), get), undefined);
  assert.equal(known.find(bytes('answer 2'), get)?.status, 202);
  assert.equal(known.find(bytes('answer 9'), get)?.status, 209);
});

test('where nothing is ever alike it gives up, and where one in five is it does not', () => {
  const seldom = new KnownAnswers();
  const never = new KnownAnswers();
  for (const known of [seldom, never]) known.learn(bytes('same'), get, { status: 200, replica: undefined });
  for (let count = 0; count < 10_000; count++) {
    never.find(bytes(`${count}`), get);
    seldom.find(bytes(count % 5 === 0 ? 'same' : `${count}`), get);
  }
  assert.equal(never.find(bytes('same'), get), undefined);
  assert.equal(seldom.find(bytes('same'), get)?.status, 200);
});
