// The grid that every histogram of ours shares: base-2 exponential buckets, 128 to an octave, from 1.024 µs to 73 minutes.
//
//   slot        0                  1                      2            …        4096            4097
//   holds   ≤ 1.024 µs    (2^10, 2^10·b]     (2^10·b, 2^10·b²]   …   (…, 2^42 ns]    > 2^42 ns
//
// with b = 2^(1/128) = 1.00543: two values in one bucket differ by 0.55 % at most. One fixed grid for everybody is what
// makes histograms add and subtract exactly, across replicas, seconds, processes and runs.
//
// It is the grid of OpenTelemetry's exponential histogram at scale 7 (its bucket i holds (2^(i/128), 2^((i+1)/128)], upper
// bound included) and of Prometheus' native histograms at schema 7, so both can be written without loss. Slot s is their
// bucket s + 1279. Below the grid lies their zero bucket with a threshold of 1,024 ns; above it, one bucket for all.
//
// Which side of a bound a whole number of nanoseconds falls on is exact: the test compares v^128 with 2^i in whole numbers.

export const bucketScale = 7;
const bucketsPerOctave = 2 ** bucketScale;
const lowestExponent = 10;
const highestExponent = 42;

/** Values up to here, in nanoseconds, are in slot 0. */
export const lowestBound = 2 ** lowestExponent;
/** Values above this, in nanoseconds, are in the last slot. */
export const highestBound = 2 ** highestExponent;
export const slotCount = (highestExponent - lowestExponent) * bucketsPerOctave + 2;
export const overflowSlot = slotCount - 1;
/** OpenTelemetry's index of a bucket of ours is its slot plus this. */
export const indexMinusSlot = lowestExponent * bucketsPerOctave - 1;

/** The slot of a value in nanoseconds. Hot: no allocation, no logarithm. */
export function slotOf(value: number): number {
  if (value <= lowestBound) return 0;
  if (value > highestBound) return overflowSlot;
  // The exponent and the upper eight bits of the fraction say which slot the value is in, or that it is in the next: the
  // narrowest bucket is 1/184 of its octave, so a 256th of an octave never spans two bounds.
  float[0] = value;
  const high = halves[highHalf] ?? 0;
  const slot = ((high >>> 20) - 1023 - lowestExponent) * bucketsPerOctave + (slotAtFraction[(high >>> 12) & 255] ?? 0);
  return value > (upperBounds[slot] ?? 0) ? slot + 1 : slot;
}

/** Values in the slot are greater than this, in nanoseconds. */
export function slotFrom(slot: number): number {
  return slot === 0 ? 0 : (upperBounds[slot - 1] ?? 0);
}

/** Values in the slot are at most this, in nanoseconds: without limit in the last one. */
export function slotTo(slot: number): number {
  return upperBounds[slot] ?? 0;
}

/**
 * The slot for a bucket of another histogram of the same family, by OpenTelemetry's index at `scale`. A finer bucket lies
 * within one of ours. A coarser one covers several: its middle stands for it, so that its error is kept and none is added.
 */
export function slotOfIndex(index: number, scale: number): number {
  const ratio = 2 ** (bucketScale - scale);
  const slot = Math.floor(index * ratio + (ratio > 1 ? ratio / 2 : 0)) - indexMinusSlot;
  return Math.min(Math.max(slot, 0), overflowSlot);
}

const float = new Float64Array(1);
const halves = new Uint32Array(float.buffer);
/** Which of the two halves carries sign and exponent depends on the machine's byte order. */
const highHalf = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;

const upperBounds = makeUpperBounds();
const slotAtFraction = makeSlotAtFraction();

function makeUpperBounds(): Float64Array {
  const bounds = new Float64Array(slotCount);
  for (let slot = 0; slot < overflowSlot; slot++) {
    const octave = lowestExponent + Math.floor(slot / bucketsPerOctave);
    // Scaling by a power of two is exact, so that every octave has the same 128 significands.
    bounds[slot] = 2 ** ((slot % bucketsPerOctave) / bucketsPerOctave) * 2 ** octave;
  }
  bounds[overflowSlot] = Infinity;
  return bounds;
}

/** For each 256th of an octave, the slot (counted from the octave's own first) of its lower edge. */
function makeSlotAtFraction(): Uint8Array {
  const slots = new Uint8Array(256);
  for (let fraction = 0; fraction < 256; fraction++) {
    const significand = 1 + fraction / 256;
    let slot = 0;
    while (slot < bucketsPerOctave && significand > 2 ** (slot / bucketsPerOctave)) slot++;
    slots[fraction] = slot;
  }
  return slots;
}
