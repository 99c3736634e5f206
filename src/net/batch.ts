// What was written in this turn, to be sent when it ends: the bytes of all sockets in one scratch, and who gets which stretch.
//
//     scratch   │ a a a │ b b │ a │ c c c c │             two stretches in a row of one socket are one
//     entries      a,0     b,3  a,5   c,6
//
// Sending at once would interleave our work with that of our peers: each send wakes a peer, which answers, sleeps, and is woken
// again by the next send. Sent together they are woken once, and head and body of a message leave in one call. Measured on
// a proxy of small requests: 22.0 µs of processor time a request before, 17.5 after. A lone request waits for nobody: its
// turn ends when it is served.
//
// libuv tries each send at once. When the kernel took everything nobody refers to the scratch any more, and it serves the
// next turn; otherwise (slow peer, still connecting) it belongs to the pending write, and a new one is made.

import { LentViews } from './lent-views.ts';
import type { Turn } from './turn.ts';

/** A socket as far as a batch knows it. */
export interface Batched {
  /** Bytes of its own in the batch of this turn, and where its last entry there stands. */
  batched: number;
  lastEntry: number;
  /** Hands bytes to the kernel. False: it could not take all of them, and they are referred to until it has. */
  send(bytes: Buffer): boolean;
  /** It has room again. */
  drained(): void;
}

const scratchBytes = 64 * 1024;

export class Batch {
  readonly #turn: Turn;
  #lent = new LentViews(scratchBytes);
  #used = 0;
  readonly #sockets: (Batched | undefined)[] = [];
  readonly #ends: number[] = [];
  /** By entry: what is sent from where it lies, and has no stretch of the scratch. */
  readonly #keptEntries: (Buffer | undefined)[] = [];
  readonly #kept = new WeakSet<Uint8Array>();
  #keeps = false;
  #count = 0;
  /** Sockets that have room again: told when the turn ends, since nothing is called inside a write. */
  #owed: Batched[] = [];

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  keep(bytes: Uint8Array): Uint8Array {
    const kept = Buffer.from(bytes);
    this.#kept.add(kept);
    this.#keeps = true;
    return kept;
  }

  add(socket: Batched, bytes: Uint8Array): void {
    if (this.#keeps && bytes instanceof Buffer && this.#kept.has(bytes)) {
      this.#addKept(socket, bytes);
      return;
    }
    const length = bytes.length;
    if (this.#used + length > scratchBytes) this.flush();
    if (length > scratchBytes) {
      socket.send(Buffer.from(bytes));
      return;
    }
    if (this.#count === 0) this.#turn.willEnd();
    this.#lent.buffer.set(bytes, this.#used);
    this.#used += length;
    socket.batched += length;
    if (this.#count > 0 && socket.lastEntry === this.#count - 1) {
      this.#ends[this.#count - 1] = this.#used;
      return;
    }
    socket.lastEntry = this.#count;
    this.#sockets[this.#count] = socket;
    this.#ends[this.#count] = this.#used;
    this.#count += 1;
  }

  #addKept(socket: Batched, kept: Buffer): void {
    if (this.#count === 0) this.#turn.willEnd();
    socket.batched += kept.length;
    // Nothing may be added to this entry.
    socket.lastEntry = -1;
    this.#sockets[this.#count] = socket;
    this.#ends[this.#count] = this.#used;
    this.#keptEntries[this.#count] = kept;
    this.#count += 1;
  }

  owesDrain(socket: Batched): void {
    this.#turn.willEnd();
    this.#owed.push(socket);
  }

  flush(): void {
    let taken = true;
    let from = 0;
    for (let entry = 0; entry < this.#count; entry++) {
      const socket = this.#sockets[entry];
      const to = this.#ends[entry] ?? from;
      this.#sockets[entry] = undefined;
      const kept = this.#keptEntries[entry];
      if (socket !== undefined && kept !== undefined) {
        this.#keptEntries[entry] = undefined;
        socket.batched -= kept.length;
        socket.send(kept);
      } else if (socket !== undefined) {
        socket.batched -= to - from;
        socket.lastEntry = -1;
        const bytes = from === 0 ? this.#lent.view(to) : this.#lent.buffer.subarray(from, to);
        if (!socket.send(bytes)) taken = false;
      }
      from = to;
    }
    if (!taken) this.#lent = new LentViews(scratchBytes);
    this.#used = 0;
    this.#count = 0;
  }

  endTurn(): void {
    this.flush();
    if (this.#owed.length === 0) return;
    const owed = this.#owed;
    this.#owed = [];
    for (const socket of owed) socket.drained();
  }
}
