// Open connections to one endpoint that carry nothing at present. The one used last is used next (LIFO): a few connections
// stay warm and busy while the rest grow old and are closed, so the pool shrinks to what the load needs, and the connection
// most likely to be closed by its peer at this very moment is the one never chosen. First-in-first-out would keep every
// connection that a burst once opened alive for ever.
//
//   newest ─► ○ ─► ○ ─► ○ ◄─ oldest         put and take at the left; age takes them from the right
//
// LIFO alone would pin a client to whatever stands behind an address for ever; a connection is therefore closed after a
// while, however busy (`UpstreamConnection.worn`).
//
// Hot: `take`, `put`. A doubly linked list through the connections themselves; nothing is allocated.

import type { Duration, Instant } from '../base.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

export class EndpointPool {
  #newest: UpstreamConnection | undefined = undefined;
  size = 0;

  /** The connection used last, if it has been idle for at most `idleMax`; the others have been idle for longer. */
  take(idleMax: Duration, now: Instant): UpstreamConnection | undefined {
    const newest = this.#newest;
    if (newest === undefined || now - newest.idleSince > idleMax) return undefined;
    this.remove(newest);
    return newest;
  }

  put(connection: UpstreamConnection): void {
    const newest = this.#newest;
    connection.older = newest;
    connection.newer = undefined;
    if (newest !== undefined) newest.newer = connection;
    this.#newest = connection;
    this.size += 1;
  }

  remove(connection: UpstreamConnection): void {
    const { newer, older } = connection;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    if (older !== undefined) older.newer = newer;
    connection.newer = undefined;
    connection.older = undefined;
    this.size -= 1;
  }

  /** False: there was none. */
  closeOne(): boolean {
    const newest = this.#newest;
    newest?.discard();
    return newest !== undefined;
  }

  closeAll(): void {
    for (;;) {
      const newest = this.#newest;
      if (newest === undefined) return;
      newest.discard();
    }
  }
}
