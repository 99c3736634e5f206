// The connections of closed users. A user has one to each target that it has asked, and keeps it. A pinned user has one in all: its
// target is chosen when the connection is made, and chosen anew only when that is gone, however it went.
//
//   chosen request by request   user ─┬── api-1        pinned   user ──── api-3
//                                     └── api-2                   └─ gone ─► chosen anew

import type { Instant } from '../base.ts';
import type { Carrier } from './carrier.ts';
import type { Dispatch } from './dispatch.ts';
import type { Share } from './share.ts';

const none = -1;

export class UserConnections {
  readonly #dispatch: Dispatch;
  readonly #users: number;
  readonly #share: Share;
  /** By user and target. */
  readonly #connections: (Carrier | undefined)[];
  /** 1 where there has been one, by user and target. */
  readonly #opened: Uint8Array;
  /** By user: the target that it keeps. Undefined where users keep none. */
  readonly #pins: Int32Array | undefined;

  /** `share`: which of all users these are. */
  constructor(users: number, dispatch: Dispatch, share: Share) {
    this.#dispatch = dispatch;
    this.#users = users;
    this.#share = share;
    this.#connections = Array.from({ length: users * dispatch.targets }, () => undefined);
    this.#opened = new Uint8Array(users * dispatch.targets);
    this.#pins = dispatch.group.pinned === true ? new Int32Array(users).fill(none) : undefined;
  }

  /** Where the user's next request goes. */
  targetFor(user: number, now: Instant): number {
    const pins = this.#pins;
    if (pins === undefined) return this.#dispatch.pick(now);
    const kept = pins[user] ?? none;
    if (kept !== none && !this.#retired(this.#place(user, kept), now)) return kept;
    const chosen = this.#dispatch.pick(now);
    pins[user] = chosen;
    return chosen;
  }

  /** The user's connection to a target, opened if there is none. */
  connection(user: number, target: number, now: Instant): Carrier {
    const place = this.#place(user, target);
    const kept = this.#connections[place];
    if (kept !== undefined && !this.#retired(place, now)) return kept;
    const opened = this.#dispatch.connect(target, user, this.#firstOf(user, place));
    this.#connections[place] = opened;
    return opened;
  }

  /** It is gone. */
  forget({ user, target }: Carrier): void {
    this.#connections[this.#place(user, target)] = undefined;
    if (this.#pins !== undefined) this.#pins[user] = none;
  }

  /** Lets go of a connection that may not be used any more. */
  #retired(place: number, now: Instant): boolean {
    const kept = this.#connections[place];
    if (kept === undefined || !this.#dispatch.isSpent(kept, now)) return false;
    this.#dispatch.retire(kept);
    this.forget(kept);
    return true;
  }

  #firstOf(user: number, place: number): { readonly place: number; readonly of: number } | undefined {
    if (this.#opened[place] === 1) return undefined;
    this.#opened[place] = 1;
    const { index, of } = this.#share;
    return { place: user * of + index, of: this.#users * of };
  }

  #place(user: number, target: number): number {
    return user * this.#dispatch.targets + target;
  }
}
