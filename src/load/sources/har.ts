// HTTP Archive 1.2, as the network panel of a browser saves it: requests in order, with their times.

import { type Duration, ms } from '../../base.ts';
import { type Source, type SourceProblem, type SourceRequest, splitUrl, stepOf } from './source.ts';

export function readHar(text: string): Source {
  const requests: SourceRequest[] = [];
  const problems: SourceProblem[] = [];
  const entries = entriesOf(text);
  if (typeof entries === 'string')
    return { format: 'har', requests, problems: [{ line: undefined, message: entries }] };
  let first: number | undefined;
  entries.forEach((entry, index) => {
    const began = Date.parse(textAt(entry, 'startedDateTime') ?? '');
    if (!Number.isNaN(began)) first ??= began;
    const at = Number.isNaN(began) || first === undefined ? undefined : ms(Math.max(0, began - first));
    const found = requestOf(Reflect.get(entry, 'request'), at);
    if (typeof found === 'string') problems.push({ line: undefined, message: `entry ${index + 1}: ${found}` });
    else requests.push(found);
  });
  return { format: 'har', requests, problems };
}

function entriesOf(text: string): readonly object[] | string {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const log: unknown = isObject(root) ? Reflect.get(root, 'log') : undefined;
  const entries: unknown = isObject(log) ? Reflect.get(log, 'entries') : undefined;
  if (!Array.isArray(entries)) return 'expected log.entries, a list of requests';
  return entries.filter(isObject);
}

function requestOf(request: unknown, at: Duration | undefined): SourceRequest | string {
  if (!isObject(request)) return 'expected a request';
  const address = textAt(request, 'url') ?? '';
  const url = splitUrl(address);
  if (url === undefined) return `${address === '' ? 'nothing' : address} is no address over HTTP`;
  const listed: unknown = Reflect.get(request, 'headers');
  const headers = (Array.isArray(listed) ? listed : []).filter(isObject).flatMap((field): [string, string][] => {
    const name = textAt(field, 'name');
    const value = textAt(field, 'value');
    // The browser's host and cookies belong to whom it spoke to; the address says the host, and cookies are kept as they are.
    return name === undefined || value === undefined || name.toLowerCase() === 'host' ? [] : [[name, value]];
  });
  const posted: unknown = Reflect.get(request, 'postData');
  const body = isObject(posted) ? textAt(posted, 'text') : undefined;
  return { origin: url.origin, step: stepOf(textAt(request, 'method') ?? 'GET', url.path, headers, body), at };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function textAt(value: object, key: string): string | undefined {
  const found: unknown = Reflect.get(value, key);
  return typeof found === 'string' ? found : undefined;
}
