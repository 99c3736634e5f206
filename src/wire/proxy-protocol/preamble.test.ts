// The PROXY protocol against its specification: what it says of one connection, byte by byte, and everything that is not quite it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressBytes, addressText } from './ip-text.ts';
import { type ConnectionEnds, encodePreamble, type Preamble, readPreamble } from './preamble.ts';

const text = (line: string): Uint8Array => Buffer.from(line, 'latin1');
const hex = (bytes: string): Uint8Array => Buffer.from(bytes.replaceAll(' ', ''), 'hex');
const signature = '0d0a0d0a 000d0a51 5549540a';

function ends(source: string, destination: string): ConnectionEnds {
  const end = (at: string) => {
    const [, address = '', port] = /^(.*) (\d+)$/.exec(at) ?? [];
    return { address, port: Number(port) };
  };
  return { source: end(source), destination: end(destination) };
}

test('the lines of version 1', () => {
  const good: readonly [string, ConnectionEnds | undefined][] = [
    ['PROXY TCP4 255.255.255.255 0.0.0.0 65535 0', ends('255.255.255.255 65535', '0.0.0.0 0')],
    ['PROXY TCP4 192.0.2.1 198.51.100.7 56324 443', ends('192.0.2.1 56324', '198.51.100.7 443')],
    ['PROXY TCP6 2001:DB8::1 ::1 1 2', ends('2001:db8::1 1', '::1 2')],
    ['PROXY UNKNOWN', undefined],
    ['PROXY UNKNOWN ffff:f...f:ffff whatever 65535 65535', undefined],
  ];
  for (const [line, expected] of good) {
    const read = readPreamble(text(`${line}\r\nGET / HTTP/1.1`));
    assert.deepEqual(read, { kind: 'complete', length: line.length + 2, version: 1, ends: expected }, line);
  }
});

test('a line that is not quite one is refused', () => {
  const lines = [
    'PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\n',
    'PROXY TCP4 192.0.2.1 198.51.100.7 56324\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.7 56324 443 \r\n',
    'PROXY TCP4  192.0.2.1 198.51.100.7 56324 443\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.7 65536 443\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.7 056 443\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.7 -1 443\r\n',
    'PROXY TCP4 192.0.2.01 198.51.100.7 1 443\r\n',
    'PROXY TCP4 192.0.2.256 198.51.100.7 1 443\r\n',
    'PROXY TCP4 ::1 ::2 1 443\r\n',
    'PROXY TCP6 192.0.2.1 198.51.100.7 1 443\r\n',
    'PROXY TCP6 1::2::3 ::1 1 443\r\n',
    'PROXY UDP4 192.0.2.1 198.51.100.7 1 443\r\n',
    'PROXY UNKNOWNS\r\n',
    'PROXY\r\n',
    'proxy TCP4 192.0.2.1 198.51.100.7 1 443\r\n',
    'GET / HTTP/1.1\r\n',
    `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`,
    `PROXY UNKNOWN ${'x'.repeat(93)}`,
  ];
  for (const line of lines) assert.equal(readPreamble(text(line)).kind, 'bad', JSON.stringify(line));
});

test('the longest line there may be is 107 bytes', () => {
  const line = `PROXY UNKNOWN ${'x'.repeat(91)}\r\n`;
  assert.equal(line.length, 107);
  assert.equal(readPreamble(text(line)).kind, 'complete');
});

test('version 2, byte by byte', () => {
  const good: readonly [string, number, ConnectionEnds | undefined][] = [
    [`${signature} 21 11 000c c0000201 c6336407 dc04 01bb`, 28, ends('192.0.2.1 56324', '198.51.100.7 443')],
    [
      `${signature} 21 21 0024 20010db8 00000000 00000000 00000001 00000000 00000000 00000000 00000001 0001 0002`,
      52,
      ends('2001:db8::1 1', '::1 2'),
    ],
    // Our peer's own connection, with and without addresses.
    [`${signature} 20 00 0000`, 16, undefined],
    [`${signature} 20 11 000c c0000201 c6336407 dc04 01bb`, 28, undefined],
    // UDP, sockets of the file system, and what has no family: a connection all the same.
    [`${signature} 21 12 000c c0000201 c6336407 dc04 01bb`, 28, undefined],
    [`${signature} 21 31 00d8 ${'00'.repeat(216)}`, 232, undefined],
    [`${signature} 21 00 0000`, 16, undefined],
    // A TLV that is not of interest.
    [
      `${signature} 21 11 0011 c0000201 c6336407 dc04 01bb 01 0002 6832`,
      33,
      ends('192.0.2.1 56324', '198.51.100.7 443'),
    ],
  ];
  for (const [bytes, length, expected] of good) {
    const read = readPreamble(hex(`${bytes} 474554`));
    assert.deepEqual(read, { kind: 'complete', length, version: 2, ends: expected }, bytes);
  }
});

