// Users that remember: a login gives a token, a cart an id, and steps wait for other users.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Instant, instantAt, ms, ns } from '../base.ts';
import { type ClosedDemand, constant, type Step } from '../scenario.ts';
import { ImaginedEngine } from './testing/imagined-engine.ts';
import { startLoad } from './run.ts';

const step = (path: string, change: Partial<Step> = {}): Step => ({
  method: 'GET',
  path,
  headers: {},
  body: undefined,
  ...change,
});
const at = (milliseconds: number): Instant => instantAt(ms(milliseconds));

/** Lets users walk before a server that answers at once, until `until` ms; returns every request head and body in order. */
async function walk(
  demand: Partial<ClosedDemand> & { readonly flow: readonly Step[] },
  answer: (request: string) => string,
  until: number,
) {
  const asked: { at: number; text: string }[] = [];
  const engine = new ImaginedEngine({
    onConnect: (socket) => {
      socket.open();
      socket.onWritten = () => {
        const text = socket.received();
        asked.push({ at: Number(engine.now()) / 1e6, text });
        socket.answer(answer(text));
      };
    },
  });
  const run = startLoad(
    {
      seed: 1,
      groups: [
        {
          group: 'shop',
          demand: { kind: 'closed', clients: 'shop', users: 1, think: constant(ms(10)), ...demand },
          targets: [{ id: 'gateway', host: '10.0.0.1', port: 80 }],
          choice: 'round-robin',
          timeout: ms(1000),
        },
      ],
    },
    engine,
    { cpu: () => ns(0) },
  );
  engine.advance(at(until));
  const { errors } = run.snapshot().groups[0] ?? assert.fail();
  const stopped = run.stop(ns(0));
  engine.advance(at(until + 5));
  const result = await stopped;
  return { asked, errors, ledger: result.ledgers[0] };
}

const ok = (body: string, ...fields: readonly string[]): string =>
  ['HTTP/1.1 200 OK', `Content-Length: ${body.length}`, ...fields, '', body].join('\r\n');
const lines = (asked: readonly { text: string }[]): string[] => asked.map(({ text }) => text.split(' HTTP')[0] ?? '');

test('a variable found in one answer goes into the next requests: path, header and body', async () => {
  const { asked, errors } = await walk(
    {
      flow: [
        step('/login', {
          method: 'POST',
          body: 'user=${user}&try=${iteration}',
          extract: [
            { variable: 'token', from: 'json', path: 'session.token' },
            { variable: 'trace', from: 'header', header: 'X-Trace' },
          ],
        }),
        step('/cart/${token}', { headers: { Authorization: 'Bearer ${token}', 'X-Trace': '${trace}' } }),
      ],
    },
    (request) => (request.startsWith('POST') ? ok('{"session":{"token":"t 1"}}', 'x-trace: abc') : ok('cart')),
    15,
  );
  assert.deepEqual(errors, {});
  assert.match(asked[0]?.text ?? '', /^POST \/login [^]*Content-Length: 12\r\n\r\nuser=1&try=1$/);
  assert.match(asked[1]?.text ?? '', /^GET \/cart\/t%201 HTTP[^]*Authorization: Bearer t 1\r\nX-Trace: abc\r\n/);
});

test('a body that comes in pieces is read as one', async () => {
  const { asked } = await walk(
    { flow: [step('/', { extract: [{ variable: 'id', from: 'text', after: '[', before: ']' }] }), step('/${id}')] },
    (request) =>
      request.startsWith('GET / ')
        ? 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n..[\r\n4\r\nab]c\r\n0\r\n\r\n'
        : ok(''),
    15,
  );
  assert.deepEqual(lines(asked), ['GET /', 'GET /ab']);
});

test('a step that names what nobody gave is counted, and the user begins anew after a rest', async () => {
  const { asked, errors, ledger } = await walk(
    { flow: [step('/a', { extract: [{ variable: 'id', from: 'json', path: 'id' }] }), step('/b/${id}'), step('/c')] },
    () => ok('{}'),
    125,
  );
  // 0 /a · 10 no id · 110 /a · 120 no id
  assert.deepEqual(lines(asked), ['GET /a', 'GET /a']);
  assert.deepEqual(errors, { 'no-variable': 2 });
  assert.equal(ledger?.planned, 4);
  assert.equal(ledger?.failed, 2);
});

