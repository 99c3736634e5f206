import { test } from 'node:test';
import assert from 'node:assert/strict';
import { code, scan } from './scan.ts';

/** The source as `kind:text` words. */
function told(source: string): string {
  return scan(source)
    .map((token) => `${token.kind}:${token.text}`)
    .join(' ');
}

test('words, numbers, marks and strings are told apart', () => {
  assert.equal(told(`const a1 = #b + 'it\\'s';`), "word:const word:a1 mark:= word:#b mark:+ text:it\\'s mark:;");
  assert.equal(told('1_000.5 => "x"'), 'number:1_000.5 mark:=> text:x');
});

test('a slash divides after a value and begins a pattern elsewhere', () => {
  assert.equal(told('a / b / c'), 'word:a mark:/ word:b mark:/ word:c');
  assert.equal(told('f(x) / 2'), 'word:f mark:( word:x mark:) mark:/ number:2');
  assert.equal(told('return /a"b/g'), 'word:return pattern:/a"b/g');
  assert.equal(told('x = /[/"]/u'), 'word:x mark:= pattern:/[/"]/u');
  assert.equal(told('x = /\\//'), 'word:x mark:= pattern:/\\//');
});

test('a template goes on after each substitution, braces inside it included', () => {
  assert.equal(told('`a${ {b: 1} }c`'), 'text:a mark:{ word:b mark:: number:1 mark:} text:c');
  assert.equal(told('`a${`b${c}`}d` e'), 'text:a text:b word:c text: text:d word:e');
});

test('comments are tokens of their own, and code is what is left', () => {
  assert.equal(told('a // b\n/* c\n */ d'), 'word:a comment:// b comment:/* c\n */ word:d');
  assert.deepEqual(
    code('a // b\n/* c\n */ d').map(({ text, line }) => `${text}${line}`),
    ['a1', 'd3'],
  );
});

test('lines are counted through comments, templates and blank lines', () => {
  const lines = code('#!/usr/bin/env node\n\n`one\ntwo` three\n\nfour').map(({ text, line }) => [text, line]);
  assert.deepEqual(lines, [
    ['one\ntwo', 3],
    ['three', 4],
    ['four', 6],
  ]);
});

test('what never ends, ends with the file', () => {
  assert.equal(told('/* a'), 'comment:/* a');
  assert.equal(told('`a'), 'text:a');
  assert.equal(told("'ab"), 'text:ab');
});
