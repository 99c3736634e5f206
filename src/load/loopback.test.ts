// Real sockets on loopback: what the ledger says and what the server counted must be equal to the request, and each way in
// which a server can misbehave must be a counted outcome. Runs are short, and nothing here depends on speed.

import assert from 'node:assert/strict';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type Duration, formatDuration, ms, seconds } from '../base.ts';
import { type ClosedDemand, constant, type OpenDemand } from '../scenario.ts';
import type { LoadGroup } from './contract.ts';
import { type Loaded, loadUntil } from './testing/load-until.ts';
import { withNginx } from './testing/nginx.ts';

const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
const closed = (users: number): ClosedDemand => ({
  kind: 'closed',
  clients: 'shop',
  users,
  flow,
  think: constant(ms(1)),
});
const open = (ratePerSecond: number): OpenDemand => ({
  kind: 'open',
  clients: 'shop',
  ratePerSecond,
  arrivals: 'constant',
  flow,
});

function group(port: number, demand: LoadGroup['demand'], change: Partial<LoadGroup> = {}): LoadGroup {
  const targets = [{ id: 'gateway', host: '127.0.0.1', port }];
  return { group: 'shop', demand, targets, choice: 'round-robin', timeout: seconds(2), ...change };
}

const load = (plan: LoadGroup, patience?: Duration, grace?: Duration): Promise<Loaded> =>
  loadUntil(plan, { ...(patience === undefined ? {} : { patience }), ...(grace === undefined ? {} : { grace }) });

/** For servers at which few requests end, or none. */
const aMoment = ms(200);

