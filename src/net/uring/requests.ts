// What the engine asks of the kernel, each as one submission. The answer comes back with a number that says what it is about:
// the slot of a socket or listener, and in the lower three bits which of its operations. A slot is not given away before the
// last answer about it has come, so that no answer can be taken for another's.

import type { Foreign } from './libc.ts';
import { Messages } from './messages.ts';
import { chooseBuffer, operation, type Ring, silentSuccess } from './ring.ts';
import type { KeptBytes } from './kept-bytes.ts';
import type { Piece } from './send-chunks.ts';

/** What an answer is about. */
export const about = { receive: 0, send: 1, connect: 2, accept: 3, timer: 4, loop: 5, nothing: 7 } as const;

export const slotOf = (user: number): number => user >>> 3;
export const aboutOf = (user: number): number => user & 7;

const userFor = (slot: number, operationOfSlot: number): number => (slot << 3) | operationOfSlot;
const timerUser = userFor(0, about.timer);
const loopUser = userFor(0, about.loop);
const nobody = userFor(0, about.nothing);

/** MSG_NOSIGNAL: a peer that is gone is an error and not a signal to the process. */
const noSignal = 0x4000;
/** MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL */
const atOnce = 0x40 | 0x100 | noSignal;

export class Requests {
  readonly #ring: Ring;
  readonly #foreign: Foreign;
  readonly #bufferGroup: number;
  /** A time as the kernel reads it: seconds, nanoseconds. */
  readonly #time = new BigInt64Array(2);
  readonly #timeAddress: number;
  readonly #messages: Messages;

  constructor(foreign: Foreign, ring: Ring, bufferGroup: number) {
    this.#foreign = foreign;
    this.#ring = ring;
    this.#bufferGroup = bufferGroup;
    this.#messages = new Messages(foreign, ring.places);
    this.#timeAddress = foreign.addressOf(new Uint8Array(this.#time.buffer));
  }

  /** Go on receiving (RECV_MULTISHOT) until stopped, at the end, or without buffers. The kernel chooses the buffers. */
  receive(slot: number, fd: number): void {
    this.#ring.submit(
      operation.receive,
      chooseBuffer,
      2,
      fd,
      0,
      0,
      0,
      0,
      userFor(slot, about.receive),
      this.#bufferGroup,
    );
  }

  /** Hot. Send the chunk at once, all of it. When the call of the kernel that submits this has returned and there is no answer, it
   * was sent; otherwise the answer is how much was, EAGAIN for nothing. */
  sendAtOnce(slot: number, fd: number, chunk: Piece): void {
    const length = chunk.end - chunk.start;
    const address = chunk.address + chunk.start;
    const user = userFor(slot, about.send);
    this.#ring.submit(operation.send, silentSuccess, 0, fd, 0, address, length, atOnce, user, 0);
  }

  /** Hot. As `sendAtOnce`, of several pieces, `piecesMax` at most, in order. */
  sendTogether(slot: number, fd: number, pieces: readonly Piece[]): void {
    const message = this.#messages.write(this.#ring.place(), pieces);
    const user = userFor(slot, about.send);
    this.#ring.submit(operation.sendMessage, silentSuccess, 0, fd, 0, message, 1, atOnce, user, 0);
  }

  /** Hot. Send the chunk, waiting for room. */
  send(slot: number, fd: number, chunk: Piece): void {
    const length = chunk.end - chunk.start;
    const address = chunk.address + chunk.start;
    this.#ring.submit(operation.send, 0, 0, fd, 0, address, length, noSignal, userFor(slot, about.send), 0);
  }

  /** Hot. As `sendAtOnce`, of bytes that are kept. */
  sendKept(slot: number, fd: number, kept: KeptBytes): void {
    const user = userFor(slot, about.send);
    this.#ring.submit(operation.send, silentSuccess, 0, fd, 0, kept.address, kept.length, atOnce, user, 0);
  }

  /** `address` must be kept until the answer. */
  connect(slot: number, fd: number, address: Uint8Array): void {
    const at = this.#foreign.addressOf(address);
    this.#ring.submit(operation.connect, 0, 0, fd, address.length, at, 0, 0, userFor(slot, about.connect), 0);
  }

  /** Go on accepting (ACCEPT_MULTISHOT). The new descriptors are closed on exec. */
  accept(slot: number, fd: number): void {
    this.#ring.submit(operation.accept, 0, 1, fd, 0, 0, 0, 0x80000, userFor(slot, about.accept), 0);
  }

  /** Say when this descriptor can be read (POLLIN), once. */
  watchLoop(fd: number): void {
    this.#ring.submit(operation.poll, 0, 0, fd, 0, 0, 0, 1, loopUser, 0);
  }

  /** Not any more. The one that watched is answered as canceled. */
  unwatchLoop(): void {
    this.#ring.submit(operation.cancel, silentSuccess, 0, -1, 0, loopUser, 0, 0, nobody, 0);
  }

  stopReceiving(slot: number): void {
    this.#ring.submit(operation.cancel, 0, 0, -1, 0, userFor(slot, about.receive), 0, 0, nobody, 0);
  }

  /** All that is in flight for a descriptor ends soon, as canceled (ASYNC_CANCEL_ALL | ASYNC_CANCEL_FD). */
  cancelAll(fd: number): void {
    this.#ring.submit(operation.cancel, 0, 0, fd, 0, 0, 0, 3, nobody, 0);
  }

  /** The one timer, in so many nanoseconds from now. */
  timer(distance: number): void {
    this.#setTime(distance);
    this.#ring.submit(operation.timeout, 0, 0, -1, 0, this.#timeAddress, 1, 0, timerUser, 0);
    // The kernel has read the time after this, and its place may be used again.
    this.#ring.enter();
  }

  /** The timer that is running shall ring in so many nanoseconds from now. If it has just rung, nothing happens. */
  moveTimer(distance: number): void {
    this.#setTime(distance);
    // TIMEOUT_UPDATE
    this.#ring.submit(operation.timeoutRemove, 0, 0, -1, this.#timeAddress, timerUser, 0, 2, nobody, 0);
    this.#ring.enter();
  }

  #setTime(distance: number): void {
    this.#time[0] = BigInt(Math.floor(distance / 1e9));
    this.#time[1] = BigInt(distance % 1e9);
  }
}
