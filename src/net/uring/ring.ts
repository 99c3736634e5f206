// One io_uring: two rings in memory shared with the kernel. We put requests (SQEs) into one and tell the kernel with a system
// call, `enter`; it puts results (CQEs) into the other, and we read them without one.
//
//        submissions                         completions
//   ┌─┬─┬─┬─┬─┬─┬─┬─┐                   ┌─┬─┬─┬─┬─┬─┬─┬─┐
//   │ │ │x│x│x│ │ │ │  64 bytes each    │ │x│x│x│x│ │ │ │  16 bytes each
//   └─┴─┴▲┴─┴─┴▲┴─┴─┘                   └─┴▲┴─┴─┴─┴▲┴─┴─┘
//      head   tail                        head    tail
//    (kernel) (ours)                     (ours) (kernel)
//
// Set up with SINGLE_ISSUER | DEFER_TASKRUN: the kernel does its part of the work (receiving, copying into our buffers) only
// inside our `enter`, on our thread, in one go, instead of interrupting us for each packet. That is most of what io_uring
// gains over epoll here. TASKRUN_FLAG shows in the shared memory that there is such work.
//
// More completions than fit are not lost (the kernel keeps them, FEAT_NODROP) but dearer; `enter` with GETEVENTS fetches them.
//
// Why Atomics: the compiler may keep a plain read of memory in a register and may reorder plain writes, and the kernel's half
// of the protocol relies on neither. Entries between an atomic read of one end and an atomic write of the other are ours alone.

import { getSystemErrorName } from 'node:util';
import { assert } from '../../base.ts';
import type { Foreign } from './libc.ts';

/** What the kernel can be asked for, as far as we ask. */
export const operation = {
  poll: 6,
  sendMessage: 9,
  timeout: 11,
  timeoutRemove: 12,
  accept: 13,
  cancel: 14,
  connect: 16,
  send: 26,
  receive: 27,
} as const;

/** Flags of a submission: the kernel chooses a receive buffer from the group; no completion when all went well. */
export const chooseBuffer = 1 << 5;
export const silentSuccess = 1 << 6;

/** Flags of a completion. */
export const hasBuffer = 1;
export const moreFollow = 2;

export interface RingOptions {
  /** Powers of two. The completions may be fewer than what is in flight; see above. */
  readonly submissions: number;
  readonly completions: number;
}

export class Ring {
  readonly #foreign: Foreign;
  readonly #fd: number;
  readonly #maps: readonly Mapped[];
  /** The heads, tails and flags of both rings, by these indices. */
  readonly #words: Int32Array;
  readonly #submissionTail: number;
  readonly #submissionFlags: number;
  readonly #completionHead: number;
  readonly #completionTail: number;
  readonly #completionFlags: number;
  readonly #submissions: Int32Array;
  readonly #submissionMask: number;
  readonly #completionMask: number;
  /** Where in `#words` the completions begin. */
  readonly #completionsAt: number;
  #tail = 0;
  #submitted = 0;
  #head = 0;
  #open = true;
  /** struct io_uring_getevents_arg: no signal mask, and the address of the time below. */
  readonly #waiting = new BigUint64Array(3);
  readonly #waitingBytes = new Uint8Array(this.#waiting.buffer);
  /** How long to wait: seconds, nanoseconds. */
  readonly #patience = new BigInt64Array(2);

