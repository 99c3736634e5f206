// Who may know whom. Reads every import, export-from, import() and import type of src/ and holds it against the table of
// rooms: one door a room, lower rows only, pure knows only pure, what must never meet does not meet.
//
// Tests, benchmarks, fuzzers and what stands in `testing/` obey the same rows and doors; they may use Node and development
// libraries, and they may enter their own room by its door.

import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import {
  bans,
  isForTests,
  isPure,
  neighbours,
  pureLibraries,
  type Room,
  roomOf,
  rooms,
  rows,
  truth,
} from '../rooms.ts';
import { code, type Token } from '../scan.ts';
import type { Tree } from '../tree.ts';
import type { Problem } from './rule.ts';

export interface Import {
  /** As written; undefined when it is computed at run time. */
  readonly specifier: string | undefined;
  /** The names asked for, as the other side calls them; `*` for all of them. */
  readonly names: readonly string[];
  readonly line: number;
}

export function checkImports(tree: Tree): readonly Problem[] {
  const sources = tree.files.filter((path) => path.startsWith('src/') && path.endsWith('.ts'));
  const secrets = tree.has(truth.file) ? exportedNames(tree.read(truth.file)) : new Set<string>();
  const perFile = sources.flatMap((path) =>
    importsOf(tree.read(path)).flatMap((found) =>
      complaints(tree, path, found, secrets).map((message): Problem => ({ path, line: found.line, message })),
    ),
  );
  return [...perFile, ...cycles(tree, sources)];
}

/** Everything that is wrong with one import, most telling first; usually nothing. */
function complaints(tree: Tree, path: string, found: Import, secrets: ReadonlySet<string>): string[] {
  const { specifier } = found;
  if (specifier === undefined)
    return ['an import names its module in quotes, so that a reader and this rule can follow it'];
  const room = roomOf(path);
  if (room === undefined) return [`src/ holds rooms only, and ${path} belongs to none in tools/rooms.ts`];
  if (!specifier.startsWith('.')) return libraryComplaints(path, room, specifier);

  const target = posix.join(posix.dirname(path), specifier);
  if (!/\.(ts|json)$/.test(specifier)) return [`"${specifier}" needs its ending: Node does not guess .ts`];
  if (!tree.has(target)) return [`"${specifier}" is not in the tree`];
  const other = roomOf(target);
  if (other === undefined) return [`"${specifier}" leaves the rooms: src/ imports from src/ and from libraries only`];
  if (other === room) return insideComplaints(path, target, room);
  return betweenComplaints(path, target, room, other, found, secrets);
}

function libraryComplaints(path: string, room: Room, specifier: string): string[] {
  if (isForTests(path)) return [];
  if (isBuiltin(specifier)) {
    if (isPure(path)) return [`${where(path, room)} is pure and ${specifier} acts: take what is needed as an argument`];
    return specifier.startsWith('node:') ? [] : [`write "node:${specifier}": it is Node's own, not a package`];
  }
  const library = packageName(specifier);
  if (isPure(path) && !pureLibraries.includes(library)) {
    return [`${where(path, room)} is pure and ${library} is not among the pure libraries of tools/rooms.ts`];
  }
  return [];
}

function insideComplaints(path: string, target: string, room: Room): string[] {
  // A test may come in by the door, to see what others see.
  if (isForTests(path)) return [];
  if (isForTests(target)) return [`${target} is for tests: the product does not import it`];
  if (target === doorOf(room)) return [`a file inside ${room.name} imports its neighbour, not its own door`];
  const leavesPurity = isPure(path) && !isPure(target) && !target.endsWith('.json');
  return leavesPurity ? [`${target} acts and ${path} is pure`] : [];
}

function betweenComplaints(
  path: string,
  target: string,
  room: Room,
  other: Room,
  found: Import,
  secrets: ReadonlySet<string>,
): string[] {
  const problems: string[] = [];
  const ban = bans.find((candidate) => candidate.room === room.name && candidate.mustNotImport.includes(other.name));
  if (ban !== undefined) problems.push(`${room.name} must not know ${other.name}: ${ban.because}`);
  else if (!mayKnow(room, other)) {
    problems.push(`${room.name} (${room.row}) must not know ${other.name} (${other.row}): only lower rows`);
  } else if (isPure(path) && other.kind === 'acts') {
    problems.push(`${where(path, room)} is pure and ${other.name} acts`);
  }
  if (target !== doorOf(other)) problems.push(`enter ${other.name} by its door, ${doorOf(other)}`);
  if (isTruth(target, found, secrets) && !truth.openedBy.some((opener) => opener === room.name)) {
    problems.push(`only ${truth.openedBy.join(', ')} may open ${truth.file}: diagnosis is blind to what was injected`);
  }
  return problems;
}

function isTruth(target: string, found: Import, secrets: ReadonlySet<string>): boolean {
  if (target === truth.file) return true;
  return roomOf(target)?.name === truth.room && found.names.some((name) => secrets.has(name));
}

