// A rule of the house: reads a tree, returns what is wrong with it. Every rule is a test twice over: the repository breaks
// none of them, and a planted breach is caught.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { openTree, type Tree, treeOf } from '../tree.ts';

export interface Problem {
  readonly path: string;
  readonly line: number;
  /** What is wrong and what would be right. */
  readonly message: string;
}

export type Rule = (tree: Tree) => readonly Problem[];

/** Top of the repository that this file stands in. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Asserts that the repository keeps `rule`; otherwise lists every breach as `path:line: message`. */
export function checkRepository(rule: Rule): void {
  const problems = rule(openTree(root));
  assert.ok(problems.length === 0, `\n${problems.map(show).join('\n')}\n`);
}

/** Asserts that `rule` finds nothing wrong with these files. */
export function checkAllowed(rule: Rule, files: Readonly<Record<string, string>>): void {
  assert.deepEqual(rule(treeOf(files)).map(show), []);
}

/** Asserts that `rule` finds exactly one thing wrong with these files, in `path:line`, and says so in these words. */
export function checkCaught(rule: Rule, files: Readonly<Record<string, string>>, where: string, words: RegExp): void {
  const problems = rule(treeOf(files));
  assert.deepEqual(
    problems.map(({ path, line }) => `${path}:${line}`),
    [where],
    `one breach in ${where}, found:\n${problems.map(show).join('\n')}\n`,
  );
  assert.match(problems[0]?.message ?? '', words);
}

function show({ path, line, message }: Problem): string {
  return `${path}:${line}: ${message}`;
}
