// A value that a schema allows, for a request that has to be filled in: the examples and defaults that its author wrote, and where
// there are none the plainest value of the type.
//
//   example, examples ─► default ─► const ─► first of enum ─► parts (allOf, oneOf, anyOf) ─► by type and format
//
// Objects get what is required and what has an example; what is read-only is the server's to give. A pattern cannot be made up,
// and is said to need an example.

/** Why there is no value, and where. */
export interface Unfilled {
  readonly path: Path;
  readonly message: string;
}

export type Path = readonly (string | number)[];

/** Follows references; what it cannot follow is told as a sentence. */
export type Resolve = (value: unknown) => { readonly value: object; readonly path: Path | undefined } | string;

export type Filled = { readonly value: unknown } | { readonly unfilled: Unfilled };

/** Schemas within schemas, so deep at most: one that contains itself has no end. */
const depthMax = 12;

/** The value, or why there is none. `path` is where the schema stands. */
export function valueOf(schema: unknown, path: Path, resolve: Resolve): Filled {
  return new Filler(resolve).fill(schema, path, 0);
}

class Filler {
  readonly #resolve: Resolve;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  fill(given: unknown, at: Path, depth: number): Filled {
    // `true` is the schema that allows everything.
    if (given === true || given === undefined) return { value: 'value' };
    if (depth > depthMax) return unfilled(at, 'the schema contains itself: give an example');
    const found = this.#resolve(given);
    if (typeof found === 'string') return unfilled(at, found);
    const schema = found.value;
    const path = found.path ?? at;
    const written = writtenIn(schema);
    if (written !== undefined) return written;
    return this.#composed(schema, path, depth) ?? this.#byType(schema, path, depth);
  }

  #composed(schema: object, path: Path, depth: number): Filled | undefined {
    const allOf = listAt(schema, 'allOf');
    if (allOf !== undefined) return this.#fillAll(schema, allOf, path, depth);
    for (const key of ['oneOf', 'anyOf']) {
      const choices = listAt(schema, key);
      if (choices === undefined) continue;
      const tried = choices.map((choice, index) => this.fill(choice, [...path, key, index], depth + 1));
      return tried.find((one) => 'value' in one) ?? tried[0];
    }
    return undefined;
  }

  /** Objects are put together; of anything else the first part that says what it is decides. */
  #fillAll(schema: object, parts: readonly unknown[], path: Path, depth: number): Filled {
    const merged: Record<string, unknown> = {};
    let plain: Filled | undefined;
    const own = 'properties' in schema ? [{ ...schema, allOf: undefined }] : [];
    for (const [index, part] of [...parts, ...own].entries()) {
      const filled = this.fill(part, [...path, 'allOf', index], depth + 1);
      if ('unfilled' in filled) return filled;
      if (isObject(filled.value) && !Array.isArray(filled.value)) Object.assign(merged, filled.value);
      else plain ??= filled;
    }
    return Object.keys(merged).length > 0 || plain === undefined ? { value: merged } : plain;
  }

  #byType(schema: object, path: Path, depth: number): Filled {
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, path, depth);
      case 'array':
        return this.#array(schema, path, depth);
      case 'integer':
      case 'number':
        return { value: numberFor(schema) };
      case 'boolean':
        return { value: true };
      case 'null':
        return { value: null };
      default:
        return textFor(schema, path);
    }
  }

  #object(schema: object, path: Path, depth: number): Filled {
    const required = new Set((listAt(schema, 'required') ?? []).filter((name) => typeof name === 'string'));
    const properties: unknown = Reflect.get(schema, 'properties');
    const value: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
      const found = this.#resolve(property);
      const inner: object = typeof found === 'string' ? {} : found.value;
      if (Reflect.get(inner, 'readOnly') === true) continue;
      const written = writtenIn(inner);
      if (!required.has(name) && written === undefined) continue;
      const filled = written ?? this.fill(property, [...path, 'properties', name], depth + 1);
      if ('unfilled' in filled) return filled;
      value[name] = filled.value;
    }
    return { value };
  }

  #array(schema: object, path: Path, depth: number): Filled {
    const filled = this.fill(Reflect.get(schema, 'items'), [...path, 'items'], depth + 1);
    if ('unfilled' in filled) return filled;
    const count = Math.min(Math.max(1, numberAt(schema, 'minItems') ?? 1), 100);
    return { value: Array.from({ length: count }, () => filled.value) };
  }
}

