// What every engine must do, as tests: `conformance('node', () => nodeEngine())`. Each line of the contract in engine.ts has
// one here. The peer is mostly Node's own net, so that an engine is not judged by itself.
//
// Long because it is a list: one test for each promise, and they share the peers at the end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { after, between, type Dice, dice, type Duration, type Instant, ms, ns } from '../../base.ts';
import type { Engine, Listener, NetError, Socket, SocketHandler } from '../engine.ts';

const timeout = 20_000;
const host = '127.0.0.1';

export function conformance(name: string, make: () => Engine): void {
  /** A test with an engine of its own, closed afterwards whatever happens. */
  const check = (title: string, body: (engine: Engine) => Promise<void>): void => {
    test(title, { timeout }, async () => {
      const engine = make();
      try {
        await body(engine);
      } finally {
        await engine.close();
      }
    });
  };

  suite(`the ${name} engine`, { concurrency: false }, () => {
    connecting(check);
    closing(check);
    streaming(check);
    listening(check);
    timing(check);
    crowding(check);
  });
}

type Check = (title: string, body: (engine: Engine) => Promise<void>) => void;

function connecting(check: Check): void {
  check('connects, sends and receives, and knows both ends', async (engine) => {
    const peer = await foreign((socket) => socket.pipe(socket));
    const log = new Log();
    const socket = engine.connect(
      { host, port: peer.port },
      log.handler({ onOpen: (it) => void it.write(text('hello')) }),
    );
    await log.until('data hello');
    assert.equal(socket.remotePort, peer.port);
    assert.equal(socket.remoteAddress, host);
    const [other] = peer.sockets;
    assert.equal(socket.localPort, other?.remotePort);
    socket.end();
    await log.closed;
    assert.deepEqual(log.lines, ['open', 'data hello', 'close']);
    await peer.close();
  });

  check('calls nothing before connect has returned', async (engine) => {
    const peer = await foreign();
    let returned = false;
    const log = new Log();
    const seen: boolean[] = [];
    engine.connect({ host, port: peer.port }, log.handler({ onOpen: () => void seen.push(returned) }));
    engine.connect({ host, port: 1 }, { onData: () => {}, onClose: () => void seen.push(returned) });
    returned = true;
    await log.until('open');
    await until(() => seen.length === 2);
    assert.deepEqual(seen, [true, true]);
    await peer.close();
  });

  check('sends what was written before the connection was open', async (engine) => {
    const peer = await foreign((socket) => socket.pipe(socket));
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port }, log.handler());
    const bytes = text('early');
    assert.equal(socket.write(bytes), true);
    bytes.fill(0);
    await log.until('data early');
    socket.destroy();
    await log.closed;
    await peer.close();
  });

  check('says refused when nobody listens', async (engine) => {
    const port = await freePort();
    const log = new Log();
    engine.connect({ host, port }, log.handler());
    const error = await log.closed;
    assert.deepEqual(told(error), { kind: 'refused', stage: 'connect', code: 'ECONNREFUSED' });
    assert.deepEqual(log.lines, ['close refused']);
  });

  check('says unreachable for an address without a way to it', async (engine) => {
    const log = new Log();
    // TCP to the broadcast address: the kernel refuses without sending anything.
    engine.connect({ host: '255.255.255.255', port: 80 }, log.handler());
    assert.deepEqual(told(await log.closed), { kind: 'unreachable', stage: 'connect', code: 'ENETUNREACH' });
  });

  check('says dns for a name that cannot be', async (engine) => {
    const log = new Log();
    engine.connect({ host: 'no..where', port: 80 }, log.handler());
    const error = await log.closed;
    assert.equal(error?.kind, 'dns');
    assert.equal(error.stage, 'connect');
  });

  check('connects by name', async (engine) => {
    const peer = await foreign((socket) => socket.pipe(socket));
    const log = new Log();
    const socket = engine.connect({ host: 'localhost', port: peer.port }, log.handler());
    socket.write(text('hello'));
    await log.until('data hello');
    socket.destroy();
    await log.closed;
    await peer.close();
  });

  check('speaks over IPv6 too, where there is any', async (engine) => {
    const accepted: string[] = [];
    const at = { host: '::1', port: 0 };
    const listener = await engine
      .listen(at, (socket) => {
        accepted.push(socket.remoteAddress);
        return echo();
      })
      .catch(() => undefined);
    if (listener === undefined) return;
    assert.equal(listener.host, '::1');
    const log = new Log();
    const socket = engine.connect({ host: '::1', port: listener.port }, log.handler());
    socket.write(text('hello'));
    await log.until('data hello');
    assert.deepEqual([socket.remoteAddress, ...accepted], ['::1', '::1']);
    socket.destroy();
    await log.closed;
  });

  check('gives up a connection that does not come within its timeout', async (engine) => {
    const silent = await deaf();
    try {
      // The kernel answers for a listener until its queue is full; then it drops what asks for more.
      const logs = Array.from({ length: 8 }, () => new Log());
      const from = engine.now();
      let given: Instant = from;
      for (const log of logs) {
        engine.connect(
          { host, port: silent.port, connectTimeout: ms(60) },
          log.handler({ onClose: (_, __, now) => (given = now) }),
        );
      }
      const error = await Promise.race(logs.map((log) => log.closed));
      assert.deepEqual(told(error), { kind: 'connect-timeout', stage: 'connect', code: 'ETIMEDOUT' });
      assert.ok(between(from, given) >= ms(60), `gave up after ${between(from, given)} ns`);
    } finally {
      await silent.close();
    }
  });

  check('a connect timeout does not end a connection that came in time', async (engine) => {
    const peer = await foreign((socket) => socket.pipe(socket));
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port, connectTimeout: ms(40) }, log.handler());
    await log.until('open');
    await ring(engine, ms(60));
    socket.write(text('still here'));
    await log.until('data still here');
    socket.destroy();
    await log.closed;
    await peer.close();
  });

  check('binds the source address that it is given', async (engine) => {
    const peer = await foreign();
    const log = new Log();
    engine.connect({ host, port: peer.port, localAddress: '127.0.0.2' }, log.handler());
    await log.until('open');
    const socket = await peer.first;
    assert.equal(socket.remoteAddress, '127.0.0.2');
    await peer.close();
  });

  check('says why a source address cannot be bound', async (engine) => {
    const log = new Log();
    engine.connect({ host, port: 80, localAddress: '192.0.2.1' }, log.handler());
    const error = await log.closed;
    assert.equal(error?.code, 'EADDRNOTAVAIL');
  });

  check('a socket dropped while it connects closes once, without opening', async (engine) => {
    const peer = await foreign();
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port }, log.handler());
    socket.destroy();
    socket.destroy(true);
    await log.closed;
    await ring(engine, ms(5));
    assert.deepEqual(log.lines, ['close']);
    await peer.close();
  });

  check('the context belongs to whoever owns the socket', async (engine) => {
    const peer = await foreign();
    const log = new Log();
    const seen: unknown[] = [];
    const socket = engine.connect(
      { host, port: peer.port },
      log.handler({ onOpen: (it) => void seen.push(it.context) }),
    );
    assert.equal(socket.context, undefined);
    socket.context = 'mine';
    await log.until('open');
    assert.deepEqual(seen, ['mine']);
    await peer.close();
  });
}

