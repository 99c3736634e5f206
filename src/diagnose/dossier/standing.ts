// What the claims of a theory come to: one necessary claim that fails refutes it, one sufficient claim that holds establishes it.

import type { Standing } from '../audit.ts';
import type { DossierClaim } from './theory.ts';

export function standingOf(claims: readonly DossierClaim[]): { standing: Standing; reason: string } {
  const failed = claims.find((one) => one.bearing === 'necessary' && one.holds === false);
  if (failed !== undefined) {
    return {
      standing: 'refuted',
      reason: `${failed.says} Predicted ${failed.predicted}; observed ${failed.observed}.`,
    };
  }
  const proof = claims.find((one) => one.bearing === 'sufficient' && one.holds === true);
  if (proof !== undefined) return { standing: 'established', reason: `${proof.says} Observed ${proof.observed}.` };
  const lacking = claims.find((one) => one.bearing !== 'supporting' && one.missing !== undefined)?.missing;
  if (!claims.some((one) => one.bearing !== 'supporting' && one.holds === true)) {
    return { standing: 'untestable', reason: `Needs ${lacking ?? 'more evidence'}.` };
  }
  return {
    standing: 'possible',
    reason:
      lacking === undefined ? 'Nothing speaks against it, and nothing proves it.' : `Not proved: needs ${lacking}.`,
  };
}
