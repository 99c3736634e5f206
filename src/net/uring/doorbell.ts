// How the kernel wakes Node's loop when the ring has something: an event counter (eventfd) that the ring signals, watched by
// the loop like any pipe.
//
// Node offers no way to watch a descriptor of one's own. It does open pipes by their number. So we make a pipe, let Node open
// its reading end, and put the event counter in that end's place (dup2) before the loop has begun to watch it. From then on
// the loop wakes when the counter is signalled, reads its eight bytes, and calls us as it calls any socket: with promises and
// ticks in order, counted as alive or not by `ref`, and closed properly when the thread ends. (Watching the ring through
// libuv's own uv_poll, which FFI reaches too, gives none of this: ticks are not run, and a worker that ends with such a handle
// aborts the whole process.)
//
// The price is one `read` a turn, some 300 ns, for however many completions the turn brings.

import { readFileSync, readlinkSync } from 'node:fs';
import net from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { Foreign } from './libc.ts';

// EFD_CLOEXEC | EFD_NONBLOCK, which are O_CLOEXEC | O_NONBLOCK
const closeOnExecNonBlocking = 0x80000 | 0x800;

/** A loop opens its epoll descriptor before anything else. */
const descriptorsSearched = 64;

export class Doorbell {
  /** For `Ring.signal`. */
  readonly eventFd: number;
  readonly #foreign: Foreign;
  readonly #socket: net.Socket;
  readonly #reading: number;

  /** `answer` is called in a turn of the loop after the counter was signalled. */
  constructor(foreign: Foreign, answer: () => void) {
    this.#foreign = foreign;
    const { libc } = foreign;
    const pair = new Int32Array(2);
    if (libc.pipe2(new Uint8Array(pair.buffer), closeOnExecNonBlocking) < 0) throw failure(foreign, 'pipe2');
    const [reading = -1, writing = -1] = pair;
    this.#reading = reading;
    this.eventFd = libc.eventfd(0, closeOnExecNonBlocking);
    if (this.eventFd < 0) throw failure(foreign, 'eventfd');
    const onread = {
      buffer: new Uint8Array(64),
      callback: (): boolean => {
        answer();
        return true;
      },
    };
    this.#socket = new net.Socket({ fd: reading, readable: true, writable: false, onread });
    libc.dup2(this.eventFd, reading);
    libc.close(writing);
    this.#socket.resume();
  }

  /** The epoll descriptor of the loop that watches the doorbell: it can be read when the loop has something to do. Undefined
   * where it is not found, for instance because the loop has not begun to watch. */
  watchedBy(): number | undefined {
    for (let fd = 3; fd < descriptorsSearched; fd++) {
      try {
        if (readlinkSync(`/proc/self/fd/${fd}`) !== 'anon_inode:[eventpoll]') continue;
        const watched = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').matchAll(/^tfd:\s*(\d+)/gm);
        if (watched.some(([, number]) => Number(number) === this.#reading)) return fd;
      } catch {
        // No such descriptor.
      }
    }
    return undefined;
  }

  /** Whether the loop waits for us before it ends. */
  keepAwake(awake: boolean): void {
    if (awake) this.#socket.ref();
    else this.#socket.unref();
  }

  close(): void {
    this.#socket.destroy();
    this.#foreign.libc.close(this.eventFd);
  }
}

function failure(foreign: Foreign, what: string): Error {
  return new Error(`${what}: ${getSystemErrorName(-foreign.errno())}`);
}
