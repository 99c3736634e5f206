// What must stand in no file: traces of one person's machine, addresses that work at one place only. Each pattern comes with
// what to write instead.

import type { Tree } from '../tree.ts';
import type { Problem } from './rule.ts';

interface Forbidden {
  readonly pattern: RegExp;
  readonly message: string;
}

const everywhere: readonly Forbidden[] = [
  {
    pattern: /(?<![\w.~@-])\/(?:root|home|Users|work)\/[\w.]/,
    message: 'a path on somebody’s machine: write it relative to the repository or to the temporary folder',
  },
  { pattern: /\.\.\/shared\b/, message: 'a folder beside the repository: copy in what is needed' },
  {
    pattern: /\bregistry\.(?:npmjs|yarnpkg)\b|\bnpmmirror\b|\bjfrog\b/,
    message: 'the address of a package registry: npm knows which one to ask',
  },
  {
    pattern: /\bissue #?\d+\b/i,
    message: 'a number in a tracker: say what is meant, so that the text stands by itself',
  },
];

const inLockfile: readonly Forbidden[] = [
  { pattern: /"resolved":/, message: 'where a package came from: run npm with --omit-lockfile-registry-resolved' },
];

/** Files whose words are not ours or not words. */
const foreign = /^(?:LICENSE|.*\.(?:png|jpg|ico|woff2|gz|bin|wasm))$/;

export function checkWords(tree: Tree): readonly Problem[] {
  return tree.files
    .filter((path) => !foreign.test(path))
    .flatMap((path) => {
      const forbidden = path === 'package-lock.json' ? [...everywhere, ...inLockfile] : everywhere;
      return tree
        .read(path)
        .split('\n')
        .flatMap((text, index) =>
          forbidden
            .filter(({ pattern }) => pattern.test(text))
            .map(({ message }): Problem => ({ path, line: index + 1, message })),
        );
    });
}
