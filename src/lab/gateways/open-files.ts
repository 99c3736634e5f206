// How many connections a proxy may be configured for: each takes two file descriptors, and one that is configured for more
// than the system grants refuses to start.

import { readFileSync } from 'node:fs';

const connectionsWanted = 8192;
/** Left for listeners, logs and the program's own. */
const descriptorsSpare = 100;

export function connectionsMax(): number {
  return Math.min(connectionsWanted, Math.floor((openFilesMax() - descriptorsSpare) / 2));
}

function openFilesMax(): number {
  try {
    const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return hard === undefined ? Infinity : Number(hard);
  } catch {
    // No /proc: what every system grants.
    return 1024;
  }
}
