// What a piece of a record must look like, as data. A shape says what is wrong with a value and where, and the compiler
// holds it against the interface it stands for: a field that is forgotten here, or optional in one place only, is a type
// error. Fields that a shape does not know are let through: a later writer may say more.

/** One thing wrong: `at_ns`, `"soon"`, `a number`. */
export interface Fault {
  /** Path within the line, such as `replicas[2].latency.p99_ns`. Empty for the line itself. */
  readonly where: string;
  readonly found: string;
  readonly expected: string;
}

export interface Checker {
  /** In words, for the error. */
  readonly expected: string;
  /** The first thing wrong with the value, if any. */
  fault(value: unknown, where: string): Fault | undefined;
  /** For an object (or a list or map of them): its fields. */
  readonly fields: Fields;
}

/** A checker for exactly the type T. */
export interface Shape<T> extends Checker {
  /** Never there. It holds T for the compiler, in and out, so that a shape for a part of T does not pass for one of T. */
  readonly stands?: (value: T) => T;
}

/** A field that may be absent. It is never null: absent is the one nothing. */
export interface OptionalShape<T> {
  readonly optional: Shape<T>;
}

export type Fields = Readonly<Record<string, Checker | { readonly optional: Checker }>>;

type ShapesOf<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? OptionalShape<Exclude<T[K], undefined>> : Shape<T[K]>;
};

export function object<T>(shapes: ShapesOf<T>): Shape<T> {
  const fields: Fields = shapes;
  return {
    expected: 'an object',
    fields,
    fault(value, where) {
      if (!isObject(value)) return { where, found: show(value), expected: 'an object' };
      for (const [name, shape] of Object.entries(fields)) {
        const inner = value[name];
        if ('optional' in shape && inner === undefined) continue;
        const fault = checkerOf(shape).fault(inner, where === '' ? name : `${where}.${name}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  };
}

export const optional = <T>(shape: Shape<T>): OptionalShape<T> => ({ optional: shape });
export const checkerOf = (field: Checker | { readonly optional: Checker }): Checker =>
  'optional' in field ? field.optional : field;

/** What is at the bottom of every shape: a test, and its name. */
function plain<T>(expected: string, holds: (value: unknown) => boolean): Shape<T> {
  return {
    expected,
    fields: {},
    fault: (value, where) => (holds(value) ? undefined : { where, found: show(value), expected }),
  };
}

export const text = plain<string>('text', (value) => typeof value === 'string');
export const flag = plain<boolean>('true or false', (value) => typeof value === 'boolean');
/** JSON can spell numbers that overflow (1e999); they are no numbers here. */
export const number = plain<number>('a number', (value) => Number.isFinite(value));
export const amount = plain<number>('a number, 0 or more', (value) => typeof value === 'number' && isAmount(value));
export const whole = plain<number>('a whole number', (value) => Number.isSafeInteger(value));
export const count = plain<number>(
  'a whole number, 0 or more',
  (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0,
);
export const numberOrText = plain<number | string>(
  'a number or text',
  (value) => typeof value === 'string' || Number.isFinite(value),
);
export const anything = plain<unknown>('a value', (value) => value !== undefined);

export function oneOf<const T extends string>(...choices: readonly T[]): Shape<T> {
  const expected = choices.length === 1 ? show(choices[0]) : `one of ${choices.map(show).join(', ')}`;
  return plain(expected, (value) => choices.some((choice) => choice === value));
}

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return {
    expected: 'a list',
    fields: item.fields,
    fault(value, where) {
      if (!Array.isArray(value)) return { where, found: show(value), expected: 'a list' };
      for (const [index, inner] of value.entries()) {
        const fault = item.fault(inner, `${where}[${index}]`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  };
}

/** An object whose keys are names: replica ids, kinds of error. */
export function map<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    expected: 'an object',
    fields: item.fields,
    fault(value, where) {
      if (!isObject(value)) return { where, found: show(value), expected: 'an object' };
      for (const [key, inner] of Object.entries(value)) {
        const fault = item.fault(inner, `${where}.${key}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  };
}

/** A union that says by the field `tag` which of its members it is. */
export function tagged<T extends Readonly<Record<Tag, string>>, Tag extends string>(
  tag: Tag,
  members: { readonly [K in T[Tag]]: Shape<Extract<T, Readonly<Record<Tag, K>>>> },
): Shape<T> {
  const byName = new Map<string, Checker>(Object.entries<Checker>(members));
  const expected = `one of ${[...byName.keys()].map(show).join(', ')}`;
  return {
    expected: 'an object',
    fields: Object.fromEntries([...byName.values()].flatMap(({ fields }) => Object.entries(fields))),
    fault(value, where) {
      if (!isObject(value)) return { where, found: show(value), expected: 'an object' };
      const name = value[tag];
      const member = typeof name === 'string' ? byName.get(name) : undefined;
      return member === undefined
        ? { where: where === '' ? tag : `${where}.${tag}`, found: show(name), expected }
        : member.fault(value, where);
    },
  };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isAmount = (value: number): boolean => value >= 0 && value < Infinity;

/** A value as it stands in the file, cut short. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  const shown = JSON.stringify(value);
  return shown.length <= 40 ? shown : `${shown.slice(0, 37)}…`;
}
