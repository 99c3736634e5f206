// A stand to try the gateway on: foreign HTTP servers (node:http) or raw sockets as endpoints, a running gateway in this
// process, and a raw client that says exactly the bytes it is told to. For tests and benches only.

import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { chooseEngine, type Engine } from '../../net.ts';
import { describeProblem, parseGatewayConfig } from '../config.ts';
import { type RunningGateway, startGateway } from '../start.ts';

export interface Stand {
  readonly gateway: RunningGateway;
  readonly port: number;
  readonly adminPort: number;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface EndpointAddress {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

/** A gateway before `endpoints`. `settings` are configuration keys as they stand in the file. */
export async function stand(endpoints: readonly EndpointAddress[], settings: object = {}): Promise<Stand> {
  const address = { host: '127.0.0.1', port: 0 };
  const list = endpoints.map(({ id, host, port }) => ({ id, host, port }));
  // Tests are about one thing each: an emptied fleet is part of many.
  const unsafe = ['eviction-empties-fleet'];
  const text = JSON.stringify({ listen: address, admin: address, endpoints: list, unsafe, ...settings });
  const parsed = parseGatewayConfig(text, 'stand.json');
  if (!parsed.ok) throw new Error(parsed.problems.map(describeProblem).join('\n'));
  const engine = standEngine();
  const gateway = await startGateway(parsed.config, engine);
  return {
    gateway,
    port: gateway.port,
    adminPort: gateway.adminPort ?? 0,
    [Symbol.asyncDispose]: async () => {
      await gateway.close();
      await engine.close();
    },
  };
}

/** Node's own sockets, or what `PLIMSOLL_TEST_ENGINE` says: the same tests on the other engine. */
function standEngine(): Engine {
  const wanted = process.env['PLIMSOLL_TEST_ENGINE'] === 'uring' ? 'uring' : 'node';
  const chosen = chooseEngine(wanted);
  if ('impossible' in chosen) throw new Error(chosen.impossible);
  return chosen.engine;
}

export interface HttpEndpoint extends EndpointAddress {
  readonly server: http.Server;
  /** Requests that reached the handler. */
  readonly served: () => number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A node:http server. It stamps its id on every answer as a replica of the lab does. */
export async function httpEndpoint(
  id: string,
  handler: (request: http.IncomingMessage, response: http.ServerResponse) => unknown = (_request, response) =>
    response.end(`${id}\n`),
  options: http.ServerOptions = {},
): Promise<HttpEndpoint> {
  let served = 0;
  const server = http.createServer({ keepAliveTimeout: 60_000, ...options }, (request, response) => {
    served += 1;
    response.setHeader('x-plimsoll-replica', id);
    handler(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    id,
    host: '127.0.0.1',
    port: portOf(server),
    server,
    served: () => served,
    [Symbol.asyncDispose]: () => closeServer(server, () => server.closeAllConnections()),
  };
}

export interface RawEndpoint extends EndpointAddress {
  readonly connections: () => number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A TCP server that does whatever the test wants with each connection. */
export async function rawEndpoint(
  id: string,
  connected: (socket: net.Socket, nth: number) => void,
): Promise<RawEndpoint> {
  let count = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    count += 1;
    connected(socket, count);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    id,
    host: '127.0.0.1',
    port: portOf(server),
    connections: () => count,
    [Symbol.asyncDispose]: () =>
      closeServer(server, () => {
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Answers every request on a raw connection with the same bytes. Requests are told apart by their empty line: no bodies. */
export function answering(text: string): (socket: net.Socket) => void {
  return (socket) => {
    let seen = '';
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1');
      for (let end = seen.indexOf('\r\n\r\n'); end !== -1; end = seen.indexOf('\r\n\r\n')) {
        seen = seen.slice(end + 4);
        socket.write(text, 'latin1');
      }
    });
  };
}

/** An address at which nobody listens. */
export async function deadEndpoint(id: string): Promise<EndpointAddress> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  await closeServer(server, () => {});
  return { id, host: '127.0.0.1', port };
}

/** An address whose queue of connections is full: the kernel drops whatever else comes, so that connecting takes for ever. A
 * thread listens and then stands still, since Node's own servers accept whatever comes. */
export async function fullEndpoint(id: string): Promise<EndpointAddress & AsyncDisposable> {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
    });`;
  const thread = new Worker(code, { eval: true });
  const [port] = z.tuple([z.number()]).parse(await once(thread, 'message'));
  const fillers = Array.from({ length: 4 }, () => net.connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(fillers.slice(0, 2).map((filler) => once(filler, 'connect')));
  return {
    id,
    host: '127.0.0.1',
    port,
    [Symbol.asyncDispose]: async () => {
      for (const filler of fillers) filler.destroy();
      await thread.terminate();
    },
  };
}

/** A raw client: says bytes, and waits for what comes back. */
export class Talk {
  readonly socket: net.Socket;
  heard = '';
  ended = false;
  #changed: () => void = () => {};

  static async with(port: number, options: Partial<net.SocketConstructorOpts> = {}): Promise<Talk> {
    const socket = new net.Socket({ allowHalfOpen: true, ...options });
    const talk = new Talk(socket);
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return talk;
  }

  constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => {
      this.heard += bytes.toString('latin1');
      this.#changed();
    });
    for (const event of ['end', 'close', 'error'] as const) {
      socket.on(event, () => {
        this.ended = true;
        this.#changed();
      });
    }
  }

  say(text: string): this {
    this.socket.write(text, 'latin1');
    return this;
  }

  /** Everything heard once it matches; also at the end of the connection, matched or not. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.heard) && !this.ended) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    return this.heard;
  }

  /** Everything heard up to the end of the connection. */
  async toTheEnd(): Promise<string> {
    while (!this.ended) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    return this.heard;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** One request by node:http's client. Rejects when the answer breaks off. */
export function get(
  port: number,
  path = '/',
  options: http.RequestOptions & { readonly body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, ...options }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('the answer broke off')));
      response.on('end', () => {
        const body = Buffer.concat(pieces).toString('latin1');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    request.on('error', reject);
    request.end(options.body);
  });
}

/** What the echoing endpoints of the tests say they have seen. */
const seenShape = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  size: z.number(),
});

export type Seen = z.infer<typeof seenShape>;

/** Answers with what it has seen of the request, as JSON. */
export function echo(request: http.IncomingMessage, response: http.ServerResponse): void {
  let size = 0;
  request.on('data', (piece: Buffer) => (size += piece.length));
  request.on('end', () => {
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, size }));
  });
}

export function seenOf(body: string): Seen {
  return seenShape.parse(JSON.parse(body));
}

/** The value of a sample on a Prometheus page; undefined when it is not there. */
export function sample(page: string, name: string): number | undefined {
  const line = page.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function portOf(server: net.Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function closeServer(server: net.Server, hurry: () => void): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    hurry();
  });
}
