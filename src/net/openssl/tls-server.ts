// The server's side of handshakes by OpenSSL, for one thread: contexts made of what a `ServerTls` shows, and which of them a client
// gets. OpenSSL asks two questions in the middle of a handshake, by calling back: whose certificate (the name that the client asks
// for), and which protocol inside (ALPN). A handshake runs within one call of ours, so whom it is about is known by then.
//
//   SSL_do_handshake ─► which name?      ─► its context takes the place of the first
//                    ─► which protocol?  ─► the first of ours that the client knows; none: refused

import { createPrivateKey, hkdfSync, X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { assert } from '../../base.ts';
import { indexFor, type ServerTls, type Shown } from '../server-tls.ts';
import {
  chosen,
  control,
  type OpenSsl,
  options,
  type Pointer,
  reachOpenSsl,
  refuse,
  releaseBuffers,
} from './openssl.ts';

/** What is shown, and a context for each certificate of it. */
interface Contexts {
  readonly shown: Shown;
  readonly pointers: readonly Pointer[];
}

let ofThisThread: TlsServer | undefined;

/** Undefined where OpenSSL cannot be reached. */
export function reachTlsServer(): TlsServer | undefined {
  const openssl = reachOpenSsl();
  if (openssl !== undefined) ofThisThread ??= new TlsServer(openssl);
  return ofThisThread;
}

export class TlsServer {
  readonly openssl: OpenSsl;
  readonly #contexts = new WeakMap<ServerTls, Contexts>();
  /** Who is shaking hands at this moment. */
  #present: Contexts | undefined;
  readonly #nameCallback: Pointer;
  readonly #protocolCallback: Pointer;

  constructor(openssl: OpenSsl) {
    this.openssl = openssl;
    this.#nameCallback = openssl.callback({ arguments: ['u64', 'u64', 'u64'], return: 'i32' }, this.#chooseCertificate);
    this.#protocolCallback = openssl.callback(
      { arguments: ['u64', 'u64', 'u64', 'u64', 'u32', 'u64'], return: 'i32' },
      this.#chooseProtocol,
    );
  }

  /** A connection of OpenSSL's that waits for a client to begin. `SSL_free` gives it back. */
  open(serving: ServerTls): Pointer {
    const { openssl } = this;
    const [first = 0n] = this.#contextsOf(serving).pointers;
    const connection = openssl.SSL_new(first);
    assert(connection !== 0n, 'there is memory for a connection');
    // It takes both over, and lets go of both when it is given back.
    openssl.BIO_up_ref(openssl.incoming);
    openssl.BIO_up_ref(openssl.outgoing);
    openssl.SSL_set_bio(connection, openssl.incoming, openssl.outgoing);
    openssl.SSL_set_accept_state(connection);
    return connection;
  }

  /** Goes on with a handshake. 1: it is done. */
  shakeHands(connection: Pointer, serving: ServerTls): number {
    this.#present = this.#contextsOf(serving);
    this.openssl.ERR_clear_error();
    const result = this.openssl.SSL_do_handshake(connection);
    this.#present = undefined;
    return result;
  }

  readonly #chooseCertificate = (connection: Pointer): number => {
    const { openssl } = this;
    const present = this.#present;
    if (present === undefined) return refuse;
    const index = indexFor(present.shown, openssl.textAt(openssl.SSL_get_servername(connection, 0)));
    // Also the first: since the client has connected, others may have taken the place of those that were shown then.
    openssl.SSL_set_SSL_CTX(connection, present.pointers[index] ?? 0n);
    return chosen;
  };

  readonly #chooseProtocol = (
    _connection: Pointer,
    answer: Pointer,
    answerLength: Pointer,
    offered: Pointer,
    length: number,
  ): number => {
    const { openssl } = this;
    const alpn = this.#present?.shown.alpn ?? [];
    const at = placesOf(openssl.bytesAt(offered, length));
    const place = alpn.map((name) => at.get(name)).find((found) => found !== undefined);
    if (place === undefined) return refuse;
    // What is chosen is shown where the client has written it.
    openssl.writePointer(answer, offered + BigInt(place.at));
    openssl.writeByte(answerLength, place.length);
    return chosen;
  };

  #contextsOf(serving: ServerTls): Contexts {
    const { shown } = serving;
    const before = this.#contexts.get(serving);
    if (before?.shown === shown) return before;
    // Connections that were made of them keep them alive.
    for (const pointer of before?.pointers ?? []) this.openssl.SSL_CTX_free(pointer);
    const made = { shown, pointers: shown.certificates.map((_, index) => this.#context(serving, shown, index)) };
    this.#contexts.set(serving, made);
    return made;
  }

  #context(serving: ServerTls, shown: Shown, index: number): Pointer {
    const { openssl } = this;
    const context = openssl.SSL_CTX_new(openssl.TLS_server_method());
    const certificate = shown.certificates[index];
    assert(context !== 0n && certificate !== undefined, 'a certificate that is shown is there');
    openssl.SSL_CTX_set_options(context, options);
    openssl.SSL_CTX_ctrl(context, control.mode, releaseBuffers, 0n);
    openssl.SSL_CTX_ctrl(context, control.versionMin, shown.versionMin === 'TLSv1.3' ? 0x304n : 0x303n, 0n);
    // Sessions are in tickets; nothing is kept here.
    openssl.SSL_CTX_ctrl(context, control.sessionCacheMode, 0n, 0n);
    openssl.SSL_CTX_set_cipher_list(context, ciphersBefore13);
    this.#giveCertificate(context, certificate.cert);
    this.#giveKey(context, certificate.key);
    this.#giveTicketKeys(context, serving.ticketKeys);
    openssl.SSL_CTX_callback_ctrl(context, control.serverNameCallback, this.#nameCallback);
    // Reading a key means trying several forms of one.
    openssl.ERR_clear_error();
    if (shown.alpn !== undefined) openssl.SSL_CTX_set_alpn_select_cb(context, this.#protocolCallback, 0n);
    return context;
  }

  #giveCertificate(context: Pointer, pem: string): void {
    const { openssl } = this;
    const [own, ...between] = certificatesOf(pem);
    assert(own !== undefined, 'a certificate that Node has read is one');
    const taken = openssl.SSL_CTX_use_certificate_ASN1(context, own.length, own);
    assert(taken === 1, 'what Node’s own context has taken, OpenSSL takes');
    for (const der of between) {
      const certificate = this.#readFrom(der, (memory) => openssl.d2i_X509_bio(memory, 0n));
      openssl.SSL_CTX_ctrl(context, control.extraChainCertificate, 0n, certificate);
    }
  }

  #giveKey(context: Pointer, pem: string): void {
    const { openssl } = this;
    const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
    const key = this.#readFrom(der, (memory) => openssl.d2i_PrivateKey_bio(memory, 0n));
    const taken = openssl.SSL_CTX_use_PrivateKey(context, key);
    openssl.EVP_PKEY_free(key);
    assert(taken === 1, 'what Node’s own context has taken, OpenSSL takes');
  }

  /** As many bytes as OpenSSL wants for its keys, made of ours. */
  #giveTicketKeys(context: Pointer, ours: Uint8Array): void {
    const { openssl } = this;
    const length = openssl.SSL_CTX_ctrl(context, control.ticketKeysLength, 0n, 0n);
    const keys = new Uint8Array(hkdfSync('sha256', ours, new Uint8Array(0), 'tickets of OpenSSL', Number(length)));
    openssl.SSL_CTX_ctrl(context, control.ticketKeys, length, openssl.addressOf(keys));
  }

  /** Something that OpenSSL reads out of these bytes: from a memory of its own, since in the one of all there may be a client's hello. */
  #readFrom(der: Buffer, read: (memory: Pointer) => Pointer): Pointer {
    const { openssl } = this;
    const memory = openssl.BIO_new(openssl.BIO_s_mem());
    openssl.BIO_write(memory, der, der.length);
    const found = read(memory);
    openssl.BIO_free(memory);
    assert(found !== 0n, 'what Node has read, OpenSSL can read');
    return found;
  }
}

/** Those of TLS 1.3 have a list of their own, which is left as it is. */
const ciphersBefore13 = tls.DEFAULT_CIPHERS.split(':')
  .filter((name) => !name.startsWith('TLS_'))
  .join(':');

function certificatesOf(pem: string): readonly Buffer[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.map((one) => new X509Certificate(one).raw);
}

/** Where in a client's list each name stands: the list is a length and a name, again and again. */
function placesOf(offered: Buffer): ReadonlyMap<string, { readonly at: number; readonly length: number }> {
  const places = new Map<string, { at: number; length: number }>();
  for (let at = 0; at < offered.length;) {
    const length = offered[at] ?? 0;
    places.set(offered.toString('latin1', at + 1, at + 1 + length), { at: at + 1, length });
    at += 1 + length;
  }
  return places;
}