function closing(check: Check): void {
  check('says reset when the peer resets', async (engine) => {
    const peer = await foreign((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    const log = new Log();
    engine.connect({ host, port: peer.port }, log.handler()).write(text('x'));
    assert.deepEqual(told(await log.closed), { kind: 'reset', stage: 'open', code: 'ECONNRESET' });
    await peer.close();
  });

  check('resets the peer when told to, and only then', async (engine) => {
    const codes: (string | undefined)[] = [];
    const peer = await foreign((socket) => {
      let code: string | undefined;
      socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
      socket.on('close', () => codes.push(code));
      socket.on('end', () => socket.end());
      socket.resume();
    });
    for (const reset of [true, false]) {
      const log = new Log();
      const socket = engine.connect({ host, port: peer.port }, log.handler());
      await log.until('open');
      socket.destroy(reset);
      await log.closed;
      assert.deepEqual(log.lines, ['open', 'close']);
      await until(() => codes.length === (reset ? 1 : 2));
    }
    assert.deepEqual(codes, ['ECONNRESET', undefined]);
    await peer.close();
  });

  check('after our end the peer may go on speaking', async (engine) => {
    const peer = await foreign((socket) => {
      let heard = '';
      socket.on('data', (bytes) => (heard += bytes.toString()));
      socket.on('end', () => socket.end(`heard ${heard}`));
    });
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port }, log.handler());
    socket.write(text('all of it'));
    socket.end();
    assert.equal(await log.closed, undefined);
    assert.deepEqual(log.lines, ['open', 'data heard all of it', 'close']);
    await peer.close();
  });

  check('what is written after the end is not sent', async (engine) => {
    let heard = '';
    const peer = await foreign((socket) => {
      socket.on('data', (bytes) => (heard += bytes.toString()));
      socket.on('end', () => socket.end());
    });
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port }, log.handler());
    socket.write(text('in time'));
    socket.end();
    assert.equal(socket.write(text('too late')), false);
    await log.closed;
    assert.equal(heard, 'in time');
    await peer.close();
  });

  check('after the peer’s end we may go on speaking', async (engine) => {
    let heard = '';
    const peer = await foreign((socket) => {
      socket.on('data', (bytes) => (heard += bytes.toString()));
      socket.end('last words');
    });
    const log = new Log();
    const onEnd = (socket: Socket): void => {
      engine.alarm(after(engine.now(), ms(3)), () => {
        socket.write(text('answer'));
        socket.end();
      });
    };
    engine.connect({ host, port: peer.port }, log.handler({ onEnd }));
    assert.equal(await log.closed, undefined);
    assert.deepEqual(log.lines, ['open', 'data last words', 'end', 'close']);
    await until(() => heard === 'answer');
    await peer.close();
  });

  check('a handler that does not care about the peer’s end has its socket ended', async (engine) => {
    const peer = await foreign((socket) => void socket.end('bye'));
    const log = new Log();
    engine.connect({ host, port: peer.port }, log.handler());
    assert.equal(await log.closed, undefined);
    assert.deepEqual(log.lines, ['open', 'data bye', 'close']);
    await peer.close();
  });

  check('nothing comes after a socket was dropped but its close, wherever that happened', async (engine) => {
    const peer = await foreign((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => {});
      socket.write('one');
      socket.end('two');
    });
    const drop = (socket: Socket): void => socket.destroy();
    for (const where of ['onOpen', 'onData', 'onEnd'] as const) {
      const log = new Log();
      engine.connect({ host, port: peer.port }, log.handler({ onEnd: () => {}, [where]: drop }));
      await log.closed;
      await ring(engine, ms(2));
      assert.equal(log.lines.filter((line) => line.startsWith('close')).length, 1, where);
      assert.equal(log.lines.at(-1), 'close', where);
    }
    await peer.close();
  });

  check('close is not called inside destroy', async (engine) => {
    const peer = await foreign();
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port }, log.handler());
    await log.until('open');
    socket.destroy();
    assert.deepEqual(log.lines, ['open']);
    assert.equal(socket.write(text('x')), false);
    socket.pause();
    socket.resume();
    socket.end();
    await log.closed;
    assert.deepEqual(log.lines, ['open', 'close']);
    await peer.close();
  });

  check('closing the engine closes all its sockets, listeners and alarms', async (engine) => {
    const peer = await foreign();
    const logs = Array.from({ length: 20 }, () => new Log());
    const accepted: string[] = [];
    const listener = await engine.listen({ host, port: 0 }, () => ({
      onData: () => {},
      onClose: () => void accepted.push('close'),
    }));
    for (const log of logs) engine.connect({ host, port: peer.port }, log.handler());
    engine.connect({ host, port: listener.port }, new Log().handler());
    await Promise.all(logs.map((log) => log.until('open')));
    let rang = false;
    engine.alarm(after(engine.now(), ms(1)), () => (rang = true));
    const late = new Log();
    engine.connect({ host, port: peer.port }, late.handler());
    await engine.close();
    for (const log of [...logs, late]) assert.equal(log.lines.at(-1), 'close');
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(rang, false);
    assert.equal(await refused(listener.port), true);
    await peer.close();
  });
}

