// Small trees in temporary folders, for tests of tools that need a real disk: a compiler, a test runner, git.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const planted: string[] = [];

/** Writes these files (path to text) into a new folder and returns its path. */
export function plant(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-planted-'));
  planted.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Gives a planted folder the repository's installed packages. */
export function lendPackages(folder: string, repository: string): void {
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
}

/** Removes every folder that this process planted. */
export function uproot(): void {
  for (const folder of planted.splice(0)) rmSync(folder, { recursive: true, force: true });
}