/** What the author wrote. */
function writtenIn(schema: object): { readonly value: unknown } | undefined {
  for (const key of ['example', 'default', 'const'] as const) {
    const value: unknown =
      key === 'default' ? (exampleListOf(schema) ?? Reflect.get(schema, key)) : Reflect.get(schema, key);
    if (value !== undefined) return { value };
  }
  const first = listAt(schema, 'enum')?.[0];
  return first === undefined ? undefined : { value: first };
}

/** `examples` of OpenAPI 3.1 is a list. */
const exampleListOf = (schema: object): unknown => listAt(schema, 'examples')?.[0];

/** In OpenAPI 3.1 `type` may be a list; the first that is not null counts. Without one the keywords tell. */
function typeOf(schema: object): string {
  const given: unknown = Reflect.get(schema, 'type');
  const one: unknown = Array.isArray(given) ? (given.find((name) => name !== 'null') ?? 'null') : given;
  if (typeof one === 'string') return one;
  if ('properties' in schema || 'additionalProperties' in schema) return 'object';
  if ('items' in schema) return 'array';
  if ('minimum' in schema || 'maximum' in schema || 'multipleOf' in schema) return 'number';
  return 'string';
}

/** The least that is allowed, or 1, or the greatest where that is less. */
function numberFor(schema: object): number {
  const exclusive = (key: string): number | undefined => {
    const value: unknown = Reflect.get(schema, key);
    return typeof value === 'number' ? value : undefined;
  };
  const step = numberAt(schema, 'multipleOf') ?? 1;
  const above =
    exclusive('exclusiveMinimum') ??
    (Reflect.get(schema, 'exclusiveMinimum') === true ? numberAt(schema, 'minimum') : undefined);
  const below =
    exclusive('exclusiveMaximum') ??
    (Reflect.get(schema, 'exclusiveMaximum') === true ? numberAt(schema, 'maximum') : undefined);
  const least = above === undefined ? numberAt(schema, 'minimum') : Math.floor(above / step) * step + step;
  const greatest = below === undefined ? numberAt(schema, 'maximum') : Math.ceil(below / step) * step - step;
  const wanted = Math.max(least ?? step, Math.min(step, greatest ?? step));
  const onStep = Math.ceil(wanted / step) * step;
  return greatest !== undefined && onStep > greatest ? greatest : onStep;
}

const textsByFormat: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  duration: 'PT1S',
  uuid: '00000000-0000-4000-8000-000000000001',
  email: 'user@example.com',
  'idn-email': 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/',
  byte: 'dmFsdWU=',
  binary: 'value',
  password: 'password',
};

function textFor(schema: object, path: Path): Filled {
  const pattern: unknown = Reflect.get(schema, 'pattern');
  const format: unknown = Reflect.get(schema, 'format');
  const text = (typeof format === 'string' ? textsByFormat[format] : undefined) ?? 'value';
  const least = numberAt(schema, 'minLength') ?? 0;
  const most = numberAt(schema, 'maxLength') ?? Infinity;
  const fitted = text.padEnd(Math.min(least, 10_000), 'x').slice(0, most);
  if (typeof pattern === 'string' && !matches(fitted, pattern)) {
    return unfilled(path, `a text that matches ${pattern} cannot be made up: give an example`);
  }
  return { value: fitted };
}

function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return false;
  }
}

const unfilled = (path: Path, message: string): Filled => ({ unfilled: { path, message } });

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export function listAt(value: object, key: string): readonly unknown[] | undefined {
  const found: unknown = Reflect.get(value, key);
  return Array.isArray(found) ? found : undefined;
}

function numberAt(value: object, key: string): number | undefined {
  const found: unknown = Reflect.get(value, key);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}
