// JSON without places, for configurations without mistakes: a thousand services are read some forty times as fast as by a reader
// that remembers where everything stands. Only when there is a mistake to be shown is the text read again by that one.
//
// JSON.parse takes the last of two equal keys without a word, which is a mistake to be shown. So keys are counted: as many must
// be in the text as there are in what was made of it.

/** What the text says; undefined when it is not JSON, or not without doubt. */
export function plainJson(text: string): { readonly value: unknown } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return keysIn(value) === keysWritten(text) ? { value } : undefined;
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values: readonly unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : values.length;
  return values.reduce<number>((sum, inner) => sum + keysIn(inner), own);
}

/** Of a text that is JSON: a key is a string before a colon. */
function keysWritten(text: string): number {
  let count = 0;
  for (const string of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (string[1] !== undefined) count += 1;
  return count;
}
