// Dealing anew: every order of the values is equally likely (Fisher and Yates).

import type { Dice } from '../base.ts';

export function shuffle(values: number[], dice: Dice): void {
  for (let last = values.length - 1; last > 0; last--) {
    const chosen = dice.below(last + 1);
    const value = values[last] ?? 0;
    values[last] = values[chosen] ?? 0;
    values[chosen] = value;
  }
}
