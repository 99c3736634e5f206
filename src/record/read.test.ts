import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RecordLine } from './lines.ts';
import { lineLengthMax, readRecord, RecordReader, type ReadResult } from './read.ts';
import { histogramOfLine, measuredTicks, recordOf } from './run-record.ts';
import { encodeLine, RecordWriter } from './write.ts';

const sample = readFileSync(new URL('fixtures/sample.record.jsonl', import.meta.url), 'utf8');
const sampleLines = sample.trimEnd().split('\n');
const [header = '', , topology = ''] = sampleLines;

const recordFrom = (result: ReadResult) => ('record' in result ? result : assert.fail(result.problem.message));
const problemFrom = (text: string): string => {
  const result = readRecord(text);
  return 'problem' in result ? result.problem.message : assert.fail('the text was read');
};
const withLine = (line: string): string => `${header}\n${topology}\n${line}\n`;

test('the sample record opens with everything in its place', () => {
  const { record, notes } = recordFrom(readRecord(sample));
  assert.equal(record.header.scenario, 'convoy');
  assert.equal(record.topology.services[0]?.replicas.length, 2);
  assert.deepEqual(
    record.phases.map(({ line, untilNs, events, ticks, histograms, ledgers }) => ({
      name: line.name,
      untilNs,
      lines: [events.length, ticks.length, histograms.length, ledgers.length],
    })),
    [
      { name: 'baseline', untilNs: 4e9, lines: [0, 3, 3, 1] },
      { name: 'stop-replica', untilNs: 6.3e9, lines: [2, 2, 3, 1] },
    ],
  );
  assert.equal(record.journal.length, 1);
  assert.deepEqual(record.verdict?.verdict, { pattern: 'convoy', culprit: 'api-2', confidence: 0.98 });
  assert.equal(record.complete, true);
  assert.deepEqual(notes, { cut: undefined, skipped: new Map() });
});

test('ticks of the warm-up are kept and not judged', () => {
  const { record } = recordFrom(readRecord(sample));
  const [baseline] = record.phases;
  assert.ok(baseline !== undefined);
  assert.deepEqual(
    measuredTicks(baseline).map(({ at_ns }) => at_ns),
    [2e9, 3e9],
  );
});

test('a histogram line gives its histogram back', () => {
  const { record } = recordFrom(readRecord(sample));
  const line = record.phases[1]?.histograms[0] ?? assert.fail('there is a histogram');
  const histogram = histogramOfLine(line);
  assert.equal(histogram.count, line.count);
  assert.equal(histogram.unfinishedCount, 1);
  assert.deepEqual(histogram.quantile(1), { value: 1.8e9, atLeast: true });
});

test('reading and writing again gives the same text, byte for byte', () => {
  let written = '';
  const writer = new RecordWriter((text) => (written += text));
  const reader = new RecordReader();
  for (const line of [...reader.feed(sample), ...reader.end()]) writer.write(line);
  assert.equal(written, sample);
});

test('a record cut at any byte opens up to its last whole line', () => {
  const bytes = Buffer.from(sample);
  const ends = [...sample.matchAll(/\n/g)].map(({ index }) => index + 1);
  const topologyEnd = ends[2] ?? 0;
  for (let length = 0; length < bytes.length; length++) {
    const result = readRecord(bytes.subarray(0, length).toString('utf8'));
    // A line is whole without its newline, too: there is nothing more to come in it.
    const whole = ends.filter((end) => end - 1 <= length).length;
    if (length < topologyEnd - 1) {
      assert.ok('problem' in result, `${length} bytes`);
      continue;
    }
    const { record, notes } = recordFrom(result);
    const counted = record.phases.flatMap(({ ticks, histograms, ledgers }) => [...ticks, ...histograms, ...ledgers]);
    const rest = [record.header, record.topology, record.verdict, record.end].filter((line) => line !== undefined);
    const lines = counted.length + rest.length + record.phases.length + record.events.length + record.journal.length;
    assert.equal(lines, whole, `${length} bytes`);
    assert.equal(record.complete, whole === sampleLines.length);
    const isAtEnd = ends.includes(length) || ends.includes(length + 1);
    assert.equal(notes.cut === undefined, isAtEnd, `${length} bytes`);
    if (notes.cut !== undefined) assert.equal(notes.cut.line, whole + 1);
  }
});

