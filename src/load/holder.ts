// Connections that are opened and kept. Most of a million connections to an ingress are idle, and each costs it memory; a
// generator that can only hold what it also asks on cannot show that.
//
//   asked   held dial ──┐
//                       ├─ fewer than asked: open, at most `rampPerSecond`
//   new a second dial ──┴─ as many as asked: open at that rate, and close the oldest in exchange
//
// All connections share this one object as their handler, and the list of them is the only memory that each costs here:
// a place in a queue. What a peer sends on an idle connection is thrown away; what it closes is opened again.
//
// Connections become due evenly, and late ones are opened at once, some hundred a turn.

import { assert, between, type Duration, type Instant, instantAt, ms, ns, seconds } from '../base.ts';
import type { Alarm, Engine, NetError, Socket, SocketHandler } from '../net.ts';
import type { Dial } from '../scenario.ts';
import type { HeldGroup } from './contract.ts';
import { dialAt } from './dial.ts';
import { addressOf } from './dispatch.ts';
import { HoldCounts, type HeldCut } from './hold-counts.ts';

const look = ms(2);
/** Opened in one look, at most. */
const perLook = 500;
const defaultRampPerSecond = 2_000;
const defaultConnectTimeout = seconds(10);
const never: Dial = { from: 0 };

export class Holder implements SocketHandler {
  readonly #group: HeldGroup;
  readonly #engine: Engine;
  readonly #begun: Instant;
  /** Open, oldest first; some of them may have closed since. */
  readonly #open = new OpenSockets();
  #connecting = 0;
  #attempts = 0;
  /** Connections that the dials have asked for and that were not attempted yet: less than one between two looks. */
  #credit = 0;
  #lastLook: Instant;
  #alarm: Alarm | undefined;
  #ended = false;
  #recent = new HoldCounts();
  #settled = new HoldCounts();

  constructor(group: HeldGroup, engine: Engine, now: Instant) {
    assert(group.targets.length > 0, 'a group has somewhere to connect to');
    this.#group = group;
    this.#engine = engine;
    this.#begun = now;
    this.#lastLook = now;
    this.#look(now);
  }

  get group(): string {
    return this.#group.group;
  }