function streaming(check: Check): void {
  check('sends what it keeps again and again, in order with what it copies', async (engine) => {
    const peer = await foreign((socket) => socket.pipe(socket));
    let received = '';
    const log = new Log(false);
    const kept = engine.keep(text('kept '));
    const long = engine.keep(text('long '.repeat(100_000)));
    const onData = (_: Socket, bytes: Uint8Array): void => void (received += new TextDecoder().decode(bytes));
    const socket = engine.connect({ host, port: peer.port }, log.handler({ onData }));
    let expected = '';
    const write = (bytes: Uint8Array): void => {
      socket.write(bytes);
      expected += new TextDecoder().decode(bytes);
    };
    write(kept);
    write(text('copied '));
    await log.until('open');
    for (let round = 0; round < 50; round++) {
      for (const bytes of [kept, kept, text(`copied ${round} `), kept, round % 10 === 0 ? long : kept]) write(bytes);
      if (round % 7 === 0) await until(() => socket.queued === 0);
    }
    write(engine.keep(text('')));
    await until(() => socket.queued === 0);
    // More than the kernel takes at once.
    write(engine.keep(text('longer '.repeat(1_000_000))));
    await until(() => received.length === expected.length);
    // Not `equal`: where megabytes differ it would show them.
    assert.ok(received === expected, 'what came back is what was written');
    assert.equal(socket.queued, 0);
    socket.destroy();
    await log.closed;
    await peer.close();
  });

  check('fifty megabytes go through in pieces, past a reader that often pauses', async (engine) => {
    const size = 50_000_000;
    const piece = pattern(60_000, 0);
    const received = new Checked();
    let pausedReads = 0;
    const listener = await engine.listen({ host, port: 0 }, () => ({
      onData: (socket, bytes, now) => {
        assert.equal(paused, false, 'no data while paused');
        received.add(bytes);
        if (received.size % 97 > 3) return;
        paused = true;
        pausedReads++;
        socket.pause();
        engine.alarm(after(now, ns(200_000)), () => {
          paused = false;
          socket.resume();
        });
      },
      onClose: () => {},
    }));
    let paused = false;
    let sent = 0;
    let queuedMax = 0;
    let drains = 0;
    const log = new Log(false);
    const pump = (socket: Socket): void => {
      while (sent < size) {
        const bytes = piece.subarray(0, Math.min(piece.length, size - sent));
        // The pattern goes on where it stopped, in the same buffer: the engine must not look at it later.
        fillPattern(bytes, sent);
        const more = socket.write(bytes);
        sent += bytes.length;
        queuedMax = Math.max(queuedMax, socket.queued);
        if (!more) return;
      }
      socket.end();
    };
    engine.connect(
      { host, port: listener.port },
      log.handler({
        onOpen: pump,
        onDrain: (socket) => {
          drains++;
          pump(socket);
        },
      }),
    );
    assert.equal(await log.closed, undefined);
    assert.equal(received.size, size);
    assert.equal(received.wrongAt, undefined);
    assert.ok(drains > 10, `drained ${drains} times`);
    assert.ok(pausedReads > 10, `paused ${pausedReads} times`);
    assert.ok(queuedMax < 1_000_000, `queued ${queuedMax} at most`);
  });

  check('fifty megabytes go through in one write', async (engine) => {
    const size = 50_000_000;
    const received = new Checked();
    const listener = await engine.listen({ host, port: 0 }, () => ({
      onData: (_, bytes) => received.add(bytes),
      onClose: () => {},
    }));
    const log = new Log(false);
    const bytes = pattern(size, 0);
    const socket = engine.connect({ host, port: listener.port }, log.handler());
    await log.until('open');
    assert.equal(socket.write(bytes), false);
    bytes.fill(0);
    socket.end();
    assert.equal(await log.closed, undefined);
    assert.equal(received.size, size);
    assert.equal(received.wrongAt, undefined);
  });

  check('many small writes arrive in order and whole', async (engine) => {
    const received = new Checked();
    const peer = await foreign((socket) => {
      socket.on('data', (bytes: Uint8Array) => received.add(bytes));
      socket.on('end', () => socket.end());
    });
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port }, log.handler());
    const bytes = new Uint8Array(40);
    let sent = 0;
    for (let write = 0; write < 2000; write++) {
      const next = bytes.subarray(0, 1 + (write % 40));
      fillPattern(next, sent);
      socket.write(next);
      sent += next.length;
    }
    socket.end();
    await log.closed;
    assert.equal(received.size, sent);
    assert.equal(received.wrongAt, undefined);
    await peer.close();
  });

  check('an empty write does no harm', async (engine) => {
    const peer = await foreign((socket) => socket.pipe(socket));
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port }, log.handler());
    await log.until('open');
    assert.equal(socket.write(new Uint8Array(0)), true);
    socket.write(text('x'));
    await log.until('data x');
    await peer.close();
  });

  check('a socket paused before any data stays silent until it is resumed', async (engine) => {
    const peer = await foreign((socket) => void socket.write('waiting'));
    const log = new Log();
    const socket = engine.connect({ host, port: peer.port }, log.handler({ onOpen: (it) => it.pause() }));
    await log.until('open');
    await ring(engine, ms(10));
    assert.deepEqual(log.lines, ['open']);
    socket.resume();
    await log.until('data waiting');
    socket.destroy();
    await log.closed;
    await peer.close();
  });

  check('a paused socket hears neither data nor end, and then both', async (engine) => {
    const peer = await foreign((socket) => {
      socket.write('one');
      socket.once('data', () => socket.end('two'));
    });
    const log = new Log();
    let first = true;
    const socket = engine.connect(
      { host, port: peer.port },
      log.handler({
        onData: (it) => {
          if (!first) return;
          first = false;
          it.pause();
          it.write(text('go on'));
        },
        onEnd: (it) => it.end(),
      }),
    );
    await log.until('data one');
    await ring(engine, ms(10));
    assert.deepEqual(log.lines, ['open', 'data one']);
    socket.resume();
    await log.closed;
    assert.deepEqual(log.lines, ['open', 'data one', 'data two', 'end', 'close']);
    await peer.close();
  });

  check('a thousand sockets at once each get their own answer', async (engine) => {
    const count = 1000;
    const listener = await engine.listen({ host, port: 0 }, () => ({
      onData: (socket, bytes) => void socket.write(bytes),
      onClose: () => {},
    }));
    const answers = new Map<number, string>();
    const sockets: Socket[] = [];
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let closed = 0;
    const handler = (index: number): SocketHandler => ({
      onOpen: (socket) => void socket.write(text(`number ${index}`)),
      onData: (_, bytes) => {
        answers.set(index, Buffer.from(bytes).toString());
        if (answers.size === count) finish();
      },
      onClose: () => void closed++,
    });
    for (let index = 0; index < count; index++) {
      sockets.push(engine.connect({ host, port: listener.port }, handler(index)));
    }
    await finished;
    for (let index = 0; index < count; index++) assert.equal(answers.get(index), `number ${index}`);
    for (const socket of sockets) socket.end();
    await until(() => closed === count);
  });
}