  /** Throws an Error that says why when the kernel refuses. */
  constructor(foreign: Foreign, options: RingOptions) {
    this.#foreign = foreign;
    const parameters = new Uint32Array(30);
    parameters[1] = options.completions;
    parameters[2] = setupFlags;
    this.#fd = foreign.libc.ioUringSetup(options.submissions, new Uint8Array(parameters.buffer));
    if (this.#fd < 0) throw new Error(refusal(foreign.errno()));
    const word = (index: number): number => parameters[index] ?? 0;
    const features = word(5);
    if ((features & needed) !== needed) {
      foreign.libc.close(this.#fd);
      throw new Error(`the kernel's io_uring lacks features (${features.toString(16)})`);
    }
    // struct io_uring_params: sq_off from byte 40 on, cq_off from byte 80 on, four bytes each.
    const [submissions, completions] = [word(0), word(1)];
    const ringBytes = Math.max(word(16) + submissions * 4, word(25) + completions * 16);
    const rings = this.#map(ringBytes, 0n);
    const entries = this.#map(submissions * 64, 0x10000000n);
    this.#maps = [rings, entries];
    this.#words = new Int32Array(foreign.memory(rings.address, ringBytes));
    this.#submissionTail = word(11) / 4;
    this.#submissionFlags = word(14) / 4;
    this.#completionHead = word(20) / 4;
    this.#completionTail = word(21) / 4;
    this.#completionsAt = word(25) / 4;
    this.#completionFlags = word(26) / 4;
    this.#submissions = new Int32Array(foreign.memory(entries.address, submissions * 64));
    this.#submissionMask = submissions - 1;
    this.#completionMask = completions - 1;
    this.#waiting[2] = BigInt(foreign.addressOf(new Uint8Array(this.#patience.buffer)));
    // The kernel looks submissions up through an array of indices; we use each entry in its place.
    for (let index = 0; index < submissions; index++) this.#words[word(16) / 4 + index] = index;
  }

  /** Hot. Writes a submission; `enter` tells the kernel. Addresses are numbers below 2^53. What the address points to must
   * stay until the operation has completed (until `enter` for what is only read: socket addresses, times). */
  submit(
    code: number,
    flags: number,
    priority: number,
    fd: number,
    offset: number,
    address: number,
    length: number,
    operationFlags: number,
    user: number,
    group: number,
  ): void {
    const at = this.place() * 16;
    const entry = this.#submissions;
    entry[at] = code | (flags << 8) | (priority << 16);
    entry[at + 1] = fd;
    entry[at + 2] = offset;
    entry[at + 3] = offset / 2 ** 32;
    entry[at + 4] = address;
    entry[at + 5] = address / 2 ** 32;
    entry[at + 6] = length;
    entry[at + 7] = operationFlags;
    entry[at + 8] = user;
    entry[at + 9] = 0;
    entry[at + 10] = group;
    entry[at + 11] = 0;
    entry[at + 12] = 0;
    entry[at + 13] = 0;
    this.#tail = (this.#tail + 1) | 0;
  }

  /** Hot. Where the next submission is written; there is room for it. */
  place(): number {
    if (this.#tail - this.#submitted > this.#submissionMask) this.enter();
    return this.#tail & this.#submissionMask;
  }

  /** How many submissions there is room for. */
  get places(): number {
    return this.#submissionMask + 1;
  }

  /** Submissions written and not yet told. */
  get pending(): number {
    return (this.#tail - this.#submitted) | 0;
  }

  /** Hot. Tells the kernel of what was submitted and lets it do its deferred work. Never waits. */
  enter(): void {
    Atomics.store(this.#words, this.#submissionTail, this.#tail);
    for (let attempt = 0; ; attempt++) {
      const count = this.#foreign.libc.ioUringEnter(this.#fd, this.pending, 0, getEvents);
      if (count >= 0) this.#submitted = (this.#submitted + count) | 0;
      else {
        const code = this.#foreign.errno();
        // EINTR, EAGAIN (no memory for a request), EBUSY (too many completions are waiting): once more, a few times; what
        // could not be submitted stays in the ring for the next call.
        assert(code === 4 || code === 11 || code === 16, `io_uring_enter: ${getSystemErrorName(-code)}`);
      }
      if (this.pending === 0 || attempt === 3) return;
    }
  }

  /** Hot. As `enter`, and if there is no completion then, waits for one, but no longer than so many nanoseconds (less than a
   * second). A signal ends it early. */
  enterAndWait(patience: number): void {
    Atomics.store(this.#words, this.#submissionTail, this.#tail);
    this.#patience[1] = BigInt(patience);
    const { libc } = this.#foreign;
    const count = libc.ioUringEnterWith(this.#fd, this.pending, 1, getEvents | withArgument, this.#waitingBytes);
    if (count >= 0) this.#submitted = (this.#submitted + count) | 0;
    // Nearly always ETIME, nothing came. Not asked for: after so frequent an error the collector may have run, and errno be that
    // of its own calls. If something is wrong with the ring, the plain call says it.
    else if (this.pending > 0) this.enter();
  }

  /** Hot. Has the kernel answers that did not fit? `enter` fetches them. */
  get overflown(): boolean {
    return (Atomics.load(this.#words, this.#submissionFlags) & overflow) !== 0;
  }

  /** Hot. Is there a reason to look: completions, work for the kernel to do on our thread, or completions that did not fit? */
  get ready(): boolean {
    if (Atomics.load(this.#words, this.#completionTail) !== this.#head) return true;
    return (Atomics.load(this.#words, this.#submissionFlags) & (taskrun | overflow)) !== 0;
  }

  /** Hot. How many completions there are. They are numbered from 0 and keep their places until `done`. */
  get completions(): number {
    return (Atomics.load(this.#words, this.#completionTail) - this.#head) | 0;
  }

  /** Hot. The index of completion number `number` in `words`: user (two words), result, flags. */
  completion(number: number): number {
    return this.#completionsAt + ((this.#head + number) & this.#completionMask) * 4;
  }

  get words(): Int32Array {
    return this.#words;
  }

  /** Hot. The first `count` completions have been read; the kernel may use their places. */
  done(count: number): void {
    this.#head = (this.#head + count) | 0;
    Atomics.store(this.#words, this.#completionHead, this.#head);
  }

  /** Signals an event counter whenever there is something to look at, unless told to be quiet. */
  signal(eventFd: number): void {
    this.register(4, new Uint8Array(new Int32Array([eventFd]).buffer), 1);
  }

  set quiet(quiet: boolean) {
    Atomics.store(this.#words, this.#completionFlags, quiet ? 1 : 0);
  }

  register(opcode: number, argument: Uint8Array, count: number): void {
    const result = this.#foreign.libc.ioUringRegister(this.#fd, opcode, argument, count);
    if (result < 0) throw new Error(`io_uring_register ${opcode}: ${getSystemErrorName(-this.#foreign.errno())}`);
  }

  /** Ends everything that is in flight. The memory is given back: nobody may touch this object again. */
  close(): void {
    assert(this.#open, 'a ring is closed once');
    this.#open = false;
    this.#foreign.libc.close(this.#fd);
    for (const { address, length } of this.#maps) this.#foreign.libc.munmap(address, BigInt(length));
  }

  #map(length: number, offset: bigint): Mapped {
    // PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE
    const address = this.#foreign.libc.mmap(0n, BigInt(length), 3, 0x8001, this.#fd, offset);
    if (BigInt.asIntN(64, address) === -1n) {
      const code = getSystemErrorName(-this.#foreign.errno());
      this.#foreign.libc.close(this.#fd);
      throw new Error(`mapping the ring: ${code}`);
    }
    return { address, length };
  }
}

interface Mapped {
  readonly address: bigint;
  readonly length: number;
}

// IORING_SETUP_: CQSIZE | CLAMP | SUBMIT_ALL | TASKRUN_FLAG | SINGLE_ISSUER | DEFER_TASKRUN
const setupFlags = (1 << 3) | (1 << 4) | (1 << 7) | (1 << 9) | (1 << 12) | (1 << 13);
// IORING_FEAT_: SINGLE_MMAP | NODROP | SUBMIT_STABLE | FAST_POLL | EXT_ARG
const needed = 1 | (1 << 1) | (1 << 2) | (1 << 5) | (1 << 8);
const getEvents = 1;
const withArgument = 1 << 3;
const overflow = 1 << 1;
const taskrun = 1 << 2;

function refusal(code: number): string {
  const name = getSystemErrorName(-code);
  switch (name) {
    case 'ENOSYS':
      return 'this kernel has no io_uring';
    case 'EPERM':
    case 'EACCES':
      return 'io_uring is forbidden here (seccomp, or kernel.io_uring_disabled)';
    case 'EINVAL':
      return "the kernel's io_uring is too old (6.1 is needed)";
    case 'ENOMEM':
      return 'no locked memory left for io_uring (ulimit -l)';
    default:
      return `io_uring_setup: ${name}`;
  }
}
