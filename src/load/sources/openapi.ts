// An OpenAPI 3 document (JSON or YAML) as requests: one for each operation, filled with the examples and defaults that its author
// wrote and, where there are none, with values that the schemas allow. What cannot be filled is a problem with its place: nothing
// is left out in silence.
//
//   paths: /items/{id}: get:             GET /items/1
//     parameters: id (path, integer)
//
// Required parameters are sent, others only where they have an example. `x-weight: 5` on an operation (or the weight that was given
// beside the document) sends it five times as often as one without; 0 leaves it out.

import { LineCounter, parseDocument } from 'yaml';
import { isObject, listAt, type Path, type Resolve, type Unfilled, valueOf } from './openapi-schema.ts';
import { inHeader, inPath, inQuery, plain, type Style } from './openapi-style.ts';
import { type Source, type SourceProblem, type SourceRequest, splitUrl, stepOf } from './source.ts';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
/** References to references, at most. */
const refsMax = 32;

export function isOpenApi(text: string): boolean {
  return /^\s*\{?\s*["']?(?:openapi|swagger)["']?\s*:\s*["']?\d/m.test(text);
}

/** `weights`: by operationId, or by method and path such as `GET /items/{id}`. */
export function readOpenApi(text: string, weights: ReadonlyMap<string, number> = new Map()): Source {
  return new Reader(text, weights).read();
}

interface Operation {
  /** `GET /items/{id}`. */
  readonly name: string;
  readonly id: string | undefined;
  readonly method: string;
  readonly template: string;
  readonly path: Path;
  readonly operation: object;
  readonly item: object;
}

/** Parts of a request in the making. */
interface Draft {
  path: string;
  readonly query: string[];
  readonly headers: [string, string][];
  readonly cookies: string[];
}

class Reader {
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument>;
  readonly #root: unknown;
  readonly #weights: ReadonlyMap<string, number>;
  readonly #problems: SourceProblem[] = [];

  constructor(text: string, weights: ReadonlyMap<string, number>) {
    this.#weights = weights;
    this.#document = parseDocument(text, { lineCounter: this.#lines, uniqueKeys: false });
    for (const error of this.#document.errors) {
      this.#problems.push({ line: error.linePos?.[0].line, message: error.message.split('\n')[0] ?? '' });
    }
    this.#root = this.#problems.length > 0 ? undefined : this.#plain();
  }

  read(): Source {
    const requests = this.#problems.length > 0 ? [] : this.#requests();
    return { format: 'openapi', requests, problems: this.#problems, strict: true, notes: this.#notes() };
  }

  /** The document as values. An alias without its anchor, or aliases that unfold without end, are found only here. */
  #plain(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: 100 });
    } catch (error) {
      this.#problems.push({ line: undefined, message: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
  }

  #requests(): readonly SourceRequest[] {
    if (!isObject(this.#root)) return this.#wrong([], 'expected an OpenAPI document');
    const version = textAt(this.#root, 'openapi');
    if (version?.startsWith('3.') !== true) {
      const found = version ?? textAt(this.#root, 'swagger') ?? 'none';
      return this.#wrong(
        [version === undefined ? 'swagger' : 'openapi'],
        `version ${found}: expected OpenAPI 3, such as openapi: 3.1.0`,
      );
    }
    const operations = this.#operations();
    this.#checkWeights(operations);
    const weighted = operations.flatMap((operation) => {
      const weight = this.#weightOf(operation);
      const request = weight === 0 ? undefined : this.#request(operation);
      return request === undefined ? [] : [{ request, weight }];
    });
    return inTurn(weighted);
  }

  #operations(): readonly Operation[] {
    const paths: unknown = isObject(this.#root) ? Reflect.get(this.#root, 'paths') : undefined;
    if (!isObject(paths) || Object.keys(paths).length === 0) {
      this.#wrong(['paths'], 'there are no paths');
      return [];
    }
    return Object.entries(paths).flatMap(([template, given]: [string, unknown]) => {
      const found = this.#resolve(given);
      if (typeof found === 'string') {
        this.#wrong(['paths', template], found);
        return [];
      }
      const item = found.value;
      const path = found.path ?? ['paths', template];
      return methods.flatMap((method): Operation[] => {
        const operation: unknown = Reflect.get(item, method);
        if (!isObject(operation)) return [];
        const name = `${method.toUpperCase()} ${template}`;
        return [
          { name, id: textAt(operation, 'operationId'), method, template, path: [...path, method], operation, item },
        ];
      });
    });
  }

  #checkWeights(operations: readonly Operation[]): void {
    const known = new Set(operations.flatMap(({ name, id }) => [name, ...(id === undefined ? [] : [id])]));
    for (const name of this.#weights.keys()) {
      if (!known.has(name)) {
        const some = [...known].slice(0, 6).join(', ');
        this.#problems.push({
          line: undefined,
          message: `no operation is called "${name}": there are ${some}${known.size > 6 ? ', …' : ''}`,
        });
      }
    }
  }

  #weightOf({ name, id, operation, path }: Operation): number {
    const given = this.#weights.get(name) ?? (id === undefined ? undefined : this.#weights.get(id));
    if (given !== undefined) return given;
    const written: unknown = Reflect.get(operation, 'x-weight');
    if (written === undefined) return 1;
    if (typeof written === 'number' && Number.isInteger(written) && written >= 0 && written <= weightMax)
      return written;
    this.#wrong([...path, 'x-weight'], `expected a whole number from 0 to ${weightMax}`);
    return 0;
  }

  #request(operation: Operation): SourceRequest | undefined {
    const server = this.#server(operation);
    const draft: Draft = { path: operation.template, query: [], headers: [], cookies: [] };
    const before = this.#problems.length;
    for (const { parameter, path } of this.#parameters(operation)) this.#addParameter(parameter, path, draft);
    const body = this.#body(operation, draft);
    const open = /\{([^}]*)\}/.exec(draft.path);
    if (open !== null && this.#problems.length === before) {
      this.#wrong(operation.path, `no parameter says what stands for {${open[1]}} in ${operation.template}`);
    }
    if (server === undefined || this.#problems.length > before) return undefined;
    if (draft.cookies.length > 0) draft.headers.push(['Cookie', draft.cookies.join('; ')]);
    const query = draft.query.length === 0 ? '' : `?${draft.query.join('&')}`;
    const step = stepOf(operation.method, `${server.path}${draft.path}${query}`, draft.headers, body);
    return { origin: server.origin, step, at: undefined };
  }

  /** The first server of the operation, the path or the document, its variables at their defaults. */
  #server({
    operation,
    item,
    path,
  }: Operation): { readonly origin: string | undefined; readonly path: string } | undefined {
    const [first] =
      listAt(operation, 'servers') ??
      listAt(item, 'servers') ??
      (isObject(this.#root) ? listAt(this.#root, 'servers') : undefined) ??
      [];
    if (!isObject(first)) return { origin: undefined, path: '' };
    const variables: unknown = Reflect.get(first, 'variables');
    const url = (textAt(first, 'url') ?? '/').replaceAll(/\{([^}]*)\}/g, (whole, name: string) => {
      const variable: unknown = isObject(variables) ? Reflect.get(variables, name) : undefined;
      return (isObject(variable) ? textAt(variable, 'default') : undefined) ?? whole;
    });
    if (url.startsWith('/')) return { origin: undefined, path: url.replace(/\/+$/, '') };
    const split = splitUrl(url);
    if (split === undefined || url.includes('{')) {
      this.#wrong(path, `its server ${url} is no address over HTTP`);
      return undefined;
    }
    return { origin: split.origin, path: split.path.replace(/\/+$/, '') };
  }

  /** Those of the path, and those of the operation, which replace them by name and place. */
  #parameters({ operation, item, path }: Operation): readonly { readonly parameter: object; readonly path: Path }[] {
    const found = new Map<string, { readonly parameter: object; readonly path: Path }>();
    const lists = [
      { list: listAt(item, 'parameters'), at: path.slice(0, -1) },
      { list: listAt(operation, 'parameters'), at: path },
    ];
    for (const { list, at } of lists) {
      for (const [index, given] of (list ?? []).entries()) {
        const here = [...at, 'parameters', index];
        const resolved = this.#resolve(given);
        if (typeof resolved === 'string') this.#wrong(here, resolved);
        else {
          const parameter = resolved.value;
          found.set(`${textAt(parameter, 'in')} ${textAt(parameter, 'name')}`, {
            parameter,
            path: resolved.path ?? here,
          });
        }
      }
    }
    return [...found.values()];
  }

  #addParameter(parameter: object, path: Path, draft: Draft): void {
    const name = textAt(parameter, 'name') ?? '';
    const place = textAt(parameter, 'in') ?? '';
    const written = exampleOf(parameter, this.#resolve);
    const isRequired = place === 'path' || Reflect.get(parameter, 'required') === true;
    if (!isRequired && written === undefined) return;
    if (place === 'header' && notParameters.has(name.toLowerCase())) return;
    const content = firstContent(parameter);
    const filled =
      written ??
      (content === undefined
        ? valueOf(Reflect.get(parameter, 'schema'), [...path, 'schema'], this.#resolve)
        : valueOf(Reflect.get(content.media, 'schema'), [...path, 'content', content.type, 'schema'], this.#resolve));
    if ('unfilled' in filled) {
      this.#unfilled(`parameter ${name}`, filled.unfilled);
      return;
    }
    const value: unknown = content === undefined ? filled.value : JSON.stringify(filled.value);
    const style = styleOf(parameter, name, place);
    if (place === 'path') draft.path = draft.path.replaceAll(`{${name}}`, () => inPath(style, value));
    else if (place === 'query') draft.query.push(inQuery(style, value));
    else if (place === 'header') draft.headers.push([name, inHeader(style, value)]);
    else if (place === 'cookie') draft.cookies.push(`${name}=${inHeader(style, value)}`);
    else this.#wrong(path, `parameter ${name} is in "${place}": expected path, query, header or cookie`);
  }

  #body({ operation, path, name }: Operation, draft: Draft): string | undefined {
    const given: unknown = Reflect.get(operation, 'requestBody');
    if (given === undefined) return undefined;
    const found = this.#resolve(given);
    if (typeof found === 'string') {
      this.#wrong([...path, 'requestBody'], found);
      return undefined;
    }
    const here = found.path ?? [...path, 'requestBody'];
    const content: unknown = Reflect.get(found.value, 'content');
    const chosen = isObject(content) ? preferred(content) : undefined;
    if (chosen === undefined) {
      const types = isObject(content) ? Object.keys(content).join(', ') : 'none';
      if (Reflect.get(found.value, 'required') === true) {
        this.#wrong(here, `the body of ${name} is ${types}: expected JSON, a form or text`);
      }
      return undefined;
    }
    const filled =
      exampleOf(chosen.media, this.#resolve) ??
      valueOf(Reflect.get(chosen.media, 'schema'), [...here, 'content', chosen.type, 'schema'], this.#resolve);
    if ('unfilled' in filled) {
      this.#unfilled(`the body of ${name}`, filled.unfilled);
      return undefined;
    }
    draft.headers.push(['Content-Type', chosen.type]);
    return bodyText(chosen.type, filled.value);
  }

  /** What the operations want for their security, which no document holds. */
  #notes(): readonly string[] {
    const components: unknown = isObject(this.#root) ? Reflect.get(this.#root, 'components') : undefined;
    const schemes: unknown = isObject(components) ? Reflect.get(components, 'securitySchemes') : undefined;
    return Object.entries(isObject(schemes) ? schemes : {}).flatMap(([name, scheme]: [string, unknown]) => {
      if (!isObject(scheme)) return [];
      const type = textAt(scheme, 'type') ?? '';
      const where = textAt(scheme, 'in');
      const field = textAt(scheme, 'name') ?? '';
      if (type === 'apiKey' && where === 'header') return [`security scheme ${name}: give it with -H "${field}: …"`];
      if (type === 'apiKey' && where === 'cookie')
        return [`security scheme ${name}: give it with -H "cookie: ${field}=…"`];
      if (type === 'apiKey') return [`security scheme ${name} is the query parameter ${field}, which is not sent`];
      return type === 'mutualTLS' ? [] : [`security scheme ${name}: give it with -H "authorization: …"`];
    });
  }

  readonly #resolve: Resolve = (given) => {
    let value: unknown = given;
    let path: Path | undefined;
    for (let step = 0; isObject(value) && '$ref' in value; step++) {
      const ref: unknown = Reflect.get(value, '$ref');
      if (typeof ref !== 'string') return 'expected a text after $ref';
      if (!ref.startsWith('#/')) return `$ref ${ref} is in another file: put it into the document`;
      if (step >= refsMax) return `$ref ${ref} leads in a circle`;
      const keys = ref
        .slice(2)
        .split('/')
        .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'));
      value = keys.reduce((inner: unknown, key) => (isObject(inner) ? Reflect.get(inner, key) : undefined), this.#root);
      path = keys;
      if (value === undefined) return `$ref ${ref} leads nowhere`;
    }
    return isObject(value) ? { value, path } : 'expected an object';
  };

  #unfilled(what: string, { path, message }: Unfilled): void {
    this.#wrong(path, `${what}: ${message}`);
  }

  /** Tells a problem with its place in the document, and its line. */
  #wrong(path: Path, message: string): readonly [] {
    const where = path.length === 0 ? '' : `${pathText(path)}: `;
    this.#problems.push({ line: this.#lineOf(path), message: `${where}${message}` });
    return [];
  }

  /** Of the place, or of the nearest one around it that there is. */
  #lineOf(path: Path): number | undefined {
    for (let length = path.length; length > 0; length--) {
      const node: unknown = this.#document.getIn(path.slice(0, length), true);
      const range: unknown = isObject(node) ? Reflect.get(node, 'range') : undefined;
      const start: unknown = Array.isArray(range) ? range[0] : undefined;
      if (typeof start === 'number') return this.#lines.linePos(start).line;
    }
    return undefined;
  }
}

