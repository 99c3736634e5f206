// What a person wrote wrong, and where: one Problem each, all of them at once. The message says what was found and what was
// expected, and offers the nearest word that would have been right.

export interface Problem {
  /** The file as it was named to the parser, or `--set <text>` for a setting given on the command line. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units as editors count. */
  readonly column: number;
  /** Where in the data: `services.api.queue.limit`. Empty for the whole document. */
  readonly path: string;
  readonly message: string;
}

/** `convoy.yaml:12:7: services.api.workers: expected a whole number …`, the shape that editors and terminals make clickable. */
export function formatProblem(problem: Problem): string {
  const where = `${problem.file}:${problem.line}:${problem.column}`;
  return problem.path === '' ? `${where}: ${problem.message}` : `${where}: ${problem.path}: ${problem.message}`;
}

export type Path = readonly (string | number)[];

export const formatPath = (path: Path): string => path.join('.');

/** A value as a person would name it: `'fast'`, `3`, `nothing`, `a list`. */
export function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > 60 ? `'${value.slice(0, 57)}…'` : `'${value}'`;
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      return value === null || value === undefined ? 'nothing' : Array.isArray(value) ? 'a list' : 'a mapping';
  }
}
