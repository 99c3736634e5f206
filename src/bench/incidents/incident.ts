// One labelled incident: files as somebody would find them, and apart from them what was really wrong. Whoever judges gets the files;
// only the scorer opens the truth.

import { Draw } from './draw.ts';
import { redHerrings } from './herrings.ts';
import type { Kind, KindName, Made } from './kind.ts';
import { balanceKinds } from './kinds/balance.ts';
import { calmKinds } from './kinds/calm.ts';
import { fitnessKinds } from './kinds/fitness.ts';
import { limitsKinds } from './kinds/limits.ts';
import { loadKinds, quietKinds } from './kinds/load.ts';
import { poolKinds } from './kinds/pools.ts';
import { timesKinds } from './kinds/times.ts';
import type { Signal } from './writers.ts';

export const faultKinds: readonly Kind[] = [
  ...balanceKinds,
  ...fitnessKinds,
  ...timesKinds,
  ...poolKinds,
  ...limitsKinds,
  ...loadKinds,
];
export const healthyKinds: readonly Kind[] = [...quietKinds, ...calmKinds];

export interface IncidentTruth {
  readonly pattern: string;
  /** Other names that are as right. */
  readonly alike: readonly string[];
  /** Words of which the culprit must say one; empty: any culprit will do. */
  readonly culprit: readonly string[];
}

export interface Incident {
  readonly id: string;
  readonly files: readonly Signal[];
  readonly truth: IncidentTruth;
}

export interface IncidentOptions {
  /** So large a part of the signals is missing, whichever; one at least remains. */
  readonly missing: number;
  readonly herrings: boolean;
}

/** The same kind, seed and options give the same incident. What is missing does not change what is there. */
export function incidentOf(kind: Kind, seed: number, { missing, herrings }: IncidentOptions): Incident {
  const draw = new Draw(seed, nameOf(kind));
  return incidentFrom(kind, kind.make(draw), seed, { missing, herrings }, draw);
}

const nameOf = ({ slug, name }: KindName): string => (name === undefined ? slug : `${slug}, ${name}`);

/** What was left behind, shuffled, thinned out, and laid beside things that have nothing to do with it. `draw`: what was drawn for it. */
export function incidentFrom(
  kind: KindName,
  { signals, culprit = [], onsetMs }: Made,
  seed: number,
  { missing, herrings }: IncidentOptions,
  draw: Draw,
): Incident {
  const name = nameOf(kind);
  const around = new Draw(seed, `${name}, around`, [draw.service]);
  const own = around.shuffled(signals).slice(Math.min(signals.length - 1, Math.round(signals.length * missing)));
  const others = redHerrings(around, onsetMs ?? draw.beganMs + 60_000);
  return {
    id: `${name.replaceAll(/\W+/g, '-')}-${seed}${missing > 0 ? '-less' : ''}`,
    files: around.shuffled(herrings ? [...own, ...others] : own),
    truth: {
      pattern: kind.slug,
      alike: [...(kind.alike ?? []), ...(missing > 0 ? (kind.alikeWithLess ?? []) : [])],
      culprit,
    },
  };
}
