// The files that count: those that git tracks or would track. Rules read a tree through this, so that the same rule runs on
// the repository, on a clone without history, on a folder that a test has planted, and on a handful of texts in memory.

import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Tree {
  /** Relative to the root, with forward slashes, sorted. */
  readonly files: readonly string[];
  read(path: string): string;
  has(path: string): boolean;
}

/** The tree in a folder on disk. */
export function openTree(root: string): Tree {
  const files = (trackedFiles(root) ?? walk(root, '')).filter((path) => isFile(join(root, path))).toSorted();
  return tree(files, (path) => readFileSync(join(root, path), 'utf8'));
}

/** A tree in memory: path to text. */
export function treeOf(texts: Readonly<Record<string, string>>): Tree {
  return tree(Object.keys(texts).toSorted(), (path) => {
    const text = texts[path];
    if (text === undefined) throw new Error(`no ${path} in this tree`);
    return text;
  });
}

function tree(files: readonly string[], read: (path: string) => string): Tree {
  const known = new Set(files);
  return { files, read, has: (path) => known.has(path) };
}

/** Tracked files and new ones that no ignore rule covers. undefined: this folder is not the top of a git repository. */
function trackedFiles(root: string): string[] | undefined {
  if (!existsSync(join(root, '.git'))) return undefined;
  try {
    const options: ExecFileSyncOptionsWithStringEncoding = {
      cwd: root,
      encoding: 'utf8',
      stdio: 'pipe',
      maxBuffer: 64 << 20,
    };
    const top = execFileSync('git', ['rev-parse', '--show-toplevel'], options).trim();
    if (realpathSync(top) !== realpathSync(root)) return undefined;
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], options);
    return list.split('\0').filter((path) => path !== '');
  } catch {
    // No git on this machine, or one that refuses the folder: the walk below finds nearly the same.
    return undefined;
  }
}

/** What .gitignore keeps out, for when there is no git to ask. */
const ignoredFolders: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'plimsoll-runs']);

function walk(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ignoredFolders.has(entry.name) ? [] : walk(root, path);
    return entry.name.endsWith('.cpuprofile') ? [] : [path];
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
