// A theory of what an incident left behind. Where a run's record has ticks for every replica, a dossier has whatever somebody
// kept: so a theory looks for the facts that speak to it, says what it would have to see, and what it did see. A claim that
// no fact speaks to is untestable, and says what is missing.
//
// The order is that of every theory here: predict from one set of facts, then look at another. `predicted` never uses the number
// that `seen` reports.

import type { Origin } from '../../record.ts';
import type { Bearing } from '../theory.ts';
import type { DossierSlug } from './slugs.ts';
import type { View } from './view.ts';

/** The members stand in this order in every theory's file. */
export interface DossierTheory {
  readonly slug: DossierSlug;
  readonly title: string;
  /** What happens, in prose. */
  readonly mechanism: string;
  readonly refutedBy: string;
  readonly provedBy: string;
  /** Slugs, or plain words for what is no theory here, of what looks like it. */
  readonly lookAlikes: readonly string[];
  readonly fix: string;
  /** What to measure when it is left open. */
  readonly decidedBy: string;
  /** Theories whose effects this one brings about: where both are established, the other is a part of this story. */
  readonly explains: readonly DossierSlug[];
  /** Whoever is accused: `harmless` theories say that nothing is wrong, and yield to every fault that was seen. */
  readonly kind?: 'harmless';
  /** Undefined: nothing in the dossier is about it. */
  examine(view: View): Examination | undefined;
}

export interface Examination {
  readonly claims: readonly DossierClaim[];
  /** Component and setting, as far as the facts name them; undefined when nobody is to blame. */
  readonly culprit: string | undefined;
  /** What happened, for a tired person. */
  readonly sentence: string;
  /** Steps that can be checked by hand, from trigger to symptom where the facts have an order. */
  readonly arithmetic: readonly string[];
  /** `configured`: proved from settings alone, no harm was seen. It yields to whatever was seen. Default `seen`. */
  readonly basis?: 'seen' | 'configured';
  /** Instead of the theory's own, where the facts allow to be more exact. */
  readonly fix?: string;
  readonly decidedBy?: string;
}

export interface DossierClaim {
  readonly says: string;
  readonly predicted: string;
  readonly observed: string | undefined;
  readonly bearing: Bearing;
  /** Undefined: could not be tested. */
  readonly holds: boolean | undefined;
  readonly refutes: string;
  readonly missing?: string;
  readonly origins: readonly Origin[];
}

export interface ClaimParts {
  readonly bearing: Bearing;
  readonly predicted: string;
  readonly refutes: string;
  /** What was seen and whether that is as predicted; undefined when no fact speaks to it. */
  readonly seen: Seen | undefined;
  /** What would have to be known, where nothing was seen. */
  readonly missing?: string;
}

export interface Seen {
  readonly text: string;
  readonly holds: boolean;
  readonly origins?: readonly Origin[];
}

export function claim(says: string, parts: ClaimParts): DossierClaim {
  const { seen, missing } = parts;
  return {
    says,
    predicted: parts.predicted,
    observed: seen?.text,
    bearing: parts.bearing,
    holds: seen?.holds,
    refutes: parts.refutes,
    origins: seen?.origins ?? [],
    ...(seen !== undefined || missing === undefined ? {} : { missing }),
  };
}
