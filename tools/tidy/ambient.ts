// The words by which code asks the world for time or chance. The second type check knows `Date` and `Math`, since they
// belong to the language, and the guard sees only what a test happens to run; this reads every line.

import { isPure, isForTests } from '../rooms.ts';
import { code, type Token } from '../scan.ts';
import type { Tree } from '../tree.ts';
import type { Problem } from './rule.ts';

export function checkAmbient(tree: Tree): readonly Problem[] {
  return tree.files
    .filter((path) => path.startsWith('src/') && path.endsWith('.ts') && !isForTests(path))
    .flatMap((path) => {
      const tokens = code(tree.read(path));
      return tokens.flatMap((token, index) => {
        const message = complaint(path, tokens, index);
        return message === undefined ? [] : [{ path, line: token.line, message }];
      });
    });
}

function complaint(path: string, tokens: readonly Token[], index: number): string | undefined {
  if (says(tokens, index, 'Math', '.', 'random') && !path.startsWith('src/host/')) {
    return 'Math.random() belongs to host, which draws one seed a run: take a stream of dice as an argument';
  }
  if (!isPure(path)) return undefined;
  if (says(tokens, index, 'Date', '.', 'now') || says(tokens, index, 'Temporal', '.', 'Now')) return readsTheClock;
  if (says(tokens, index, 'new', 'Date', '(', ')') || says(tokens, index, 'new', 'Date', ';')) return readsTheClock;
  const callsDate =
    says(tokens, index, 'Date', '(') && tokens[index - 1]?.text !== 'new' && tokens[index - 1]?.text !== '.';
  return callsDate ? readsTheClock : undefined;
}

const readsTheClock = 'a pure room does not read the clock: take `now` as an argument';

/** Whether the tokens from `index` on are these. */
function says(tokens: readonly Token[], index: number, ...words: string[]): boolean {
  return words.every((word, offset) => {
    const token = tokens[index + offset];
    return token?.text === word && token.kind !== 'text';
  });
}