/** Whether `room` may know `other` by the rows alone. */
function mayKnow(room: Room, other: Room): boolean {
  if (rows.indexOf(other.row) < rows.indexOf(room.row)) return true;
  return neighbours.some((pair) => pair.room === room.name && pair.mayKnow === other.name);
}

function doorOf(room: Room): string {
  return `src/${room.name}.ts`;
}

function where(path: string, room: Room): string {
  return room.kind === 'pure' ? room.name : posix.dirname(path);
}

/** The package that a specifier asks for: `pure-rand` of `pure-rand/generator/x`. */
export function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Every way in which a file asks for another, types included, in order. */
export function importsOf(source: string): Import[] {
  const tokens = code(source);
  return tokens.flatMap((token, index) => {
    if (token.kind !== 'word' || isMember(tokens, index)) return [];
    const found =
      token.text === 'import'
        ? readImport(tokens, index)
        : token.text === 'export'
          ? readExportFrom(tokens, index)
          : undefined;
    return found === undefined ? [] : [found];
  });
}

/** `stream.import` and `{ import: 1 }` are names of something else. */
function isMember(tokens: readonly Token[], index: number): boolean {
  return tokens[index - 1]?.text === '.' || tokens[index + 1]?.text === ':';
}

function readImport(tokens: readonly Token[], index: number): Import | undefined {
  const line = tokens[index]?.line ?? 0;
  const next = tokens[index + 1];
  if (next?.text === '.' && next.kind === 'mark') return undefined;
  if (next?.kind === 'text') return { specifier: next.text, names: [], line };
  if (next?.text === '(') {
    const argument = tokens[index + 2];
    const isWhole = tokens[index + 3]?.text === ')' || tokens[index + 3]?.text === ',';
    return { specifier: argument?.kind === 'text' && isWhole ? argument.text : undefined, names: ['*'], line };
  }
  return readFrom(tokens, index, line);
}

/** `export … from`; undefined for an export of the file's own. */
function readExportFrom(tokens: readonly Token[], index: number): Import | undefined {
  const first = tokens[index + 1]?.text === 'type' ? index + 2 : index + 1;
  const opens = tokens[first]?.text;
  if (opens !== '*' && opens !== '{') return undefined;
  return readFrom(tokens, index, tokens[index]?.line ?? 0);
}

/** Reads on to `from '…'`. A statement that gets to its end without one names nobody. */
function readFrom(tokens: readonly Token[], index: number, line: number): Import | undefined {
  const names: string[] = [];
  for (let at = index + 1; at < tokens.length; at++) {
    const token = tokens[at];
    const next = tokens[at + 1];
    if (token === undefined || token.text === ';') return undefined;
    if (token.text === 'from' && next?.kind === 'text') return { specifier: next.text, names, line };
    if (token.text === '*') names.push('*');
    else if (isAskedFor(tokens, at)) names.push(token.text);
    else if (token.text === '}' && next?.text !== 'from') return undefined;
  }
  return undefined;
}

/** A name as the other side calls it: not the one it gets here after `as`. */
function isAskedFor(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  return token?.kind === 'word' && !['type', 'as'].includes(token.text) && tokens[at - 1]?.text !== 'as';
}

/** The names that a file exports by declaring them. */
function exportedNames(source: string): Set<string> {
  const declaration = /^export\s+(?:declare\s+|async\s+)?(?:interface|type|class|const|let|function\*?)\s+([\w$]+)/gm;
  return new Set(Array.from(source.matchAll(declaration), (match) => match[1] ?? ''));
}

/** Rooms that know each other in a circle: each circle once, at the file that closes it. */
function cycles(tree: Tree, sources: readonly string[]): Problem[] {
  const knows = new Map<string, Map<string, string>>(rooms.map((room) => [room.name, new Map()]));
  for (const path of sources) {
    const from = roomOf(path)?.name;
    for (const { specifier } of importsOf(tree.read(path))) {
      if (specifier === undefined || !specifier.startsWith('.')) continue;
      const to = roomOf(posix.join(posix.dirname(path), specifier))?.name;
      if (from !== undefined && to !== undefined && from !== to) knows.get(from)?.set(to, path);
    }
  }
  const problems: Problem[] = [];
  const finished = new Set<string>();
  const visit = (name: string, trail: readonly string[]): void => {
    if (finished.has(name)) return;
    for (const [next, path] of knows.get(name) ?? []) {
      const begin = [...trail, name].indexOf(next);
      if (begin === -1) visit(next, [...trail, name]);
      else
        problems.push({
          path,
          line: 1,
          message: `rooms in a circle: ${[...trail, name].slice(begin).join(' → ')} → ${next}`,
        });
    }
    finished.add(name);
  };
  for (const room of rooms) visit(room.name, []);
  return problems;
}
