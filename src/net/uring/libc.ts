// The few functions of libc that the io_uring engine calls, reached through `node:ffi`, which is experimental and may be
// missing, switched off, or different one day: everything that knows it is in this file.
//
// What a call costs was measured on Node 26.10 (CPU time, the system call itself included): one argument 100 ns, three 160,
// five 355, six 400, seven 205. Up to six arguments go through a trampoline that grows dearer with each; from the seventh on
// libffi's own way is taken, which is flat. So `io_uring_enter` goes through `syscall` with all its seven arguments.

import type * as Ffi from 'node:ffi';
import { foreignFunctions } from '../foreign-functions.ts';

/** libc as far as we use it. Pointers are addresses; a negative result means: ask `errno`. */
export interface Libc {
  ioUringSetup(entries: number, parameters: Uint8Array): number;
  ioUringEnter(fd: number, submit: number, wait: number, flags: number): number;
  /** The same with `struct io_uring_getevents_arg`, for which the flags must say EXT_ARG. */
  ioUringEnterWith(fd: number, submit: number, wait: number, flags: number, argument: Uint8Array): number;
  ioUringRegister(fd: number, opcode: number, argument: Uint8Array, count: number): number;
  mmap(address: bigint, length: bigint, protection: number, flags: number, fd: number, offset: bigint): bigint;
  munmap(address: bigint, length: bigint): number;
  eventfd(initial: number, flags: number): number;
  pipe2(pair: Uint8Array, flags: number): number;
  dup2(from: number, to: number): number;
  close(fd: number): number;
  socket(family: number, type: number, protocol: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  listen(fd: number, backlog: number): number;
  shutdown(fd: number, how: number): number;
  setsockopt(fd: number, level: number, option: number, value: Uint8Array, length: number): number;
  getsockname(fd: number, address: Uint8Array, length: Uint8Array): number;
  getpeername(fd: number, address: Uint8Array, length: Uint8Array): number;
  inet_pton(family: number, text: string, address: Uint8Array): number;
}

export interface Foreign {
  readonly libc: Libc;
  /** The code of the last call that failed, such as 111 for ECONNREFUSED. */
  errno(): number;
  /** Where the bytes lie. They stay there as long as somebody holds the array. */
  addressOf(bytes: Uint8Array): number;
  /** Memory that is not ours as an array; it must not be unmapped while anybody may still look. */
  memory(address: bigint, length: number): ArrayBuffer;
}

/** libc, or in words why not. */
export function reachLibc(): Foreign | { readonly why: string } {
  if (process.platform !== 'linux') return { why: `io_uring is Linux's, this is ${process.platform}` };
  if (process.arch !== 'x64' && process.arch !== 'arm64') return { why: `not tried on ${process.arch}` };
  const ffi = foreignFunctions();
  if (ffi === undefined) return { why: `this Node (${process.version}) has no node:ffi, or it is switched off` };
  try {
    return open(ffi);
  } catch (error) {
    return { why: `node:ffi cannot reach libc: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function open(ffi: typeof Ffi): Foreign {
  const { functions } = ffi.dlopen(null, {
    mmap: { arguments: ['pointer', 'u64', 'i32', 'i32', 'i32', 'i64'], return: 'pointer' },
    munmap: { arguments: ['pointer', 'u64'], return: 'i32' },
    eventfd: { arguments: ['u32', 'i32'], return: 'i32' },
    pipe2: { arguments: ['buffer', 'i32'], return: 'i32' },
    dup2: { arguments: ['i32', 'i32'], return: 'i32' },
    close: { arguments: ['i32'], return: 'i32' },
    socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
    bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
    listen: { arguments: ['i32', 'i32'], return: 'i32' },
    shutdown: { arguments: ['i32', 'i32'], return: 'i32' },
    setsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'u32'], return: 'i32' },
    getsockname: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
    getpeername: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
    inet_pton: { arguments: ['i32', 'string', 'buffer'], return: 'i32' },
    __errno_location: { arguments: [], return: 'pointer' },
  });
  const { __errno_location: errnoLocation, ...rest } = functions;
  const setup = systemCall(ffi, ['i32', 'u32', 'buffer']);
  const enter = systemCall(ffi, ['i32', 'i32', 'u32', 'u32', 'u32', 'i32', 'i32']);
  const enterWith = systemCall(ffi, ['i32', 'i32', 'u32', 'u32', 'u32', 'buffer', 'i32']);
  const register = systemCall(ffi, ['i32', 'i32', 'u32', 'buffer', 'u32']);
  // One for each thread, and it does not move.
  const errnoAt = errnoLocation();
  return {
    libc: {
      ...rest,
      ioUringSetup: (entries, parameters) => setup(425, entries, parameters),
      ioUringEnter: (fd, submit, wait, flags) => enter(426, fd, submit, wait, flags, 0, 0),
      ioUringEnterWith: (fd, submit, wait, flags, argument) =>
        enterWith(426, fd, submit, wait, flags, argument, argument.length),
      ioUringRegister: (fd, opcode, argument, count) => register(427, fd, opcode, argument, count),
    },
    errno: () => ffi.getInt32(errnoAt),
    addressOf: (bytes) => Number(ffi.getRawPointer(bytes)),
    memory: (address, length) => ffi.toArrayBuffer(address, length, false),
  };
}

/** `syscall` with the arguments of one system call; the numbers used here are the same on x64 and arm64. */
function systemCall<const Arguments extends readonly Ffi.ArgumentType[]>(ffi: typeof Ffi, types: Arguments) {
  return ffi.dlopen(null, { syscall: { arguments: types, return: 'i32' } }).functions.syscall;
}
