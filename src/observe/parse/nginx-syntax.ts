// The syntax of nginx.conf: directives that end with `;` or open a block, words that quotes hold together, comments to the end
// of the line. Nothing here knows what a directive means.

export interface NginxDirective {
  readonly name: string;
  readonly words: readonly string[];
  readonly line: number;
  /** A comment that follows it on the same line. */
  comment: string | undefined;
  /** The directives of its block; undefined when it has none. */
  readonly block: NginxDirective[] | undefined;
}

/** The directives of a file, nested as they are. A text that is cut off is read as far as it goes. */
export function parseNginxSyntax(text: string): NginxDirective[] {
  const top: NginxDirective[] = [];
  const open: NginxDirective[][] = [top];
  let words: Token[] = [];
  let last: { directive: NginxDirective; endLine: number } | undefined;
  for (const token of tokensOf(text)) {
    if (token.kind === 'word') words.push(token);
    else if (token.kind === 'comment') {
      if (last?.endLine === token.line && words.length === 0) last.directive.comment ??= token.text;
    } else {
      const [name, ...others] = words;
      words = [];
      const block: NginxDirective[] | undefined = token.kind === 'open' ? [] : undefined;
      if (name !== undefined) {
        const directive = {
          name: name.text,
          words: others.map((word) => word.text),
          line: name.line,
          comment: undefined,
          block,
        };
        open.at(-1)?.push(directive);
        last = { directive, endLine: token.line };
      }
      if (block !== undefined) open.push(block);
      if (token.kind === 'close' && open.length > 1) open.pop();
    }
  }
  return top;
}

/** All directives of this name in these blocks and the blocks inside them. */
export function findDeep(directives: readonly NginxDirective[], name: string): NginxDirective[] {
  return directives.flatMap((one) => [...(one.name === name ? [one] : []), ...findDeep(one.block ?? [], name)]);
}

interface Token {
  readonly text: string;
  readonly kind: 'word' | 'end' | 'open' | 'close' | 'comment';
  readonly line: number;
}

// A `{` inside a word belongs to it after `$`: `${request_id}`.
const token =
  /(\s+)|#([^\n]*)|([;{}])|"((?:\\[\s\S]|[^"\\])*)"?|'((?:\\[\s\S]|[^'\\])*)'?|((?:\$\{[^}]*\}|\\.|[^\s;{}"'])+)/y;

function* tokensOf(text: string): Iterable<Token> {
  let line = 1;
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text);
    if (found === null) return;
    const next = token.lastIndex;
    const [whole, , comment, mark, double, single, bare] = found;
    if (comment !== undefined) yield { text: comment.trim(), kind: 'comment', line };
    else if (mark !== undefined)
      yield { text: mark, kind: mark === ';' ? 'end' : mark === '{' ? 'open' : 'close', line };
    else if (bare !== undefined) yield { text: bare, kind: 'word', line };
    else if (double !== undefined || single !== undefined) {
      yield { text: (double ?? single ?? '').replaceAll(/\\(["'\\])/g, '$1'), kind: 'word', line };
    }
    line += whole.split('\n').length - 1;
    token.lastIndex = next;
  }
}
