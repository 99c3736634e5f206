// A place among the streams of a connection of HTTP/2: it carries one request at a time, each on a stream of its own. Dropped, it
// resets its stream and leaves the connection to the others.
//
// A place that has taken a request is open once its connection is ready and has a stream to spare. Where the server allows fewer
// streams than places were asked for, the others wait in order; the wait is in their requests' latency.

import { assert } from '../../base.ts';
import type { Http2Answer, Http2Failure, Http2Fields, Http2Request } from '../../net.ts';
import { type Carrier, type CarrierOwner, noRequest, type Reading } from '../carrier.ts';
import { cookieSet, type ReplicaMark } from '../replica-mark.ts';
import type { ReplicaNames } from '../replica-names.ts';
import type { ReadyRequest } from '../request-bytes.ts';
import type { Http2Connection } from './connection.ts';

export interface StreamSetting {
  readonly owner: CarrierOwner;
  readonly names: ReplicaNames;
  readonly mark: ReplicaMark;
  readonly target: number;
  readonly user: number;
}

export class StreamCarrier implements Carrier {
  state: 'connecting' | 'open' | 'closed' = 'connecting';
  request: number = noRequest;
  status = 0;
  received = 0;
  replica: number | undefined;
  /** It has one of the streams that the connection may have at once. */
  hasStream = false;
  readonly #setting: StreamSetting;
  #connection: Http2Connection;
  #asked: ReadyRequest | undefined;
  #reading: Reading | undefined;
  #stream: Http2Request | undefined;

  constructor(connection: Http2Connection, setting: StreamSetting) {
    this.#connection = connection;
    this.#setting = setting;
  }

  get target(): number {
    return this.#setting.target;
  }

  get user(): number {
    return this.#setting.user;
  }

  get busy(): boolean {
    return this.request !== noRequest;
  }

  /** A request of its has been sent and is not answered. */
  get underWay(): boolean {
    return this.#stream !== undefined;
  }

  take(slot: number, request: ReadyRequest, reading: Reading | undefined): void {
    assert(!this.busy, 'a stream carries one request');
    assert(this.state !== 'closed', 'a closed place takes no request');
    this.request = slot;
    this.#asked = request;
    this.#reading = reading;
    this.state = this.#connection.claim(this) ? 'open' : 'connecting';
  }

  letGo(): void {
    this.request = noRequest;
    this.#reading = undefined;
    this.#connection.release(this);
  }

  ask(): void {
    const request = this.#asked;
    assert(this.busy && request?.fields !== undefined, 'what is sent was taken before, for HTTP/2');
    assert(this.state === 'open', 'a request is sent when there is a stream for it');
    this.received = 0;
    this.#stream = this.#connection.send(request.fields, request.bytes, this.#answer());
  }

  drop(): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#connection.leave(this);
  }

  /** For the connection: there is a stream for it now. */
  open(): void {
    this.state = 'open';
    this.#setting.owner.opened(this, this.#connection.now());
  }

  /** For the connection: it takes no more requests, and this one has not been sent. */
  moveTo(connection: Http2Connection): void {
    this.#connection = connection;
    this.state = 'connecting';
    if (this.busy && connection.claim(this)) queueMicrotask(() => this.#openIfWaiting());
  }

  /** For the connection: it is gone, or going and this place is empty. */
  lose(kind: string): void {
    if (this.state === 'closed') return;
    this.drop();
    this.#setting.owner.lost(this, kind, this.#connection.now());
  }

  #openIfWaiting(): void {
    if (this.busy && this.state === 'connecting' && this.hasStream) this.open();
  }

  /** The callbacks know which request they were made for: those of an earlier one say nothing any more. */
  #answer(): Http2Answer {
    const reading = this.#reading;
    return {
      onHead: (status: number, fields: Http2Fields, bytes: number) => {
        if (this.state === 'closed') return;
        this.status = status;
        this.received += bytes;
        const { mark, names } = this.#setting;
        const name = mark.cookie === undefined ? fields.header(mark.header) : cookieSet(fields, mark.cookie);
        if (name !== undefined) this.replica = names.indexOf(name);
        else if (mark.cookie === undefined) this.replica = undefined;
        reading?.onHead(fields);
      },
      onBody: (bytes) => {
        if (this.state === 'closed') return;
        this.received += bytes.length;
        reading?.onBody(bytes, 0, bytes.length);
      },
      onEnd: () => {
        if (this.state === 'closed') return;
        this.#stream = undefined;
        reading?.onEnd();
        if (this.#connection.isLeaving) this.drop();
        this.#setting.owner.answered(this, this.#connection.now());
      },
      onFailed: (failure) => this.#failed(failure),
    };
  }

  #failed(failure: Http2Failure): void {
    // Why a connection broke is told in a moment, to everybody on it at once.
    if (this.state === 'closed' || failure === 'link') return;
    this.#stream = undefined;
    this.lose(kindOf(failure, this.#connection.isLeaving));
  }
}

function kindOf(failure: Exclude<Http2Failure, 'link'>, leaving: boolean): string {
  switch (failure) {
    case 'refused':
      return leaving ? 'goaway' : 'stream-refused';
    case 'reset':
      return 'stream-reset';
    case 'truncated':
      return 'truncated';
  }
}
