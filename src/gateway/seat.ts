// What a client needs while it has a request, or a part of one: a reader and an exchange. A connection between two requests has
// no seat, and nearly all connections of a busy gateway are between two requests: eighteen thousand idle clients share the
// few seats that the present load takes.

import { type Limits, type RequestReader, requestReader } from '../wire.ts';
import type { ClientConnection } from './client-connection.ts';
import type { DataPlane } from './data-plane.ts';
import { Exchange } from './request.ts';

export class Seat {
  readonly reader: RequestReader;
  readonly exchange: Exchange;
  /** What its reader goes by. */
  readonly limits: Limits;

  constructor(plane: DataPlane, client: ClientConnection) {
    const exchange = new Exchange(plane, client);
    this.exchange = exchange;
    this.limits = plane.requestLimits;
    this.reader = requestReader(
      {
        onHead: (head) => exchange.client.headCame(head),
        onBody: (bytes, from, to) => exchange.requestBody(bytes, from, to),
        onTrailers: (trailers) => exchange.requestTrailers(trailers),
        onEnd: () => exchange.client.requestEnded(),
      },
      plane.requestLimits,
    );
  }
}
