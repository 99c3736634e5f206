import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier } from './dossier.ts';
import type { LineFormat, WholeFormat } from './parse/format.ts';

const lines: LineFormat = {
  kind: 'lines',
  name: 'numbers',
  recognise: (head) => (/^n \d+$/m.test(head) ? 0.9 : 0),
  open: (sink) => ({
    line(text, number) {
      const value = /^n (\d+)$/.exec(text)?.[1];
      if (value === undefined) return false;
      sink.sample('n', { scale: sink.hints.logFormats.get('scale') ?? 'none' }, Number(value), { line: number });
      return true;
    },
  }),
};

const configuration: WholeFormat = {
  kind: 'whole',
  name: 'scale',
  early: true,
  recognise: (head, name) => (head.startsWith('scale ') ? 0.9 : name.endsWith('.scale') ? 0.1 : 0),
  read(text, sink) {
    sink.hints.logFormats.set('scale', text.slice(6).trim());
    sink.understood();
  },
};

/** Reads these files with the two formats above. */
function reading(...files: readonly (readonly [string, string])[]) {
  return readDossier(
    files.map(([name, text]) => ({ name, text })),
    [lines, configuration],
  );
}

test('a file goes to the format that is surest of its content, and its lines are counted', () => {
  const { dossier, problems } = reading(['log', 'n 1\nn 2\nnonsense\n']);
  assert.deepEqual(problems, []);
  assert.deepEqual(dossier.sources, [
    { file: 'log', format: 'numbers', lines: 3, understood: 2, foreign: [{ line: 3, text: 'nonsense' }] },
  ]);
  assert.deepEqual(
    dossier.samples.map((sample) => [sample.value, sample.origin.line]),
    [
      [1, 1],
      [2, 2],
    ],
  );
});

test('a byte order mark, carriage returns and a missing last line end change nothing', () => {
  const plain = reading(['log', 'n 1\nn 2\n']);
  assert.deepEqual(reading(['log', '\uFEFFn 1\r\nn 2']), plain);
  assert.deepEqual(reading(['log', 'n 1\r\n\r\nn 2\r\n']).dossier.samples[1]?.origin.line, 3);
});

test('configurations are read before logs, in whichever order they are given', () => {
  const { dossier } = reading(['log', 'n 1'], ['conf', 'scale ms']);
  assert.equal(dossier.samples[0]?.labels['scale'], 'ms');
  assert.deepEqual(
    dossier.sources.map((source) => source.file),
    ['log', 'conf'],
  );
});

test('readings of one family are numbered', () => {
  const { dossier } = reading(['log-2', 'n 2'], ['log-1', 'n 1'], ['other', 'n 9']);
  assert.deepEqual(
    dossier.samples.map((sample) => [sample.value, sample.reading]),
    [
      [2, 1],
      [1, 0],
      [9, 0],
    ],
  );
});

test('what cannot be read is said: empty, no text, unknown', () => {
  const { dossier, problems } = reading(['a', ' \n'], ['b', '\u0000\u0001\u0002'], ['c', 'who\nknows'], ['d', 'n 1']);
  assert.equal(dossier.sources.length, 1);
  assert.match(problems[0] ?? '', /^a: the file is empty/);
  assert.match(problems[1] ?? '', /^b: this is no text/);
  assert.match(problems[2] ?? '', /^c: not a format that is known here.*\n {2}who$/);
});
