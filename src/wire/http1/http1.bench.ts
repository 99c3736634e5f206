// What a message costs to read: `node src/wire/http1/http1.bench.ts`. Prints nanoseconds and bytes of garbage for each, the
// best of several rounds (the machine's other work only ever adds). For scale: the kernel's share of one request on loopback
// is some 5,000 ns.

import { defaultLimits } from './events.ts';
import { notForwarded } from './field-names.ts';
import { requestReader } from './request-reader.ts';
import { responseReader } from './response-reader.ts';

const rounds = 12;
const messagesPerRound = 200_000;

const smallResponse: Buffer = Buffer.from(
  'HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 30 Nov 2026 05:58:00 GMT\r\nContent-Type: text/plain\r\n' +
    'Content-Length: 100\r\nConnection: keep-alive\r\nX-Plimsoll-Replica: api-2\r\n\r\n' +
    'x'.repeat(100),
);
const smallRequest = Buffer.from(
  'GET /api/items/17?full=1 HTTP/1.1\r\nHost: shop.example:8080\r\nUser-Agent: wrk\r\nAccept: */*\r\n\r\n',
);
const browserRequest = Buffer.from(
  'GET /api/items/17?full=1 HTTP/1.1\r\nHost: shop.example:8080\r\nConnection: keep-alive\r\n' +
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36\r\n' +
    'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n' +
    'Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-GB,en;q=0.9,de;q=0.8\r\n' +
    'Cookie: session=0123456789abcdef0123456789abcdef; theme=dark; consent=yes\r\nReferer: http://shop.example:8080/\r\n\r\n',
);
const chunkedResponse = Buffer.from(
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n${`40\r\n${'y'.repeat(64)}\r\n`.repeat(4)}0\r\n\r\n`,
);

let sum = 0;

/** Messages one after another, as from several servers, or each unlike all before. */
function response(...messages: readonly Uint8Array[]): () => void {
  const reader = responseReader(
    {
      onHead: (head) => {
        sum += head.status + (head.contentLength ?? 0) + (head.watched(0)?.length ?? 0);
      },
      onBody: (_bytes, from, to) => {
        sum += to - from;
      },
      onEnd: () => {},
    },
    defaultLimits,
    ['x-plimsoll-replica'],
  );
  let next = 0;
  return () => {
    const message = messages[next] ?? messages[0];
    next = next + 1 < messages.length ? next + 1 : 0;
    if (message === undefined) return;
    reader.expect('GET');
    reader.read(message);
  };
}

function request(message: Uint8Array, forward = false): () => void {
  const into = new Uint8Array(4096);
  const except = notForwarded(['host']);
  const reader = requestReader({
    onHead: (head) => {
      sum += head.method.length;
      if (forward) sum += head.copyFields(into, 0, except);
    },
    onBody: () => {},
    onEnd: () => {},
  });
  return () => void reader.read(message);
}

function measure(name: string, size: number, once: () => void): void {
  let best = Number.POSITIVE_INFINITY;
  let garbage = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const heap = process.memoryUsage().heapUsed;
    const begin = performance.now();
    for (let message = 0; message < messagesPerRound; message++) once();
    best = Math.min(best, ((performance.now() - begin) * 1e6) / messagesPerRound);
    const grown = (process.memoryUsage().heapUsed - heap) / messagesPerRound;
    if (grown >= 0) garbage = Math.min(garbage, grown);
  }
  const perByte = best / size;
  process.stdout.write(
    `${name.padEnd(34)} ${best.toFixed(0).padStart(6)} ns  ${perByte.toFixed(2)} ns/byte  ${garbage.toFixed(1)} bytes of garbage\n`,
  );
}

const alike = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, index) =>
    Buffer.from(smallResponse.toString().replace('api-2', `api-${String(index).padStart(4, '0')}`)),
  );

measure('small response', smallResponse.length, response(smallResponse));
measure('from four replicas in turn', smallResponse.length, response(...alike(4)));
measure('never the same', smallResponse.length, response(...alike(5000)));
measure('chunked response, 4 chunks', chunkedResponse.length, response(chunkedResponse));
measure('small request', smallRequest.length, request(smallRequest));
measure('request of a browser', browserRequest.length, request(browserRequest));
measure('request of a browser, copied on', browserRequest.length, request(browserRequest, true));
process.stdout.write(`(${sum % 10})\n`);
