// Pieces of a page as text that has been made safe: what comes from a record is escaped where it enters, once.

/** Text that is markup already. */
export interface Markup {
  readonly markup: string;
}

type Piece = string | number | Markup | undefined | readonly Piece[];

/** A template whose values are escaped, unless they are markup themselves. Lists are joined, undefined is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  let markup = parts[0] ?? '';
  for (const [index, value] of values.entries()) markup += written(value) + (parts[index + 1] ?? '');
  return { markup };
}

/** Markup from elsewhere in this room, such as a chart. */
export function trusted(markup: string): Markup {
  return { markup };
}

export function escapeMarkup(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function written(value: Piece): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return escapeMarkup(value);
  if (typeof value === 'number') return String(value);
  if (isList(value)) return value.map(written).join('');
  return value.markup;
}

function isList(value: Piece): value is readonly Piece[] {
  return Array.isArray(value);
}
