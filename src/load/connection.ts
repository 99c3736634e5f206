// One connection of HTTP/1.1 to one target, carrying one request at a time. It knows what the bytes mean and nothing of plans: whoever
// owns it is told that it opened, that its request was answered, or that it is gone.
//
//   connecting ──onOpen──► open ──────────onClose──► closed
//        │                 │  ▲ ask … answered          ▲
//        └──────onClose────┴──┘─────────────────────────┘
//
// Hot: `ask` and `onData`. Nothing is allocated for a request.

import { assert, type Instant } from '../base.ts';
import type { Engine, NetError, Socket, SocketHandler, Target } from '../net.ts';
import { type ResponseEvents, type ResponseHead, type ResponseReader, responseReader } from '../wire.ts';
import { type Carrier, type CarrierOwner, noRequest, type Reading } from './carrier.ts';
import type { KnownAnswers } from './known-answers.ts';
import { cookieSet, type ReplicaMark } from './replica-mark.ts';
import type { ReadyRequest } from './request-bytes.ts';
import type { ReplicaNames } from './replica-names.ts';

export interface ConnectionSetting {
  readonly names: ReplicaNames;
  readonly mark: ReplicaMark;
  readonly known: KnownAnswers;
  readonly target: number;
  readonly user: number;
}

export class Connection implements Carrier, SocketHandler {
  /** Index of its target in the group's list. */
  readonly target: number;
  /** Whose it is, where connections belong to users. */
  readonly user: number;
  state: 'connecting' | 'open' | 'closed' = 'connecting';
  /** Slot of the request that it carries. */
  request: number = noRequest;
  status = 0;
  /** Bytes that have come in since the request was sent. */
  received = 0;
  /** Index of the replica that answered; undefined when the answer did not say. */
  replica: number | undefined;
  #socket: Socket | undefined;
  #reader: ResponseReader | undefined;
  readonly #owner: CarrierOwner;
  readonly #names: ReplicaNames;
  readonly #mark: ReplicaMark;
  readonly #known: KnownAnswers;
  #asked: ReadyRequest | undefined;
  #reading: Reading | undefined;
  /** Bytes of the answer have come. */
  #begun = false;
  #complete = false;
  #reusable = true;
  /** Bytes of the body that the head foretold; 0 where it did not, so that a body is part of what the answer says. */
  #bodyBytes = 0;
  #foretold = false;

  constructor(owner: CarrierOwner, setting: ConnectionSetting) {
    this.#owner = owner;
    this.#names = setting.names;
    this.#mark = setting.mark;
    this.#known = setting.known;
    this.target = setting.target;
    this.user = setting.user;
  }

  connect(engine: Engine, target: Target): void {
    this.#socket = engine.connect(target, this);
  }

  get busy(): boolean {
    return this.request !== noRequest;
  }

  /** Binds a request to this connection, which may still be connecting. */
  take(slot: number, request: ReadyRequest, reading: Reading | undefined): void {
    assert(!this.busy, 'a connection carries one request at a time');
    assert(this.state !== 'closed', 'a closed connection takes no request');
    this.request = slot;
    this.#asked = request;
    this.#reading = reading;
  }

  /** The request that it took has ended. */
  letGo(): void {
    this.request = noRequest;
    this.#reading = undefined;
  }

  /** Sends the request that it took. */
  ask(): void {
    const request = this.#asked;
    assert(this.busy && request !== undefined, 'what is sent was taken before');
    assert(this.state === 'open', 'a request is sent on an open connection');
    this.#complete = false;
    this.#begun = false;
    this.received = 0;
    this.#socket?.write(request.bytes);
  }

  /** Closes it without telling the owner. */
  drop(): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.#socket?.destroy();
  }

  onOpen(_socket: Socket, now: Instant): void {
    if (this.state !== 'connecting') return;
    this.state = 'open';
    this.#owner.opened(this, now);
  }

  onData(_socket: Socket, bytes: Uint8Array, now: Instant): void {
    if (this.state === 'closed') return;
    const asked = this.#asked;
    if (asked === undefined || !this.busy) {
      // Bytes that nobody asked for: a server that says goodbye (408) or that is confused. Either way it is of no more use.
      this.#lose('bad-response', now);
      return;
    }
    this.received += bytes.length;
    const first = !this.#begun;
    this.#begun = true;
    // Where a cookie says who answers, equal bytes mean whoever this connection's last answer was from.
    const isPlain = this.#reading === undefined && this.#mark.cookie === undefined;
    const known = first && isPlain ? this.#known.find(bytes, asked) : undefined;
    if (known === undefined) this.#read(bytes, asked, first, now);
    else {
      this.status = known.status;
      this.replica = known.replica;
      this.#owner.answered(this, now);
    }
  }

  #read(bytes: Uint8Array, asked: ReadyRequest, first: boolean, now: Instant): void {
    const reader = (this.#reader ??= responseReader(this.#events(), {}, [this.#mark.header]));
    if (first) reader.expect(asked.method);
    const consumed = reader.read(bytes);
    // What comes after the answer was not asked for either: the answer counts, the connection is done.
    const clean = reader.error === undefined && consumed === bytes.length;
    if (!this.#complete) {
      if (reader.error !== undefined) this.#lose('bad-response', now);
      return;
    }
    if (first && clean && this.#reusable) this.#known.learn(bytes, bytes.length - this.#bodyBytes, asked, this);
    this.#finish(clean, now);
  }

  onEnd(_socket: Socket, now: Instant): void {
    if (this.state === 'closed') return;
    const cut = this.#reader?.eof() !== undefined;
    if (this.busy && this.#complete) this.#finish(false, now);
    else this.#lose(cut ? 'truncated' : 'closed', now);
  }

  onClose(_socket: Socket, error: NetError | undefined, now: Instant): void {
    if (this.state === 'closed') return;
    this.#lose(error?.kind ?? 'closed', now);
  }

  #finish(keep: boolean, now: Instant): void {
    if (!keep || !this.#reusable) this.drop();
    this.#owner.answered(this, now);
  }

  #lose(kind: string, now: Instant): void {
    this.drop();
    this.#owner.lost(this, kind, now);
  }

  /** Made once for each connection, not for each request. The owner is told after `read` has returned: it may send the next
   * request at once, and the rest of the chunk would be taken for its answer. */
  #events(): ResponseEvents {
    return {
      onHead: (head: ResponseHead) => {
        this.status = head.status;
        this.#reusable = head.keepAlive;
        this.#bodyBytes = 0;
        this.#foretold = head.contentLength !== undefined;
        const { cookie } = this.#mark;
        const name = cookie === undefined ? head.watched(0) : cookieSet(head, cookie);
        if (name !== undefined) this.replica = this.#names.indexOf(name);
        else if (cookie === undefined) this.replica = undefined;
        this.#reading?.onHead(head);
      },
      onBody: (bytes, from, to) => {
        if (this.#foretold) this.#bodyBytes += to - from;
        this.#reading?.onBody(bytes, from, to);
      },
      onEnd: () => {
        this.#complete = true;
        this.#reading?.onEnd();
      },
    };
  }
}
