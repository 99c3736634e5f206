import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { readOpenApi } from './openapi.ts';
import { valueOf } from './openapi-schema.ts';
import { readSource } from './read-source.ts';
import type { Source } from './source.ts';

const shop = `openapi: 3.0.3
info: {title: Shop, version: "1"}
servers:
  - url: https://{region}.shop.example:8443/v1/
    variables: {region: {default: eu}}
paths:
  /items:
    get:
      operationId: listItems
      x-weight: 3
      parameters:
        - {name: limit, in: query, required: true, schema: {type: integer, minimum: 1, maximum: 50}}
        - {name: colour, in: query, schema: {type: string}}
        - {name: tag, in: query, example: [a, "b c"], schema: {type: array, items: {type: string}}}
    post:
      operationId: addItem
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: "#/components/schemas/Item"}
      parameters:
        - $ref: "#/components/parameters/Trace"
  /items/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer, default: 7}}
    get:
      operationId: getItem
      parameters:
        - {name: session, in: cookie, required: true, example: s1, schema: {type: string}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, required: true, schema: {type: string, format: uuid}}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
  schemas:
    Item:
      type: object
      required: [name, price, parts]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string, minLength: 3, maxLength: 4}
        price: {type: number, exclusiveMinimum: true, minimum: 0}
        note: {type: string}
        size: {type: string, enum: [s, m]}
        parts:
          type: array
          minItems: 2
          items: {type: string, format: date}
`;

const lines = (source: Source): string[] =>
  source.requests.map(({ origin, step }) => `${step.method} ${origin ?? ''}${step.path}`);
const problems = (source: Source): string[] => source.problems.map(({ line, message }) => `${line ?? '-'}: ${message}`);

test('each operation is a request, as often as its weight says and spread evenly', () => {
  const source = readSource(shop) ?? assert.fail('not recognised');
  assert.deepEqual(problems(source), []);
  const list = 'GET https://eu.shop.example:8443/v1/items?limit=1&tag=a&tag=b%20c';
  assert.deepEqual(lines(source), [
    list,
    'POST https://eu.shop.example:8443/v1/items',
    list,
    'GET https://eu.shop.example:8443/v1/items/7',
    list,
  ]);
  assert.deepEqual(source.notes, ['security scheme key: give it with -H "X-Key: …"']);
});

test('bodies have what is required and what has values, headers and cookies what they ask for', () => {
  const { requests } = readOpenApi(shop);
  const post = requests.find(({ step }) => step.method === 'POST')?.step;
  assert.deepEqual(JSON.parse(post?.body ?? ''), {
    name: 'valu',
    price: 1,
    size: 's',
    parts: ['2026-01-01', '2026-01-01'],
  });
  assert.equal(post?.headers['Content-Type'], 'application/json');
  assert.equal(post.headers['X-Trace'], '00000000-0000-4000-8000-000000000001');
  const get = requests.find(({ step }) => step.path.endsWith('/items/7'))?.step;
  assert.equal(get?.headers['Cookie'], 'session=s1');
});

test('weights given beside the document count instead of its own; 0 leaves an operation out', () => {
  const weights = new Map([
    ['listItems', 0],
    ['GET /items/{id}', 2],
  ]);
  assert.deepEqual(
    lines(readOpenApi(shop, weights)).map((line) => line.replace(/https:\/\/[^/]+/, '')),
    ['GET /v1/items/7', 'POST /v1/items', 'GET /v1/items/7'],
  );
  assert.match(
    problems(readOpenApi(shop, new Map([['lisItems', 1]]))).join(),
    /no operation is called "lisItems": there are GET \/items, listItems/,
  );
});

test('the same document as JSON gives the same requests', async () => {
  const { parse } = await import('yaml');
  const json = JSON.stringify(parse(shop), undefined, 2);
  assert.deepEqual(readSource(json), readOpenApi(shop));
});

test('what cannot be filled is told with its line and place, all of it at once', () => {
  const source = readOpenApi(`openapi: 3.1.0
paths:
  /a/{code}:
    get:
      parameters:
        - name: code
          in: path
          schema: {type: string, pattern: "^[A-Z]{3}-\\\\d{4}$"}
  /b/{missing}:
    get: {}
  /c:
    post:
      requestBody:
        required: true
        content: {image/png: {schema: {type: string, format: binary}}}
  /d:
    get:
      parameters: [{$ref: "#/components/parameters/None"}]
  /e:
    post:
      requestBody:
        content:
          application/json: {schema: {$ref: "#/components/schemas/Loop"}}
  /f:
    get: {parameters: [{name: x, in: body, required: true}]}
components:
  schemas:
    Loop: {type: object, required: [next], properties: {next: {$ref: "#/components/schemas/Loop"}}}
`);
  assert.deepEqual(problems(source), [
    '8: paths./a/{code}.get.parameters[0].schema: parameter code: a text that matches ^[A-Z]{3}-\\d{4}$ cannot be made up: give an example',
    '10: paths./b/{missing}.get: no parameter says what stands for {missing} in /b/{missing}',
    '14: paths./c.post.requestBody: the body of POST /c is image/png: expected JSON, a form or text',
    '18: paths./d.get.parameters[0]: $ref #/components/parameters/None leads nowhere',
    '28: components.schemas.Loop.properties.next: the body of POST /e: the schema contains itself: give an example',
    '25: paths./f.get.parameters[0]: parameter x is in "body": expected path, query, header or cookie',
  ]);
  assert.equal(source.strict, true);
});

