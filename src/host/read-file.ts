// Small files of the system, /proc and /sys above all. What is not there, or not for us, is undefined: other systems have
// none of them, containers hide some.

import { readFileSync } from 'node:fs';

export type ReadFile = (path: string) => string | undefined;

export const readSystemFile: ReadFile = (path) => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
};
