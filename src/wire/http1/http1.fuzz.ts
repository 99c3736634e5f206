// Half-broken HTTP/1.1 in great quantities, to show that the readers
//   - never throw, hang, or read past what they were given;
//   - make the same of a stream wherever it is cut;
//   - never read a stream differently from llhttp, the parser inside Node: message by message both must see the same start
//     line, body and fate of the connection, as far as both go on. (Going on is where strictness differs: we refuse what
//     llhttp repairs. Where we go on and llhttp does not, the reason must be one of those explained at `weGoOnThough`.)
//
// Inputs are messages put together from a pool of sound and poisoned parts, then cut, spliced and bitten. All comes from
// the seed. `npm run fuzz:wire` runs it in great quantities (`many.fuzz.ts`).

import { type Dice, dice } from '../../base.ts';
import type { Head, RequestHead } from './events.ts';
import { llhttpRequests, llhttpResponses, type Story } from './testing/llhttp.ts';
import { requestReader } from './request-reader.ts';
import { responseReader } from './response-reader.ts';
import { cut, readRequests, readResponses } from './testing/transcript.ts';

export interface FuzzReport {
  readonly inputs: number;
  /** Streams read to their end without an error, by us. */
  readonly accepted: number;
  /** Messages that both parsers completed and saw alike. */
  readonly agreed: number;
  /** Messages that llhttp completed and we refused, by our reason. */
  readonly stricter: Readonly<Record<string, number>>;
  /** Messages that we completed and llhttp refused, by its reason. */
  readonly looser: Readonly<Record<string, number>>;
}

/** Runs so many inputs. Throws at the first that breaks a promise, with what is needed to run it again. */
export function fuzz(inputs: number, seed: number, options: FuzzOptions = {}): FuzzReport {
  const { progress, requests: read = ourRequests } = options;
  const random = dice(seed, 'http1 fuzz');
  const counts = { accepted: 0, agreed: 0, stricter: {}, looser: {} };
  for (let input = 0; input < inputs; input++) {
    const isRequest = random.next() < 0.5;
    const bytes = isRequest ? requestStream(random) : responseStream(random);
    const expected = isRequest ? [] : responseMethods(random);
    try {
      if (isRequest) checkRequests(bytes, read, random, counts);
      else checkResponses(bytes, expected, random, counts);
    } catch (cause) {
      const stream = JSON.stringify(Buffer.from(bytes).toString('latin1'));
      throw new Error(`seed ${seed}, input ${input}, expecting [${expected.join(', ')}]: ${stream}`, { cause });
    }
    if (input % progressEvery === progressEvery - 1) progress?.(progressEvery);
  }
  return { inputs, ...counts };
}

export interface FuzzOptions {
  /** Told now and then of so many more inputs done. */
  readonly progress?: (more: number) => void;
  /** Reads requests in our stead: for the test that the fuzzer sees a reader that is wrong. */
  readonly requests?: (bytes: Uint8Array) => Story;
}

const progressEvery = 10_000;

interface Counts {
  accepted: number;
  agreed: number;
  readonly stricter: Record<string, number>;
  readonly looser: Record<string, number>;
}

function checkRequests(bytes: Uint8Array, read: (bytes: Uint8Array) => Story, random: Dice, counts: Counts): void {
  const whole = readRequests([bytes]);
  const inPieces = readRequests(cut(bytes, places(bytes.length, random)));
  must(whole.transcript === inPieces.transcript, `cut: ${inPieces.transcript}\nwhole: ${whole.transcript}`);
  compare(read(bytes), llhttpRequests(bytes), Buffer.from(bytes).toString('latin1'), counts);
}

function checkResponses(bytes: Uint8Array, expected: readonly string[], random: Dice, counts: Counts): void {
  const whole = readResponses([bytes], expected);
  const inPieces = readResponses(cut(bytes, places(bytes.length, random)), expected);
  must(whole.transcript === inPieces.transcript, `cut: ${inPieces.transcript}\nwhole: ${whole.transcript}`);
  compare(
    ourResponses(bytes, expected),
    llhttpResponses(bytes, expected),
    Buffer.from(bytes).toString('latin1'),
    counts,
  );
}

