// What a line program found in the line that it read last: numbers by the cells of a row, texts by where they stand.

import { textOf } from './byte-words.ts';
import { cellCount, cells, type RequestRow } from './request-table.ts';

/** Where texts stand: their columns. */
export const columns = { replica: 0, client: 1, route: 2, flag: 3, service: 4, worker: 5 } as const;
/** Cells beyond those of a row: time to the header, and numbers that are passed over. */
export const headerSeconds = cellCount;
export const passedOver = cellCount + 1;

export class LineValues {
  readonly numbers = new Float64Array(cellCount + 2);
  /** Where texts begin (−1: the line has none) and end, by column. */
  readonly begins = new Int32Array(6);
  readonly ends = new Int32Array(6);
  /** Whether the line says that no server was chosen. */
  noServer = false;

  clear(): void {
    const { numbers, begins } = this;
    numbers[cells.startMs] = Number.NaN;
    numbers[cells.seconds] = Number.NaN;
    numbers[cells.upstreamSeconds] = Number.NaN;
    numbers[cells.queueSeconds] = Number.NaN;
    numbers[cells.connectSeconds] = Number.NaN;
    numbers[cells.status] = -1;
    numbers[cells.upstreamStatus] = -1;
    numbers[cells.attempts] = -1;
    numbers[headerSeconds] = Number.NaN;
    begins[columns.replica] = -1;
    begins[columns.client] = -1;
    begins[columns.route] = -1;
    begins[columns.flag] = -1;
    begins[columns.service] = -1;
    begins[columns.worker] = -1;
    this.noServer = false;
  }

  note(column: number, from: number, to: number): void {
    this.begins[column] = from;
    this.ends[column] = to;
  }

  has(column: number): boolean {
    return this.begins[column] !== -1;
  }

  number(cell: number): number {
    return this.numbers[cell] ?? Number.NaN;
  }

  begin(column: number): number {
    return this.begins[column] ?? -1;
  }

  end(column: number): number {
    return this.ends[column] ?? -1;
  }

  text(bytes: DataView, column: number): string | undefined {
    return this.has(column) ? textOf(bytes, this.begin(column), this.end(column)) : undefined;
  }

  /** Whether they are what the row says. */
  equals(bytes: DataView, row: RequestRow): boolean {
    return (
      (Object.keys(cells) as (keyof typeof cells)[]).every((name) => Object.is(this.number(cells[name]), row[name])) &&
      (Object.keys(columns) as (keyof typeof columns)[]).every((name) => this.text(bytes, columns[name]) === row[name])
    );
  }
}