/** Eighty connections, each with a life of its own out of the dice: what is written when and in which pieces, who pauses, who
 * ends and how. Whatever happens, each side sees a beginning of what the other sent, all of it when the other ended in order,
 * and exactly one close with nothing after it. */
function crowding(check: Check): void {
  check('goes on while another thread sends messages all the time', async (engine) => {
    const chatter = `
      const { parentPort } = require('node:worker_threads');
      setInterval(() => { for (let count = 0; count < 3; count++) parentPort.postMessage(count); }, 1);`;
    const talker = new Worker(chatter, { eval: true });
    talker.on('message', () => {});
    // A peer that takes its time, so that both the engine and Node's loop go to sleep in between.
    const peer = await foreign((socket) => socket.on('data', (bytes) => setTimeout(() => socket.write(bytes), 1)));
    let answers = 0;
    const sockets = Array.from({ length: 4 }, () =>
      engine.connect(
        { host, port: peer.port },
        {
          onOpen: (socket) => void socket.write(text('hi')),
          onData: (socket) => {
            answers++;
            socket.write(text('hi'));
          },
          onClose: () => {},
        },
      ),
    );
    await until(() => answers > 400);
    for (const socket of sockets) socket.destroy();
    await talker.terminate();
    await peer.close();
  });

  for (const seed of [1, 2, 3]) {
    check(`a crowd at random loses no byte and closes each socket once (seed ${seed})`, async (engine) => {
      const lives: Life[] = [];
      const listener = await engine.listen({ host, port: 0 }, (socket) => {
        const life = new Life(engine, dice(seed, `server ${lives.length}`));
        lives.push(life);
        life.begin(socket);
        return life.handler;
      });
      const clients = Array.from({ length: 80 }, (_, index) => {
        const life = new Life(engine, dice(seed, `client ${index}`));
        life.begin(engine.connect({ host, port: listener.port }, life.handler));
        return life;
      });
      await until(() => lives.length === 80 && [...lives, ...clients].every((life) => life.closes === 1));
      await ring(engine, ms(3));
      const byPort = new Map(lives.map((life) => [life.remotePort, life]));
      let pairs = 0;
      for (const client of clients) {
        // Who was reset before anybody looked has no ports to be known by.
        const server = client.localPort === 0 ? undefined : byPort.get(client.localPort);
        if (server === undefined) continue;
        agree(client, server);
        agree(server, client);
        pairs++;
      }
      assert.ok(pairs > 60, `${pairs} pairs`);
    });
  }
}