test('documents of another kind or another version say what they are', () => {
  assert.match(
    problems(readOpenApi('swagger: "2.0"\npaths: {}\n')).join(),
    /1: swagger: version 2.0: expected OpenAPI 3/,
  );
  assert.match(problems(readOpenApi('openapi: 3.0.0\n')).join(), /paths: there are no paths/);
  assert.match(problems(readOpenApi('openapi: 3.0.0\npaths: {/a: {get: [}\n')).join(), /^2: /);
});

test('lists and objects are written in the styles of the specification', () => {
  const parameters = [
    { name: 'p', in: 'path', style: 'matrix', explode: true, example: [3, 4] },
    { name: 'q', in: 'query', explode: false, example: [3, 4] },
    { name: 'r', in: 'query', style: 'pipeDelimited', explode: false, example: ['a/b', 'c'] },
    { name: 's', in: 'query', style: 'deepObject', example: { r: 100, g: 'x y' } },
    { name: 't', in: 'query', content: { 'application/json': { schema: { const: { a: 1 } } } }, required: true },
    { name: 'H', in: 'header', example: [1, 2] },
  ];
  const { requests } = readOpenApi(JSON.stringify({ openapi: '3.1.0', paths: { '/x{p}': { get: { parameters } } } }));
  const step = requests[0]?.step;
  assert.equal(step?.path, '/x;p=3;p=4?q=3,4&r=a%2Fb|c&s[r]=100&s[g]=x%20y&t=%7B%22a%22%3A1%7D');
  assert.equal(step.headers['H'], '1,2');
  assert.equal(requests[0]?.origin, undefined);
});

test('forms and text are bodies too, and a relative server is a path', () => {
  const post = (content: object): object => ({ post: { requestBody: { content } } });
  const document = {
    openapi: '3.0.0',
    servers: [{ url: '/api/' }],
    paths: {
      '/form': post({ 'application/x-www-form-urlencoded': { example: { a: 'x y', b: [1, 2] } } }),
      '/text': post({ 'text/plain': { examples: { one: { value: 'hello' } } } }),
    },
  };
  const { requests } = readOpenApi(JSON.stringify(document));
  assert.deepEqual(
    requests.map(({ step }) => [step.path, step.body]),
    [
      ['/api/form', 'a=x+y&b=1&b=2'],
      ['/api/text', 'hello'],
    ],
  );
});

/** Schemas without patterns, whose values an independent validator can judge. */
const schemas = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(fc.integer({ min: -100, max: 100 }), fc.integer({ min: 0, max: 50 })).map(([minimum, more]) => ({
      type: 'integer',
      minimum,
      maximum: minimum + more,
    })),
    fc
      .tuple(fc.nat(20), fc.nat(20))
      .map(([minLength, more]) => ({ type: 'string', minLength, maxLength: minLength + more })),
    fc.constantFrom({ type: 'boolean' }, { enum: ['a', 2] }, { type: ['null', 'integer'] }, { const: { x: 1 } }),
    fc.record({ type: fc.constant('array'), minItems: fc.nat(4), items: tie('schema') }),
    fc.record({
      type: fc.constant('object'),
      required: fc.constant(['a']),
      properties: fc.record({ a: tie('schema'), b: tie('schema') }),
    }),
    fc.record({ anyOf: fc.tuple(tie('schema'), tie('schema')) }),
  ),
})).schema;

test('a value made up for a schema is one that the schema allows, by an independent validator', () => {
  const ajv = new Ajv({ strict: false, allowUnionTypes: true });
  const resolve = (value: unknown) => ({ value: value as object, path: undefined });
  fc.assert(
    fc.property(schemas, (schema) => {
      const filled = valueOf(schema, [], resolve);
      assert.ok('value' in filled);
      assert.ok(ajv.compile(schema)(filled.value), `${JSON.stringify(filled.value)} for ${JSON.stringify(schema)}`);
    }),
    { numRuns: 300 },
  );
});

test('no text makes the reader throw', () => {
  const words = fc.array(
    fc.constantFrom(
      'openapi: 3.0.0\n',
      'paths:\n',
      '  /a/{b}:\n',
      '    get:\n',
      '      parameters:\n',
      '        - $ref: "#/"\n',
      '      requestBody: 3\n',
      '      - *x\n',
      '&x [',
      '{',
      '}: ',
      '~\n',
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(words, (pieces) => {
      const source = readOpenApi(`openapi: 3.0.0\n${pieces.join('')}`);
      assert.ok(Array.isArray(source.requests));
    }),
  );
});
