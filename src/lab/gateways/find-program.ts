// Programs from the distribution. Debian keeps servers in directories that are not on the PATH of an ordinary user.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LabError } from '../lab-error.ts';

const usualPlaces = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin', '/sbin'];

/** The path of an executable. Throws a `LabError` that says how to install it. */
export function findProgram(name: 'haproxy' | 'nginx', places = searched()): string {
  const found = places.map((place) => join(place, name)).find(isExecutable);
  if (found !== undefined) return found;
  throw new LabError(
    `${name} is not installed: there is no executable of that name in ${places.join(', ')}.\n` +
      `  Install it (Debian, Ubuntu: apt-get install ${name}; Fedora: dnf install ${name}; macOS: brew install ${name}),\n` +
      '  or run with the gateway that comes with Plimsoll: --gateway plimsoll.',
  );
}

function searched(): readonly string[] {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((place) => place !== '');
  return [...path, ...usualPlaces];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