function compare(ours: Story, theirs: Story, stream: string, counts: Counts): void {
  const both = Math.min(ours.messages.length, theirs.messages.length);
  for (let index = 0; index < both; index++) {
    const one = ours.messages[index];
    const other = theirs.messages[index];
    must(one === other, `two readings of message ${index}:\nours: ${one}\nllhttp: ${other}`);
  }
  counts.agreed += both;
  if (ours.refusal === undefined) counts.accepted++;
  if (theirs.messages.length > both) count(counts.stricter, ours.refusal ?? 'nothing');
  if (ours.messages.length > both) {
    const reason = theirs.refusal ?? 'nothing';
    const message = ours.messages[both] ?? '';
    const explained = weGoOnThough[reason]?.(scene(message, stream, theirs.stopped)) ?? false;
    must(explained, `we read message ${both}, which llhttp refuses (${reason}): ${message}`);
    count(counts.looser, reason);
  }
}

/** What llhttp refuses and we do not, each with the circumstances in which that cannot make two readings. */
const weGoOnThough: Readonly<Record<string, (scene: Scene) => boolean>> = {
  // A method that llhttp does not know: we take any token, as RFC 9110 section 9.1 asks.
  HPE_INVALID_METHOD: ({ message }) => !/^(GET|HEAD|POST|PUT|DELETE|OPTIONS) /.test(message),
  // HTTP/1.2 and the like: read as 1.1, RFC 9110 section 2.5.
  HPE_INVALID_VERSION: ({ line }) => /HTTP\/1\.[2-9]\b/.test(line),
  // After `Connection: close` llhttp reads no further. We leave that to whoever owns the connection, who must answer first.
  HPE_CLOSED_CONNECTION: () => true,
  // Equal lengths, repeated or in a list, stand for one: RFC 9112 section 6.3.
  HPE_UNEXPECTED_CONTENT_LENGTH: (at) => lengthsAgree(at.head) || hasNoBody(at),
  HPE_INVALID_CONTENT_LENGTH: (at) => lengthsAgree(at.head) || hasNoBody(at) || inTrailers(at),
  HPE_INVALID_TRANSFER_ENCODING: (at) => hasNoBody(at) || inTrailers(at),
  // An interim response with a coding: llhttp waits for chunks, except after 100.
  HPE_INVALID_EOF_STATE: hasNoBody,
  HPE_INVALID_CHUNK_SIZE: ({ message }) => message.endsWith(' interim'),
  HPE_STRICT: ({ message }) => message.endsWith(' interim'),
  HPE_CR_EXPECTED: ({ message }) => message.endsWith(' interim'),
  HPE_LF_EXPECTED: ({ message }) => message.endsWith(' interim'),
  // White space before the colon, which RFC 9112 section 5.1 has recipients of responses take away.
  HPE_INVALID_HEADER_TOKEN: ({ line, message }) => isAnswer(message) && /^[!-~]+[ \t]+:/.test(line),
  // An error behind a request for another protocol is kept quiet by Node, which thinks that it is not HTTP any more.
  nothing: ({ message }) => message.includes(' other "'),
};

interface Scene {
  /** Our message that llhttp refuses. */
  readonly message: string;
  /** The line and the head in which llhttp stopped. */
  readonly line: string;
  readonly head: string;
}

function scene(message: string, stream: string, at: number): Scene {
  const headFrom = stream.lastIndexOf('\r\n\r\n', at - 1) + 1;
  const headTo = stream.indexOf('\r\n\r\n', at);
  const lineTo = stream.indexOf('\n', at);
  return {
    message,
    line: stream.slice(stream.lastIndexOf('\n', at - 1) + 1, lineTo < 0 ? undefined : lineTo),
    head: stream.slice(headFrom, headTo < 0 ? undefined : headTo + 4),
  };
}

function lengthsAgree(head: string): boolean {
  const values = [...head.matchAll(/^content-length[ \t]*:([^\r]*)\r/gim)].flatMap((field) =>
    (field[1] ?? '').split(','),
  );
  return values.length > 1 && new Set(values.map((value) => Number(value.trim()))).size === 1;
}

