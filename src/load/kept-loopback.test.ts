// Kept and recycled connections on real sockets of both engines: the servers count what each connection carries.

import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import { chooseEngine, type EngineChoice } from '../net.ts';
import { constant } from '../scenario.ts';
import type { LoadGroup, LoadResult } from './contract.ts';
import { startCrew } from './crew.ts';

const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
const closed = { kind: 'closed', clients: 'shop', users: 6, flow, think: constant(ms(2)) } as const;
const open = { kind: 'open', clients: 'shop', ratePerSecond: 400, arrivals: 'constant', flow } as const;
/** A worker that is lost asks no more: the servers would be waited for in vain. */
const timeout = 60_000;

/** A server that counts the requests of each connection, in the order in which they were opened. */
class Counting {
  readonly carried: number[] = [];
  readonly #server: http.Server;
  readonly #numbers = new Map<Socket, number>();
  #enough: { readonly requests: number; readonly tell: () => void } | undefined;

  constructor() {
    this.#server = http.createServer((request, response) => {
      const known = this.#numbers.get(request.socket);
      const number = known ?? this.carried.push(0) - 1;
      this.#numbers.set(request.socket, number);
      this.carried[number] = (this.carried[number] ?? 0) + 1;
      response.end('hello');
      if (this.#enough !== undefined && this.total >= this.#enough.requests) this.#enough.tell();
    });
  }

  get total(): number {
    return this.carried.reduce((sum, count) => sum + count, 0);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** Resolves when it has been asked so often. */
  asked(requests: number): Promise<void> {
    return new Promise((resolve) => (this.#enough = { requests, tell: resolve }));
  }

  /** Closes what is open and listens no more. */
  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface Begun {
  readonly servers: readonly Counting[];
  readonly stop: () => Promise<LoadResult>;
}

async function begin(
  change: Partial<LoadGroup> & Pick<LoadGroup, 'demand'>,
  engine: EngineChoice,
  count = 1,
): Promise<Begun> {
  const servers = Array.from({ length: count }, () => new Counting());
  await Promise.all(servers.map((server) => server.listen()));
  const targets = servers.map(({ port }, index) => ({ id: `api-${index + 1}`, host: '127.0.0.1', port }));
  const group: LoadGroup = { group: 'shop', targets, choice: 'round-robin', timeout: seconds(10), ...change };
  const run = await startCrew({ groups: [group], seed: 1 }, { workers: 1, engine });
  return {
    servers,
    stop: async () => {
      const result = await run.stop(seconds(10));
      for (const server of servers) server.close();
      return result;
    },
  };
}

for (const engine of ['node', 'uring'] as const) {
  const skip = 'impossible' in chooseEngine(engine, {});

  for (const demand of [closed, open]) {
    test(
      `${demand.kind} demand on ${engine}: no connection carries more than it may, and nothing fails`,
      { skip, timeout },
      async () => {
        const { servers, stop } = await begin({ demand, keepAlive: { requests: 5, lifetime: undefined } }, engine);
        const [server] = servers;
        assert.ok(server !== undefined);
        await server.asked(200);
        const result = await stop();
        assert.equal(result.ledgers[0]?.failed, 0);
        assert.equal(result.totals[0]?.sent, server.total);
        assert.equal(Math.max(...server.carried), 5, server.carried.join(' '));
      },
    );
  }

  test(
    `pinned users on ${engine} stay with a server until it leaves, and then with the other`,
    { skip, timeout },
    async () => {
      const retry = { retries: 20, backOff: ms(5), budget: undefined };
      const { servers, stop } = await begin({ demand: closed, pinned: true, retry }, engine, 2);
      const [first, second] = servers;
      assert.ok(first !== undefined && second !== undefined);
      await Promise.all([first.asked(100), second.asked(100)]);
      // Six users, three at each, each on one connection.
      assert.deepEqual([first.carried.length, second.carried.length], [3, 3]);
      first.close();
      await second.asked(second.total + 200);
      assert.equal(second.carried.length, 6);
      const left = first.total;
      const result = await stop();
      assert.equal(first.total, left);
      assert.equal(result.ledgers[0]?.failed, 0);
      assert.equal(result.ledgers[0]?.answered, result.totals[0]?.sent);
    },
  );
}
