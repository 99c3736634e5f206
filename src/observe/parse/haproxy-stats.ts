// HAProxy's statistics as CSV. The header names the columns, and their number differs between versions, so every value is
// found by name. Rows of type 2 are servers, of type 1 backends, of type 0 frontends.

export interface HaproxyRow {
  readonly proxy: string;
  readonly server: string;
  readonly kind: 'frontend' | 'backend' | 'server' | 'listener';
  /** Text by column name; an empty cell is absent. */
  readonly cells: ReadonlyMap<string, string>;
  readonly line: number;
}

export interface HaproxyStats {
  readonly rows: readonly HaproxyRow[];
  /** Lines that have fewer cells than a row needs. */
  readonly broken: readonly { readonly line: number; readonly text: string }[];
}

/** Whether this text is HAProxy's statistics: its first line says so. */
export function isHaproxyStats(text: string): boolean {
  return /^\uFEFF?# pxname,svname,/.test(text);
}

/** All rows. Throws nothing: a broken row is counted and left out. */
export function parseHaproxyStats(text: string): HaproxyStats {
  const lines = text.split(/\r?\n/);
  const header = splitCsv((lines[0] ?? '').replace(/^\uFEFF?# /, ''));
  const kinds = ['frontend', 'backend', 'server', 'listener'] as const;
  const rows: HaproxyRow[] = [];
  const broken: { line: number; text: string }[] = [];
  for (const [at, one] of lines.entries()) {
    if (one === '' || at === 0 || one.startsWith('#')) continue;
    const cells = new Map<string, string>();
    const values = splitCsv(one);
    for (const [index, value] of values.entries()) {
      const name = header[index];
      if (name !== undefined && name !== '' && name !== '-' && value !== '') cells.set(name, value);
    }
    const proxy = cells.get('pxname');
    const server = cells.get('svname');
    if (proxy === undefined || server === undefined) {
      broken.push({ line: at + 1, text: one });
      continue;
    }
    const kind = kinds[Number(cells.get('type') ?? Number.NaN)] ?? kindByName(server);
    rows.push({ proxy, server, kind, cells, line: at + 1 });
  }
  return { rows, broken };
}

/** A cell as a number, or undefined when it is empty or none. */
export function statistic(row: HaproxyRow, column: string): number | undefined {
  const text = row.cells.get(column);
  if (text === undefined) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function kindByName(server: string): HaproxyRow['kind'] {
  if (server === 'FRONTEND') return 'frontend';
  return server === 'BACKEND' ? 'backend' : 'server';
}

function splitCsv(text: string): string[] {
  const values: string[] = [];
  let value = '';
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (quoted) {
      if (character !== '"') value += character;
      else if (text[index + 1] === '"') {
        value += '"';
        index += 1;
      } else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === ',') {
      values.push(value);
      value = '';
    } else value += character;
  }
  values.push(value);
  return values;
}
