// The requests of one group that have come due and have not ended, oldest first. Every try has the same patience, so whoever was
// to be asked first runs out of it first: one list in order of that time is all the timers there are.
//
//   first ──► 7 ⇄ 3 ⇄ 9 ⇄ 4 ◄── last        links are slots; a slot that is free links to the next free one
//             oldest      newest
//
// A request that rests before its next try is pending, but not in the list: nobody is waited for. Asked again it is the newest.
//
// Hot: `open` and `close` allocate nothing, except when more requests than ever are pending at once.

import { assert, type Instant } from '../base.ts';

const firstCapacity = 64;
const nobody = -1;

export class Pending {
  /** When each came due, by slot. */
  #due = new Float64Array(firstCapacity);
  /** When its present try was to be asked: the order of the list. NaN while it rests. */
  #askedAt = new Float64Array(firstCapacity);
  /** When that try was sent; NaN until then. */
  #sent = new Float64Array(firstCapacity);
  /** Tries after the first. */
  #retries = new Uint8Array(firstCapacity);
  /** 1 when any of its tries has been sent. */
  #everSent = new Uint8Array(firstCapacity);
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

  /** The slot of the oldest that is asked; undefined when none is. */
  get oldest(): number | undefined {
    return this.#first === nobody ? undefined : this.#first;
  }

  due(slot: number): Instant {
    // What was put in is an instant; rounding it again is seen in a profile.
    return (this.#due[slot] ?? Number.NaN) as Instant;
  }

  /** When its present try was to be asked; at first that is when it came due. */
  askedAt(slot: number): Instant {
    return (this.#askedAt[slot] ?? Number.NaN) as Instant;
  }

  retries(slot: number): number {
    return this.#retries[slot] ?? 0;
  }

  /** Of its present try: NaN until it has been sent. */
  sent(slot: number): number {
    return this.#sent[slot] ?? Number.NaN;
  }

  isSent(slot: number): boolean {
    return !Number.isNaN(this.sent(slot));
  }

  /** Whether any of its tries has been sent. */
  wasSent(slot: number): boolean {
    return this.#everSent[slot] === 1;
  }

  markSent(slot: number, now: Instant): void {
    assert(Number.isNaN(this.sent(slot)), 'a try is sent once');
    this.#sent[slot] = now;
    this.#everSent[slot] = 1;
  }

  /** Takes in a request that came due at `due` and returns its slot, which is its own until `close`. */
  open(due: Instant): number {
    const slot = this.#takeFree();
    this.#due[slot] = due;
    this.#retries[slot] = 0;
    this.#everSent[slot] = 0;
    this.#size += 1;
    this.#insert(slot, due);
    return slot;
  }

  /** Its try has failed, and it waits for the next one. */
  rest(slot: number): void {
    assert(this.#isAsked(slot), 'a request that rests was asked');
    this.#remove(slot);
    this.#retries[slot] = this.retries(slot) + 1;
  }

  /** The next try is to be asked at `at`. */
  again(slot: number, at: Instant): void {
    assert(!this.#isAsked(slot), 'a request that is asked again rested');
    this.#insert(slot, at);
  }

  close(slot: number): void {
    assert(!Number.isNaN(this.#due[slot] ?? Number.NaN), 'a request that ends was pending');
    if (this.#isAsked(slot)) this.#remove(slot);
    this.#due[slot] = Number.NaN;
    this.#younger[slot] = this.#free;
    this.#free = slot;
    this.#size -= 1;
  }

  #isAsked(slot: number): boolean {
    return !Number.isNaN(this.#askedAt[slot] ?? Number.NaN);
  }

  #remove(slot: number): void {
    const older = this.#older[slot] ?? nobody;
    const younger = this.#younger[slot] ?? nobody;
    if (older === nobody) this.#first = younger;
    else this.#younger[older] = younger;
    if (younger === nobody) this.#last = older;
    else this.#older[younger] = older;
    this.#askedAt[slot] = Number.NaN;
  }

  /** From the tail forward: tries come in order of time but for those that became due within one turn of the loop, so this looks
   * at one or two. */
  #insert(slot: number, at: Instant): void {
    this.#askedAt[slot] = at;
    this.#sent[slot] = Number.NaN;
    let older = this.#last;
    while (older !== nobody && (this.#askedAt[older] ?? 0) > at) older = this.#older[older] ?? nobody;
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
    this.#askedAt = copyInto(new Float64Array(capacity), this.#askedAt);
    this.#sent = copyInto(new Float64Array(capacity), this.#sent);
    this.#retries = copyInto(new Uint8Array(capacity), this.#retries);
    this.#everSent = copyInto(new Uint8Array(capacity), this.#everSent);
    this.#older = copyInto(new Int32Array(capacity), this.#older);
    this.#younger = copyInto(new Int32Array(capacity), this.#younger);
  }
}

function copyInto<Numbers extends Float64Array | Int32Array | Uint8Array>(larger: Numbers, numbers: Numbers): Numbers {
  larger.set(numbers);
  return larger;
}