function agree(one: Life, other: Life): void {
  assert.deepEqual(one.wrongs, []);
  assert.equal(one.received.wrongAt, undefined);
  assert.ok(one.received.size <= other.sent, `received ${one.received.size} of ${other.sent}`);
  const inOrder = !one.reset && !other.reset;
  if (inOrder) assert.equal(one.received.size, other.sent);
}

class Life {
  readonly handler: SocketHandler;
  readonly received = new Checked();
  readonly wrongs: string[] = [];
  sent = 0;
  closes = 0;
  /** It dropped the connection, with or without RST. */
  reset = false;
  localPort = 0;
  remotePort = 0;
  readonly #engine: Engine;
  readonly #dice: Dice;
  #steps: number;
  #paused = false;
  #departed = false;

  constructor(engine: Engine, random: Dice) {
    this.#engine = engine;
    this.#dice = random;
    this.#steps = 3 + random.below(12);
    this.handler = {
      onOpen: (socket) => this.#note(socket),
      onData: (socket, bytes) => {
        if (this.#paused || this.closes > 0) this.wrongs.push('data while paused or closed');
        this.received.add(bytes);
        if (!this.#departed && random.next() < 0.1) this.#write(socket);
        if (random.next() < 0.05) this.#pauseAWhile(socket);
      },
      onEnd: () => {
        if (this.#paused || this.closes > 0) this.wrongs.push('end while paused or closed');
      },
      onClose: () => void this.closes++,
    };
  }

  begin(socket: Socket): void {
    this.#note(socket);
    this.#engine.alarm(after(this.#engine.now(), this.#soon()), () => this.#step(socket));
  }

  #step(socket: Socket): void {
    if (this.closes > 0) return;
    this.#note(socket);
    if (this.#steps-- === 0) return this.#depart(socket);
    const pieces = 1 + this.#dice.below(4);
    for (let piece = 0; piece < pieces; piece++) {
      this.#write(socket);
    }
    if (this.#dice.next() < 0.3) this.#pauseAWhile(socket);
    this.#engine.alarm(after(this.#engine.now(), this.#soon()), () => this.#step(socket));
    return undefined;
  }

  #write(socket: Socket): void {
    const bytes = pattern(1 + this.#dice.below(this.#dice.next() < 0.1 ? 200_000 : 3000), this.sent);
    socket.write(this.#dice.next() < 0.3 ? this.#engine.keep(bytes) : bytes);
    this.sent += bytes.length;
    bytes.fill(255);
  }

  #depart(socket: Socket): void {
    this.#departed = true;
    const how = this.#dice.next();
    this.reset = how < 0.2;
    if (how < 0.1) socket.destroy(true);
    else if (how < 0.2) socket.destroy();
    else socket.end();
  }

  #pauseAWhile(socket: Socket): void {
    this.#paused = true;
    socket.pause();
    this.#engine.alarm(after(this.#engine.now(), this.#soon()), () => {
      this.#paused = false;
      socket.resume();
    });
  }

  #note(socket: Socket): void {
    this.localPort ||= socket.localPort;
    this.remotePort ||= socket.remotePort;
  }

