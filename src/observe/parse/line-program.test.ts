import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { samples } from '../testing/samples.ts';
import { accessLines } from './access-line.ts';
import { lineBytes } from './byte-words.ts';
import { envoyAccess } from './envoy-access.ts';
import { LineFeeder } from '../line-feeder.ts';
import type { LineFormat, LineReader } from './format.ts';
import { haproxyLog } from './haproxy-dossier.ts';
import { nginxAccess } from './nginx-dossier.ts';
import { InstantReader } from './line-numbers.ts';
import { noHints, Sink } from './sink.ts';

/** Reads lines with or without the fast way; what was found, and how many lines went the fast way. */
function read(format: LineFormat, head: string, lines: readonly string[], way: 'fast' | 'slow') {
  const sink = new Sink('file', noHints());
  const reader = format.open(sink, head);
  let fast = 0;
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const isPrintable = /^[ -~]*$/.test(line);
    if (way === 'fast' && isPrintable && reader.take?.(lineBytes(line), 0, line.length) === true) fast += 1;
    else reader.line(line, index + 1);
  }
  reader.end?.();
  return { facts: sink.finish(format.name), fast };
}

/** Reads the bytes of a file in pieces of this size, with or without the fast way: everything that is known afterwards. */
function readFile(format: LineFormat, head: string, file: Buffer, size: number, way: 'fast' | 'slow') {
  const sink = new Sink('file', noHints());
  const reader = format.open(sink, head);
  const slow: LineReader = { line: (text, number) => reader.line(text, number), end: () => reader.end?.() };
  const feeder = new LineFeeder(way === 'fast' ? reader : slow, sink, undefined);
  for (let at = 0; at < file.length; at += size) feeder.feed(file.subarray(at, at + size));
  feeder.end();
  return sink.finish(format.name);
}

/** Logs whose numbers and words are drawn at random, by their format. */
const octet = fc.integer({ min: 1, max: 250 });
const status = fc.constantFrom('200', '404', '503', '504');
const path = fc.constantFrom('/', '/cart', '/v1/items/7', '/a?b=c', '/a/b?x=1&y=2');
const milliseconds = fc.integer({ min: 0, max: 20_000 });
const second = fc.integer({ min: 10, max: 59 });
const seconds = milliseconds.map((ms) => (ms / 1000).toFixed(3));

const logs: readonly (readonly [LineFormat, fc.Arbitrary<string>])[] = [
  [
    haproxyLog,
    fc
      .tuple(
        second,
        octet,
        fc.integer({ min: -1, max: 900 }),
        milliseconds,
        status,
        path,
        fc.constantFrom('app1', 'app2', '<NOSRV>'),
        fc.constantFrom('----', 'sH--', 'CD--'),
        fc.integer({ min: 0, max: 3 }),
        fc.constantFrom('', '{a|b} ', '{x "y"} {z} '),
      )
      .map(
        ([s, o, wait, ms, code, asked, server, flag, retries, captured]) =>
          `Apr 02 07:00:${s} edge haproxy[77]: 192.0.2.${o}:51000 [02/Apr/2026:07:00:${s}.120] web shop/${server} 0/${wait}/1/${wait}/${ms} ${code} 512 - - ${flag} 9/9/4/2/${retries} 0/0 ${captured}"GET ${asked} HTTP/1.1"`,
      ),
  ],
  [
    envoyAccess,
    fc
      .tuple(
        second,
        octet,
        milliseconds,
        status,
        path,
        fc.constantFrom('-', 'UT', 'UF,URX'),
        fc.constantFrom('-', '7', '40'),
        fc.boolean(),
      )
      .map(([s, o, ms, code, asked, flag, service, istio]) => {
        const details = istio ? 'via_upstream - "-" ' : '';
        const after = istio ? ' outbound|80||shop 10.3.0.1:4 10.9.0.1:80 192.0.2.9:51 - default' : '';
        return `[2026-04-02T07:00:${s}.120Z] "POST ${asked} HTTP/2" ${code} ${flag} ${details}0 900 ${ms} ${service} "192.0.2.${o}" "agent (x)" "6f9a" "shop.example" "10.3.0.${o}:80"${after}`;
      }),
  ],
  [
    nginxAccess,
    fc
      .tuple(
        second,
        octet,
        seconds,
        status,
        path,
        fc.constantFrom('"10.2.0.1:80"', '"10.2.0.1:80, 10.2.0.2:80"', '"api"', '"-"'),
      )
      .map(
        ([s, o, took, code, asked, via]) =>
          `192.0.2.${o} - - [02/Apr/2026:07:00:${s} +0100] "GET ${asked} HTTP/1.1" ${code} 512 rt=${took} ua=${via} us="${code}" ut="${took}"`,
      ),
  ],
  [
    nginxAccess,
    fc
      .tuple(
        second,
        octet,
        seconds,
        status,
        path,
        fc.constantFrom('10.8.0.11:80 512', '10.8.0.11:80, 10.8.0.12:80 0, 512', '- -'),
      )
      .map(
        ([s, o, took, code, asked, via]) =>
          `10.9.0.${o} - - [02/Apr/2026:07:00:${s} +0000] "GET ${asked} HTTP/2.0" ${code} 512 "-" "agent/1.0" 120 ${took} [default-shop-80] [] ${via} ${took} ${code} 5eb5`,
      ),
  ],
  [
    accessLines,
    fc
      .tuple(second, octet, seconds, status, path, fc.constantFrom('10.5.0.11:80', '-'))
      .map(
        ([s, o, took, code, asked, via]) =>
          `2026-04-02T07:00:${s}.${o + 100}Z host=inner "GET ${asked} HTTP/1.1" ${code} rt=${took} up=${via} ut=${took} us=${code}`,
      ),
  ],
  [
    accessLines,
    fc
      .tuple(second, octet, seconds, status, path)
      .map(
        ([s, o, took, code, asked]) =>
          `2026-04-02T07:00:${s}.120Z 10.0.5.${o} "GET ${asked}" ${code} ${took} worker=${o}`,
      ),
  ],
  [
    accessLines,
    fc
      .tuple(second, seconds, status, path)
      .map(
        ([s, took, code, asked]) => `2026-04-02T07:00:${s}.120Z GET ${asked} ${code} request_time=${took} pod=edge-0`,
      ),
  ],
];

