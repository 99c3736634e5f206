// Documents that stay true: links lead somewhere, paths named in them exist, the index of decisions lists every decision,
// and a word that the terminology defines is a word that something uses.

import { posix } from 'node:path';
import type { Tree } from '../tree.ts';
import type { Problem } from './rule.ts';

const terminology = 'docs/terminology.md';
const decisions = 'docs/decisions/';

export function checkDocs(tree: Tree): readonly Problem[] {
  const documents = tree.files.filter((path) => path.endsWith('.md'));
  return [
    ...documents.flatMap((path) => checkLinks(tree, path)),
    ...documents.flatMap((path) => checkPaths(tree, path)),
    ...checkDecisions(tree),
    ...checkTerms(tree),
  ];
}

interface Line {
  readonly text: string;
  readonly number: number;
}

/** The lines of a document without its fenced examples. */
function proseLines(text: string): Line[] {
  let fenced = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(?:```|~~~)/.test(line)) {
      fenced = !fenced;
      return [];
    }
    return fenced ? [] : [{ text: line, number: index + 1 }];
  });
}

function checkLinks(tree: Tree, path: string): Problem[] {
  return proseLines(tree.read(path)).flatMap(({ text, number }) =>
    Array.from(text.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g), (match) => match[1] ?? '')
      .flatMap((target) => linkComplaints(tree, path, target))
      .map((message): Problem => ({ path, line: number, message })),
  );
}

function linkComplaints(tree: Tree, from: string, target: string): string[] {
  if (/^[a-z]+:/.test(target)) return [];
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : posix.join(posix.dirname(from), file);
  if (!exists(tree, path)) return [`the link to ${target} leads nowhere`];
  if (anchor === undefined || !path.endsWith('.md')) return [];
  return headings(tree.read(path)).some(({ text }) => slug(text) === anchor)
    ? []
    : [`${path} has no heading for #${anchor}`];
}

/** A file, or a folder that holds one. */
function exists(tree: Tree, path: string): boolean {
  const bare = path.replace(/\/$/, '');
  return tree.has(bare) || tree.files.some((file) => file.startsWith(`${bare}/`));
}

function headings(text: string): Line[] {
  return proseLines(text).flatMap(({ text: line, number }) => {
    const title = /^#+\s+(.*?)\s*$/.exec(line)?.[1];
    return title === undefined ? [] : [{ text: title, number }];
  });
}

/** The anchor that the usual renderers make of a heading. */
function slug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** Paths of the repository in backticks: `src/base/time.ts`. One with a placeholder (`<room>`, `*`, `…`) is a pattern. */
function checkPaths(tree: Tree, path: string): Problem[] {
  return proseLines(tree.read(path)).flatMap(({ text, number }) =>
    Array.from(text.matchAll(/`((?:src|tools|docs|bin|\.ci)\/[^`\s]*)`/g), (match) => match[1] ?? '')
      .filter((named) => !/[<>*…{}]/.test(named) && !exists(tree, named))
      .map((named): Problem => ({ path, line: number, message: `there is no ${named}` })),
  );
}

function checkDecisions(tree: Tree): Problem[] {
  const index = `${decisions}README.md`;
  const pages = tree.files.filter((path) => path.startsWith(decisions) && path !== index);
  if (pages.length === 0) return [];
  const listed = tree.has(index) ? tree.read(index) : '';
  return pages.flatMap((path, place): Problem[] => {
    const name = path.slice(decisions.length);
    const number = String(place + 1).padStart(4, '0');
    if (!name.startsWith(`${number}-`))
      return [{ path, line: 1, message: `decisions are numbered in a row: this is ${number}` }];
    return listed.includes(`](${name})`) ? [] : [{ path: index, line: 1, message: `list ${name}` }];
  });
}

function checkTerms(tree: Tree): Problem[] {
  if (!tree.has(terminology)) return [];
  const elsewhere = tree.files
    .filter((path) => path !== terminology && (/^src\/.*\.ts$/.test(path) || path.endsWith('.md')))
    .map((path) => tree.read(path));
  const terms = headings(tree.read(terminology)).filter(({ text }) => /^\p{Ll}/u.test(text));
  return terms.flatMap(({ text, number }, index): Problem[] => {
    const problem = (message: string): Problem => ({ path: terminology, line: number, message });
    if (terms.findIndex((other) => other.text === text) < index) return [problem(`"${text}" is defined twice`)];
    const used = elsewhere.some((source) => spellings(text).test(source));
    return used ? [] : [problem(`nothing uses the word "${text}"`)];
  });
}

/** "in flight" as prose and code spell it: in flight, in-flight, in_flight, inFlight. */
function spellings(term: string): RegExp {
  return new RegExp(`\\b${term.split(/[ -]/).join('[ _-]?')}`, 'i');
}