test('text that comes in pieces of any size reads as it does in one', () => {
  const whole = new RecordReader();
  const expected = [...whole.feed(sample), ...whole.end()];
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 700 })), (sizes) => {
      const reader = new RecordReader();
      const lines: RecordLine[] = [];
      let from = 0;
      for (const size of sizes) {
        lines.push(...reader.feed(sample.slice(from, from + size)));
        from += size;
      }
      lines.push(...reader.feed(sample.slice(from)), ...reader.end());
      assert.deepEqual(lines, expected);
    }),
    { numRuns: 50 },
  );
});

test('a byte order mark, CRLF and empty lines do not matter', () => {
  const travelled = `\uFEFF${sampleLines.join('\r\n\r\n')}\r\n`;
  assert.deepEqual(recordFrom(readRecord(travelled)).record, recordFrom(readRecord(sample)).record);
});

test('kinds that this version does not know are counted and skipped, and unknown fields let through', () => {
  const extended = [
    ...sampleLines.slice(0, 3),
    '{"kind":"weather","at_ns":1,"sky":"grey"}',
    '{"kind":"weather","at_ns":2}',
    '{"kind":"journal","at_ns":3,"text":"rain","mood":"low"}',
  ];
  const { record, notes } = recordFrom(readRecord(extended.join('\n')));
  assert.deepEqual(notes.skipped, new Map([['weather', 2]]));
  assert.equal(record.journal.length, 2);
});

test('what is no record, or a newer one, is refused with one sentence', () => {
  const version = header.replace('"version":1', '"version":2');
  assert.match(
    problemFrom(version),
    /^line 1: version 2 of the format, but this Plimsoll reads up to 1: use a newer one$/,
  );
  assert.match(problemFrom('hello'), /^line 1: not a Plimsoll record: found "hello", expected a header/);
  assert.match(problemFrom('{"format":"har"}'), /^line 1: not a Plimsoll record/);
  assert.match(problemFrom(''), /^line 1: the file is empty$/);
  assert.match(problemFrom('\n\n'), /^line 1: not a Plimsoll record: found nothing/);
  assert.match(problemFrom(header), /^line 1: the record ends before its topology line$/);
});

test('a damaged line is refused with its number, the place in it, what was found and what was expected', () => {
  const cases: readonly (readonly [line: string, message: RegExp])[] = [
    ['{"kind":"journal","at_ns":"soon","text":"x"}', /^line 3: at_ns: found "soon", expected a number, 0 or more$/],
    ['{"kind":"journal","at_ns":1e999,"text":"x"}', /^line 3: at_ns: found Infinity, expected a number, 0 or more$/],
    ['{"kind":"journal","at_ns":-1,"text":"x"}', /^line 3: at_ns: found -1, expected a number, 0 or more$/],
    ['{"kind":"event","at_ns":1}', /^line 3: event: found nothing, expected text$/],
    ['{"kind":"event","at_ns":1,"event":"x","target":null}', /^line 3: target: found null, expected text$/],
    ['{"at_ns":1}', /^line 3: kind: found nothing, expected one of "header", /],
    ['[1,2]', /^line 3: found "\[1,2\]", expected an object in JSON$/],
    ['{"kind":"journal"', /^line 3: found "\{\\"kind\\":\\"journal\\"", expected an object in JSON$/],
    [header, /^line 3: there is one header, on the first line$/],
    [topology, /^line 3: there is one topology line/],
    [sampleLines[4] ?? '', /^line 3: no phase called "baseline" has begun$/],
  ];
  for (const [line, message] of cases) assert.match(problemFrom(`${withLine(line)}${line}\n`), message);
  const tick = { kind: 'tick', at_ns: 1, span_ns: 1, phase: 'p', replicas: [{ id: 'api-1' }, { id: 5 }], clients: [] };
  assert.match(problemFrom(withLine(JSON.stringify(tick))), /^line 3: replicas\[1\]\.id: found 5, expected text$/);
  const phase = { kind: 'phase', at_ns: 1, name: 'p', measure_from_ns: 1, experiment: { kind: 'prayer', did: 'x' } };
  assert.match(
    problemFrom(withLine(JSON.stringify(phase))),
    /^line 3: experiment\.kind: found "prayer", expected one of/,
  );
});