  get shortages(): { readonly noFiles: number; readonly noPorts: number } {
    const count = (kind: string): number =>
      (this.#settled.errors.get(kind) ?? 0) + (this.#recent.errors.get(kind) ?? 0);
    return { noFiles: count('no-files'), noPorts: count('no-ports') };
  }

  /** What happened since the last cut, and how things stand. */
  cut(now: Instant): HeldCut {
    const counts = this.#recent;
    this.#settled.add(counts);
    this.#recent = new HoldCounts();
    return { asked: this.#asked(now), held: this.#open.size, connecting: this.#connecting, counts };
  }

  measure(): void {
    this.#settled = new HoldCounts();
    this.#settled.heldMost = this.#open.size;
    this.#recent = new HoldCounts();
  }

  /** Opens no more. */
  end(): void {
    this.#ended = true;
    this.#alarm?.cancel();
  }

  /** Closes everything and says what it came to since `measure`. */
  finish(now: Instant): HeldCut {
    this.#settled.add(this.#recent);
    const end = { asked: this.#asked(now), held: this.#open.size, connecting: this.#connecting, counts: this.#settled };
    this.#open.resetAll();
    return end;
  }

  onOpen(socket: Socket, now: Instant): void {
    const due = socket.context;
    assert(typeof due === 'number', 'a connecting socket knows when it was due');
    this.#connecting -= 1;
    if (this.#ended) {
      socket.context = undefined;
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    this.#recent.opened += 1;
    this.#recent.heldMost = Math.max(this.#recent.heldMost, this.#open.size);
    this.#recent.connect.record(ns(Math.max(0, now - due)));
    // Opened in exchange for the oldest, or more than a falling dial asks for by now.
    while (this.#open.size > this.#asked(now)) this.#open.dropOldest();
  }

  onData(): void {}

  onEnd(socket: Socket): void {
    socket.destroy();
    this.#gone(socket);
  }

  onClose(socket: Socket, error: NetError | undefined): void {
    if (typeof socket.context === 'number') {
      socket.context = undefined;
      this.#connecting -= 1;
      this.#recent.error(error?.kind ?? 'closed');
      return;
    }
    this.#gone(socket);
  }

  #gone(socket: Socket): void {
    if (this.#open.remove(socket)) this.#recent.lost += 1;
  }

  #asked(now: Instant): number {
    return Math.round(dialAt(this.#group.held, this.#begun, now));
  }

  readonly #look = (now: Instant): void => {
    const elapsed = between(this.#lastLook, now);
    this.#lastLook = now;
    const asked = this.#asked(now);
    while (this.#open.size > asked) this.#open.dropOldest();
    const missing = asked - this.#open.size - this.#connecting;
    const rate =
      missing > 0
        ? (this.#group.rampPerSecond ?? defaultRampPerSecond)
        : asked > 0
          ? dialAt(this.#group.newPerSecond ?? never, this.#begun, now)
          : 0;
    this.#openSome(rate, missing, elapsed, now);
    if (!this.#ended) this.#alarm = this.#engine.alarm(instantAt(now + look), this.#look);
  };

  /** Spends the credit that has grown at `rate`; each connection was due when its share of the credit was complete. */
  #openSome(rate: number, missing: number, elapsed: Duration, now: Instant): void {
    if (rate === 0) {
      this.#credit = 0;
      return;
    }
    this.#credit += (rate * elapsed) / 1e9;
    const whole = Math.floor(this.#credit);
    const count = Math.min(whole, perLook, missing > 0 ? missing : whole);
    const apart = 1e9 / rate;
    for (let index = 0; index < count; index++) {
      this.#connect(instantAt(now - (this.#credit - 1 - index) * apart));
    }
    this.#recent.asked += count;
    this.#credit = missing > 0 && count === missing ? 0 : this.#credit - count;
  }

  #connect(due: Instant): void {
    const { targets, localAddresses = [], connectTimeout = defaultConnectTimeout } = this.#group;
    const target = targets[this.#attempts % targets.length];
    assert(target !== undefined, 'there is a target');
    const localAddress = localAddresses[this.#attempts % Math.max(1, localAddresses.length)];
    this.#attempts += 1;
    this.#connecting += 1;
    const socket = this.#engine.connect(
      { ...addressOf(target), connectTimeout, ...(localAddress === undefined ? {} : { localAddress }) },
      this,
    );
    socket.context = due;
  }
}

/** Open sockets in the order in which they opened: a queue in which each finds its place by a number in its context. */
class OpenSockets {
  #queue: (Socket | undefined)[] = [];
  #head = 0;
  /** The place in the queue that index 0 stands for. */
  #base = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(socket: Socket): void {
    socket.context = { place: this.#base + this.#queue.length } satisfies Place;
    this.#queue.push(socket);
    this.#size += 1;
  }

  /** False when the socket was not here. */
  remove(socket: Socket): boolean {
    const { context } = socket;
    if (!isPlace(context)) return false;
    socket.context = undefined;
    this.#queue[context.place - this.#base] = undefined;
    this.#size -= 1;
    return true;
  }

  dropOldest(): void {
    while (this.#head < this.#queue.length) {
      const socket = this.#queue[this.#head];
      this.#head += 1;
      if (socket === undefined) continue;
      this.remove(socket);
      socket.destroy();
      break;
    }
    // The emptied front is cut off when it is half of all, so that each place is moved once on average.
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#base += this.#head;
      this.#head = 0;
    }
  }

  /** With a reset: a hundred thousand orderly ends would keep as many ports in TIME_WAIT for the next minute. */
  resetAll(): void {
    for (const socket of this.#queue) {
      if (socket === undefined || !isPlace(socket.context)) continue;
      this.remove(socket);
      socket.destroy(true);
    }
  }
}

interface Place {
  readonly place: number;
}

const isPlace = (context: unknown): context is Place =>
  typeof context === 'object' && context !== null && 'place' in context;