test('version 2 that is not quite it is refused', () => {
  const addresses = 'c0000201 c6336407 dc04 01bb';
  const bad = [
    `${signature} 31 11 000c ${addresses}`,
    `${signature} 22 11 000c ${addresses}`,
    `${signature} 21 41 000c ${addresses}`,
    `${signature} 21 13 000c ${addresses}`,
    `${signature} 21 11 000b c0000201 c6336407 dc04 01`,
    `${signature} 21 11 0801 ${addresses}`,
    `${signature} 21 11 000e ${addresses} 0100`,
    `${signature} 21 11 0010 ${addresses} 01000568`,
    `${signature} 21 11 0013 ${addresses} 03 0004 00000000`,
    '0d0a0d0a 000d0a51 5549540b 2111000c',
  ];
  for (const bytes of bad) assert.equal(readPreamble(hex(bytes)).kind, 'bad', bytes);
});

test('a checksum is checked where there is one', () => {
  // CRC-32c of the preamble with zeros in its place; computed by hand with the table of RFC 3720, appendix B.4's polynomial.
  const with0 = hex(`${signature} 21 11 0013 c0000201 c6336407 dc04 01bb 03 0004 00000000`);
  let crc = 0xffffffff;
  for (const byte of with0) {
    for (let bit = 0; bit < 8; bit++) {
      const low = (crc ^ (byte >> bit)) & 1;
      crc = (crc >>> 1) ^ (low === 1 ? 0x82f63b78 : 0);
    }
  }
  const right = Buffer.from(with0);
  right.writeUInt32BE(~crc >>> 0, right.length - 4);
  assert.equal(readPreamble(right).kind, 'complete');
  right.writeUInt32BE((~crc ^ 1) >>> 0, right.length - 4);
  assert.equal(readPreamble(right).kind, 'bad');
});

test('every beginning of a preamble is incomplete, never wrong', () => {
  const whole = [
    text('PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n'),
    hex(`${signature} 21 11 000c c0000201 c6336407 dc04 01bb`),
  ];
  for (const bytes of whole) {
    for (let length = 0; length < bytes.length; length++) {
      assert.equal(readPreamble(bytes.subarray(0, length)).kind, 'incomplete', String(length));
    }
  }
});

const plain = { noNullPrototype: true };
const end = (address: fc.Arbitrary<string>) => fc.record({ address, port: fc.integer({ min: 0, max: 65_535 }) }, plain);
const canonical = (address: fc.Arbitrary<string>) =>
  address.map((found) => addressText(addressBytes(found) ?? new Uint8Array(4)));

test('what was written is read again, in both versions and families', () => {
  const pair = (address: fc.Arbitrary<string>) => fc.record({ source: end(address), destination: end(address) }, plain);
  // An address of IPv4 within IPv6 is not one of IPv4: kept apart.
  const six = canonical(fc.ipV6()).filter((address) => address.includes(':'));
  fc.assert(
    fc.property(fc.oneof(pair(fc.ipV4()), pair(six)), fc.constantFrom('v1', 'v2'), (given, version) => {
      const bytes = encodePreamble(version, given);
      assert.deepEqual(readPreamble(bytes), {
        kind: 'complete',
        length: bytes.length,
        version: version === 'v1' ? 1 : 2,
        ends: given,
      } satisfies Preamble);
    }),
  );
});

test('ends of two families go into the wider one; ends that are not known are said to be', () => {
  const mixed = ends('192.0.2.1 1', '2001:db8::1 2');
  const line = Buffer.from(encodePreamble('v1', mixed)).toString();
  assert.equal(line, 'PROXY TCP6 ::ffff:192.0.2.1 2001:db8::1 1 2\r\n');
  for (const version of ['v1', 'v2'] as const) {
    const read = readPreamble(encodePreamble(version, undefined));
    assert.ok(read.kind === 'complete' && read.ends === undefined);
  }
});

test('any bytes at all are a preamble, its beginning, or refused, and never more is taken than there is', () => {
  const piece = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string().map(text));
  fc.assert(
    fc.property(fc.constantFrom(text(''), text('PROXY '), hex(signature)), piece, (before, rest) => {
      const bytes = Buffer.concat([before, rest]);
      const read = readPreamble(bytes);
      if (read.kind === 'complete') assert.ok(read.length <= bytes.length);
    }),
  );
});

test('addresses are read as they are written, and nothing else is', () => {
  const good = {
    '::': '::',
    '1::': '1::',
    '::1:0:0:2': '::1:0:0:2',
    '1:0:0:2:0:0:0:3': '1:0:0:2::3',
    '::FFFF:1.2.3.4': '::ffff:1.2.3.4',
  };
  for (const [written, canon] of Object.entries(good)) {
    assert.equal(addressText(addressBytes(written) ?? new Uint8Array(4)), canon);
  }
  for (const wrong of [
    '',
    ':',
    ':::',
    '1:2',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '::g',
    '::12345',
    '::1.2.3',
    '1.2.3.4.5',
    '::1%eth0',
    ' ::1',
  ]) {
    assert.equal(addressBytes(wrong), undefined, wrong);
  }
});
