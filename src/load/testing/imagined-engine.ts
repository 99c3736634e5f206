// An engine without sockets, for tests: time is what the test says it is, and whoever holds the other end of a socket is the
// test. It keeps the engine's contract to the letter: nothing is called back inside connect, write or destroy; of two things
// at one instant the one that was asked for first happens first.
//
// `alarmLateness` makes alarms as late as real ones are.

import { after, type Duration, Heap, type Instant, ns, start } from '../../base.ts';
import type { Alarm, Engine, Listener, NetError, NetErrorKind, Socket, SocketHandler, Target } from '../../net.ts';

export interface ImaginedEngineOptions {
  readonly alarmLateness?: (at: Instant) => Duration;
  /** Told of each connection attempt; the peer then opens, refuses or keeps silent. */
  readonly onConnect?: (socket: ImaginedSocket) => void;
}

interface Happening {
  happen: (() => void) | undefined;
}

export class ImaginedEngine implements Engine {
  readonly name = 'node';
  readonly sockets: ImaginedSocket[] = [];
  readonly #happenings = new Heap<Happening>();
  readonly #options: ImaginedEngineOptions;
  #now: Instant = start;

  constructor(options: ImaginedEngineOptions = {}) {
    this.#options = options;
  }

  now(): Instant {
    return this.#now;
  }

  connect(target: Target, handler: SocketHandler): Socket {
    const socket = new ImaginedSocket(this, target, handler, this.sockets.length + 1);
    this.sockets.push(socket);
    this.#options.onConnect?.(socket);
    return socket;
  }

  keep(bytes: Uint8Array): Uint8Array {
    return bytes;
  }

  listen(): Promise<Listener> {
    return Promise.reject(new Error('nobody listens on an imagined engine'));
  }

  secure(): SocketHandler {
    throw new Error('nobody speaks TLS on an imagined engine');
  }

  alarm(at: Instant, ring: (now: Instant) => void): Alarm {
    const lateness = this.#options.alarmLateness?.(at) ?? ns(0);
    const happening = this.at(after(at, lateness), () => ring(this.#now));
    return { cancel: () => (happening.happen = undefined) };
  }

  /** Something of the world outside happens at `at`, or now if that is past. */
  at(at: Instant, happen: () => void): Happening {
    const happening: Happening = { happen };
    this.#happenings.push(Math.max(at, this.#now), happening);
    return happening;
  }

  soon(happen: () => void): void {
    this.at(this.#now, happen);
  }

  /** Lets everything happen that is to happen up to `to`, that instant included. */
  advance(to: Instant): void {
    for (;;) {
      const key = this.#happenings.nextKey;
      if (key === undefined || key > to) break;
      this.#now = Math.max(key, this.#now) as Instant;
      const happen = this.#happenings.pop()?.happen;
      happen?.();
    }
    if (to > this.#now) this.#now = to;
  }

  /** The process stands still: nothing is called back until `to`, then everything at once. */
  stall(to: Instant): void {
    if (to > this.#now) this.#now = to;
  }

  close(): Promise<void> {
    this.#happenings.clear();
    return Promise.resolve();
  }
}

export class ImaginedSocket implements Socket {
  context: unknown;
  readonly queued = 0;
  readonly localPort = 0;
  readonly remotePort: number;
  readonly remoteAddress: string;
  readonly tls = undefined;
  readonly target: Target;
  /** Counts from 1 in order of connecting. */
  readonly number: number;
  /** What was written and not yet looked at with `received`. */
  #written = '';
  #closed = false;
  readonly #engine: ImaginedEngine;
  readonly #handler: SocketHandler;
  /** Told after each write, in a turn of its own. */
  onWritten: (() => void) | undefined;

  constructor(engine: ImaginedEngine, target: Target, handler: SocketHandler, number: number) {
    this.#engine = engine;
    this.#handler = handler;
    this.target = target;
    this.number = number;
    this.remotePort = target.port;
    this.remoteAddress = target.host;
  }

  get closed(): boolean {
    return this.#closed;
  }

  write(bytes: Uint8Array): boolean {
    this.#written += new TextDecoder().decode(bytes);
    this.#engine.soon(() => this.onWritten?.());
    return true;
  }

  pause(): void {}
  resume(): void {}

  end(): void {
    this.#closeSoon(undefined);
  }

  destroy(): void {
    this.#closeSoon(undefined);
  }

  /** What has been written since the last look. */
  received(): string {
    const text = this.#written;
    this.#written = '';
    return text;
  }

  // What the peer does.

  open(): void {
    this.#engine.soon(() => {
      if (!this.#closed) this.#handler.onOpen?.(this, this.#engine.now());
    });
  }

  answer(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.#engine.soon(() => {
      if (!this.#closed) this.#handler.onData(this, bytes, this.#engine.now());
    });
  }

  /** The peer sends FIN; our side then closes too. */
  hangUp(): void {
    this.#engine.soon(() => {
      if (this.#closed) return;
      this.#handler.onEnd?.(this, this.#engine.now());
      this.#closeSoon(undefined);
    });
  }

  fail(kind: NetErrorKind, stage: 'connect' | 'open'): void {
    this.#closeSoon({ kind, stage, code: kind, message: kind });
  }

  #closeSoon(error: NetError | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#engine.soon(() => this.#handler.onClose(this, error, this.#engine.now()));
  }
}
