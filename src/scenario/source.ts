// YAML with its positions kept: the data as plain values, and for every path the line and column that a person must look
// at. Settings from the command line (`--set faults.0.slow.factor=1.3`) are put into the document before it is read, so
// that a wrong setting is told like a wrong line, with the setting's own text as the place.

import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  type YAMLError,
  YAMLMap,
  YAMLSeq,
  visit,
} from 'yaml';
import { describe, formatPath, type Path, type Problem } from './problem.ts';

export interface Source {
  readonly value: unknown;
  /** What is wrong with the text as YAML. When there is anything, `value` is undefined. */
  readonly problems: readonly Problem[];
  /** A problem at the value of `path`, or at the nearest enclosing thing that exists. */
  at(path: Path, message: string): Problem;
  /** The same at the key: for keys that should not be there. */
  atKey(path: Path, message: string): Problem;
}

/** Aliases that one document may expand to: far above honest use, far below a bomb. */
const aliasesMax = 1000;

export function readSource(text: string, file: string, settings: readonly string[]): Source {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error', merge: true });
  const places = new Map<unknown, Place>();
  const placeAt = (offset: number): Place => ({ file, ...lineAndColumn(text, offset) });
  const placeOf = (node: unknown): Place | undefined => {
    const set = places.get(node);
    if (set !== undefined) return set;
    const offset = isNodeWithRange(node) ? node.range[0] : undefined;
    return offset === undefined ? undefined : placeAt(offset);
  };
  const find = (path: Path, part: 'key' | 'value'): Place => {
    const { key, value } = lookUp(document, path);
    const byValue = placeOf(value) ?? placeOf(key);
    const byKey = placeOf(key) ?? placeOf(value);
    return (part === 'key' ? byKey : byValue) ?? placeAt(0);
  };
  const at = (path: Path, message: string): Problem => ({ ...find(path, 'value'), path: formatPath(path), message });
  const atKey = (path: Path, message: string): Problem => ({ ...find(path, 'key'), path: formatPath(path), message });

  const problems: Problem[] = document.errors.map((error) => ({
    ...placeAt(error.pos[0]),
    path: '',
    message: explainSyntax(error, text),
  }));
  if (problems.length === 0) {
    for (const setting of settings) {
      const wrong = applySetting(document, setting, places);
      if (wrong !== undefined) problems.push(wrong);
    }
  }
  if (problems.length === 0) {
    visit(document, {
      Alias: (_, alias) => {
        if (alias.resolve(document) !== undefined) return;
        const message = `the alias *${alias.source} has no anchor: expected &${alias.source} before it`;
        problems.push({ ...(placeOf(alias) ?? placeAt(0)), path: '', message });
      },
    });
  }
  let value: unknown;
  if (problems.length === 0) {
    try {
      value = document.toJS({ maxAliasCount: aliasesMax });
    } catch {
      // The library throws for one reason only once every alias has its anchor.
      problems.push({
        ...placeAt(0),
        path: '',
        message: `the aliases expand to too much: expected fewer than ${aliasesMax}`,
      });
    }
  }
  return { value, problems, at, atKey };
}

type Place = Pick<Problem, 'file' | 'line' | 'column'>;

/** From 1. Counted here: the library's own counter loses lines once it has met an error. */
function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

function isNodeWithRange(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);
}

/** Follows `path` as far as it goes: the last key and value met. Aliases are looked through, merge keys too. */
function lookUp(document: Document, path: Path): { key: unknown; value: unknown } {
  let key: unknown;
  let value: unknown = document.contents;
  for (const segment of path) {
    const here: unknown = isAlias(value) ? value.resolve(document) : value;
    if (isMap(here)) {
      const pair = findPair(here, String(segment), document);
      if (pair === undefined) break;
      key = pair.key;
      value = pair.value;
    } else if (isSeq(here)) {
      const item = here.items[Number(segment)];
      if (item === undefined) break;
      key = undefined;
      value = item;
    } else break;
  }
  return { key, value };
}