  readonly #soon = (): Duration => ns(1 + this.#dice.below(1_500_000));
}

function listening(check: Check): void {
  check('listens where it is told, and tells the port it was given', async (engine) => {
    const listener = await engine.listen({ host, port: 0 }, echo);
    assert.equal(listener.host, host);
    assert.equal(await ask(listener.port, 'hello'), 'hello');
  });

  check('a listener may be closed twice', async (engine) => {
    const listener = await engine.listen({ host, port: 0 }, echo);
    await listener.close();
    await listener.close();
  });

  check('an accepted socket knows its peer, and may speak first', async (engine) => {
    const ports: number[] = [];
    const listener = await engine.listen({ host, port: 0 }, (socket) => {
      ports.push(socket.remotePort, socket.localPort);
      socket.write(text('welcome'));
      return { onData: () => {}, onClose: () => {} };
    });
    const client = net.connect(listener.port, host);
    assert.equal(await heard(client), 'welcome');
    assert.deepEqual(ports, [client.localPort, listener.port]);
    client.destroy();
  });

  check('says address-in-use when somebody else listens', async (engine) => {
    const listener = await engine.listen({ host, port: 0 }, echo);
    const error = await failure(engine.listen({ host, port: listener.port }, echo));
    assert.deepEqual(told(error), { kind: 'address-in-use', stage: 'listen', code: 'EADDRINUSE' });
  });

  check('two may listen at one port when both say so', async (engine) => {
    const first = await engine.listen({ host, port: 0, reusePort: true }, echo);
    const second = await engine.listen({ host, port: first.port, reusePort: true }, echo);
    assert.equal(second.port, first.port);
    assert.equal(await ask(first.port, 'hello'), 'hello');
  });

  check('a closed listener accepts no more, and what it accepted goes on', async (engine) => {
    const listener = await engine.listen({ host, port: 0 }, echo);
    const client = net.connect(listener.port, host);
    client.write('one');
    assert.equal(await heard(client), 'one');
    await listener.close();
    assert.equal(await refused(listener.port), true);
    client.write('two');
    assert.equal(await heard(client), 'two');
    client.destroy();
  });
}