/** Where there is no body whatever the fields say, their contradictions decide nothing. */
function hasNoBody({ message }: Scene): boolean {
  return /^(1..|204|304) /.test(message) || / 1\.. ""$/.test(message);
}

/** What must not stand in trailers is dropped, and was never part of the decision where the message ends. */
const inTrailers = ({ head }: Scene): boolean => !/^\s*(\S+ \S+ HTTP\/1\.|HTTP\/1\.)/.test(head);

const isAnswer = (message: string): boolean => /^\d{3} /.test(message);

export function ourRequests(bytes: Uint8Array): Story {
  const messages: string[] = [];
  let line = '';
  let body = '';
  const reader = requestReader({
    onHead: (head) => {
      line = `${head.method} ${head.target} 1.${head.minorVersion}${persistence(head)}`;
      if (mayTurnOther(head)) line += ' other';
      body = '';
    },
    onBody: (chunk, from, to) => {
      body += Buffer.from(chunk.subarray(from, to)).toString('latin1');
    },
    onEnd: () => {
      messages.push(`${line} ${JSON.stringify(body)}`);
      // llhttp reads no further: what follows may be of another protocol.
      if (line.endsWith('other')) reader.pause();
    },
  });
  reader.read(bytes);
  return { messages, refusal: (reader.error ?? reader.eof())?.kind, stopped: 0 };
}

function ourResponses(bytes: Uint8Array, expected: readonly string[]): Story {
  const messages: string[] = [];
  let line = '';
  let body = '';
  let answered = 0;
  const reader = responseReader({
    onInformation: (head) => messages.push(`${head.status} ${head.reason} interim`),
    onHead: (head) => {
      line = `${head.status} ${head.reason} 1.${head.minorVersion}`;
      // llhttp takes every answer to HEAD without a length for one that ends with the connection.
      if (expected[answered++] !== 'HEAD') line += persistence(head);
      body = '';
    },
    onBody: (chunk, from, to) => {
      body += Buffer.from(chunk.subarray(from, to)).toString('latin1');
    },
    onEnd: () => messages.push(`${line} ${JSON.stringify(body)}`),
  });
  for (const method of expected) reader.expect(method);
  reader.read(bytes);
  return { messages, refusal: (reader.error ?? reader.eof())?.kind, stopped: 0 };
}

/** llhttp stops after such a request, also for HTTP/1.0, where RFC 9110 section 7.8 has Upgrade ignored. */
function mayTurnOther(head: RequestHead): boolean {
  if (head.method === 'CONNECT') return true;
  const connection = (head.header('connection') ?? '').toLowerCase().split(/[ \t]*,[ \t]*/);
  return (head.header('upgrade') ?? '') !== '' && connection.includes('upgrade');
}

/** Not compared for HTTP/1.0: with `close, keep-alive` llhttp keeps the connection, RFC 9112 section 9.3 closes it. */
function persistence(head: Head): string {
  if (head.minorVersion === 0) return '';
  return head.keepAlive ? ' keep' : ' close';
}

// The inputs.

function requestStream(random: Dice): Uint8Array {
  let text = '';
  const messages = 1 + random.below(3);
  for (let message = 0; message < messages; message++) {
    const fields = sometimes(random, 0.9) ? ['Host: x'] : [];
    text += `${pick(random, requestLines)}\r\n${fieldLines(random, fields)}${content(random)}`;
  }
  return bitten(text, random);
}

function responseStream(random: Dice): Uint8Array {
  let text = '';
  const messages = 1 + random.below(3);
  for (let message = 0; message < messages; message++) {
    text += `${pick(random, statusLines)}\r\n${fieldLines(random, [])}${content(random)}`;
  }
  return bitten(text, random);
}

function responseMethods(random: Dice): string[] {
  return Array.from({ length: 1 + random.below(3) }, () => pick(random, ['GET', 'GET', 'GET', 'HEAD']));
}

function fieldLines(random: Dice, fields: string[]): string {
  const more = random.below(4);
  for (let field = 0; field < more; field++)
    fields.push(pick(random, sometimes(random, 0.7) ? soundFields : oddFields));
  if (fields.length === 0) return '\r\n';
  return `${fields.join('\r\n')}\r\n\r\n`;
}

