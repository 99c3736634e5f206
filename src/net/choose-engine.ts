// Which engine this machine gets. `auto` takes io_uring where it is allowed and works, and Node's own sockets everywhere else;
// it always says which and why, so that a run's record can.

import type { Engine } from './engine.ts';
import { nodeEngine, type NodeEngineOptions } from './node-engine.ts';
import { uringEngine, type UringEngineOptions } from './uring/uring-engine.ts';

export type EngineChoice = 'auto' | 'uring' | 'node';

export interface ChosenEngine {
  readonly engine: Engine;
  /** For people: `io_uring, which works here`, or why it does not. */
  readonly why: string;
}

/** The engine asked for. Whoever insists on `uring` where there is none gets the reason instead. */
export function chooseEngine(
  want: EngineChoice,
  options: NodeEngineOptions & Partial<Pick<UringEngineOptions, 'waitsInRing'>> = {},
): ChosenEngine | { readonly impossible: string } {
  if (want === 'node') return { engine: nodeEngine(options), why: "Node's own sockets, as asked" };
  const uring = uringEngine(options);
  if (!('why' in uring))
    return { engine: uring, why: want === 'uring' ? 'io_uring, as asked' : 'io_uring, which works here' };
  if (want === 'uring') return { impossible: `no io_uring here: ${uring.why}` };
  return { engine: nodeEngine(options), why: `Node's own sockets; no io_uring here: ${uring.why}` };
}