test('the fast way finds what the slow way finds, and takes nearly every line of a plain log', () => {
  for (const [index, [format, line]] of logs.entries()) {
    fc.assert(
      fc.property(fc.array(line, { minLength: 20, maxLength: 60 }), (lines) => {
        const head = `${lines.slice(0, 10).join('\n')}\n`;
        const fast = read(format, head, lines, 'fast');
        assert.deepEqual(fast.facts, read(format, head, lines, 'slow').facts);
        assert.ok(fast.fast > lines.length * 0.6, `log ${index} (${format.name}): ${fast.fast} of ${lines.length}`);
      }),
      { numRuns: 15 },
    );
  }
});

/** What happens to lines: cut, spliced, doubled, with something in them that does not belong there. */
const stray = fc.constantFrom(
  ...'| |  |"|-|:|,|, | : |/|[|]|{a} |\\|9|0|.|-1|+|999999999999|é|\u2028|?|#|=|a=b|unix:|\t|\r|\0|<NOSRV>|GET /| HTTP/1.1|gone|10.0.0.1:80'.split(
    '|',
  ),
);
const damage = fc.record({ at: fc.nat(), length: fc.nat({ max: 12 }), insert: stray });

function damaged(line: string, { at, length, insert }: { at: number; length: number; insert: string }): string {
  const from = at % (line.length + 1);
  return line.slice(0, from) + insert + line.slice(from + length);
}

test('whatever a file holds, the fast way finds in it exactly what the slow way finds', () => {
  for (const [format, line] of logs) {
    const rubbish = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
    const hurt = fc
      .tuple(line, fc.array(damage, { minLength: 1, maxLength: 3 }))
      .map(([text, all]) => all.reduce(damaged, text));
    const spliced = fc.tuple(line, line, fc.nat()).map(([one, other, at]) => one.slice(0, at % one.length) + other);
    const long = line.map((text) => text + 'x'.repeat(70_000));
    const lines = fc.array(
      fc.oneof(
        { weight: 80, arbitrary: line },
        { weight: 240, arbitrary: hurt },
        { weight: 40, arbitrary: spliced },
        { weight: 20, arbitrary: rubbish },
        { weight: 1, arbitrary: long },
      ),
      { minLength: 10, maxLength: 60 },
    );
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 10, maxLength: 10 }),
        lines,
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 20, max: 5000 }),
        fc.nat({ max: 30 }),
        (first, rest, end, size, cut) => {
          const head = `${first.join('\n')}\n`;
          const whole = Buffer.from([...first, ...rest].join(end));
          const file = whole.subarray(0, whole.length - cut);
          assert.deepEqual(readFile(format, head, file, size, 'fast'), readFile(format, head, file, size, 'slow'));
        },
      ),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 25) },
    );
  }
});

test('a program that reads the head otherwise than the slow way is not used', () => {
  const text = samples['Envoy access log'] ?? '';
  const lines = text.trimEnd().split('\n');
  assert.equal(read(envoyAccess, text, lines, 'fast').fast, 3);
  // With a quote in the agent the places shift, and the slow way knows better.
  const odd = text.replaceAll('agent/1.0', String.raw`agent \"x\" \" \"`);
  assert.deepEqual(
    read(envoyAccess, odd, odd.trimEnd().split('\n'), 'fast').facts,
    read(envoyAccess, odd, odd.trimEnd().split('\n'), 'slow').facts,
  );
});

test('points in time from bytes, and none from what is none', () => {
  const reader = new InstantReader();
  const iso = (text: string): number => reader.iso(lineBytes(text), 0, text.length);
  const common = (text: string): number => reader.common(lineBytes(text), 0, text.length);
  const epoch = (text: string): number => reader.epoch(lineBytes(text), 0, text.length);
  const noon = Date.UTC(2026, 2, 4, 12);
  assert.equal(iso('2026-03-04T12:00:15.250Z'), noon + 15_250);
  assert.equal(reader.stepMs, 1);
  assert.equal(iso('2026-03-04 13:00:15+01:00'), noon + 15_000);
  assert.equal(reader.stepMs, 1000);
  assert.equal(common('04/Mar/2026:12:00:15.250'), noon + 15_250);
  assert.equal(common('04/Mar/2026:11:00:15 -0100'), noon + 15_000);
  assert.equal(epoch(`${noon / 1000 + 15}.250`), noon + 15_250);
  assert.equal(epoch(String(noon + 15_250)), noon + 15_250);
  for (const text of ['2026-03-04T12:00', '2026-13-04T12:00:15Z', '2026-03-04T12:00:15x', '2026-03-04T25:00:15Z', '']) {
    assert.ok(Number.isNaN(iso(text)), text);
  }
  assert.ok(Number.isNaN(common('04/Foo/2026:12:00:15')));
  assert.ok(Number.isNaN(epoch('12345')));
});
