// Hashes of 32 bits for placing keys and endpoints. Not secret and not for tables that strangers fill: only well spread and
// the same everywhere, so that two gateways agree without talking.

/** Every bit of the argument changes about half the bits of the result (the finaliser of MurmurHash3). Hot. */
export function spread(bits: number): number {
  let hash = bits | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Two hashes into one; the order matters. Hot. */
export function combine(one: number, other: number): number {
  return spread(Math.imul(one ^ 0x9e3779b9, 0x01000193) ^ other);
}

/** A text, by its UTF-16 units: FNV-1a, then spread. */
export function hashText(text: string, seed = 0): number {
  let hash = spread(seed) ^ 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return spread(hash);
}

/** A hash as a number in (0, 1), never at an end. Hot. */
export function unit(hash: number): number {
  return (hash + 0.5) / 2 ** 32;
}
