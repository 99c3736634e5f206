// The schema's complaints as problems a person can act on: where, what was found, what was expected, what was probably
// meant. The schema's messages are the noun phrases after "expected"; custom checks bring whole sentences.

import type { z } from 'zod';
import { didYouMean } from './nearest.ts';
import { describe, type Path, type Problem } from './problem.ts';
import type { Source } from './source.ts';

export function explain(issues: readonly z.core.$ZodIssue[], source: Source): Problem[] {
  return issues.flatMap((issue) => explainOne(issue, [], source));
}

function explainOne(issue: z.core.$ZodIssue, base: Path, source: Source): Problem[] {
  const path = [...base, ...issue.path.map((segment) => (typeof segment === 'number' ? segment : String(segment)))];
  const found = valueAt(source.value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = issue.message.split(', ');
        const message = `unknown key '${key}': expected one of ${issue.message}.${didYouMean(key, known)}`;
        return source.atKey([...path, key], message);
      });
    case 'invalid_key': {
      const key = String(path.at(-1));
      return [source.atKey(path, `expected ${issue.issues[0]?.message ?? 'another key'}, found '${key}'`)];
    }
    case 'invalid_union': {
      if (issue.errors.length === 0) return [source.at(path, missing(issue, found, path))];
      // The branch that fits the shape of what was written tells what is wrong inside it.
      const branch = issue.errors.find((errors) => !errors.some((each) => each.path.length === 0 && isShape(each)));
      if (branch === undefined) return [source.at(path, `expected ${issue.message}, found ${describe(found)}`)];
      return branch.flatMap((each) => explainOne(each, path, source));
    }
    case 'custom':
      return [source.at(path, issue.message)];
    default:
      return [source.at(path, missing(issue, found, path))];
  }
}

const isShape = (issue: z.core.$ZodIssue): boolean => issue.code === 'invalid_type';

function missing(issue: z.core.$ZodIssue, found: unknown, path: Path): string {
  if (found === undefined) return `the key ${String(path.at(-1) ?? '')} is missing: expected ${issue.message}`;
  const known = issue.message.startsWith('one of ') ? issue.message.slice('one of '.length).split(', ') : [];
  const hint = typeof found === 'string' ? didYouMean(found, known) : '';
  return `expected ${issue.message}, found ${describe(found)}${hint === '' ? '' : `.${hint}`}`;
}

function valueAt(value: unknown, path: Path): unknown {
  let here: unknown = value;
  for (const segment of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = Object.hasOwn(here, segment)
      ? Object.entries(here).find(([key]) => key === String(segment))?.[1]
      : undefined;
  }
  return here;
}