function timing(check: Check): void {
  check('alarms ring in order, equal ones as they were set, none early', async (engine) => {
    const rung: string[] = [];
    const from = engine.now();
    const set = (name: string, distance: number): void => {
      const at = after(from, ms(distance));
      engine.alarm(at, (now) => {
        assert.ok(now >= at, `${name} rang ${at - now} ns early`);
        rung.push(name);
      });
    };
    set('c', 12);
    set('a', 4);
    set('b1', 8);
    set('b2', 8);
    set('b3', 8);
    await ring(engine, ms(14));
    assert.deepEqual(rung, ['a', 'b1', 'b2', 'b3', 'c']);
  });

  check('an alarm for the past rings soon, but not at once', async (engine) => {
    let rang = false;
    engine.alarm(engine.now(), () => (rang = true));
    assert.equal(rang, false);
    await until(() => rang);
  });

  check('an alarm cancelled by another of the same instant does not ring', async (engine) => {
    const rung: string[] = [];
    const at = after(engine.now(), ms(2));
    engine.alarm(at, () => {
      rung.push('first');
      second.cancel();
    });
    const second = engine.alarm(at, () => void rung.push('second'));
    const third = engine.alarm(at, () => void rung.push('third'));
    third.cancel();
    third.cancel();
    await ring(engine, ms(4));
    assert.deepEqual(rung, ['first']);
  });

  check('an alarm may set the next', async (engine) => {
    const instants: Instant[] = [];
    await new Promise<void>((resolve) => {
      const again = (now: Instant): void => {
        instants.push(now);
        if (instants.length === 5) resolve();
        else engine.alarm(after(now, ms(1)), again);
      };
      engine.alarm(engine.now(), again);
    });
    for (let index = 1; index < 5; index++) {
      const [one, other] = [instants[index - 1], instants[index]];
      assert.ok(one !== undefined && other !== undefined);
      const distance = between(one, other);
      assert.ok(distance >= ms(1), `distance ${distance}`);
    }
  });

  check('alarms are late by a millisecond or so', async (engine) => {
    const lateness: number[] = [];
    for (let index = 0; index < 20; index++) {
      const at = after(engine.now(), ns(1_300_000));
      lateness.push(await new Promise<number>((resolve) => engine.alarm(at, (now) => resolve(now - at))));
    }
    // The best of twenty: the others tell of this machine's other work.
    assert.ok(Math.min(...lateness) < ms(2), `late by ${Math.min(...lateness)} ns at least`);
  });

  check('now stands still during a turn and goes on between turns', async (engine) => {
    const [before, inside] = await new Promise<[Instant, Instant]>((resolve) => {
      engine.alarm(engine.now(), () => {
        const first = engine.now();
        const busyUntil = performance.now() + 2;
        while (performance.now() < busyUntil);
        resolve([first, engine.now()]);
      });
    });
    assert.equal(inside, before);
    await ring(engine, ms(1));
    assert.ok(engine.now() > before);
  });

  check('the instant that a callback is given is now', async (engine) => {
    const peer = await foreign((socket) => socket.pipe(socket));
    const instants: [Instant, Instant][] = [];
    const log = new Log();
    const note = (_: Socket, now: Instant): void => void instants.push([now, engine.now()]);
    engine.connect(
      { host, port: peer.port },
      log.handler({
        onOpen: (socket, now) => {
          note(socket, now);
          socket.write(text('x'));
        },
        onData: (socket, _, now) => {
          note(socket, now);
          socket.end();
        },
        onClose: (socket, _, now) => note(socket, now),
      }),
    );
    await log.closed;
    assert.equal(instants.length, 3);
    for (const [given, asked] of instants) assert.equal(given, asked);
    await peer.close();
  });
}

/** What happened to a socket, in lines, and a promise of its end. */
class Log {
  readonly lines: string[] = [];
  readonly closed: Promise<NetError | undefined>;
  readonly #keepsData: boolean;
  #close: (error: NetError | undefined) => void = () => {};
  #wake: () => void = () => {};

