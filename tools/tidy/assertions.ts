// A test that asserts nothing cannot fail, one that is skipped without a word is forgotten, and `only` silences the others.
//
// A file may leave both, tests and assertions, to a suite that several share: `conformance('node', …)`.

import { code, type Token } from '../scan.ts';
import type { Tree } from '../tree.ts';
import type { Problem } from './rule.ts';

export function checkAssertions(tree: Tree): readonly Problem[] {
  return tree.files
    .filter((path) => /^(?:src|tools)\/.*\.test\.ts$/.test(path))
    .flatMap((path) => {
      const tokens = code(tree.read(path));
      const problem = (line: number, message: string): Problem => ({ path, line, message });
      return [
        ...(tokens.some((_, index) => calls(tokens, index, /^(?:test|it|conformance)$/))
          ? []
          : [problem(1, 'there is no test here')]),
        ...(tokens.some((_, index) => calls(tokens, index, /^(?:assert\w*|check\w*|expect\w*|conformance)$/))
          ? []
          : [problem(1, 'nothing is asserted: no assert(…), no check…(…)')]),
        ...tokens.flatMap((token, index) => silences(tokens, index).map((message) => problem(token.line, message))),
      ];
    });
}

/** `word(…)` or `word.anything(…)`. */
function calls(tokens: readonly Token[], index: number, word: RegExp): boolean {
  const token = tokens[index];
  if (token?.kind !== 'word' || !word.test(token.text)) return false;
  const next = tokens[index + 1]?.text;
  return next === '(' || (next === '.' && tokens[index + 3]?.text === '(');
}

function silences(tokens: readonly Token[], index: number): string[] {
  const said = (offset: number): string | undefined => tokens[index + offset]?.text;
  if (/^(?:test|suite|describe|it)$/.test(said(0) ?? '') && said(1) === '.') {
    if (said(2) === 'only') return ['"only" silences every other test'];
    if (said(2) === 'skip' || said(2) === 'todo') return ["skip with a reason: { skip: 'no haproxy here' }"];
  }
  if (said(1) === ':' && said(2) === 'true') {
    if (said(0) === 'only') return ['"only" silences every other test'];
    if (said(0) === 'skip' || said(0) === 'todo') return ["skip with a reason: { skip: 'no haproxy here' }"];
  }
  return [];
}