function content(random: Dice): string {
  if (sometimes(random, 0.4)) return '';
  return pick(random, bodies);
}

/** Most inputs stay sound, or nearly: a stream that is nonsense from the first byte tests only the first byte. */
function bitten(text: string, random: Dice): Uint8Array {
  let result = text;
  for (let bites = sometimes(random, 0.5) ? 0 : 1 + random.below(3); bites > 0; bites--) {
    const at = random.below(result.length + 1);
    const length = 1 + random.below(4);
    const kind = random.below(5);
    if (kind === 0) result = result.slice(0, at) + pick(random, poison) + result.slice(at);
    else if (kind === 1) result = result.slice(0, at) + pick(random, poison) + result.slice(at + 1);
    else if (kind === 2) result = result.slice(0, at) + result.slice(at + length);
    else if (kind === 3) result = result.slice(0, at) + result.slice(at, at + 12) + result.slice(at);
    else result = result.slice(0, at) + String.fromCharCode(random.below(256)) + result.slice(at + 1);
  }
  return Buffer.from(result, 'latin1');
}

function places(length: number, random: Dice): number[] {
  // Every byte alone now and then: that is where the machines of single bytes show.
  if (sometimes(random, 0.05)) return Array.from({ length }, (_, index) => index);
  return Array.from({ length: 1 + random.below(4) }, () => random.below(length + 1));
}

const requestLines = [
  'GET / HTTP/1.1',
  'GET /a?b=c HTTP/1.1',
  'POST /a HTTP/1.1',
  'POST /a HTTP/1.1',
  'PUT /a HTTP/1.0',
  'HEAD / HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET http://h:80/a HTTP/1.1',
  'DELETE /a HTTP/1.1',
  'PURGE /a HTTP/1.1',
  'BREW /a HTTP/1.1',
  'GET / HTTP/1.2',
  'GET /',
  'CONNECT h:443 HTTP/1.1',
];

const statusLines = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.1 404 Not Found',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 100 Continue',
  'HTTP/1.1 103 Early Hints',
  'HTTP/1.1 200',
  'HTTP/1.1 500 ',
];

const soundFields = [
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: 11',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked',
  'Connection: close',
  'Connection: keep-alive',
  'X-Plimsoll-Replica: api-1',
  'Accept: */*',
  'X:',
  'Expect: 100-continue',
  'Cookie: a=b; c=d',
];

const oddFields = [
  'Content-Length: 5, 5',
  'Content-Length: 5, 6',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Content-Length: 5 ',
  'Content-Length:',
  'Content-Length: 18446744073709551621',
  'content-length : 5',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: ,chunked',
  'Transfer-Encoding: chunked,',
  'Transfer-Encoding: identity',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\tChunked ',
  'Transfer-Encoding: chunked\x0b',
  'Transfer-Encoding:\r\n chunked',
  'Host: y',
  'Host: a b',
  ' X: folded',
  'X: a\rb',
  'X: a\nContent-Length: 5',
  'X: a\x00b',
  ': nameless',
  'nothing',
  'Connection: upgrade\r\nUpgrade: h2c',
  'Connection: close, keep-alive',
  'Connection: host',
];

const bodies = [
  'hello',
  'hello',
  'hello world',
  '5\r\nhello\r\n0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\n\r\n',
  '5;a="b;c"\r\nhello\r\n00\r\nX: y\r\n\r\n',
  '0\r\n\r\n',
  '0\r\nContent-Length: 5\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '5\nhello\n0\n\n',
  '5\r\nhelloXX0\r\n\r\n',
  '5\r\nhello\r\n\r\n0\r\n\r\n',
  '-5\r\nhello\r\n0\r\n\r\n',
  'ffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  '10000000000000005\r\nhello\r\n0\r\n\r\n',
];

const poison = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '\x0b',
  '\xa0',
  '\x85',
  '\x7f',
  '+',
  '-',
  '_',
  '0',
  'x',
  '"',
];

function pick<Item>(random: Dice, items: readonly Item[]): Item {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('something to pick from');
  return item;
}

const sometimes = (random: Dice, share: number): boolean => random.next() < share;

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function must(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}
