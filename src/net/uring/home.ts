// What sockets and listeners need of the engine they live in. The engine is the only one that there is; this says how much of
// it they may use.

import type { Alarm } from '../engine.ts';
import type { Instant } from '../../base.ts';
import type { Foreign } from './libc.ts';
import type { ReceiveBuffers } from './receive-buffers.ts';
import type { Requests } from './requests.ts';
import type { SendChunks } from './send-chunks.ts';
import type { UringListener } from './uring-listener.ts';
import type { UringSocket } from './uring-socket.ts';

export interface Home {
  readonly foreign: Foreign;
  readonly requests: Requests;
  readonly chunks: SendChunks;
  readonly buffers: ReceiveBuffers;
  readonly highWaterMark: number;
  readonly lowWaterMark: number;
  now(): Instant;
  alarm(at: Instant, ring: (now: Instant) => void): Alarm;
  /** The numeric addresses of a name. Rejects with the system's error. */
  resolve(host: string): Promise<readonly string[]>;
  /** The socket wants something: to send, to receive again, to end. It is asked in the next round. */
  want(socket: UringSocket): void;
  /** A send of the socket's was submitted that is done when the kernel has been called: `settled` then. */
  settle(socket: UringSocket): void;
  /** Nothing is in flight for the socket any more: it is closed in this round or the next. */
  bury(socket: UringSocket): void;
  /** Makes sure that a round follows. */
  soon(): void;
  /** A connection was accepted. */
  adopt(listener: UringListener, fd: number): void;
  /** No answer about the slot can come any more. */
  release(slot: number): void;
  forget(listener: UringListener): void;
}

/** The kernel's words for what is not an error of the peer's. */
export const canceled = -125;
export const again = -11;
export const noBuffers = -105;
