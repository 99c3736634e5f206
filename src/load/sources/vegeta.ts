// vegeta's two target formats. Text: a line `METHOD URL`, then header lines, an empty line between targets, `#` a comment;
// `@file` names a body that lies elsewhere. JSON: an object a line with method, url, header (lists of values), body (base64).

import { type Source, type SourceProblem, type SourceRequest, splitUrl, stepOf } from './source.ts';

export function readVegeta(text: string): Source {
  return text.trimStart().startsWith('{') ? readJson(text) : readText(text);
}

function readText(text: string): Source {
  const requests: SourceRequest[] = [];
  const problems: SourceProblem[] = [];
  let target:
    | { line: number; method: string; url: string; headers: [string, string][]; body: string | undefined }
    | undefined;
  const finish = (): void => {
    if (target === undefined) return;
    const found = requestOf(target.method, target.url, target.headers, target.body);
    if (typeof found === 'string') problems.push({ line: target.line, message: found });
    else requests.push(found);
    target = undefined;
  };
  text.split('\n').forEach((raw, index) => {
    const line = raw.trim();
    const start = /^([A-Z]+)\s+(\S+)$/.exec(line);
    const header = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(line);
    if (line.startsWith('#')) return;
    if (line === '') return finish();
    if (start !== null) {
      finish();
      target = { line: index + 1, method: start[1] ?? '', url: start[2] ?? '', headers: [], body: undefined };
    } else if (target === undefined) {
      problems.push({ line: index + 1, message: `found "${line}", expected METHOD URL` });
    } else if (line.startsWith('@')) {
      problems.push({
        line: index + 1,
        message: `the body is in the file ${line.slice(1)}: give targets as JSON with the body in them`,
      });
    } else if (header !== null) target.headers.push([header[1] ?? '', header[2] ?? '']);
    else problems.push({ line: index + 1, message: `found "${line}", expected a header such as Name: value` });
  });
  finish();
  return { format: 'vegeta', requests, problems };
}

function readJson(text: string): Source {
  const requests: SourceRequest[] = [];
  const problems: SourceProblem[] = [];
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const found = jsonTarget(line);
    if (typeof found === 'string') problems.push({ line: index + 1, message: found });
    else requests.push(found);
  });
  return { format: 'vegeta', requests, problems };
}

function jsonTarget(line: string): SourceRequest | string {
  let target: unknown;
  try {
    target = JSON.parse(line);
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (typeof target !== 'object' || target === null) return 'expected an object with method and url';
  const method: unknown = Reflect.get(target, 'method');
  const url: unknown = Reflect.get(target, 'url');
  const header: unknown = Reflect.get(target, 'header');
  const body: unknown = Reflect.get(target, 'body');
  if (typeof method !== 'string' || typeof url !== 'string') return 'expected method and url, both texts';
  const headers = Object.entries(typeof header === 'object' && header !== null ? header : {}).flatMap(
    ([name, values]: [string, unknown]): [string, string][] =>
      (Array.isArray(values) ? values : []).filter((value) => typeof value === 'string').map((value) => [name, value]),
  );
  if (typeof body !== 'string') return requestOf(method, url, headers, undefined);
  try {
    return requestOf(method, url, headers, new TextDecoder().decode(Uint8Array.fromBase64(body)));
  } catch {
    return 'body is not base64';
  }
}

function requestOf(
  method: string,
  address: string,
  headers: readonly (readonly [string, string])[],
  body: string | undefined,
): SourceRequest | string {
  const url = splitUrl(address);
  if (url === undefined) return `${address} is no address; expected one such as http://127.0.0.1:8080/path`;
  return { origin: url.origin, step: stepOf(method, url.path, headers, body), at: undefined };
}
