// Clients that ask again, on real sockets of both engines, over both versions of HTTP and from several threads: the server has seen as many
// tries as were sent, and every planned request has one end.

import assert from 'node:assert/strict';
import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { test } from 'node:test';
import { type Duration, inSeconds, ms, seconds } from '../base.ts';
import { chooseEngine, type EngineChoice } from '../net.ts';
import { type ClientRetry, constant } from '../scenario.ts';
import type { LoadGroup, LoadResult } from './contract.ts';
import { startCrew } from './crew.ts';

const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
const closed = { kind: 'closed', clients: 'shop', users: 8, flow, think: constant(ms(2)) } as const;
const open = { kind: 'open', clients: 'shop', ratePerSecond: 500, arrivals: 'poisson', flow } as const;
const thrice: ClientRetry = { retries: 2, backOff: ms(5), budget: undefined };

/** How a server treats a request. */
type Treatment = 'answer' | 'fail' | 'reset' | 'ignore';

/** Of ten requests seven are answered, two are answered 503, one loses its connection. */
const mixed = (request: number): Treatment => {
  const last = request % 10;
  return last === 5 ? 'reset' : last === 3 || last === 7 ? 'fail' : 'answer';
};

/** A worker that is lost asks no more: the server would be waited for in vain. */
const timeout = 60_000;

interface Case {
  readonly demand: LoadGroup['demand'];
  readonly retry?: ClientRetry;
  readonly engine?: EngineChoice;
  readonly workers?: number;
  readonly http2?: boolean;
  readonly treat?: (request: number) => Treatment;
  /** How long clients wait. By default longer than the busiest machine lets them. */
  readonly patience?: Duration;
  readonly requests?: number;
}

interface Loaded {
  readonly result: LoadResult;
  /** Requests that the server has seen, and those of them that it answered well. */
  readonly seen: number;
  readonly answered: number;
}

/** Loads a server until it has seen so many requests, 300 by default. */
async function load({
  demand,
  retry = thrice,
  engine = 'node',
  workers = 1,
  treat = mixed,
  patience = seconds(60),
  requests = 300,
  ...rest
}: Case): Promise<Loaded> {
  let seen = 0;
  let answered = 0;
  let enough = (): void => {};
  const seenEnough = new Promise<void>((resolve) => (enough = resolve));
  const next = (): Treatment => {
    seen += 1;
    if (seen === requests) enough();
    const treatment = treat(seen);
    if (treatment === 'answer') answered += 1;
    return treatment;
  };
  const server = rest.http2 === true ? http2Server(next) : http1Server(next);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const group: LoadGroup = {
    group: 'shop',
    demand,
    targets: [{ id: 'shop', host: '127.0.0.1', port: (server.address() as AddressInfo).port }],
    choice: 'pick-first',
    timeout: patience,
    retry,
    ...(rest.http2 === true ? { http2: { streamsMax: 4 } } : {}),
  };
  const run = await startCrew({ groups: [group], seed: 1 }, { workers, engine });
  await seenEnough;
  const result = await run.stop(seconds(60));
  server.close();
  return { result, seen, answered };
}

function http1Server(next: () => Treatment): Server {
  return http.createServer((request, response) => {
    const treatment = next();
    if (treatment === 'reset') request.socket.resetAndDestroy();
    if (treatment === 'fail') response.writeHead(503);
    if (treatment === 'fail' || treatment === 'answer') response.end('hello');
  });
}

function http2Server(next: () => Treatment): Server {
  const server = http2.createServer();
  server.on('stream', (stream: http2.ServerHttp2Stream) => {
    stream.on('error', () => {});
    const treatment = next();
    if (treatment === 'reset') stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    if (treatment !== 'fail' && treatment !== 'answer') return;
    stream.respond({ ':status': treatment === 'fail' ? 503 : 200 });
    stream.end('hello');
  });
  return server;
}

const cases: readonly (readonly [string, Case])[] = [
  ['closed users', { demand: closed }],
  ['open arrivals', { demand: open }],
  ['closed users on io_uring', { demand: closed, engine: 'uring' }],
  ['open arrivals on io_uring', { demand: open, engine: 'uring' }],
  ['closed users over HTTP/2', { demand: closed, http2: true }],
  ['open arrivals over HTTP/2', { demand: open, http2: true }],
  ['three threads of open arrivals', { demand: open, workers: 3 }],
];

for (const [name, setting] of cases) {
  const missing = 'impossible' in chooseEngine(setting.engine ?? 'node', {});
  test(
    `${name} ask again: the server has seen every try, and each request has one end`,
    { skip: missing, timeout },
    async () => {
      const { result, seen, answered } = await load(setting);
      const [ledger] = result.ledgers;
      const [totals] = result.totals;
      assert.ok(ledger !== undefined && totals?.tries !== undefined);
      assert.equal(totals.tries.sent, seen);
      assert.equal(totals.sent + totals.tries.retries, seen);
      assert.ok(totals.tries.retries > 0);
      assert.equal(ledger.planned, totals.sent + ledger.never_sent);
      assert.equal(ledger.answered, answered);
      assert.equal(ledger.answered + ledger.failed, totals.sent);
    },
  );
}

for (const protocol of ['HTTP/1.1', 'HTTP/2']) {
  test(
    `over ${protocol} a server that never answers is asked as often as there are tries, each with the whole patience`,
    { timeout },
    async () => {
      const asked = {
        demand: closed,
        patience: ms(100),
        http2: protocol === 'HTTP/2',
        treat: (): Treatment => 'ignore',
      };
      const { result, seen } = await load({ ...asked, requests: 24 });
      const [ledger] = result.ledgers;
      const [totals] = result.totals;
      assert.ok(ledger !== undefined && totals?.tries !== undefined);
      assert.equal(ledger.timed_out, ledger.planned);
      // On a busy machine patience may end before the server has looked.
      assert.ok(totals.tries.sent >= seen);
      assert.ok(totals.tries.retries <= 2 * ledger.planned);
      const latency = result.histograms.find(({ of }) => of.group === 'shop' && of.what === 'latency');
      assert.ok((latency?.unfinished?.count ?? 0) === ledger.planned);
    },
  );
}

for (const workers of [1, 3]) {
  test(`a budget of a tenth holds for all ${workers === 1 ? 'users' : 'threads'} together`, { timeout }, async () => {
    const retry = { retries: 5, backOff: ms(0), budget: 0.1 };
    const { result, seen } = await load({ demand: open, retry, workers, treat: () => 'fail' });
    const [totals] = result.totals;
    assert.ok(totals?.tries !== undefined);
    assert.equal(totals.tries.sent, seen);
    // A tenth, and the reserve of one a second over the last ten. What fails after the end is not asked again, and each thread keeps what
    // is less than one.
    const { retries: asked } = totals.tries;
    const most = totals.sent / 10 + 10 + inSeconds(result.span);
    assert.ok(asked > 10 - workers && asked <= most, `${asked} of ${most} at most`);
  });
}
