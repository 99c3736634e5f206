// The connections of HTTP/2 to one target, as many as were asked for, each with as many places as there may be streams. New
// places go to the connection that has the fewest, so that all carry equal shares.

import { type Carrier } from '../carrier.ts';
import { Http2Connection, type Http2Setting } from './connection.ts';
import { StreamCarrier, type StreamSetting } from './stream-carrier.ts';

export interface PoolSetting extends Pick<Http2Setting, 'now' | 'target' | 'streamsMax'> {
  /** At once, besides those that are leaving. */
  readonly connectionsMax: number;
}

export class Http2Pool {
  readonly #setting: PoolSetting;
  readonly #connections = new Set<Http2Connection>();
  #streamsAllowed: number | undefined;

  constructor(setting: PoolSetting) {
    this.#setting = setting;
  }

  /** Streams that the server allows on a connection, where that is fewer than were asked for. */
  get streamsAllowed(): number | undefined {
    return this.#streamsAllowed;
  }

  /** A new place. Its owner hears of it in a later turn. */
  place(setting: StreamSetting): Carrier {
    const connection = this.#roomiest();
    const place = new StreamCarrier(connection, setting);
    connection.seat(place);
    return place;
  }

  /** Nothing more is to come. */
  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  #roomiest(): Http2Connection {
    let best: Http2Connection | undefined;
    let count = 0;
    for (const connection of this.#connections) {
      if (connection.isLeaving) continue;
      count += 1;
      if (connection.hasRoom && connection.places < (best?.places ?? Infinity)) best = connection;
    }
    if (best === undefined || (count < this.#setting.connectionsMax && best.places > 0)) return this.#open();
    return best;
  }

  #open(): Http2Connection {
    const connection = new Http2Connection({
      ...this.#setting,
      elsewhere: () => this.#roomiest(),
      onClosed: (closed) => this.#connections.delete(closed),
      onFewerStreams: (allowed) => (this.#streamsAllowed = allowed),
    });
    this.#connections.add(connection);
    return connection;
  }
}
