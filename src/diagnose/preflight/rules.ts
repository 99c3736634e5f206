// The table of rules. Adding one is a file, its name in `rule.ts`, and a line here.

import type { Rule } from './rule.ts';
import { backlogClamped } from './rules/backlog-clamped.ts';
import { drainOrder, keepAliveOrder, pinning, zoneBalance } from './rules/by-theory.ts';
import { defaultTimeout } from './rules/default-timeout.ts';
import { descriptorCeiling } from './rules/descriptor-ceiling.ts';
import { evictionHeadroom, nobodyLeft } from './rules/eviction.ts';
import { lastPeer } from './rules/last-peer.ts';
import { noTimeout } from './rules/no-timeout.ts';
import { pickFirst } from './rules/pick-first.ts';
import { portCeiling } from './rules/port-ceiling.ts';
import { probeSharesWorkers } from './rules/probe-shares-workers.ts';
import { retryProduct } from './rules/retry-product.ts';
import { timeoutOrder } from './rules/timeout-order.ts';
import { triesFitDeadline } from './rules/tries-fit-deadline.ts';
import { poolAtTimeout, workersAtTimeout } from './rules/workers-at-timeout.ts';

export const preflightRules: readonly Rule[] = [
  timeoutOrder,
  triesFitDeadline,
  retryProduct,
  workersAtTimeout,
  poolAtTimeout,
  noTimeout,
  defaultTimeout,
  evictionHeadroom,
  nobodyLeft,
  lastPeer,
  keepAliveOrder,
  pinning,
  probeSharesWorkers,
  portCeiling,
  descriptorCeiling,
  backlogClamped,
  pickFirst,
  drainOrder,
  zoneBalance,
];
