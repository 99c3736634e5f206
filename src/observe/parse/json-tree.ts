// What readers of JSON documents share: telling by its keys what a document is, and walking it without lines.

import { parseNumber } from './quantities.ts';
import { parseJson, parseTrees, type Tree, treeOf, valueAt } from './tree.ts';

/** Whether a text begins like JSON and names all of these keys. Works on a document that is cut off too. */
export function isJsonWith(head: string, ...keys: readonly string[]): boolean {
  return /^\s*[[{]/.test(head) && keys.every((key) => head.includes(`"${key}"`));
}

/** The document as a tree. What is cut off is read as far as it goes, when it is not too long for the slower parser. */
export function jsonTree(text: string): Tree | undefined {
  const value = parseJson(text);
  return value === undefined ? parseTrees(text)?.[0] : treeOf(value);
}

/** The number under these keys, in quotes too. */
export function numberAt(tree: Tree | undefined, ...keys: readonly string[]): number | undefined {
  return parseNumber(valueAt(tree, ...keys));
}

/** The entries of a map in which every value is a number; others are left out. */
export function numbersIn(tree: Tree | undefined): Record<string, number> {
  if (tree?.kind !== 'map') return {};
  return Object.fromEntries(
    [...tree.entries].flatMap(([key, inner]) => {
      const number = inner.kind === 'scalar' ? parseNumber(inner.value) : undefined;
      return number === undefined ? [] : [[key, number]];
    }),
  );
}

/** A line of JSON as an object; undefined when it is none. */
export function objectOf(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  const value = parseJson(line);
  return isObject(value) ? value : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
