import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { samples } from '../testing/samples.ts';
import { accessLines } from './access-line.ts';
import { envoyAccess } from './envoy-access.ts';
import type { LineFormat } from './format.ts';
import { haproxyLog } from './haproxy-dossier.ts';
import { nginxAccess } from './nginx-dossier.ts';
import { InstantReader, numberIn, outOfForm } from './line-numbers.ts';
import { bytesOf } from './line-program.ts';
import { noHints, Sink } from './sink.ts';

/** Reads lines with or without the fast way; what was found, and how many lines went the fast way. */
function read(format: LineFormat, head: string, lines: readonly string[], way: 'fast' | 'slow') {
  const sink = new Sink('file', noHints());
  const reader = format.open(sink, head);
  let fast = 0;
  for (const [index, line] of lines.entries()) {
    const bytes = Buffer.from(line);
    if (line === '') continue;
    if (way === 'fast' && reader.take?.(bytes, 0, bytes.length) === true) fast += 1;
    else reader.line(line, index + 1);
  }
  reader.end?.();
  return { facts: rounded(sink.finish(format.name)), fast };
}

/** A part of a microsecond is lost or not by the order of two additions. */
function rounded(facts: ReturnType<Sink['finish']>) {
  const requests = facts.requests.map((table) => ({
    ...table,
    startMs: Array.from(table.startMs, (ms) => Math.round(ms * 1e3) / 1e3),
  }));
  return { requests, messages: facts.messages, events: facts.events };
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

test('of a damaged line the fast way may understand more than the slow way, and never something else', () => {
  for (const [format, line] of logs) {
    const damaged = fc
      .tuple(
        line,
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.constantFrom('', ' ', '"', '-', ':', ',', '/', '[', '\\', '9', '999999999999', 'é', '?', '#', '.'),
      )
      .map(([text, at, length, insert]) => {
        const from = at % text.length;
        return text.slice(0, from) + insert + text.slice(from + length);
      });
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 10, maxLength: 10 }),
        fc.array(damaged, { minLength: 1, maxLength: 20 }),
        (head, lines) => {
          const text = `${head.join('\n')}\n`;
          for (const one of lines) {
            const [slow] = read(format, text, [one], 'slow').facts.requests;
            const [fast] = read(format, text, [one], 'fast').facts.requests;
            for (const column of ['startMs', 'seconds', 'upstreamSeconds', 'status'] as const) {
              const number = slow?.[column][0];
              if (number === undefined || Number.isNaN(number) || number === -1) continue;
              assert.equal(fast?.[column][0], number, `${column}: ${one}`);
            }
          }
        },
      ),
      { numRuns: 60 },
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

test('numbers are as exact as the language reads them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), fc.integer({ min: 0, max: 6 }), (digits, places) => {
      const text = (digits / 10 ** places).toFixed(places);
      assert.equal(numberIn(bytesOf(text), 0, text.length), Number(text));
    }),
  );
  for (const text of ['', '-', '1.2.3', '1e5', ' 1', '0x1', '12345678901234']) {
    assert.equal(numberIn(bytesOf(text), 0, text.length), outOfForm, text);
  }
  assert.equal(numberIn(bytesOf('-1'), 0, 2), -1);
  assert.equal(numberIn(bytesOf('+44'), 0, 3), 44);
});

test('points in time from bytes, and none from what is none', () => {
  const reader = new InstantReader();
  const iso = (text: string): number => reader.iso(bytesOf(text), 0, text.length);
  const common = (text: string): number => reader.common(bytesOf(text), 0, text.length);
  const epoch = (text: string): number => reader.epoch(bytesOf(text), 0, text.length);
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
