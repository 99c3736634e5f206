// Text in columns for a terminal: the last column of prose wraps, the others are as wide as they need to be.

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Wraps to this many characters at most; a column without it is never broken. */
  readonly width?: number;
}

export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

/** Lines of the table, title first. Rows may be higher than one line where a cell wraps. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  titlePaint: (text: string) => string,
): string[] {
  const wrapped = rows.map((row) =>
    columns.map((column, index) => {
      const cell = row[index] ?? '';
      const text = typeof cell === 'string' ? cell : cell.text;
      const paint = typeof cell === 'string' ? undefined : cell.paint;
      return { lines: column.width === undefined ? [text] : wrap(text, column.width), paint };
    }),
  );
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...wrapped.map((row) => Math.max(0, ...(row[index]?.lines ?? []).map(widthOf)))),
  );
  const lines = [
    titlePaint(
      layOut(
        columns.map((column) => column.title),
        columns,
        widths,
      ),
    ),
  ];
  for (const row of wrapped) {
    const height = Math.max(...row.map((cell) => cell.lines.length));
    for (let at = 0; at < height; at++) {
      const padded = row.map((cell, index) => {
        const text = pad(cell.lines[at] ?? '', widths[index] ?? 0, columns[index]?.align ?? 'left');
        return cell.paint === undefined ? text : cell.paint(text);
      });
      lines.push(padded.join('  ').trimEnd());
    }
  }
  return lines;
}

/** Breaks at blanks so that no line is longer than `width`, except a single word that is. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

export function pad(text: string, width: number, align: 'left' | 'right'): string {
  const room = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'left' ? text + room : room + text;
}

/** Characters, not code units; nothing here is wider than one column. */
function widthOf(text: string): number {
  return [...text].length;
}

function layOut(cells: readonly string[], columns: readonly Column[], widths: readonly number[]): string {
  return cells
    .map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align ?? 'left'))
    .join('  ')
    .trimEnd();
}
