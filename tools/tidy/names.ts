// How files are called and where they stand: kebab-case everywhere, and in src/ nothing but rooms, each with its door.

import { roomOf, rooms } from '../rooms.ts';
import type { Tree } from '../tree.ts';
import type { Problem } from './rule.ts';

/** Files that a convention older than ours names. */
const byConvention = /(?:^|\/)(?:README|LICENSE|CHANGELOG|CONTRIBUTING|DEPENDENCIES|ARCHITECTURE|SECURITY)(?:\.md)?$/;
/** Folders whose contents are named by the programs that wrote them. */
const foreign = /(?:^|\/)fixtures\//;

export function checkNames(tree: Tree): readonly Problem[] {
  const problem = (path: string, message: string): Problem => ({ path, line: 1, message });
  const misnamed = tree.files
    .filter((path) => !foreign.test(path) && !byConvention.test(path) && !path.split('/').every(isKebabCase))
    .map((path) => problem(path, 'names of files and folders are kebab-case'));
  const homeless = tree.files
    .filter((path) => path.startsWith('src/') && roomOf(path) === undefined)
    .map((path) => problem(path, 'belongs to no room of tools/rooms.ts, and src/ holds rooms only'));
  const doorless = rooms
    .filter(({ name }) => !tree.has(`src/${name}.ts`) && tree.files.some((path) => path.startsWith(`src/${name}/`)))
    .map(({ name }) => problem(`src/${name}`, `the room has no door: write src/${name}.ts`));
  return [...misnamed, ...homeless, ...doorless];
}

/** `time.test.ts`, `life-of-a-request.md`, `.ci`, `0001-one-door.md`. */
function isKebabCase(name: string): boolean {
  return /^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/.test(name);
}
