// How long a preStop hook sleeps, from whatever it was written as.

import { parseSeconds } from './quantities.ts';
import { itemsAt, type Tree, valueAt } from './tree.ts';

/** Seconds of `sleep: { seconds: 30 }` or of a command with `sleep 30` in it; undefined when it does not sleep. */
export function sleepOfHook(hook: Tree | undefined): number | undefined {
  const seconds = parseSeconds(valueAt(hook, 'sleep', 'seconds'));
  if (seconds !== undefined) return seconds;
  const words = itemsAt(hook, 'exec', 'command').map((word) =>
    word.kind === 'scalar' ? String(word.value ?? '') : '',
  );
  const found = /\bsleep\s+(\d+(?:\.\d+)?)([smh]?)/.exec(words.join(' '));
  return found === null ? undefined : parseSeconds(`${found[1]}${found[2] === '' ? 's' : found[2]}`);
}
