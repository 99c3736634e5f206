// Where the kernel puts what it receives. One group of buffers serves all sockets: the kernel takes one when bytes are there,
// not when we begin to wait, so that ten thousand idle sockets hold none.
//
// The group is a ring of its own ("provided buffers", kernel 5.19): sixteen bytes each, and the tail hidden in the first
// entry's last two.
//
//   entry  address (8) | length (4) | number (2) | – (2)            entry 0: … | tail (2)
//
// It begins with few buffers, since they are used in turn and few stay in the processor's cache, and doubles when the kernel ran
// out (ENOBUFS; the socket is then asked again, nothing is lost), up to a bound.
//
// Whoever passes on what he was lent, and most of what a gateway receives is passed on, need not copy it: the buffer is held until it
// has been sent from where it lies. It goes back to the kernel when nobody holds it any more. That is within a round: a
// send that has to wait for a slow peer makes a copy (see uring-socket.ts), so that slow peers do not hold what all receive into.
//
// Bytes are lent as views; the last two views of each buffer are kept, because messages of one kind have one length, and a
// gateway receives two kinds: requests and answers.

import { assert } from '../../base.ts';
import type { Foreign } from './libc.ts';
import type { Ring } from './ring.ts';

const pageBytes = 4096;
const group = 0;

export interface ReceiveSizes {
  readonly receiveBytes: number;
  readonly receiveBuffersFirst: number;
  /** A power of two. */
  readonly receiveBuffersMax: number;
}

export class ReceiveBuffers {
  readonly group: number = group;
  readonly #foreign: Foreign;
  readonly #size: number;
  readonly #countMax: number;
  /** The ring of buffers, page-aligned in memory of our own. */
  readonly #ring: Uint8Array;
  readonly #entries: Int32Array;
  readonly #buffers: Uint8Array[] = [];
  readonly #views: (Uint8Array | undefined)[] = [];
  readonly #viewsBefore: (Uint8Array | undefined)[] = [];
  readonly #addresses: number[] = [];
  /** By number: how many there are who still need what is in it. */
  readonly #holders: Uint32Array;
  /** What the buffers are parts of, with the number of the first in it. */
  readonly #slabs: { readonly memory: ArrayBufferLike; readonly first: number }[] = [];
  /** The last two words of entry 0 as halves: its number, and the tail. */
  readonly #firstHalves: Uint16Array;
  #tail = 0;
  #offered = 0;

  constructor(foreign: Foreign, ring: Ring, sizes: ReceiveSizes) {
    this.#foreign = foreign;
    this.#size = sizes.receiveBytes;
    this.#countMax = sizes.receiveBuffersMax;
    this.#holders = new Uint32Array(sizes.receiveBuffersMax);
    const spacious = new Uint8Array(sizes.receiveBuffersMax * 16 + pageBytes);
    const offset = (pageBytes - (foreign.addressOf(spacious) % pageBytes)) % pageBytes;
    this.#ring = spacious.subarray(offset, offset + sizes.receiveBuffersMax * 16);
    this.#entries = new Int32Array(spacious.buffer, offset, sizes.receiveBuffersMax * 4);
    this.#firstHalves = new Uint16Array(spacious.buffer, offset + 12, 2);
    const registration = new DataView(new ArrayBuffer(40));
    registration.setBigUint64(0, BigInt(foreign.addressOf(this.#ring)), true);
    registration.setUint32(8, sizes.receiveBuffersMax, true);
    registration.setUint16(12, group, true);
    // IORING_REGISTER_PBUF_RING
    ring.register(22, new Uint8Array(registration.buffer), 1);
    this.#grow(sizes.receiveBuffersFirst);
  }

  /** Hot. The bytes that the kernel put into buffer `number`. Whoever asks holds it until `release`. */
  view(number: number, length: number): Uint8Array {
    const last = this.#views[number];
    if (last !== undefined && last.length === length) return last;
    const before = this.#viewsBefore[number];
    this.#viewsBefore[number] = last;
    if (before !== undefined && before.length === length) return (this.#views[number] = before);
    const buffer = this.#buffers[number];
    assert(buffer !== undefined, 'the kernel uses buffers that it was given');
    return (this.#views[number] = buffer.subarray(0, length));
  }

  /** Hot. The number of the buffer in which these bytes lie; undefined: in none. */
  numberOf(bytes: Uint8Array): number | undefined {
    const memory = bytes.buffer;
    for (const slab of this.#slabs) {
      if (slab.memory === memory) return slab.first + Math.floor(bytes.byteOffset / this.#size);
    }
    return undefined;
  }

  /** Hot. Where bytes of a buffer lie. */
  addressIn(number: number, bytes: Uint8Array): number {
    return (this.#addresses[number] ?? 0) + (bytes.byteOffset % this.#size);
  }

  /** Hot. One more needs what is in the buffer. */
  hold(number: number): void {
    this.#holders[number] = (this.#holders[number] ?? 0) + 1;
  }

  /** Hot. One less. When that was the last, the kernel may use it again. */
  release(number: number): void {
    const left = (this.#holders[number] ?? 0) - 1;
    assert(left >= 0, 'who releases a buffer has held it');
    this.#holders[number] = left;
    if (left === 0) this.#giveBack(number);
  }

  /** The kernel is told by `publish`, once a round. */
  #giveBack(number: number): void {
    const at = (this.#tail & (this.#countMax - 1)) * 4;
    const address = this.#addresses[number] ?? 0;
    const entries = this.#entries;
    entries[at] = address;
    entries[at + 1] = address / 2 ** 32;
    entries[at + 2] = this.#size;
    // The upper half of this word in entry 0 is the tail.
    if (at === 0) this.#firstHalves[0] = number;
    else entries[at + 3] = number;
    this.#tail = (this.#tail + 1) & 0xffff;
  }

  /** Hot. */
  publish(): void {
    if (this.#offered === this.#tail) return;
    this.#offered = this.#tail;
    Atomics.store(this.#firstHalves, 1, this.#tail);
  }

  /** The kernel found none. Twice as many from now on, as long as the bound allows. */
  ranOut(): void {
    const count = this.#buffers.length;
    if (count < this.#countMax) this.#grow(Math.min(count, this.#countMax - count));
  }

  #grow(more: number): void {
    const slab = new Uint8Array(more * this.#size);
    const address = this.#foreign.addressOf(slab);
    this.#slabs.push({ memory: slab.buffer, first: this.#buffers.length });
    for (let index = 0; index < more; index++) {
      const number = this.#buffers.length;
      this.#buffers.push(slab.subarray(index * this.#size, (index + 1) * this.#size));
      this.#views.push(undefined);
      this.#viewsBefore.push(undefined);
      this.#addresses.push(address + index * this.#size);
      this.#giveBack(number);
    }
    this.publish();
  }
}
