// How a source file reads: it says its idea first, it is short or says why not, it keeps no to-do list and no dead code.

import { scan, type Token } from '../scan.ts';
import type { Tree } from '../tree.ts';
import type { Problem } from './rule.ts';

const linesMax = 600;

export function checkProse(tree: Tree): readonly Problem[] {
  return tree.files
    .filter((path) => /^(?:src|tools|bin)\/.*\.[tj]s$/.test(path))
    .flatMap((path) => {
      const source = tree.read(path);
      const comments = scan(source).filter((token) => token.kind === 'comment');
      const problem = (line: number, message: string): Problem => ({ path, line, message });
      return [
        ...(path.endsWith('.test.ts') || opensWithProse(source)
          ? []
          : [problem(1, 'say the idea first: open the file with a comment')]),
        ...(isTooLong(source, comments)
          ? [
              problem(
                linesMax,
                `more than ${linesMax} lines: split it, or say why not in a comment with "Long because"`,
              ),
            ]
          : []),
        ...comments.flatMap((comment) => commentComplaints(comment).map((message) => problem(comment.line, message))),
      ];
    });
}

/** Whether a file begins with a comment of a few words. */
function opensWithProse(source: string): boolean {
  const [first] = scan(source);
  return first?.kind === 'comment' && first.text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length >= 4;
}

function isTooLong(source: string, comments: readonly Token[]): boolean {
  return source.split('\n').length - 1 > linesMax && !comments.some(({ text }) => text.includes('Long because'));
}

function commentComplaints({ text }: Token): string[] {
  const problems: string[] = [];
  if (/\b(?:TODO|FIXME|XXX|HACK)\b/.test(text))
    problems.push('do it, or write down what is missing where a reader looks');
  if (text.startsWith('//') && looksLikeCode(text.slice(2)))
    problems.push('code in a comment: delete it, history keeps it');
  return problems;
}

const shapesOfCode: readonly RegExp[] = [
  /^(?:import|export)\s.*\bfrom\s+['"]/,
  /^(?:const|let|var)\s+[\w{[].*=/,
  /^(?:if|for|while|switch)\s*\(.*\)\s*\{?$/,
  /^(?:return|await|throw)\b.*;$/,
  /^[\w.#[\]]+\s*(?:=|\+=|-=)\s.*;$/,
  /^[\w.#]+\(.*\);$/,
  /^\}(?:\s*else\s*\{)?$/,
];

/**
 * A guess, from the shape of one line. What is indented is an example or a drawing, and code between backticks is quoted: both
 * are meant for a reader.
 */
function looksLikeCode(comment: string): boolean {
  if (/^ {3}/.test(comment)) return false;
  const text = comment.replaceAll(/`[^`]*`/g, '').trim();
  return shapesOfCode.some((shape) => shape.test(text));
}
