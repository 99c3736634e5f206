import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier, readDossierStreams } from './dossier.ts';
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

test('a file in pieces gives what the whole gives, wherever it was cut', async () => {
  const text = '\uFEFFn 1\r\nn 22\r\n\r\nnonsense — and more\nn 333';
  const whole = reading(['log', text]);
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 3, 5, 7, 100]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    assert.deepEqual(
      await readDossierStreams([streamed('log', pieces)], [lines, configuration]),
      whole,
      `${size} bytes`,
    );
  }
});

test('configurations that come as streams are read before logs too', async () => {
  const { dossier } = await readDossierStreams(
    [streamed('log', [Buffer.from('n 1')]), streamed('conf', [Buffer.from('scale'), Buffer.from(' ms')])],
    [lines, configuration],
  );
  assert.equal(dossier.samples[0]?.labels['scale'], 'ms');
});

test('bytes and text are the same file', () => {
  const text = 'n 1\nn 2\n';
  assert.deepEqual(
    readDossier([{ name: 'log', bytes: Buffer.from(text) }], [lines, configuration]),
    readDossier([{ name: 'log', text }], [lines, configuration]),
  );
});

test('a line without end is dropped, and what comes after it is read', async () => {
  const long = Buffer.alloc(1 << 19, 120);
  const pieces = [Buffer.from('n 1\n'), long, long, long, long, Buffer.from('\nn 2\n')];
  const { dossier } = await readDossierStreams([streamed('log', pieces)], [lines, configuration]);
  assert.deepEqual(
    dossier.samples.map((sample) => [sample.value, sample.origin.line]),
    [
      [1, 1],
      [2, 3],
    ],
  );
  assert.equal(dossier.sources[0]?.lines, 3);
  assert.equal(dossier.sources[0]?.foreign[0]?.text.length, 160);
});

test('what a container’s runtime puts around lines is taken off', () => {
  const wrapped = {
    node: (line: string) => `2026-04-02T07:00:00.000000001Z stdout F ${line}`,
    docker: (line: string) => JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: '2026-04-02T07:00:00Z' }),
    kubectl: (line: string) => `[pod/web-1/app] ${line}`,
    compose: (line: string) => `web-1  | ${line}`,
  };
  for (const [name, wrap] of Object.entries(wrapped)) {
    const { dossier } = reading(['log', `${['n 1', 'n 2', 'n 3'].map(wrap).join('\n')}\n`]);
    assert.deepEqual(
      dossier.samples.map((sample) => sample.value),
      [1, 2, 3],
      name,
    );
  }
});

/** A file that comes in these pieces. */
function streamed(name: string, pieces: readonly Uint8Array[]) {
  return {
    name,
    pieces: (async function* () {
      for (const piece of pieces) {
        await Promise.resolve();
        yield piece;
      }
    })(),
  };
}