function findPair(map: YAMLMap, name: string, document: Document): { key: unknown; value: unknown } | undefined {
  for (const pair of map.items) {
    if (isPair(pair) && nameOf(pair.key) === name) return pair;
  }
  for (const pair of map.items) {
    if (nameOf(pair.key) !== '<<') continue;
    const merged: unknown = isAlias(pair.value) ? pair.value.resolve(document) : pair.value;
    const found = isMap(merged) ? findPair(merged, name, document) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const nameOf = (key: unknown): string => String(isScalar(key) ? key.value : key);

/** Puts one `path=value` into the document. Missing maps on the way are made; a list can grow by one at its end. */
function applySetting(document: Document, setting: string, places: Map<unknown, Place>): Problem | undefined {
  const file = `--set ${setting}`;
  const equals = setting.indexOf('=');
  const wrong = (path: Path, message: string): Problem => ({
    file,
    line: 1,
    column: 1,
    path: formatPath(path),
    message,
  });
  if (equals <= 0) return wrong([], `expected path=value such as faults.0.slow.factor=1.3, found '${setting}'`);
  const path = setting.slice(0, equals).split('.');
  const parsed = parseDocument(setting.slice(equals + 1), { prettyErrors: false });
  const broken = parsed.errors[0];
  if (broken !== undefined) return wrong(path, explainSyntax(broken, setting.slice(equals + 1)));
  const value: unknown = parsed.contents;
  const place = { file, line: 1, column: equals + 2 };
  places.set(value, place);
  if (!isMap(document.contents)) return wrong(path, 'the document is not a mapping, so nothing can be set in it');

  let parent: YAMLMap | YAMLSeq = document.contents;
  for (let depth = 0; ; depth++) {
    const segment = path[depth] ?? '';
    const last = depth === path.length - 1;
    const index = isSeq(parent) ? Number(segment) : 0;
    if (isSeq(parent) && !(Number.isInteger(index) && index >= 0 && index <= parent.items.length)) {
      const list = formatPath(path.slice(0, depth));
      return wrong(path, `${list} is a list of ${parent.items.length}: expected an index from 0, found '${segment}'`);
    }
    if (last) {
      if (isSeq(parent)) parent.items[index] = value;
      else {
        // A fresh pair, so that the key's place is the setting too.
        parent.delete(segment);
        const key = document.createNode(segment);
        places.set(key, { file, line: 1, column: 1 });
        parent.add(document.createPair(key, value));
      }
      return undefined;
    }
    const next: unknown = parent.get(isSeq(parent) ? index : segment, true);
    // An alias is replaced by a copy: setting one service must not change the one it was copied from.
    const child: unknown = isAlias(next) ? next.resolve(document)?.clone() : next;
    if (isMap(child) || isSeq(child)) {
      if (isAlias(next)) parent.set(isSeq(parent) ? index : segment, child);
      parent = child;
      continue;
    }
    if (isScalar(child) && child.value !== null) {
      const scalar = describe(child.value);
      return wrong(path, `${formatPath(path.slice(0, depth + 1))} is ${scalar}, which has nothing inside`);
    }
    const made = path[depth + 1] === '0' ? new YAMLSeq() : new YAMLMap();
    places.set(made, { file, line: 1, column: 1 });
    parent.set(isSeq(parent) ? index : segment, made);
    parent = made;
  }
}

/** The parser's complaint in our words where we know better ones; else its own, as a sentence part. */
function explainSyntax(error: YAMLError, text: string): string {
  switch (error.code) {
    case 'DUPLICATE_KEY': {
      const key = /^[^:\n]*/.exec(text.slice(error.pos[0]))?.[0].trim() ?? '';
      return `the key ${key} stands here a second time: expected each key once`;
    }
    case 'TAB_AS_INDENT':
      return 'found a tab in the indentation: YAML expects spaces';
    case 'MULTIPLE_DOCS':
      return 'found a second document (---): expected one a file';
    default:
      return `not YAML: ${error.message}`;
  }
}
