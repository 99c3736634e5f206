// How OpenAPI writes a parameter's value into a path, a query, a header or a cookie: `style` and `explode`
// (https://spec.openapis.org/oas/v3.1.0#style-values).
//
//                 list 3,4,5          object r=100 g=200
//   simple        3,4,5               r,100,g,200        exploded  r=100,g=200
//   label         .3.4.5              .r.100.g.200       exploded  .r=100.g=200
//   matrix        ;c=3,4,5            ;c=r,100,g,200     exploded  ;c=3;c=4;c=5     ;r=100;g=200
//   form          c=3,4,5             c=r,100,g,200      exploded  c=3&c=4&c=5      r=100&g=200
//   spaceDelimited c=3%204%205        pipeDelimited c=3|4|5        deepObject  c[r]=100&c[g]=200

import { isObject } from './openapi-schema.ts';

export interface Style {
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
}

/** Encodes what a part of an address may not hold; a path's part may not hold `/` either. */
const encoded = (text: string): string => encodeURIComponent(text);

/** For a path: what stands in place of `{name}`. */
export function inPath({ name, style, explode }: Style, value: unknown): string {
  const items = itemsOf(value);
  const pairs = pairsOf(value);
  switch (style) {
    case 'label':
      if (pairs !== undefined) return joined(pairs, explode ? '=' : '.', '.', '.');
      return items === undefined ? `.${textOf(value)}` : items.map((item) => `.${item}`).join('');
    case 'matrix':
      if (pairs !== undefined)
        return explode ? joined(pairs, '=', ';', ';') : `;${name}=${joined(pairs, ',', ',', '')}`;
      if (items === undefined) return `;${name}=${textOf(value)}`;
      return explode ? items.map((item) => `;${name}=${item}`).join('') : `;${name}=${items.join(',')}`;
    default:
      if (pairs !== undefined) return joined(pairs, explode ? '=' : ',', ',', '');
      return items?.join(',') ?? textOf(value);
  }
}

/** For a query: `name=value` and so on, without `?`. */
export function inQuery({ name, style, explode }: Style, value: unknown): string {
  const items = itemsOf(value);
  const pairs = pairsOf(value);
  const key = encoded(name);
  if (pairs !== undefined) {
    if (style === 'deepObject') return pairs.map(([inner, text]) => `${key}[${inner}]=${text}`).join('&');
    return explode ? joined(pairs, '=', '&', '') : `${key}=${joined(pairs, ',', ',', '')}`;
  }
  if (items === undefined) return `${key}=${textOf(value)}`;
  if (style === 'spaceDelimited') return `${key}=${items.join('%20')}`;
  if (style === 'pipeDelimited') return `${key}=${items.join('|')}`;
  return explode ? items.map((item) => `${key}=${item}`).join('&') : `${key}=${items.join(',')}`;
}

/** For a header or a cookie: plain text, nothing encoded. */
export function inHeader({ explode }: Pick<Style, 'explode'>, value: unknown): string {
  if (Array.isArray(value)) return value.map(plain).join(',');
  if (!isObject(value)) return plain(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}${explode ? '=' : ','}${plain(inner)}`)
    .join(',');
}

export const plain = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

const textOf = (value: unknown): string => encoded(plain(value));

const itemsOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.map((item: unknown) => textOf(item)) : undefined;

const pairsOf = (value: unknown): readonly (readonly [string, string])[] | undefined =>
  isObject(value) && !Array.isArray(value)
    ? Object.entries(value).map(([name, inner]) => [encoded(name), textOf(inner)] as const)
    : undefined;

const joined = (
  pairs: readonly (readonly [string, string])[],
  within: string,
  between: string,
  before: string,
): string => before + pairs.map(([name, text]) => `${name}${within}${text}`).join(between);