export const weightMax = 1000;

/** Each as often as its weight says, spread as evenly as can be: whoever is furthest behind its share is next. */
function inTurn(
  weighted: readonly { readonly request: SourceRequest; readonly weight: number }[],
): readonly SourceRequest[] {
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  const ahead = weighted.map(() => 0);
  return Array.from({ length: total }, () => {
    let next = 0;
    weighted.forEach(({ weight }, index) => {
      ahead[index] = (ahead[index] ?? 0) + weight;
      if ((ahead[index] ?? 0) > (ahead[next] ?? 0)) next = index;
    });
    ahead[next] = (ahead[next] ?? 0) - total;
    return weighted[next]?.request;
  }).filter((request) => request !== undefined);
}

/** Header parameters of these names are to be ignored (OpenAPI 3.1, 4.8.12.1). */
const notParameters = new Set(['accept', 'content-type', 'authorization']);

const defaultStyles: Readonly<Record<string, string>> = {
  path: 'simple',
  header: 'simple',
  query: 'form',
  cookie: 'form',
};

function styleOf(parameter: object, name: string, place: string): Style {
  const style = textAt(parameter, 'style') ?? defaultStyles[place] ?? 'simple';
  const explode: unknown = Reflect.get(parameter, 'explode');
  return { name, style, explode: typeof explode === 'boolean' ? explode : style === 'form' };
}

