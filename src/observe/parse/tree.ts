// YAML and JSON as one kind of tree in which every value knows its line, so that a setting can be pointed at.
//
// JSON is YAML, so one parser reads both and gives lines for both. It is slow for megabytes; a large JSON text (a dump of a
// fleet's configuration) is parsed as JSON, and its values have no lines.

import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';

export type Tree = MapTree | ListTree | ScalarTree;

export interface MapTree {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, Tree>;
  readonly line: number | undefined;
}

export interface ListTree {
  readonly kind: 'list';
  readonly items: readonly Tree[];
  readonly line: number | undefined;
}

export interface ScalarTree {
  readonly kind: 'scalar';
  /** A string, number, boolean, or undefined for null. */
  readonly value: string | number | boolean | undefined;
  readonly line: number | undefined;
}

const linesMax = 1_000_000;

/** Every document of the text; what is broken is left out. Undefined when nothing could be read. */
export function parseTrees(text: string): Tree[] | undefined {
  const trimmed = text.trimStart();
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) {
    const value = parseJson(text);
    if (value !== undefined && text.length > linesMax) return [treeOf(value)];
    if (value === undefined && text.length > linesMax) return undefined;
  }
  try {
    const counter = new LineCounter();
    const documents = parseAllDocuments(text, {
      lineCounter: counter,
      strict: false,
      uniqueKeys: false,
      logLevel: 'silent',
    });
    const trees = [...documents].flatMap((document) => {
      const node = document.contents;
      return node === null ? [] : [fromNode(node, counter, 0)];
    });
    return trees.length === 0 ? undefined : trees;
  } catch {
    // The parser gives up on some texts that are none of its own.
    return undefined;
  }
}

/** The value of a JSON text; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

const depthMax = 100;

function fromNode(node: Node, counter: LineCounter, depth: number): Tree {
  const line = node.range === null || node.range === undefined ? undefined : counter.linePos(node.range[0]).line;
  if (depth > depthMax || isAlias(node)) return { kind: 'scalar', value: undefined, line };
  if (isMap(node)) {
    const entries = new Map<string, Tree>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === undefined) continue;
      const at = isScalar(key) && key.range ? counter.linePos(key.range[0]).line : line;
      const tree = isNode(value)
        ? fromNode(value, counter, depth + 1)
        : { kind: 'scalar' as const, value: undefined, line: at };
      // A setting stands where its key stands, also when its value begins a line later.
      entries.set(name, { ...tree, line: at });
    }
    return { kind: 'map', entries, line };
  }
  if (isSeq(node)) {
    return {
      kind: 'list',
      items: node.items.flatMap((item) => (isNode(item) ? [fromNode(item, counter, depth + 1)] : [])),
      line,
    };
  }
  return { kind: 'scalar', value: isScalar(node) ? scalarOf(node.value) : undefined, line };
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value) || isAlias(value);
}

/** The same tree of a value that JSON gave, without lines. */
export function treeOf(value: unknown, depth = 0): Tree {
  if (depth > depthMax || value === null || typeof value !== 'object') {
    return { kind: 'scalar', value: scalarOf(value), line: undefined };
  }
  if (Array.isArray(value)) {
    return { kind: 'list', items: value.map((item) => treeOf(item, depth + 1)), line: undefined };
  }
  const entries = Object.entries(value).map(([key, inner]) => [key, treeOf(inner, depth + 1)] as const);
  return { kind: 'map', entries: new Map(entries), line: undefined };
}

function scalarOf(value: unknown): ScalarTree['value'] {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** What stands under these keys; undefined when something on the way is missing or no map. */
export function under(tree: Tree | undefined, ...keys: readonly string[]): Tree | undefined {
  let here = tree;
  for (const key of keys) {
    if (here?.kind !== 'map') return undefined;
    here = here.entries.get(key);
  }
  return here;
}

/** The scalar under these keys. */
export function valueAt(tree: Tree | undefined, ...keys: readonly string[]): ScalarTree['value'] {
  const found = under(tree, ...keys);
  return found?.kind === 'scalar' ? found.value : undefined;
}

/** The scalar under these keys as text; numbers and truths are written out. */
export function textAt(tree: Tree | undefined, ...keys: readonly string[]): string | undefined {
  const value = valueAt(tree, ...keys);
  return value === undefined ? undefined : String(value);
}

/** The items of the list under these keys; none when there is no list. */
export function itemsAt(tree: Tree | undefined, ...keys: readonly string[]): readonly Tree[] {
  const found = under(tree, ...keys);
  return found?.kind === 'list' ? found.items : [];
}

/** Every map in the tree, outermost first. */
export function* mapsIn(tree: Tree): Iterable<MapTree> {
  if (tree.kind === 'map') {
    yield tree;
    for (const inner of tree.entries.values()) yield* mapsIn(inner);
  }
  if (tree.kind === 'list') for (const item of tree.items) yield* mapsIn(item);
}
