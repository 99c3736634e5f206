import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KnownAnswer, KnownAnswers } from './known-answers.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const get = { method: 'GET', bytes: bytes('') };
const head = { method: 'HEAD', bytes: bytes('') };

/** Of an answer whose end its head does not foretell, all is compared. */
function learnWhole(
  known: KnownAnswers,
  answer: Uint8Array,
  means: KnownAnswer = { status: 200, replica: undefined },
): void {
  known.learn(answer, answer.length, get, means);
}

test('what was read before is known again, and only if every byte is the same', () => {
  const known = new KnownAnswers();
  assert.equal(known.find(bytes('one'), get), undefined);
  learnWhole(known, bytes('one'), { status: 200, replica: 3 });
  const found = known.find(bytes('one'), get);
  assert.deepEqual([found?.status, found?.replica], [200, 3]);
  for (const other of ['onf', 'on', 'ones', '']) assert.equal(known.find(bytes(other), get), undefined, other);
});

test('of an answer that was foretold by its head the body may differ, but not its length', () => {
  const known = new KnownAnswers();
  const answer = (text: string): Uint8Array => bytes(`the head, longer than a word.${text}`);
  known.learn(answer('body'), answer('').length, get, { status: 200, replica: undefined });
  assert.equal(known.find(answer('BODY'), get)?.status, 200);
  for (const other of ['bod', 'bodys', '']) assert.equal(known.find(answer(other), get), undefined, other);
  assert.equal(known.find(bytes('The head, longer than a word.body'), get), undefined);
  assert.equal(known.find(bytes('the head, longer than a word,body'), get), undefined);
});

test('it makes no difference where in a buffer the bytes lie', () => {
  const known = new KnownAnswers();
  const text = 'some thirty bytes of an answer';
  learnWhole(known, bytes(text));
  for (let from = 0; from < 20; from++) {
    const lent = bytes(`${'.'.repeat(from)}${text}${'.'.repeat(from)}`).subarray(from, from + text.length);
    assert.equal(known.find(lent, get)?.status, 200, `from ${from}`);
    for (let at = 0; at < text.length; at++) {
      lent[at] = (lent[at] ?? 0) ^ 1;
      assert.equal(known.find(lent, get), undefined, `from ${from}, byte ${at}`);
      lent[at] = (lent[at] ?? 0) ^ 1;
    }
  }
});

test('the same bytes after another method are another answer', () => {
  const known = new KnownAnswers();
  learnWhole(known, bytes('one'));
  assert.equal(known.find(bytes('one'), head), undefined);
});

test('the bytes are kept, not the buffer that lent them', () => {
  const known = new KnownAnswers();
  for (const lent of [bytes('one'), Buffer.from('two')]) {
    const copy = new Uint8Array(lent);
    learnWhole(known, lent);
    lent.fill(0);
    assert.equal(known.find(copy, get)?.status, 200);
    assert.equal(known.find(lent, get), undefined);
  }
});

test('a handful are kept, the oldest gives way', () => {
  const known = new KnownAnswers();
  for (let count = 1; count <= 9; count++)
    learnWhole(known, bytes(`answer ${count}`), { status: 200 + count, replica: undefined });
  assert.equal(known.find(bytes('answer 1'), get), undefined);
  assert.equal(known.find(bytes('answer 2'), get)?.status, 202);
  assert.equal(known.find(bytes('answer 9'), get)?.status, 209);
});

test('where nothing is ever alike it gives up, and where one in five is it does not', () => {
  const seldom = new KnownAnswers();
  const never = new KnownAnswers();
  for (const known of [seldom, never]) learnWhole(known, bytes('same'));
  for (let count = 0; count < 10_000; count++) {
    never.find(bytes(`${count}`), get);
    seldom.find(bytes(count % 5 === 0 ? 'same' : `${count}`), get);
  }
  assert.equal(never.find(bytes('same'), get), undefined);
  assert.equal(seldom.find(bytes('same'), get)?.status, 200);
});