/** `example`, or the value of the first of `examples`. */
function exampleOf(given: object, resolve: Resolve): { readonly value: unknown } | undefined {
  const one: unknown = Reflect.get(given, 'example');
  if (one !== undefined) return { value: one };
  const many: unknown = Reflect.get(given, 'examples');
  const first: unknown = isObject(many) ? Object.values(many)[0] : undefined;
  const found = first === undefined ? 'none' : resolve(first);
  const value: unknown = typeof found === 'string' ? undefined : Reflect.get(found.value, 'value');
  return value === undefined ? undefined : { value };
}

interface Media {
  readonly type: string;
  readonly media: object;
}

function firstContent(parameter: object): Media | undefined {
  const content: unknown = Reflect.get(parameter, 'content');
  const [first] = isObject(content) ? Object.entries(content) : [];
  return first !== undefined && isObject(first[1]) ? { type: first[0], media: first[1] } : undefined;
}

/** JSON before a form before text. */
function preferred(content: object): Media | undefined {
  const medias = Object.entries(content).flatMap(([type, media]: [string, unknown]): Media[] =>
    isObject(media) ? [{ type, media }] : [],
  );
  const ranks = [/^application\/json/i, /[/+]json/i, /^application\/x-www-form-urlencoded/i, /^text\//i];
  for (const rank of ranks) {
    const found = medias.find(({ type }) => rank.test(type));
    if (found !== undefined) return found;
  }
  return undefined;
}

function bodyText(type: string, value: unknown): string {
  if (/json/i.test(type)) return JSON.stringify(value);
  if (!/x-www-form-urlencoded/i.test(type) || !isObject(value)) return plain(value);
  const form = new URLSearchParams();
  for (const [name, inner] of Object.entries(value)) {
    for (const item of Array.isArray(inner) ? inner : [inner]) form.append(name, plain(item));
  }
  return form.toString();
}

function textAt(value: object, key: string): string | undefined {
  const found: unknown = Reflect.get(value, key);
  return typeof found === 'string' ? found : undefined;
}

/** `paths./items/{id}.get.parameters[0].schema`. */
const pathText = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');
