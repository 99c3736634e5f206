// What a held group did in a stretch of time, added to another without loss.

import { Histogram } from '../stats.ts';

/** How things stand at an instant, and what happened in the span that ends there. */
export interface HeldCut {
  readonly asked: number;
  readonly held: number;
  readonly connecting: number;
  readonly counts: HoldCounts;
}

export class HoldCounts {
  /** New connections that the dials asked for. */
  asked = 0;
  opened = 0;
  /** Closed by the peer. */
  lost = 0;
  heldMost = 0;
  readonly errors = new Map<string, number>();
  /** From when a connection was due until it was open. */
  readonly connect = new Histogram();

  error(kind: string): void {
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
  }

  /** Of a later span of the same group: the most held is the greater of the two. */
  add(other: HoldCounts): void {
    const most = Math.max(this.heldMost, other.heldMost);
    this.addBeside(other);
    this.heldMost = most;
  }

  /** Of another process's share in the same span. What the two held most need not have been at the same time: the sum is a
   * bound from above. */
  addBeside(other: HoldCounts): void {
    this.asked += other.asked;
    this.opened += other.opened;
    this.lost += other.lost;
    this.heldMost += other.heldMost;
    for (const [kind, count] of other.errors) this.errors.set(kind, (this.errors.get(kind) ?? 0) + count);
    this.connect.add(other.connect);
  }
}
