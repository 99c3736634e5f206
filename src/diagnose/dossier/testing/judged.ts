// One call for tests of theories: what a dossier is judged to be, and how each theory stood.

import type { Dossier } from '../../../record.ts';
import type { Diagnosis } from '../../diagnose.ts';
import { diagnoseDossier } from '../judge.ts';
import type { DossierSlug } from '../slugs.ts';
import { dossierOf } from './facts.ts';

export function judged(parts: Partial<Dossier>): Diagnosis {
  return diagnoseDossier(dossierOf(parts));
}

/** `established`, `refuted`, …; `silent` when the theory found nothing that is about it. */
export function standing(diagnosis: Diagnosis, slug: DossierSlug): string {
  return diagnosis.theories.find((one) => one.theory === slug)?.standing ?? 'silent';
}

export function reasonOf(diagnosis: Diagnosis, slug: DossierSlug): string {
  return diagnosis.theories.find((one) => one.theory === slug)?.reason ?? '';
}
