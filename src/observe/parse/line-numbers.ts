// Numbers and points in time in the bytes of a line, without making a string of them.
//
// The day of one line is nearly always the day of the line before: its milliseconds are kept.

const blank = 32;
const comma = 44;
const plus = 43;
const dash = 45;
const dot = 46;
const zero = 48;
const colon = 58;

/** What `numberIn` gives for bytes that are no number. */
export const outOfForm = Number.POSITIVE_INFINITY;

const powers = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/**
 * `12`, `0.018`, `-1`, `+44`: as exact as a number can be, since digits and power of ten are both exact and are divided once.
 * `outOfForm` for anything else, and beyond thirteen characters.
 */
export function numberIn(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  const sign = bytes[at];
  if (sign === dash || sign === plus) at += 1;
  if (at === to || to - at > 13) return outOfForm;
  const begin = at;
  let digits = 0;
  let after = -1;
  for (; at < to; at++) {
    const byte = bytes[at] ?? 0;
    const digit = byte - zero;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (byte === dot && after === -1 && at > begin && at + 1 < to) after = at;
    else return outOfForm;
  }
  const number = after === -1 ? digits : digits / (powers[to - after - 1] ?? 1);
  return sign === dash ? -number : number;
}

/** Where a port (`:` and digits) at the end of this text begins; the end when there is none. */
export function portBegin(bytes: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at > from && isDigit(bytes[at - 1] ?? 0)) at -= 1;
  return at < to && at > from && bytes[at - 1] === colon ? at - 1 : to;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= 57;
}

export class InstantReader {
  #dayKey = -1;
  #dayMs = 0;
  #digits = 0;
  #at = 0;

  /** How precisely the last one was written, in milliseconds. */
  get stepMs(): number {
    return Math.max(0.001, 1000 / (powers[this.#digits] ?? 1));
  }

  /** `2026-03-04T14:00:15.250Z` in epoch milliseconds; NaN when these bytes, to their end, are none. */
  iso(bytes: Uint8Array, from: number, to: number): number {
    return this.#afterDay(this.#isoDay(bytes, from, to), bytes, from + 11, to, false);
  }

  /** `04/Mar/2026:14:00:15.250 +0000`. */
  common(bytes: Uint8Array, from: number, to: number): number {
    return this.#afterDay(this.#commonDay(bytes, from, to), bytes, from + 12, to, true);
  }

  /** `HH:MM:SS` and what may follow. */
  #afterDay(day: number, bytes: Uint8Array, time: number, to: number, blankFirst: boolean): number {
    if (Number.isNaN(day) || bytes[time + 2] !== colon || bytes[time + 5] !== colon) return Number.NaN;
    const hour = two(bytes, time);
    const minute = two(bytes, time + 3);
    const second = two(bytes, time + 6);
    if (hour > 24 || minute > 59 || second > 60) return Number.NaN;
    this.#at = time + 8;
    const fraction = this.#fraction(bytes, to);
    const zone = this.#zone(bytes, to, blankFirst);
    return day + ((hour * 60 + minute) * 60 + second) * 1000 + fraction - zone;
  }

  #isoDay(bytes: Uint8Array, from: number, to: number): number {
    if (to - from < 19 || bytes[from + 4] !== dash || bytes[from + 7] !== dash) return Number.NaN;
    if (bytes[from + 10] !== 84 && bytes[from + 10] !== blank) return Number.NaN;
    return this.#day(two(bytes, from) * 100 + two(bytes, from + 2), two(bytes, from + 5) - 1, two(bytes, from + 8));
  }

  #commonDay(bytes: Uint8Array, from: number, to: number): number {
    if (to - from < 20 || bytes[from + 2] !== 47 || bytes[from + 6] !== 47 || bytes[from + 11] !== colon)
      return Number.NaN;
    const month = monthIn(bytes, from + 3);
    return this.#day(two(bytes, from + 7) * 100 + two(bytes, from + 9), month, two(bytes, from));
  }

  #day(year: number, month: number, day: number): number {
    if (!(year <= 9999 && month >= 0 && month <= 11 && day >= 1 && day <= 31)) return Number.NaN;
    const key = (year * 12 + month) * 32 + day;
    if (key !== this.#dayKey) {
      this.#dayKey = key;
      this.#dayMs = Date.UTC(year, month, day);
    }
    return this.#dayMs;
  }

  /** Milliseconds of a fraction (`.250`, `,250`) at the place reached; 0 without one. */
  #fraction(bytes: Uint8Array, to: number): number {
    this.#digits = 0;
    const mark = bytes[this.#at];
    if (this.#at >= to || (mark !== dot && mark !== comma)) return 0;
    let value = 0;
    let at = this.#at + 1;
    for (; at < to && isDigit(bytes[at] ?? 0); at++) value = value * 10 + (bytes[at] ?? 0) - zero;
    this.#digits = at - this.#at - 1;
    if (this.#digits === 0 || this.#digits > 9) return Number.NaN;
    this.#at = at;
    return (value * 1000) / (powers[this.#digits] ?? 1);
  }

  /** Milliseconds that the zone at the place reached is ahead of UTC; NaN when what remains is none. */
  #zone(bytes: Uint8Array, to: number, blankFirst: boolean): number {
    let at = this.#at;
    if (at === to || (at + 1 === to && bytes[at] === 90)) return 0;
    if (bytes[at] === blank) at += 1;
    else if (blankFirst) return Number.NaN;
    const sign = bytes[at];
    if (sign !== plus && sign !== dash) return Number.NaN;
    const hours = two(bytes, at + 1);
    const minutes = two(bytes, at + (bytes[at + 3] === colon ? 4 : 3));
    const length = bytes[at + 3] === colon ? 6 : 5;
    if (at + length !== to || hours > 99 || minutes > 99) return Number.NaN;
    return (sign === dash ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  }

  /** Seconds with ten digits before the point, or milliseconds with thirteen. */
  epoch(bytes: Uint8Array, from: number, to: number): number {
    let point = from;
    while (point < to && bytes[point] !== dot) point += 1;
    const whole = numberIn(bytes, from, point);
    const length = point - from;
    if (whole === outOfForm || whole < 0 || (length !== 10 && length !== 13)) return Number.NaN;
    this.#at = point;
    const fraction = this.#fraction(bytes, to);
    if (this.#at !== to) return Number.NaN;
    if (length === 10) return whole * 1000 + fraction;
    this.#digits += 3;
    return whole + fraction / 1000;
  }
}

/** Two digits; a million when they are none. */
function two(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] ?? 0) - zero;
  const ones = (bytes[at + 1] ?? 0) - zero;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : 1e6;
}

/** The month by its three letters; −1 when they are none. */
function monthIn(bytes: Uint8Array, at: number): number {
  const letters = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  return months.indexOf(letters);
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'].map(
  (name) => (name.charCodeAt(0) << 16) | (name.charCodeAt(1) << 8) | name.charCodeAt(2),
);
