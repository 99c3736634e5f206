// A TypeScript file as a row of tokens: enough to tell code from comments and strings, and no more. The rules that read
// source by words (imports, forbidden names, commented-out code) stand on this, so that a string which happens to say
// `enum` accuses nobody.
//
// Where it can be wrong: a `/` is taken for a division after a value and for a regular expression elsewhere. After `)` that
// is a guess (division); a regular expression right after `if (…)` would be misread up to the end of its line.

export interface Token {
  readonly kind: 'word' | 'text' | 'pattern' | 'number' | 'mark' | 'comment';
  /** As written; of a string without its quotes. A template is one token for each piece between its substitutions. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** All tokens of a source, comments among them. */
export function scan(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  // Open braces: `}` ends either a block or the substitution of a template, after which the template goes on.
  const braces: ('block' | 'template')[] = [];

  const take = (kind: Token['kind'], end: number, text = source.slice(at, end)): void => {
    tokens.push({ kind, text, line });
    line += newlines(source, at, end);
    at = end;
  };
  const takeTemplate = (): void => {
    const end = templateEnd(source, at + 1);
    const goesOn = source.endsWith('${', end);
    if (goesOn) braces.push('template');
    const close = goesOn ? 2 : source[end - 1] === '`' ? 1 : 0;
    take('text', end, source.slice(at + 1, end - close));
  };

  if (source.startsWith('#!')) at = lineEnd(source, 0);
  while (at < source.length) {
    const char = source[at] ?? '';
    const next = source[at + 1];
    if (/\s/.test(char)) {
      line += char === '\n' ? 1 : 0;
      at += 1;
    } else if (char === '/' && next === '/') {
      take('comment', lineEnd(source, at));
    } else if (char === '/' && next === '*') {
      const close = source.indexOf('*/', at + 2);
      take('comment', close === -1 ? source.length : close + 2);
    } else if (char === "'" || char === '"') {
      const end = quotedEnd(source, at);
      take('text', end, source.slice(at + 1, source[end - 1] === char ? end - 1 : end));
    } else if (char === '`') {
      takeTemplate();
    } else if (char === '}' && braces.pop() === 'template') {
      takeTemplate();
    } else if (char === '/' && startsPattern(tokens.findLast((token) => token.kind !== 'comment'))) {
      take('pattern', patternEnd(source, at));
    } else if (/[\p{ID_Start}$_#]/u.test(char)) {
      take('word', matchEnd(source, at, /[\p{ID_Continue}$#]+/uy));
    } else if (/[0-9]/.test(char)) {
      take('number', matchEnd(source, at, /[\w.]+/y));
    } else {
      if (char === '{') braces.push('block');
      take('mark', char === '=' && next === '>' ? at + 2 : at + 1);
    }
  }
  return tokens;
}

/** The tokens that run: no comments. */
export function code(source: string): Token[] {
  return scan(source).filter((token) => token.kind !== 'comment');
}

function newlines(source: string, from: number, to: number): number {
  let count = 0;
  for (let at = source.indexOf('\n', from); at !== -1 && at < to; at = source.indexOf('\n', at + 1)) count += 1;
  return count;
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end === -1 ? source.length : end;
}

function matchEnd(source: string, from: number, sticky: RegExp): number {
  sticky.lastIndex = from;
  return from + (sticky.exec(source)?.[0].length ?? 1);
}

function quotedEnd(source: string, from: number): number {
  const quote = source[from];
  for (let at = from + 1; at < source.length; at++) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === quote) return at + 1;
    else if (source[at] === '\n') return at;
  }
  return source.length;
}

/** Just after the closing backtick, or just after the `${` that opens a substitution. */
function templateEnd(source: string, from: number): number {
  for (let at = from; at < source.length; at++) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '`') return at + 1;
    else if (source[at] === '$' && source[at + 1] === '{') return at + 2;
  }
  return source.length;
}

function patternEnd(source: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < source.length; at++) {
    const char = source[at];
    if (char === '\\') at += 1;
    else if (char === '\n') return at;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return matchEnd(source, at + 1, /[a-z]*/y);
  }
  return source.length;
}

const wordsBeforeAValue: ReadonlySet<string> = new Set(
  'return typeof case in of do else void delete instanceof new throw yield await'.split(' '),
);

/** Whether a `/` after this token begins a regular expression: it does wherever a value is expected. */
function startsPattern(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'word') return wordsBeforeAValue.has(before.text);
  return before.kind === 'mark' && !')]}'.includes(before.text);
}
