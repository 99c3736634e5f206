// A number that is turned while a run goes on: straight lines between stages.

import { between, type Instant } from '../base.ts';
import type { Dial } from '../scenario.ts';

/** Where the dial stands at `now` when it began to turn at `begun`. */
export function dialAt(dial: Dial, begun: Instant, now: Instant): number {
  let elapsed: number = Math.max(0, between(begun, now));
  let from = dial.from;
  for (const { over, to } of dial.stages ?? []) {
    if (elapsed < over) return from + ((to - from) * elapsed) / over;
    elapsed -= over;
    from = to;
  }
  return from;
}
