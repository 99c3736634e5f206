// The requests of one group that have come due and have not ended, oldest first. Every request has the same patience, so
// whoever came due first runs out of it first: one list in order of due time is all the timers there are.
//
//   first ──► 7 ⇄ 3 ⇄ 9 ⇄ 4 ◄── last        links are slots; a slot that is free links to the next free one
//             oldest      newest
//
// Hot: `open` and `close` allocate nothing, except when more requests than ever are pending at once.

import { assert, type Instant } from '../base.ts';

const firstCapacity = 64;
const nobody = -1;

export class Pending {
  /** When each came due, by slot. */
  #due = new Float64Array(firstCapacity);
  /** When each was sent; NaN until then. */
  #sent = new Float64Array(firstCapacity);
  #older = new Int32Array(firstCapacity);
  #younger = new Int32Array(firstCapacity);
  #first = nobody;
  #last = nobody;
  #free = nobody;
  #used = 0;
  #size = 0;

  /** Requests now pending. */
  get size(): number {
    return this.#size;
  }

  /** The slot of the oldest; undefined when nothing is pending. */
  get oldest(): number | undefined {
    return this.#first === nobody ? undefined : this.#first;
  }

  due(slot: number): Instant {
    // What was put in is an instant; rounding it again is seen in a profile.
    return (this.#due[slot] ?? Number.NaN) as Instant;
  }

  /** NaN until it has been sent. */
  sent(slot: number): number {
    return this.#sent[slot] ?? Number.NaN;
  }

  isSent(slot: number): boolean {
    return !Number.isNaN(this.sent(slot));
  }

  markSent(slot: number, now: Instant): void {
    assert(Number.isNaN(this.sent(slot)), 'a request is sent once');
    this.#sent[slot] = now;
  }

  /** Takes in a request that came due at `due` and returns its slot, which is its own until `close`. */
  open(due: Instant): number {
    const slot = this.#takeFree();
    this.#due[slot] = due;
    this.#sent[slot] = Number.NaN;
    this.#size += 1;
    this.#insert(slot, due);
    return slot;
  }

  close(slot: number): void {
    assert(!Number.isNaN(this.#due[slot] ?? Number.NaN), 'a request that ends was pending');
    const older = this.#older[slot] ?? nobody;
    const younger = this.#younger[slot] ?? nobody;
    if (older === nobody) this.#first = younger;
    else this.#younger[older] = younger;
    if (younger === nobody) this.#last = older;
    else this.#older[younger] = older;
    this.#due[slot] = Number.NaN;
    this.#younger[slot] = this.#free;
    this.#free = slot;
    this.#size -= 1;
  }

  /** From the tail forward: requests come in order of due time but for those that became due within one turn of the loop,
   * so this looks at one or two. */
  #insert(slot: number, due: Instant): void {
    let older = this.#last;
    while (older !== nobody && (this.#due[older] ?? 0) > due) older = this.#older[older] ?? nobody;
    const younger = older === nobody ? this.#first : (this.#younger[older] ?? nobody);
    this.#older[slot] = older;
    this.#younger[slot] = younger;
    if (older === nobody) this.#first = slot;
    else this.#younger[older] = slot;
    if (younger === nobody) this.#last = slot;
    else this.#older[younger] = slot;
  }

  #takeFree(): number {
    if (this.#free !== nobody) {
      const slot = this.#free;
      this.#free = this.#younger[slot] ?? nobody;
      return slot;
    }
    if (this.#used === this.#due.length) this.#grow();
    this.#used += 1;
    return this.#used - 1;
  }

  #grow(): void {
    const capacity = 2 * this.#due.length;
    this.#due = copyInto(new Float64Array(capacity), this.#due);
    this.#sent = copyInto(new Float64Array(capacity), this.#sent);
    this.#older = copyInto(new Int32Array(capacity), this.#older);
    this.#younger = copyInto(new Int32Array(capacity), this.#younger);
  }
}

function copyInto<Numbers extends Float64Array | Int32Array>(larger: Numbers, numbers: Numbers): Numbers {
  larger.set(numbers);
  return larger;
}
