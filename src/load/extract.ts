// Variables out of answers: what a login gives and the next step needs.

import type { Extraction } from '../scenario.ts';
import type { AnswerFields } from './carrier.ts';

/** Whether an extraction needs the body kept. */
export const needsBody = (extraction: Extraction): boolean => extraction.from !== 'header';

/** The value that a head holds; undefined when it does not, or when the value is in the body. */
export function fromHead(extraction: Extraction, head: AnswerFields): string | undefined {
  return extraction.from === 'header' ? head.header(extraction.header.toLowerCase()) : undefined;
}

/** The value that a body holds; undefined when it does not. */
export function fromBody(extraction: Extraction, body: string): string | undefined {
  switch (extraction.from) {
    case 'header':
      return undefined;
    case 'json':
      return atPath(parsed(body), extraction.path);
    case 'text':
      return between(body, extraction.after, extraction.before);
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Walks `items.0.id`. A text is taken as it is, a number or a truth value as JSON writes it, anything else is no value. */
function atPath(root: unknown, path: string): string | undefined {
  let value: unknown = root;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function between(text: string, after: string, before: string): string | undefined {
  const found = text.indexOf(after);
  if (found === -1) return undefined;
  const from = found + after.length;
  const to = before === '' ? text.length : text.indexOf(before, from);
  return to === -1 ? undefined : text.slice(from, to);
}
