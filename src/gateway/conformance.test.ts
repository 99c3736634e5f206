// What every server of HTTP/1.1 is asked in conformance tests: does it wait for a request that comes in pieces, does it answer what
// is right, does it refuse what is wrong. 33 checks and more; the classes are those of public suites, the bytes are ours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { echo, get, httpEndpoint, stand, Talk } from './stand/stand.ts';

const whole = 'GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n';

test('a request that is cut anywhere is waited for in silence, and answered when the rest comes', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  const cuts = Array.from({ length: whole.length - 1 }, (_, index) => index + 1);
  const talks = await Promise.all(cuts.map(() => Talk.with(gateway.port)));
  cuts.forEach((cut, index) => talks[index]?.say(whole.slice(0, cut)));
  // Requests of others go through meanwhile; the pieces before them have been read by then.
  for (let count = 0; count < 3; count++) assert.equal((await get(gateway.port)).status, 200);
  for (const [index, cut] of cuts.entries()) {
    const talk = talks[index] ?? assert.fail();
    assert.equal(talk.heard, '', `nothing is said after ${JSON.stringify(whole.slice(0, cut))}`);
    assert.ok(!talk.ended);
    talk.say(whole.slice(cut));
    assert.match(await talk.until(/\}$/), /^HTTP\/1\.1 200 OK\r\n[^]*"url":"\/hello"/);
    talk[Symbol.dispose]();
  }
});

const checks: readonly (readonly [name: string, request: string, status: RegExp])[] = [
  ['a request', 'GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n', /^200$/],
  [
    'field names in any case, tabs before values, empty values',
    'GET / HTTP/1.1\r\nhOsT:\tshop.example\r\nvoid:\r\n\r\n',
    /^200$/,
  ],
  ['a value of one space', 'GET / HTTP/1.1\r\nHost: shop.example\r\nX-Void: \r\n\r\n', /^200$/],
  ['Expect without a body', 'GET / HTTP/1.1\r\nHost: shop.example\r\nExpect: 100-continue\r\n\r\n', /^(?:100|200)$/],
  ['a body of five bytes', 'POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 5\r\n\r\nbytes', /^200$/],
  [
    'a chunked body',
    'POST / HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n',
    /^200$/,
  ],
  ['HEAD', 'HEAD / HTTP/1.1\r\nHost: shop.example\r\n\r\n', /^200$/],
  ['OPTIONS with an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: shop.example\r\n\r\n', /^200$/],
  ['an absolute target', 'GET http://shop.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n', /^200$/],
  ['HTTP/1.0 without Host', 'GET / HTTP/1.0\r\n\r\n', /^200$/],
  ['a method that nobody knows', 'BREW /pot HTTP/1.1\r\nHost: shop.example\r\n\r\n', /^(?:200|400|501)$/],
  ['empty lines before it', '\r\n\r\nGET / HTTP/1.1\r\nHost: shop.example\r\n\r\n', /^200$/],
  ['no version', 'GET / \r\n\r\n', /^[45]\d\d$/],
  ['another version', 'GET / HTTP/9.9\r\nHost: shop.example\r\n\r\n', /^[45]\d\d$/],
  ['words before the method', 'What now GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n', /^[45]\d\d$/],
  ['brackets in a field name', 'GET / HTTP/1.1\r\nHost: shop.example\r\nX-Odd[]: 1\r\n\r\n', /^4\d\d$/],
  ['no Host', 'GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n', /^4\d\d$/],
  ['two Hosts', 'GET / HTTP/1.1\r\nHost: shop.example\r\nHost: other.example\r\n\r\n', /^4\d\d$/],
  [
    'a length that overflows below',
    `GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -${'9'.repeat(27)}\r\n\r\n`,
    /^4\d\d$/,
  ],
  ['a length that overflows', `GET / HTTP/1.1\r\nHost: x\r\nContent-Length: ${'9'.repeat(27)}\r\n\r\n`, /^4\d\d$/],
  ['a negative length', 'GET / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: -77\r\n\r\n', /^4\d\d$/],
  ['a length of letters', 'GET / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: five\r\n\r\n', /^4\d\d$/],
  ['a control character in a value', 'GET / HTTP/1.1\r\nHost: shop.example\r\nX-Bell: ding\x07\r\n\r\n', /^4\d\d$/],
  ['a line end that is none', 'GET / HTTP/1.1\r\nHost: shop.example\r\n\rX-More: 1\r\n\r\n', /^4\d\d$/],
  [
    'two ways to end',
    'GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n',
    /^4\d\d$/,
  ],
  ['a line without a colon', 'GET / HTTP/1.1\r\nHost: shop.example\r\nwhat\r\n\r\n', /^4\d\d$/],
  ['a target beyond 8 KiB', `GET /${'x'.repeat(9000)} HTTP/1.1\r\nHost: shop.example\r\n\r\n`, /^414$/],
  ['a head beyond 32 KiB', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(33_000)}\r\n\r\n`, /^431$/],
];

test('what is right is answered, what is wrong is refused with a status of its kind, and the connection ends', async (context) => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  for (const [name, request, status] of checks) {
    await context.test(name, async () => {
      using talk = await Talk.with(gateway.port);
      talk.say(request);
      await talk.until(/^HTTP\/1\.1 \d\d\d [^]*\r\n\r\n/);
      assert.match(/^HTTP\/1\.1 (\d\d\d)/.exec(talk.heard)?.[1] ?? talk.heard, status);
      if (talk.heard.includes('x-plimsoll-flags')) {
        await talk.toTheEnd();
        assert.match(talk.heard, /\r\nconnection: close\r\n/);
      }
    });
  }
});
