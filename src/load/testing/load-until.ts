// One run of a group on real sockets for tests: until so many requests have ended, or until patience ends where few ever do.

import { after, type Duration, ms, ns, seconds } from '../../base.ts';
import { nodeEngine } from '../../net.ts';
import type { LoadGroup, LoadResult } from '../contract.ts';
import { startLoad } from '../run.ts';

export interface Loaded {
  readonly result: LoadResult;
  /** By kind, from the snapshots. */
  readonly errors: Record<string, number>;
  readonly took: Duration;
}

export interface UntilOptions {
  /** Default 40. */
  readonly requests?: number;
  readonly patience?: Duration;
  readonly grace?: Duration;
}

export async function loadUntil(
  plan: LoadGroup,
  { requests = 40, patience = seconds(5), grace = seconds(5) }: UntilOptions = {},
): Promise<Loaded> {
  const engine = nodeEngine();
  const run = startLoad({ groups: [plan], seed: 1 }, engine);
  const begun = engine.now();
  const errors: Record<string, number> = {};
  /** Requests that ended since the last count. */
  const count = (): number => {
    const second = run.snapshot().groups[0];
    let ended = second?.answered ?? 0;
    for (const [kind, times] of Object.entries(second?.errors ?? {})) {
      errors[kind] = (errors[kind] ?? 0) + times;
      ended += times;
    }
    return ended;
  };
  let ended = 0;
  while (ended < requests && engine.now() - begun < patience) {
    await new Promise<void>((resolve) => engine.alarm(after(engine.now(), ms(10)), () => resolve()));
    ended += count();
  }
  const took = ns(engine.now() - begun);
  const result = await run.stop(grace);
  count();
  await engine.close();
  return { result, errors, took };
}
