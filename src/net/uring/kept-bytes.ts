// Bytes that are sent again and again, such as the request of a load: they lie where they are for good, and the kernel reads
// them there. A write of them costs no chunk and no copy, and a thousand sockets that send the same stay in one place of the
// processor's cache.

import type { Foreign } from './libc.ts';

export class KeptBytes extends Uint8Array {
  address = 0;
}

export function keptBytes(foreign: Foreign, bytes: Uint8Array): KeptBytes {
  // Over memory of its own: that of a short array lies among the engine's objects, which move.
  const kept = new KeptBytes(new ArrayBuffer(bytes.length));
  kept.set(bytes);
  kept.address = foreign.addressOf(kept);
  return kept;
}
