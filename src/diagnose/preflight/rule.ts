// What a rule of the static check is. A rule reads settings alone: nothing has run. It says what would go wrong by arithmetic, where
// the setting stands, and what would be right; or which fact it lacks to say anything.

import type { Origin } from '../../record.ts';
import type { View } from '../dossier/view.ts';

/** The members stand in this order in every rule's file. */
export interface Rule {
  readonly name: RuleName;
  /** A sentence that says what must hold. */
  readonly holds: string;
  /** Why, in prose. */
  readonly because: string;
  readonly check: (plan: Plan) => Outcome;
}

export const ruleNames = [
  'timeout-order',
  'tries-fit-deadline',
  'retry-product',
  'workers-at-timeout',
  'pool-at-timeout',
  'no-timeout',
  'default-timeout',
  'eviction-headroom',
  'nobody-left',
  'last-peer',
  'keep-alive-order',
  'connection-pinning',
  'probe-shares-workers',
  'port-ceiling',
  'descriptor-ceiling',
  'backlog-clamped',
  'pick-first',
  'drain-order',
  'zone-balance',
] as const;

export type RuleName = (typeof ruleNames)[number];

/** `error`: it breaks by these numbers. `warning`: it breaks under a condition that the numbers name. `note`: a limit worth knowing. */
export type Severity = 'error' | 'warning' | 'note';

export interface Finding {
  readonly rule: RuleName;
  readonly severity: Severity;
  readonly where: Origin;
  /** Other settings that are part of it. */
  readonly also: readonly Origin[];
  /** The arithmetic, in one sentence. */
  readonly because: string;
  readonly instead: string;
}

export interface Outcome {
  readonly findings: readonly Finding[];
  /** What would have to be known for more; undefined: the rule had all it needs. */
  readonly missing?: string;
}

export interface Plan {
  readonly view: View;
  /** The files in the order in which a request meets them, from the client in; files without a place on its way are absent. */
  readonly order: readonly string[];
  /** Requests a second, all of them; undefined: not told. */
  readonly ratePerSecond: number | undefined;
  /** How many times the usual load what stands behind can carry. */
  readonly spare: number;
}

export const nothing: Outcome = { findings: [] };
