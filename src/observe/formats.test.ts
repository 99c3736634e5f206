import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readDossier } from './dossier.ts';
import { formats } from './formats.ts';
import type { Format } from './parse/format.ts';
import { noHints, Sink } from './parse/sink.ts';
import { samples } from './testing/samples.ts';

/** Reads a text as this format, whatever it is. */
function readAs(format: Format, text: string): ReturnType<Sink['finish']> {
  const sink = new Sink('file', noHints());
  if (format.kind === 'whole') format.read(text, sink);
  else {
    const reader = format.open(sink, text);
    for (const [index, line] of text.split('\n').entries()) if (line !== '') reader.line(line, index + 1);
    reader.end?.();
  }
  return sink.finish(format.name);
}

test('every format has an example, and is recognised by it whatever the file is called', () => {
  assert.deepEqual(Object.keys(samples).toSorted(), formats.map((format) => format.name).toSorted());
  for (const [name, text] of Object.entries(samples)) {
    for (const called of ['file', 'access.log', 'x.json', 'stats.csv', 'conf.yaml']) {
      const { dossier } = readDossier([{ name: called, text }]);
      assert.equal(dossier.sources[0]?.format, name, `${name} as ${called}`);
    }
  }
});

test('every example is understood to the last line', () => {
  for (const [name, text] of Object.entries(samples)) {
    const { dossier, problems } = readDossier([{ name: 'file', text }]);
    const [source] = dossier.sources;
    assert.deepEqual(source?.foreign, [], name);
    assert.equal(source?.understood, source?.lines, name);
    assert.deepEqual(problems, [], name);
  }
});

test('carriage returns, a byte order mark and a missing last line end change no fact', () => {
  for (const [name, text] of Object.entries(samples)) {
    const plain = readDossier([{ name: 'file', text }]);
    const other = readDossier([{ name: 'file', text: `\uFEFF${text.replaceAll('\n', '\r\n').replace(/\r\n$/, '')}` }]);
    assert.deepEqual(other, plain, name);
  }
});

test('lines of something else between the lines of a log are counted, and the rest is read as before', () => {
  for (const format of formats) {
    const text = samples[format.name];
    if (format.kind !== 'lines' || text === undefined) continue;
    const lines = text.trimEnd().split('\n');
    const mixed = lines
      .flatMap((line, index) => (index === 0 ? [line] : ['%% something else entirely %%', line]))
      .join('\n');
    const plain = readDossier([{ name: 'file', text }]).dossier;
    const { dossier } = readDossier([{ name: 'file', text: mixed }]);
    assert.equal(dossier.sources[0]?.format, format.name);
    assert.equal(dossier.sources[0]?.understood, lines.length, format.name);
    assert.equal(dossier.sources[0]?.lines, 2 * lines.length - 1, format.name);
    assert.deepEqual(dossier.requests, plain.requests, format.name);
    assert.equal(dossier.events.length, plain.events.length, format.name);
  }
});

test('a text that is cut off anywhere throws nothing and gives no more than the whole', () => {
  for (const format of formats) {
    const text = samples[format.name] ?? '';
    const whole = readAs(format, text);
    for (let end = 0; end < text.length; end += 1 + Math.floor(text.length / 500)) {
      const cut = text.slice(0, end);
      format.recognise(cut, 'file', noHints());
      const part = readAs(format, cut);
      assert.ok(part.requests.length <= whole.requests.length, format.name);
    }
  }
});

test('no reader throws for anything, and no recogniser is surer than sure', () => {
  const words = Object.values(samples).flatMap((text) => text.split(/(?<=[\s:{},"|=])/));
  const soup = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...words) },
      { weight: 1, arbitrary: fc.string({ maxLength: 12, unit: 'binary' }) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('\n', '\n\n', '"', '{', '}', '[', ']', '%', '-', '\u0000', '::', '/-1/'),
      },
    ),
    { maxLength: 60 },
  );
  const damaged = fc
    .tuple(fc.constantFrom(...Object.values(samples)), fc.nat(), fc.nat({ max: 40 }), fc.string({ maxLength: 8 }))
    .map(([text, at, length, insert]) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + insert + text.slice(from + length);
    });
  const check = (text: string): void => {
    for (const format of formats) {
      const confidence = format.recognise(text, 'file', noHints());
      assert.ok(confidence >= 0 && confidence <= 1, `${format.name}: ${confidence}`);
      readAs(format, text);
    }
  };
  fc.assert(
    fc.property(
      soup.map((parts) => parts.join('')),
      check,
    ),
    { numRuns: 150 },
  );
  fc.assert(fc.property(damaged, check), { numRuns: 150 });
});

test('bytes that are no text are said to be none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 200, maxLength: 2000 }), (bytes) => {
      const text = `\u0000${Buffer.from(bytes).toString('utf8')}`;
      const { dossier, problems } = readDossier([{ name: 'file', text }]);
      assert.deepEqual(dossier.sources, []);
      assert.match(problems[0] ?? '', /no text/);
    }),
    { numRuns: 50 },
  );
});
