// What every theory claims, read from its source. A theory computes its predictions from the evidence, so that without evidence
// there is nothing to ask; but which claims it makes, and how each prediction is worded, stands in its file, and a catalogue can
// quote that.
//
//   claim('Two whole tries do not fit into the window.', {       says
//     bearing: 'necessary',
//     predicted: `a window below 2 × ${sayTime(perTry)}`,         → a window below 2 × ‹per try›
//     refutes: 'room for two tries',
//
// Of a choice between two wordings the one without numbers is quoted. Not a parser of the language: only what stands like this
// is found, and a test holds every theory to having some.

import type { Tree } from './tree.ts';

export interface SaidClaim {
  readonly says: string;
  readonly bearing: 'necessary' | 'sufficient' | 'supporting';
  /** Undefined where the prediction is a range of numbers that only evidence gives. */
  readonly predicted?: string;
  readonly refutes: string;
}

const rooms = { dossier: 'src/diagnose/dossier/theories/', record: 'src/diagnose/theories/' } as const;

/** Claims by kind of theory and slug, in the order in which they stand. */
export function theoryClaims(tree: Tree): Record<keyof typeof rooms, Record<string, readonly SaidClaim[]>> {
  return { dossier: claimsIn(tree, 'dossier'), record: claimsIn(tree, 'record') };
}

function claimsIn(tree: Tree, kind: keyof typeof rooms): Record<string, readonly SaidClaim[]> {
  const found: Record<string, SaidClaim[]> = {};
  for (const path of tree.files.toSorted()) {
    if (!path.startsWith(rooms[kind]) || path.endsWith('.test.ts')) continue;
    const slug = path.slice(rooms[kind].length, -3).replace(/-experiments$/, '');
    const text = tree.read(path);
    const claims = kind === 'dossier' ? dossierClaims(text) : recordClaims(text);
    found[slug] = [...(found[slug] ?? []), ...claims];
  }
  return found;
}

function dossierClaims(text: string): SaidClaim[] {
  return text
    .split(/\bclaim\(/)
    .slice(1)
    .flatMap((part) => {
      const comma = part.search(/,\s*\{\s*bearing:/);
      return comma === -1 ? [] : claimOf(part.slice(0, comma), part);
    });
}

function recordClaims(text: string): SaidClaim[] {
  return text
    .split(/\bsays:/)
    .slice(1)
    .flatMap((part) => {
      const end = part.search(/,\s*(?:predicted|measure)\b/);
      return end === -1 ? [] : claimOf(part.slice(0, end), part);
    });
}

function claimOf(says: string, part: string): SaidClaim[] {
  const member = (name: string): string => new RegExp(String.raw`\b${name}:([^]*?),\n`).exec(part)?.[1] ?? '';
  const bearing = (['necessary', 'sufficient', 'supporting'] as const).find((one) =>
    member('bearing').includes(`'${one}'`),
  );
  const range = /\bpredicted:([^]*?),\n\s*refutes:/.exec(part)?.[1] ?? '';
  const predicted = range.trimStart().startsWith('{') ? undefined : phraseOf(range);
  const sentence = phraseOf(says);
  const refutes = phraseOf(member('refutes'));
  if (sentence === undefined || bearing === undefined || refutes === undefined) return [];
  return [{ says: sentence, bearing, ...(predicted === undefined ? {} : { predicted }), refutes }];
}

/** The wording that an expression gives; undefined when it gives none. */
export function phraseOf(expression: string): string | undefined {
  const choice = topLevel(expression, '?');
  const literals = literalsIn(expression).filter(({ at }) => choice === -1 || at > choice);
  const joined = choice === -1 && topLevel(expression, '+') !== -1;
  if (joined) return spoken(literals.map(({ text }) => text).join(''));
  const plain = literals.find(({ text }) => !text.includes('${'));
  const chosen = plain ?? literals[0];
  return chosen === undefined || !/[a-z]/i.test(chosen.text) ? undefined : spoken(chosen.text);
}

/** Where a sign stands outside of every literal and bracket; −1: nowhere. */
function topLevel(expression: string, sign: string): number {
  const spans = literalsIn(expression);
  for (let at = 0; at < expression.length; at++) {
    const span = spans.find((one) => one.at === at);
    if (span !== undefined) at = span.end;
    else if (
      expression[at] === sign &&
      expression[at + 1] !== '.' &&
      expression[at + 1] !== '?' &&
      expression[at - 1] !== '?'
    )
      return at;
  }
  return -1;
}

interface Literal {
  readonly text: string;
  readonly at: number;
  readonly end: number;
}

/** Quoted texts and templates, those inside a template's holes not counted. */
function literalsIn(expression: string): Literal[] {
  const found: Literal[] = [];
  for (let at = 0; at < expression.length; at++) {
    const quote = expression[at];
    if (quote !== "'" && quote !== '`' && quote !== '"') continue;
    const end = endOf(expression, at);
    found.push({ text: expression.slice(at + 1, end), at, end });
    at = end;
  }
  return found;
}

function endOf(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
    else if (quote === '`' && text[at] === '$' && text[at + 1] === '{') at = endOfHole(text, at + 1);
  }
  return text.length;
}

function endOfHole(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const sign = text[at];
    if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at;
    } else if (sign === "'" || sign === '`' || sign === '"') at = endOf(text, at);
  }
  return text.length;
}

/** A template with its holes named: `${sayTime(Number(window.value))}` → ‹window›. */
function spoken(template: string): string {
  let text = '';
  for (let at = 0; at < template.length; at++) {
    if (template[at] !== '$' || template[at + 1] !== '{') {
      text += template[at];
      continue;
    }
    const end = endOfHole(template, at + 1);
    text += nameOf(template.slice(at + 2, end));
    at = end;
  }
  return text.replaceAll(/\\(.)/g, '$1').replaceAll(/\s+/g, ' ').trim();
}

function nameOf(hole: string): string {
  // `evidence.suspect ?? 'its slowest replica'`, `n === 1 ? 'one try' : …`: what stands for the usual case.
  const usual = literalsIn(hole).find(({ text }) => text.length > 2 && !text.includes('${'));
  if (/\?/.test(hole) && usual !== undefined) return usual.text;
  if (/\?|=>/.test(hole)) return '…';
  const words = [...hole.matchAll(/[A-Za-z_]\w*(?!\w*\()/g)].map(([word]) => word);
  const name = words.findLast((word) => !/^(?:value|length|undefined|Math|Number|String|evidence|text)$/.test(word));
  return name === undefined ? '…' : `‹${name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()}›`;
}

/** The module that carries them into the program. */
export function claimsModule(tree: Tree): string {
  return `// The wording of every theory's claims, as its source has it. Written by \`node tools/write-theories.ts\`: do not edit.
// Long because it quotes every theory.

export interface SaidClaim {
  readonly says: string;
  readonly bearing: 'necessary' | 'sufficient' | 'supporting';
  /** \`‹a word›\` stands for a number that the evidence gives. Undefined: a range that only the evidence gives. */
  readonly predicted?: string;
  readonly refutes: string;
}

export const claimsSaid: {
  readonly dossier: Readonly<Record<string, readonly SaidClaim[]>>;
  readonly record: Readonly<Record<string, readonly SaidClaim[]>>;
} = ${JSON.stringify(theoryClaims(tree), undefined, 2)};
`;
}
