// What heads and readers offer besides the order of events.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestHead, ResponseHead, WireError } from './events.ts';
import { FieldNames, notForwarded } from './field-names.ts';
import { requestReader } from './request-reader.ts';
import { responseReader } from './response-reader.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** Reads one request and asks its head. */
function ask<Answer>(request: string, question: (head: RequestHead) => Answer, watch: readonly string[] = []): Answer {
  const answers: Answer[] = [];
  const reader = requestReader(
    { onHead: (head) => answers.push(question(head)), onBody: () => {}, onEnd: () => {} },
    {},
    watch,
  );
  reader.read(bytes(request));
  assert.equal(reader.error, undefined);
  const [answer] = answers;
  assert.ok(answer !== undefined, 'the request was read');
  return answer;
}

test('fields are found in any case, joined when repeated, and kept in order', () => {
  const request = 'GET / HTTP/1.1\r\nHOST: x\r\nAccept: a\r\naccept:  b \r\nX-Empty:\r\n\r\n';
  ask(request, (head) => {
    assert.equal(head.header('host'), 'x');
    assert.equal(head.header('accept'), 'a, b');
    assert.equal(head.header('x-empty'), '');
    assert.equal(head.header('x-missing'), undefined);
    assert.deepEqual([head.has('accept'), head.has('x-empty'), head.has('x-missing')], [true, true, false]);
    const fields: string[] = [];
    head.each((name, value) => fields.push(`${name}=${value}`));
    assert.deepEqual(fields, ['HOST=x', 'Accept=a', 'accept=b', 'X-Empty=']);
    return true;
  });
});

test('more fields than a block begins with are kept too', () => {
  const lines = Array.from({ length: 90 }, (_, index) => `X-${index}: ${index}\r\n`).join('');
  const sum = ask(`GET / HTTP/1.1\r\nHost: x\r\n${lines}\r\n`, (head) => {
    let total = 0;
    for (let index = 0; index < 90; index++) total += Number(head.header(`x-${index}`));
    return total;
  });
  assert.equal(sum, (89 * 90) / 2);
});

test('an absolute target says which host is meant, whatever Host says', () => {
  const about = (line: string): string =>
    ask(`${line} HTTP/1.1\r\nHost: other\r\n\r\n`, (head) => {
      const into = new Uint8Array(100);
      const copied = Buffer.from(into.subarray(0, head.copyPath(into, 0))).toString();
      assert.equal(copied, head.path);
      assert.equal(head.copyPath(into, 101 - copied.length), -1, 'it does not fit by one');
      return `${head.authority} ${head.path}`;
    });
  assert.equal(about('GET /a?b'), 'other /a?b');
  assert.equal(about('GET http://h:8080/a?b'), 'h:8080 /a?b');
  assert.equal(about('GET http://h'), 'h /');
  assert.equal(about('GET http://h?b'), 'h /?b');
  assert.equal(about('OPTIONS http://h'), 'h *');
  assert.equal(about('OPTIONS *'), 'other *');
  assert.equal(about('CONNECT h:443'), 'h:443 h:443');
});

test('a watched value is the same string each time', () => {
  const seen: (string | undefined)[] = [];
  const reader = responseReader(
    { onHead: (head) => seen.push(head.watched(0), head.watched(1)), onBody: () => {}, onEnd: () => {} },
    {},
    ['x-replica', 'x-other'],
  );
  for (const replica of ['api-1', 'api-2', 'api-1']) {
    reader.expect('GET');
    reader.read(bytes(`HTTP/1.1 200 OK\r\nX-Replica: ${replica}\r\nContent-Length: 0\r\n\r\n`));
  }
  assert.deepEqual(seen, ['api-1', undefined, 'api-2', undefined, 'api-1', undefined]);
});

test('two watched values that fall on one place in the table are told apart', () => {
  const seen: (string | undefined)[] = [];
  const reader = responseReader(
    { onHead: (head) => seen.push(head.watched(0)), onBody: () => {}, onEnd: () => {} },
    {},
    ['x-replica'],
  );
  // `Aa` and `BB` have one hash.
  for (const replica of ['Aa', 'BB', 'Ca', 'Aa', 'BB', 'Ca']) {
    reader.expect('GET');
    reader.read(bytes(`HTTP/1.1 200 OK\r\nX-Replica: ${replica}\r\nContent-Length: 0\r\n\r\n`));
  }
  assert.deepEqual(seen, ['Aa', 'BB', 'Ca', 'Aa', 'BB', 'Ca']);
});

test('trailers are an event only when there are some', () => {
  let events = 0;
  const reader = responseReader({ onHead: () => {}, onBody: () => {}, onTrailers: () => events++, onEnd: () => {} });
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  reader.expect('GET');
  reader.expect('GET');
  reader.read(bytes(`${head}0\r\n\r\n`));
  assert.equal(events, 0);
  reader.read(bytes(`${head}0\r\nX: y\r\n\r\n`));
  assert.equal(events, 1);
});

test('a thousand different watched values are all told right', () => {
  let latest: string | undefined;
  const reader = responseReader(
    { onHead: (head) => (latest = head.watched(0)), onBody: () => {}, onEnd: () => {} },
    {},
    ['x-replica'],
  );
  for (let index = 0; index < 1000; index++) {
    reader.expect('GET');
    reader.read(bytes(`HTTP/1.1 200 OK\r\nX-Replica: pod-${index % 700}\r\nContent-Length: 0\r\n\r\n`));
    assert.equal(latest, `pod-${index % 700}`);
  }
});