  constructor(keepsData = true) {
    this.#keepsData = keepsData;
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  handler(also: Partial<SocketHandler> = {}): SocketHandler {
    const { onEnd } = also;
    return {
      onOpen: (socket, now) => {
        this.#say('open');
        also.onOpen?.(socket, now);
      },
      onData: (socket, bytes, now) => {
        if (this.#keepsData) this.#say(`data ${Buffer.from(bytes).toString()}`);
        also.onData?.(socket, bytes, now);
      },
      onDrain: (socket, now) => also.onDrain?.(socket, now),
      ...(onEnd === undefined
        ? {}
        : {
            onEnd: (socket: Socket, now: Instant) => {
              this.#say('end');
              onEnd(socket, now);
            },
          }),
      onClose: (socket, error, now) => {
        this.#say(error === undefined ? 'close' : `close ${error.kind}`);
        also.onClose?.(socket, error, now);
        this.#close(error);
      },
    };
  }

  async until(line: string): Promise<void> {
    while (!this.lines.includes(line)) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  #say(line: string): void {
    this.lines.push(line);
    this.#wake();
  }
}

interface Peer {
  readonly port: number;
  readonly sockets: net.Socket[];
  readonly first: Promise<net.Socket>;
  close(): Promise<void>;
}

/** A server of Node's own, which stays open in one direction when the other ends. */
async function foreign(accept: (socket: net.Socket) => void = (socket) => void socket.resume()): Promise<Peer> {
  const sockets: net.Socket[] = [];
  let arrived: (socket: net.Socket) => void = () => {};
  const first = new Promise<net.Socket>((resolve) => (arrived = resolve));
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    arrived(socket);
    accept(socket);
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: portOf(server),
    sockets,
    first,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A listener whose thread never accepts anything. */
async function deaf(): Promise<{ port: number; close: () => Promise<void> }> {
  const source = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer();
    server.listen({ port: 0, host: '${host}', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(source, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return {
    port,
    close: async () => {
      await worker.terminate();
    },
  };
}

const echo = (): SocketHandler => ({ onData: (socket, bytes) => void socket.write(bytes), onClose: () => {} });

async function ask(port: number, question: string): Promise<string> {
  const client = net.connect(port, host);
  client.write(question);
  const answer = await heard(client);
  client.destroy();
  return answer;
}

function refused(port: number): Promise<boolean> {
  const client = net.connect(port, host);
  return new Promise((resolve) => {
    client.once('connect', () => {
      client.destroy();
      resolve(false);
    });
    client.once('error', () => resolve(true));
  });
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, host);
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

function portOf(server: net.Server): number {
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

async function failure(promise: Promise<Listener>): Promise<NetError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(isNetError(error));
    return error;
  }
  throw new Error('this was to fail');
}

const isNetError = (value: unknown): value is NetError =>
  typeof value === 'object' && value !== null && 'kind' in value && 'stage' in value && 'code' in value;

const told = (error: NetError | undefined): Pick<NetError, 'kind' | 'stage' | 'code'> | undefined =>
  error && { kind: error.kind, stage: error.stage, code: error.code };

/** The next piece of data, as text. */
const heard = (client: net.Socket): Promise<string> =>
  new Promise((resolve) => client.once('data', (bytes: Uint8Array) => resolve(Buffer.from(bytes).toString())));

/** Turns of the loop until it is so; a test that waits in vain ends itself instead of spinning on. */
async function until(isSo: () => boolean): Promise<void> {
  const giveUp = performance.now() + timeout / 2;
  while (!isSo()) {
    assert.ok(performance.now() < giveUp, 'it came to nothing');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ring = (engine: Engine, distance: Duration): Promise<Instant> =>
  new Promise((resolve) => void engine.alarm(after(engine.now(), distance), resolve));

const text = (characters: string): Uint8Array => new Uint8Array(Buffer.from(characters));

/** Bytes that tell where in the stream they stand. 251 is prime, so that pieces of a round size do not look alike. */
function fillPattern(bytes: Uint8Array, from: number): void {
  let value = from % 251;
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = value;
    if (++value === 251) value = 0;
  }
}

function pattern(size: number, from: number): Uint8Array {
  const bytes = new Uint8Array(size);
  fillPattern(bytes, from);
  return bytes;
}

class Checked {
  size = 0;
  wrongAt: number | undefined;

  add(bytes: Uint8Array): void {
    let value = this.size % 251;
    for (const byte of bytes) {
      if (byte !== value) this.wrongAt ??= this.size;
      this.size++;
      if (++value === 251) value = 0;
    }
  }
}
