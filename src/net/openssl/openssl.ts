// The functions of OpenSSL that our TLS calls, reached through `node:ffi`: the very library that Node itself has inside and shows to
// its add-ons. Like `libc.ts`, everything that knows of the foreign side is in this file: names, types, numbers of options.
//
// Pointers are bigints that are made once and kept; a call with one of them and a number costs some 30 ns, with a buffer among
// its arguments some 150.
//
// Two memories ("BIO") serve all connections of a thread. What a peer sent is put into the one, and OpenSSL takes all of it out before
// the call returns, the beginning of a record that is not complete included; what is to be sent comes out of the other at
// once. A connection that is silent keeps neither.

import type * as Ffi from 'node:ffi';
import { assert } from '../../base.ts';
import { foreignFunctions } from '../foreign-functions.ts';

/** Something of OpenSSL's, by its address. */
export type Pointer = bigint;

export type OpenSsl = ReturnType<typeof open>;

/** What `SSL_get_error` answers when nothing is wrong: more must come, or the peer has said that nothing more will. */
export const wantsMore = 2;
export const peerHasEnded = 6;

/** What a callback answers during a handshake. */
export const chosen = 0;
export const refuse = 2;

/** What `SSL_CTX_ctrl` and its kind are asked for. */
export const control = {
  extraChainCertificate: 14,
  mode: 33,
  sessionCacheMode: 44,
  serverNameCallback: 53,
  ticketKeysLength: 58,
  ticketKeys: 59,
  versionMin: 123,
} as const;

/** SSL_OP_: no compression, the server's order of ciphers, no renegotiation. */
export const options = (1n << 17n) | (1n << 22n) | (1n << 30n);
/** SSL_MODE_RELEASE_BUFFERS: whoever is silent holds no buffers for records. */
export const releaseBuffers = 0x10n;

let reached: OpenSsl | undefined;
let sought = false;

/** OpenSSL for this thread; undefined where it cannot be reached. */
export function reachOpenSsl(): OpenSsl | undefined {
  if (sought) return reached;
  sought = true;
  const ffi = foreignFunctions();
  if (ffi === undefined) return undefined;
  try {
    reached = open(ffi);
  } catch {
    // This Node does not show its OpenSSL.
  }
  return reached;
}

function open(ffi: typeof Ffi) {
  const { functions, lib } = ffi.dlopen(null, {
    TLS_server_method: { arguments: [], return: 'pointer' },
    SSL_CTX_new: { arguments: ['pointer'], return: 'pointer' },
    SSL_CTX_free: { arguments: ['pointer'], return: 'void' },
    SSL_CTX_ctrl: { arguments: ['pointer', 'i32', 'i64', 'pointer'], return: 'i64' },
    SSL_CTX_callback_ctrl: { arguments: ['pointer', 'i32', 'pointer'], return: 'i64' },
    SSL_CTX_set_options: { arguments: ['pointer', 'u64'], return: 'u64' },
    SSL_CTX_set_cipher_list: { arguments: ['pointer', 'string'], return: 'i32' },
    SSL_CTX_use_certificate_ASN1: { arguments: ['pointer', 'i32', 'buffer'], return: 'i32' },
    SSL_CTX_use_PrivateKey: { arguments: ['pointer', 'pointer'], return: 'i32' },
    SSL_CTX_set_alpn_select_cb: { arguments: ['pointer', 'pointer', 'pointer'], return: 'void' },
    d2i_PrivateKey_bio: { arguments: ['pointer', 'pointer'], return: 'pointer' },
    EVP_PKEY_free: { arguments: ['pointer'], return: 'void' },
    d2i_X509_bio: { arguments: ['pointer', 'pointer'], return: 'pointer' },
    BIO_new: { arguments: ['pointer'], return: 'pointer' },
    BIO_free: { arguments: ['pointer'], return: 'i32' },
    BIO_s_mem: { arguments: [], return: 'pointer' },
    BIO_ctrl_pending: { arguments: ['pointer'], return: 'i32' },
    BIO_up_ref: { arguments: ['pointer'], return: 'i32' },
    BIO_read: { arguments: ['pointer', 'pointer', 'i32'], return: 'i32' },
    BIO_write: { arguments: ['pointer', 'buffer', 'i32'], return: 'i32' },
    SSL_new: { arguments: ['pointer'], return: 'pointer' },
    SSL_free: { arguments: ['pointer'], return: 'void' },
    SSL_set_bio: { arguments: ['pointer', 'pointer', 'pointer'], return: 'void' },
    SSL_set_accept_state: { arguments: ['pointer'], return: 'void' },
    SSL_set_SSL_CTX: { arguments: ['pointer', 'pointer'], return: 'pointer' },
    SSL_do_handshake: { arguments: ['pointer'], return: 'i32' },
    SSL_read: { arguments: ['pointer', 'pointer', 'i32'], return: 'i32' },
    SSL_write: { arguments: ['pointer', 'buffer', 'i32'], return: 'i32' },
    SSL_shutdown: { arguments: ['pointer'], return: 'i32' },
    SSL_get_error: { arguments: ['pointer', 'i32'], return: 'i32' },
    SSL_get_version: { arguments: ['pointer'], return: 'pointer' },
    SSL_get_servername: { arguments: ['pointer', 'i32'], return: 'pointer' },
    SSL_get0_alpn_selected: { arguments: ['pointer', 'buffer', 'buffer'], return: 'void' },
    SSL_session_reused: { arguments: ['pointer'], return: 'i32' },
    ERR_clear_error: { arguments: [], return: 'void' },
  });
  const memory = (): Pointer => {
    const made = functions.BIO_new(functions.BIO_s_mem());
    assert(made !== 0n, 'there is memory for OpenSSL');
    return made;
  };
  return {
    ...functions,
    /** What peers have sent, and what is to be sent to them; empty between two calls. */
    incoming: memory(),
    outgoing: memory(),
    /** A function that OpenSSL calls back, on this thread and within a call of ours. It must not throw. */
    callback: lib.registerCallback.bind(lib),
    addressOf: (bytes: Uint8Array): Pointer => ffi.getRawPointer(bytes),
    textAt: (at: Pointer): string => (at === 0n ? '' : (ffi.toString(at) ?? '')),
    bytesAt: (at: Pointer, length: number): Buffer => ffi.toBuffer(at, length, true),
    writePointer: (at: Pointer, value: Pointer): void => ffi.setUint64(at, 0, value),
    writeByte: (at: Pointer, value: number): void => ffi.setUint8(at, 0, value),
  };
}
