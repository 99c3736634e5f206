// The table of theories over a dossier. Adding one is one file and one line here.

import type { DossierTheory } from './theory.ts';
import { connectionPinning } from './theories/connection-pinning.ts';

export const dossierTheories: readonly DossierTheory[] = [connectionPinning];