test('in a request that somebody already has nothing is a variable', async () => {
  const { asked, errors } = await walk(
    { flow: [step('/', { method: 'POST', body: '{"price": "${amount}"}', literal: true })] },
    () => ok(''),
    5,
  );
  assert.deepEqual(errors, {});
  assert.match(asked[0]?.text ?? '', /\{"price": "\$\{amount\}"\}$/);
});

test('what one round found is not known in the next', async () => {
  let rounds = 0;
  const { asked } = await walk(
    { flow: [step('/a', { extract: [{ variable: 'id', from: 'json', path: 'id' }] }), step('/b/${id}')] },
    (request) => ok(request.startsWith('GET /a') && ++rounds === 1 ? '{"id":1}' : '{}'),
    45,
  );
  assert.deepEqual(lines(asked), ['GET /a', 'GET /b/1', 'GET /a']);
});

test('cookies are kept by each user and sent back', async () => {
  const { asked } = await walk(
    { users: 2, cookies: true, flow: [step('/login?u=${user}'), step('/home')] },
    (request) => {
      const user = /u=(\d)/.exec(request)?.[1];
      return user === undefined ? ok('') : ok('', `Set-Cookie: session=s${user}; Path=/`);
    },
    18,
  );
  const homes = asked.filter(({ text }) => text.startsWith('GET /home'));
  assert.deepEqual(
    homes.map(({ text }) => /Cookie: (.*)\r/.exec(text)?.[1]),
    ['session=s1', 'session=s2'],
  );
});

test('a value from a server cannot break out of its header or its path', async () => {
  const { asked } = await walk(
    {
      flow: [
        step('/', { extract: [{ variable: 'x', from: 'json', path: 'x' }] }),
        step('/p/${x}', { headers: { 'X-Copy': '${x}' } }),
      ],
    },
    (request) => ok(request.startsWith('GET / ') ? '{"x":"a\\r\\nEvil: 1"}' : ''),
    15,
  );
  const text = asked[1]?.text ?? '';
  assert.equal(/^Evil/m.test(text), false);
  assert.match(text, /^GET \/p\/a%0D%0AEvil:%201 HTTP/);
  assert.match(text, /X-Copy: a {2}Evil: 1\r\n/);
});

test('each step may have a think time of its own', async () => {
  const { asked } = await walk({ flow: [step('/a', { think: constant(ms(3)) }), step('/b')] }, () => ok(''), 20);
  assert.deepEqual(
    asked.map((request) => request.at),
    [0, 3, 13, 16],
  );
});

test('pacing begins each round at least so long after the last', async () => {
  const { asked } = await walk({ pacing: ms(50), flow: [step('/a'), step('/b')] }, () => ok(''), 100);
  assert.deepEqual(
    asked.map((request) => request.at),
    [0, 10, 50, 60, 100],
  );
});

test('a round that takes longer than its pacing is followed by the next after the think time', async () => {
  const { asked } = await walk({ pacing: ms(5), flow: [step('/a'), step('/b')] }, () => ok(''), 30);
  assert.deepEqual(
    asked.map((request) => request.at),
    [0, 10, 20, 30],
  );
});

test('users gather at a rendezvous and go together, however long the first has waited', async () => {
  const rendezvous = { users: 3, timeout: ms(1000) };
  const { asked, ledger } = await walk(
    { users: 3, think: constant(ms(30)), flow: [step('/buy', { rendezvous })] },
    () => ok(''),
    25,
  );
  // They arrive at 0, 10 and 20 ms. The wait is theirs, not the server's: the request is due when they leave.
  assert.deepEqual(
    asked.map((request) => request.at),
    [20, 20, 20],
  );
  assert.equal(ledger?.planned, 3);
});

test('a rendezvous to which too few come lets those go who are there', async () => {
  const rendezvous = { users: 3, timeout: ms(15) };
  const { asked } = await walk(
    { users: 2, think: constant(ms(20)), flow: [step('/buy', { rendezvous })] },
    () => ok(''),
    17,
  );
  assert.deepEqual(
    asked.map((request) => request.at),
    [15, 15],
  );
});

test('those who gather anew wait their own time, not what was left of the last', async () => {
  const rendezvous = { users: 2, timeout: ms(30) };
  const { asked } = await walk(
    { users: 3, think: constant(ms(60)), flow: [step('/buy', { rendezvous })] },
    () => ok(''),
    75,
  );
  // They arrive at 0, 20 and 40 ms: two go at 20, and the third waits its 30 ms alone.
  assert.deepEqual(
    asked.map((request) => request.at),
    [20, 20, 70],
  );
});
