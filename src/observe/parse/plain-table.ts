// Tables with a header, separated by commas, semicolons or tabs, from whatever printed them.
//
//   ts,method,path,status,seconds      a time, a status, a duration: requests
//   time,errors,rps                    a time and numbers: a series for each column
//   host,requests,mean_ms              no time: a sample for each number, with the words of its row as labels

import { fieldOf } from './access-fields.ts';
import { AccessRows } from './access-row.ts';
import { firstLines, type WholeFormat } from './format.ts';
import { parseInstant } from './instants.ts';
import { parseNumber } from './quantities.ts';
import { blankRow, clearRow } from './request-table.ts';
import { settingOf, wordsOf } from './setting-words.ts';
import type { Sink } from './sink.ts';

export const plainTable: WholeFormat = {
  kind: 'whole',
  name: 'table with a header',
  recognise(head) {
    const lines = firstLines(head, 20);
    const mark = separatorOf(lines[0] ?? '');
    if (mark === undefined || lines.length < 2) return 0;
    const names = splitCells(lines[0] ?? '', mark);
    const named = names.every((name) => /^[A-Za-z_@#%][^\n]{0,60}$/.test(name.trim()));
    if (!named) return 0;
    const even = lines.slice(1, -1).filter((line) => splitCells(line, mark).length === names.length).length;
    const numeric = splitCells(lines[1] ?? '', mark).some((cell) => parseNumber(cell) !== undefined);
    return numeric && even >= (lines.length - 2) * 0.9 ? 0.55 : 0;
  },
  read(text, sink) {
    const lines = text.split('\n');
    const head = lines.findIndex((line) => line.trim() !== '');
    const mark = separatorOf(lines[head] ?? '') ?? ',';
    const names = splitCells(lines[head] ?? '', mark).map((name) => name.trim());
    const rows: Row[] = [];
    for (const [index, line] of lines.entries()) {
      if (index <= head || line.trim() === '') continue;
      const cells = splitCells(line, mark).map((cell) => cell.trim());
      if (cells.length === names.length) rows.push({ cells, line: index + 1 });
      else sink.foreign(index + 1, line);
    }
    sink.understood(rows.length + 1);
    readRows(names, rows, sink);
  },
};

interface Row {
  readonly cells: readonly string[];
  readonly line: number;
}

function separatorOf(line: string): string | undefined {
  return [',', '\t', ';'].find((mark) => splitCells(line, mark).length > 1);
}

/** Cells of a line; quotes hold a separator, two quotes are one. */
export function splitCells(line: string, mark: string): string[] {
  if (!line.includes('"')) return line.split(mark);
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let index = 0; index < line.length; index++) {
    const character = line[index];
    if (character === '"' && quoted && line[index + 1] === '"') {
      cell += '"';
      index += 1;
    } else if (character === '"') quoted = !quoted;
    else if (character === mark && !quoted) {
      cells.push(cell);
      cell = '';
    } else cell += character;
  }
  cells.push(cell);
  return cells;
}

function readRows(names: readonly string[], rows: readonly Row[], sink: Sink): void {
  const cell = (row: Row, index: number): string => row.cells[index] ?? '';
  const isTime = (index: number): boolean => {
    const field = fieldOf(names[index] ?? '')?.field;
    return (field === 'time' || field === 'start') && rows.every((row) => parseInstant(cell(row, index)) !== undefined);
  };
  const time = names.findIndex((_, index) => isTime(index));
  const fields = new Set(names.map((name) => fieldOf(name)?.field));
  if (time !== -1 && fields.has('status') && fields.has('seconds')) {
    readRequests(names, rows, sink);
    return;
  }
  const settings = names.findIndex((name) => /^(?:key|name|setting|parameter)$/i.test(name));
  const values = names.findIndex((name) => /^value$/i.test(name));
  if (settings !== -1 && values !== -1 && names.length <= 3 && readSettings(settings, values, rows, sink)) return;
  const numeric = names.map((_, index) => index !== time && rows.every((row) => isNumberOrEmpty(cell(row, index))));
  const labelled = labelColumns(names, rows, numeric, time);
  const columns = names.flatMap((_, index) => (numeric[index] === true && !labelled.includes(index) ? [index] : []));
  readSharedWords(names, rows, labelled, sink);
  const labelsOf = (row: Row): Record<string, string> =>
    Object.fromEntries(labelled.map((index) => [names[index] ?? '', cell(row, index)]));
  if (time === -1) writeSamples(names, rows, columns, labelled, labelsOf, sink);
  else writeSeries(names, rows, columns, time, labelsOf, sink);
}

/** A word that stands in every row may be a setting of all of them: `policy` is `least_request`. */
function readSharedWords(
  names: readonly string[],
  rows: readonly Row[],
  labelled: readonly number[],
  sink: Sink,
): void {
  for (const index of labelled) {
    const word = rows[0]?.cells[index] ?? '';
    if (rows.length < 2 || rows.some((row) => row.cells[index] !== word)) continue;
    const setting = settingOf(names[index] ?? '', word, 'program');
    if (setting !== undefined)
      sink.setting({ program: 'file', scope: wordsOf(sink.file), ...setting, line: rows[0]?.line });
  }
}

/** Words are labels, and so are whole numbers that only name a row, each another. */
function labelColumns(
  names: readonly string[],
  rows: readonly Row[],
  numeric: readonly boolean[],
  time: number,
): number[] {
  const identifies =
    /^(?:pid|tid|id|worker|cpu|core|port|conn|connection|thread|shard|partition|user|vu|child|process)(?:_?id)?$/i;
  return names.flatMap((name, index) => {
    if (index === time) return [];
    if (numeric[index] !== true) return [index];
    const cells = rows.map((row) => row.cells[index] ?? '');
    const distinct = new Set(cells).size === cells.length && cells.every((cell) => /^\d+$/.test(cell));
    return identifies.test(name) && distinct ? [index] : [];
  });
}

function writeSamples(
  names: readonly string[],
  rows: readonly Row[],
  columns: readonly number[],
  labelled: readonly number[],
  labelsOf: (row: Row) => Record<string, string>,
  sink: Sink,
): void {
  for (const [index, row] of rows.entries()) {
    const labels = labelled.length === 0 ? { row: String(index + 1) } : labelsOf(row);
    for (const column of columns) {
      const value = parseNumber(row.cells[column]);
      if (value !== undefined) sink.sample(names[column] ?? '', labels, value, { line: row.line });
    }
    for (const column of labelled) {
      const health = healthOf(row.cells[column] ?? '');
      if (health !== undefined) sink.sample('endpoint_healthy', labels, health, { type: 'gauge', line: row.line });
    }
  }
}

/** 1 for up, 0 for down, when a word says so. */
export function healthOf(word: string): 0 | 1 | undefined {
  if (/^(?:healthy|up|ok|passing|ready|alive|available|in_?service|true)$/i.test(word)) return 1;
  if (
    /^(?:unhealthy|down|fail(?:ed|ing)?|critical|not_?ready|dead|unavailable|out_?of_?service|ejected|draining)$/i.test(
      word,
    )
  )
    return 0;
  return undefined;
}

function writeSeries(
  names: readonly string[],
  rows: readonly Row[],
  columns: readonly number[],
  time: number,
  labelsOf: (row: Row) => Record<string, string>,
  sink: Sink,
): void {
  const series = new Map<
    string,
    { name: string; labels: Record<string, string>; points: { atMs: number; value: number }[] }
  >();
  for (const row of rows) {
    const atMs = parseInstant(row.cells[time])?.ms;
    if (atMs === undefined) continue;
    const labels = labelsOf(row);
    for (const column of columns) {
      const value = parseNumber(row.cells[column]);
      if (value === undefined) continue;
      const name = names[column] ?? '';
      const id = `${name} ${JSON.stringify(labels)}`;
      const one = series.get(id) ?? { name, labels, points: [] };
      one.points.push({ atMs, value });
      series.set(id, one);
    }
  }
  for (const { name, labels, points } of series.values()) sink.series(name, labels, points, rows[0]?.line);
}

function readRequests(names: readonly string[], rows: readonly Row[], sink: Sink): void {
  const pairsOf = (row: Row): (readonly [string, string])[] =>
    names.map((name, index) => [name, row.cells[index] ?? '']);
  const reader = new AccessRows(rows.slice(0, 50).map(pairsOf));
  const table = sink.requests(reader.program);
  const request = blankRow();
  for (const row of rows) {
    clearRow(request);
    if (reader.fill(request, pairsOf(row)) && table.wants()) table.add(request);
  }
}

function readSettings(name: number, value: number, rows: readonly Row[], sink: Sink): boolean {
  let found = 0;
  for (const row of rows) {
    const setting = settingOf(row.cells[name] ?? '', row.cells[value], 'program');
    if (setting === undefined) continue;
    sink.setting({ program: 'file', scope: wordsOf(sink.file), ...setting, line: row.line });
    found += 1;
  }
  return found > 0;
}

function isNumberOrEmpty(cell: string): boolean {
  return cell === '' || cell === '-' || parseNumber(cell) !== undefined;
}