async function listening(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function withNodeServer(answer: http.RequestListener, use: (port: number) => Promise<void>): Promise<void> {
  const server = http.createServer(answer);
  try {
    await use(await listening(server));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function withRawServer(each: (socket: net.Socket) => void, use: (port: number) => Promise<void>): Promise<void> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    each(socket);
  });
  try {
    await use(await listening(server));
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

for (const [name, demand] of [
  ['closed users', closed(8)],
  ['open arrivals', open(800)],
] as const) {
  test(`${name} before a Node server: both sides count the same`, async () => {
    let served = 0;
    let byReplica2 = 0;
    await withNodeServer(
      (_request, response) => {
        served += 1;
        const replica = served % 4 === 0 ? 'api-2' : 'api-1';
        if (replica === 'api-2') byReplica2 += 1;
        response.setHeader('x-plimsoll-replica', replica);
        response.end('hello');
      },
      async (port) => {
        const { result, errors } = await load(group(port, demand));
        const ledger = result.ledgers[0];
        assert.ok((ledger?.answered ?? 0) > 0);
        assert.equal(ledger?.answered, served);
        // A request due while the loop was late may be left unsent at the stop; the ledger says so.
        assert.equal(ledger?.planned, served + (ledger?.never_sent ?? 0));
        assert.deepEqual(errors, {});
        const second = result.histograms.find(({ of }) => of.replica === 'api-2' && of.what === 'latency');
        assert.equal(second?.count, byReplica2);
      },
    );
  });
}

test(
  'before nginx: its access log has as many lines as the ledger has answers',
  { skip: !withNginx.present() },
  async () => {
    await withNginx.use(async (port, requests) => {
      const { result, errors } = await load(group(port, open(800)));
      assert.deepEqual(errors, {});
      const { planned = 0, answered = 0, never_sent = 0 } = result.ledgers[0] ?? {};
      assert.ok(answered > 0);
      assert.equal(answered, planned - never_sent);
      assert.equal(requests(), answered);
    });
  },
);

test('a server that never answers: everything times out', async () => {
  await withRawServer(
    () => {},
    async (port) => {
      const { result, errors } = await load(group(port, closed(3), { timeout: ms(60) }), aMoment);
      const { planned = 0, timed_out } = result.ledgers[0] ?? {};
      assert.ok(planned >= 3);
      assert.equal(timed_out, planned);
      assert.deepEqual(errors, { timeout: planned });
    },
  );
});

test('a server that never answers and no time to wait: everything is in flight at the end', async () => {
  await withRawServer(
    () => {},
    async (port) => {
      const { result } = await load(group(port, closed(3)), aMoment, ms(0));
      assert.equal(result.ledgers[0]?.in_flight_at_end, 3);
      const latency = result.histograms.find(({ of }) => of.group === 'shop' && of.what === 'latency');
      assert.equal(latency?.unfinished?.count, 3);
    },
  );
});

for (const [what, misbehave, kind] of [
  ['closes without an answer', (socket: net.Socket) => socket.end(), 'closed'],
  ['resets the connection', (socket: net.Socket) => socket.resetAndDestroy(), 'reset'],
  [
    'closes in the middle of the body',
    (socket: net.Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
    'truncated',
  ],
  ['closes in the middle of the head', (socket: net.Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'), 'truncated'],
  ['answers garbage', (socket: net.Socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n'), 'bad-response'],
  ['answers 503', (socket: net.Socket) => socket.write('HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n'), 'status-5xx'],
] as const) {
  test(`a server that ${what}: each request fails as ${kind}`, async () => {
    let asked = 0;
    await withRawServer(
      (socket) =>
        socket.on('data', () => {
          asked += 1;
          misbehave(socket);
        }),
      async (port) => {
        const { result, errors } = await load(group(port, closed(2)));
        const { planned = 0, failed } = result.ledgers[0] ?? {};
        assert.equal(failed, planned);
        assert.equal(planned, asked);
        assert.deepEqual(errors, { [kind]: planned });
      },
    );
  });
}

test('nobody listens: each request fails as refused, and users do not hammer', async () => {
  const server = net.createServer();
  const port = await listening(server);
  server.close();
  const { result, errors, took } = await load(group(port, closed(2)), aMoment);
  const { planned = 0, failed } = result.ledgers[0] ?? {};
  assert.equal(failed, planned);
  assert.deepEqual(errors, { refused: planned });
  // Two users who rest for 100 ms each time.
  assert.ok(planned <= 2 * (1 + took / ms(100)), `${planned} attempts in ${formatDuration(took)}`);
});

test('a name that does not exist fails as dns', async () => {
  const plan = group(80, closed(1), { targets: [{ id: 'nowhere', host: 'nowhere.invalid', port: 80 }] });
  const { result, errors } = await load(plan, aMoment);
  assert.equal(result.ledgers[0]?.failed, result.ledgers[0]?.planned);
  assert.deepEqual(Object.keys(errors), ['dns']);
});

test('a server that closes after each answer is asked on new connections, and nothing fails', async () => {
  let served = 0;
  await withNodeServer(
    (_request, response) => {
      served += 1;
      response.setHeader('connection', 'close');
      response.end('bye');
    },
    async (port) => {
      const { result, errors } = await load(group(port, closed(4)));
      assert.deepEqual(errors, {});
      assert.ok(served > 0);
      assert.equal(result.ledgers[0]?.answered, served);
    },
  );
});

test('who answered is read from a cookie that a balancer sets once a connection', async () => {
  const connections = new Map<net.Socket, number>();
  const served = [0, 0];
  await withNodeServer(
    (request, response) => {
      const known = connections.get(request.socket);
      const replica = known ?? connections.size % 2;
      served[replica] = (served[replica] ?? 0) + 1;
      if (known === undefined) response.setHeader('set-cookie', ['a=1', `SERVERID=api-${replica + 1}; path=/`]);
      connections.set(request.socket, replica);
      response.end('hello');
    },
    async (port) => {
      const { result } = await load(group(port, closed(2), { replicaCookie: 'SERVERID' }));
      const finished = new Map(result.replicas.map((replica) => [replica.id, replica.finished]));
      assert.deepEqual([finished.get('api-1'), finished.get('api-2')], served);
    },
  );
});

test('a large chunked answer is one answer', async () => {
  let served = 0;
  await withNodeServer(
    (_request, response) => {
      served += 1;
      for (let piece = 0; piece < 20; piece++) response.write('x'.repeat(10_000));
      response.end();
    },
    async (port) => {
      const { result, errors } = await load(group(port, closed(4)));
      assert.deepEqual(errors, {});
      assert.ok(served > 0);
      assert.equal(result.ledgers[0]?.answered, served);
    },
  );
});

test('a variable is read from a body that came in pieces over a real socket', async () => {
  const seen = new Set<string>();
  const remember = [
    {
      method: 'GET',
      path: '/',
      headers: {},
      body: undefined,
      extract: [{ variable: 'id', from: 'text' as const, after: '<', before: '>' }],
    },
    { method: 'GET', path: '/item/${id}', headers: {}, body: undefined },
  ];
  await withNodeServer(
    (request, response) => {
      seen.add(request.url ?? '');
      if (request.url !== '/') {
        response.end('other bytes that must not be taken for the first');
        return;
      }
      response.write('....<fir');
      setImmediate(() => response.end('st>....'));
    },
    async (port) => {
      const demand: ClosedDemand = {
        kind: 'closed',
        clients: 'shop',
        users: 4,
        flow: remember,
        think: constant(ms(1)),
      };
      const { errors } = await load(group(port, demand));
      assert.deepEqual(errors, {});
      assert.deepEqual(
        [...seen].toSorted((a, b) => (a < b ? -1 : 1)),
        ['/', '/item/first'],
      );
    },
  );
});