test('copying fields leaves out what is for this hop only, what Connection names, and what the caller names', () => {
  const request =
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, x-mine\r\nKeep-Alive: 5\r\nX-Mine: 1\r\n' +
    'TE: trailers\r\nTransfer-Encoding: chunked\r\nUpgrade: h2c\r\nTrailer: y\r\naccept: a\r\nX-Mined:  2\r\n\r\n0\r\n\r\n';
  const copy = ask(request, (head) => {
    const into = new Uint8Array(100);
    const to = head.copyFields(into, 3, notForwarded(['host']));
    assert.equal(head.copyFields(new Uint8Array(20), 0, notForwarded(['host'])), -1);
    return Buffer.from(into.subarray(3, to)).toString();
  });
  assert.equal(copy, 'accept: a\r\nX-Mined: 2\r\n');
});

test('field names are a set in any case', () => {
  const names = new FieldNames(['host', 'te']);
  const has = (name: string): boolean => names.has(bytes(name), 0, name.length);
  assert.deepEqual(['host', 'HoSt', 'te', 'hosts', 'hos', ''].map(has), [true, true, true, false, false, false]);
});

test('a paused reader leaves the rest and goes on with it later', () => {
  const events: string[] = [];
  const reader = requestReader({
    onHead: (head) => events.push(head.target),
    onBody: (chunk, from, to) => {
      events.push(Buffer.from(chunk.subarray(from, to)).toString());
    },
    onEnd: () => {
      events.push('end');
      reader.pause();
    },
  });
  const stream = bytes('POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nabGET /b HTTP/1.1\r\nHost: x\r\n\r\n');
  const consumed = reader.read(stream);
  assert.equal(Buffer.from(stream.subarray(consumed)).toString().split(' ')[1], '/b');
  assert.equal(reader.read(stream.subarray(consumed)), 0);
  assert.deepEqual(events, ['/a', 'ab', 'end']);
  reader.resume();
  assert.equal(reader.read(stream.subarray(consumed)), stream.length - consumed);
  assert.deepEqual(events, ['/a', 'ab', 'end', '/b', 'end']);
});

test('a pause in the head of a message without a body still ends it', () => {
  const events: string[] = [];
  const reader = requestReader({
    onHead: () => {
      events.push('head');
      reader.pause();
    },
    onBody: () => {},
    onEnd: () => events.push('end'),
  });
  const first = bytes('GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.equal(reader.read(Buffer.concat([first, first])), first.length);
  assert.deepEqual(events, ['head', 'end']);
});

test('after CONNECT the bytes are nobody’s until the answer is known; a refusal makes them HTTP again', () => {
  const targets: string[] = [];
  const reader = requestReader({ onHead: (head) => targets.push(head.target), onBody: () => {}, onEnd: () => {} });
  const connect = bytes('CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n');
  const next = bytes('GET /b HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.equal(reader.read(Buffer.concat([connect, next])), connect.length);
  assert.equal(reader.read(next), 0);
  reader.resume();
  assert.equal(reader.read(next), next.length);
  assert.deepEqual(targets, ['h:443', '/b']);
});

test('a reader is idle between messages and only there', () => {
  const reader = responseReader({ onHead: () => {}, onBody: () => {}, onEnd: () => {} });
  const idle = (text: string): boolean => {
    reader.read(bytes(text));
    return reader.idle;
  };
  reader.expect('GET');
  assert.equal(reader.idle, true);
  assert.equal(idle('HTTP/1.1 100 Continue\r\n\r\n'), false);
  assert.equal(idle('HTTP'), false);
  assert.equal(idle('/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'), false);
  assert.equal(idle('a'), false);
  assert.equal(idle('b'), true);
  assert.equal(reader.eof(), undefined);
});

test('a reader in error stays there until it is reset, and is then as new', () => {
  const statuses: number[] = [];
  const reader = responseReader({ onHead: (head) => statuses.push(head.status), onBody: () => {}, onEnd: () => {} });
  const good = bytes('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const kind = (error: WireError | undefined): string | undefined => error?.kind;
  reader.expect('GET');
  reader.expect('GET');
  reader.read(bytes('HTTP/1.1 200 OK\r\nContent-Length: zero\r\n\r\n'));
  assert.equal(kind(reader.error), 'bad-length');
  assert.equal(reader.read(good), 0);
  assert.equal(kind(reader.eof()), 'bad-length');
  reader.reset();
  assert.equal(reader.error, undefined);
  reader.read(good);
  assert.equal(kind(reader.error), 'unsolicited', 'what was expected before the reset is not expected any more');
  reader.reset();
  reader.expect('GET');
  assert.equal(reader.read(good), good.length);
  assert.deepEqual(statuses, [200]);
});

test('the head of a response tells its reason and whether its connection lives on', () => {
  const heads: string[] = [];
  const tell = (head: ResponseHead): void => void heads.push(`${head.status} ${head.reason} ${head.keepAlive}`);
  const reader = responseReader({ onHead: tell, onBody: () => {}, onEnd: () => {} });
  reader.expect('GET');
  reader.expect('GET');
  reader.read(
    bytes('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\nHTTP/1.0 200 Fine\r\nContent-Length: 0\r\n\r\n'),
  );
  assert.deepEqual(heads, ['404 Not Found true', '200 Fine false']);
});