test('numbers that contradict each other are refused', () => {
  const ledger = sampleLines.find((line) => line.includes('"kind":"ledger"')) ?? '';
  assert.match(
    problemFrom(sample.replace(ledger, ledger.replace('"answered":1368', '"answered":1367'))),
    /^line 11: planned is 1400, but the ledger accounts for 1399$/,
  );
  assert.match(
    problemFrom(sample.replace('"count":40,', '"count":41,')),
    /^line 8: count is 41, but the buckets add up to 40$/,
  );
});

test('nothing is read beyond the first problem, and nothing after the end', () => {
  const reader = new RecordReader();
  assert.equal(reader.feed(withLine('{"kind":"event"}')).length, 2);
  assert.equal(reader.feed(`${sampleLines[1]}\n`).length, 0);
  assert.equal(reader.end().length, 0);
  assert.equal(reader.problem?.line, 3);
  assert.match(problemFrom(`${sample}${sampleLines[1]}\n`), /^line 23: nothing comes after the end/);
});

test('a line without end is refused when it passes the bound, and not kept', () => {
  const reader = new RecordReader();
  reader.feed(`${header}\n`);
  const piece = 'x'.repeat(2 ** 20);
  for (let fed = 0; fed < lineLengthMax + 2 ** 20; fed += piece.length) reader.feed(piece);
  assert.match(reader.problem?.message ?? '', /^line 2: longer than 16777216 characters/);
});

test('whatever bytes come, reading ends in a record or in a problem with a line number', () => {
  const anyText = fc.oneof(
    fc.string(),
    fc.json().map((json) => withLine(json)),
    fc
      .array(fc.tuple(fc.nat(sample.length), fc.string({ maxLength: 4 })), { minLength: 1, maxLength: 5 })
      .map((edits) => edits.reduce((text, [at, put]) => text.slice(0, at) + put + text.slice(at + put.length), sample)),
    fc.array(fc.constantFrom(...sampleLines), { maxLength: 30 }).map((lines) => lines.join('\n')),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => header + Buffer.from(bytes).toString('latin1')),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      const result = readRecord(text);
      if ('problem' in result) assert.match(result.problem.message, /^line \d+: ./);
      else assert.equal(result.record.header.format, 'plimsoll-record');
    }),
    { numRuns: 1000 },
  );
});

test('a record without an end lasts until its last tick', () => {
  const text = sampleLines.slice(0, 15).join('\n');
  const { record } = recordFrom(readRecord(text));
  assert.equal(record.complete, false);
  assert.equal(record.phases.at(-1)?.untilNs, 6e9);
});

test('a writer refuses what no reader would take', () => {
  const reader = new RecordReader();
  const lines = reader.feed(sample);
  const [first, , second] = lines;
  assert.ok(first !== undefined && second !== undefined);
  const writer = new RecordWriter(() => {});
  assert.throws(() => writer.write(second), /a topology line: the first line is the header/);
  writer.write(first);
  assert.throws(
    () => writer.write({ kind: 'journal', at_ns: Number.NaN, text: 'x' }),
    /at_ns is NaN, expected a number/,
  );
  assert.throws(() => writer.write(first), /there is one header/);
  assert.throws(() => recordOf(lines.toReversed()), /the first line is the header/);
});

test('an encoded line is one line', () => {
  assert.equal(
    encodeLine({ kind: 'journal', at_ns: 5, text: 'two\nlines' }),
    '{"kind":"journal","at_ns":5,"text":"two\\nlines"}\n',
  );
});
