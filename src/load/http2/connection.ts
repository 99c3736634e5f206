// One connection of HTTP/2 and the places on it. It deals out the streams that the server allows, and when the server takes its
// leave (GOAWAY) it lets what is under way end, sends the rest elsewhere, and closes.
//
//   opening ──► ready ──► leaving ──► closed
//      └──────────┴──────────────────────┘

import { assert, type Instant } from '../../base.ts';
import {
  connectHttp2,
  type Http2Answer,
  type Http2Link,
  type Http2Request,
  type NetError,
  type Target,
} from '../../net.ts';
import type { StreamCarrier } from './stream-carrier.ts';

export interface Http2Setting {
  readonly now: () => Instant;
  readonly target: Target;
  /** Places on one connection. */
  readonly streamsMax: number;
  /** It takes no more: places that have not sent their request go to the connection that this gives. */
  readonly elsewhere: () => Http2Connection;
  readonly onClosed: (connection: Http2Connection) => void;
  /** The server allows so many streams at once, fewer than there are places. */
  readonly onFewerStreams: (allowed: number) => void;
}

export class Http2Connection {
  readonly now: () => Instant;
  readonly #setting: Http2Setting;
  readonly #link: Http2Link;
  readonly #places = new Set<StreamCarrier>();
  /** Places with a request that has no stream yet, oldest first. */
  readonly #waiting = new Set<StreamCarrier>();
  #state: 'opening' | 'ready' | 'leaving' | 'closed' = 'opening';
  #streams = 0;
  #serving = false;

  constructor(setting: Http2Setting) {
    this.#setting = setting;
    this.now = setting.now;
    this.#link = connectHttp2(setting.target, {
      onReady: () => this.#ready(),
      onGoAway: () => this.#leave(),
      onClosed: (error) => this.#closed(error),
    });
  }

  get places(): number {
    return this.#places.size;
  }

  get isLeaving(): boolean {
    return this.#state === 'leaving' || this.#state === 'closed';
  }

  get hasRoom(): boolean {
    return !this.isLeaving && this.#places.size < this.#setting.streamsMax;
  }

  seat(place: StreamCarrier): void {
    assert(this.hasRoom, 'a place is taken where there is room');
    this.#places.add(place);
  }

  /** A stream for a place that has taken a request: at once, or else when its turn comes and `open` is called. */
  claim(place: StreamCarrier): boolean {
    if (this.#state === 'ready' && this.#streams < this.#link.streamsMax) {
      this.#streams += 1;
      place.hasStream = true;
      return true;
    }
    this.#waiting.add(place);
    return false;
  }

  /** The place's request has ended. */
  release(place: StreamCarrier): void {
    if (!place.hasStream) return;
    place.hasStream = false;
    this.#streams -= 1;
    this.#serveSoon();
  }

  send(fields: readonly string[], body: Uint8Array, answer: Http2Answer): Http2Request {
    return this.#link.request(fields, body.length === 0 ? undefined : body, answer);
  }

  /** The place is given up. A connection that is open stays for the next ones; one that never opened is given up with its last
   * place, so that the next try is a new one. */
  leave(place: StreamCarrier): void {
    this.#waiting.delete(place);
    this.release(place);
    this.#places.delete(place);
    if (this.#places.size === 0 && this.#state !== 'ready') this.close();
  }

  /** Ends it, whatever is on it. Places are not told. */
  close(): void {
    if (this.#state !== 'closed') this.#state = 'leaving';
    this.#link.destroy();
  }

  #ready(): void {
    if (this.#state !== 'opening') return;
    this.#state = 'ready';
    if (this.#link.streamsMax < this.#setting.streamsMax) this.#setting.onFewerStreams(this.#link.streamsMax);
    this.#serve();
  }

  #serveSoon(): void {
    if (this.#waiting.size === 0 || this.#serving) return;
    this.#serving = true;
    queueMicrotask(() => {
      this.#serving = false;
      this.#serve();
    });
  }

  /** Streams for those who wait, as long as there are any. */
  #serve(): void {
    while (this.#state === 'ready' && this.#streams < this.#link.streamsMax) {
      const [place] = this.#waiting;
      if (place === undefined) return;
      this.#waiting.delete(place);
      this.#streams += 1;
      place.hasStream = true;
      place.open();
    }
  }

  #leave(): void {
    if (this.isLeaving) return;
    this.#state = 'leaving';
    for (const place of this.#places) {
      if (place.underWay) continue;
      if (place.busy) this.#moveAway(place);
      else place.lose('goaway');
    }
    if (this.#places.size === 0) this.close();
  }

  #moveAway(place: StreamCarrier): void {
    this.#waiting.delete(place);
    this.#places.delete(place);
    const other = this.#setting.elsewhere();
    other.seat(place);
    place.moveTo(other);
  }

  #closed(error: NetError | undefined): void {
    const told = this.#state;
    this.#state = 'closed';
    this.#setting.onClosed(this);
    const kind = error === undefined ? (told === 'leaving' ? 'goaway' : 'closed') : kindOf(error);
    for (const place of this.#places) place.lose(kind);
  }
}

/** What Node finds wrong with the peer's frames has codes of its own. */
const kindOf = ({ code, kind }: NetError): string => (code.startsWith('ERR_HTTP2') ? 'bad-response' : kind);
