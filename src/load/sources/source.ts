// Requests that somebody already has: a curl command, a HAR of a browser, a list for vegeta, an access log, an OpenAPI document. Each reader takes a
// text and gives steps, or every problem with where it is. Readers decide nothing about load; they say what was asked.

import type { Duration } from '../../base.ts';
import type { Step } from '../../scenario.ts';

/** One request of a source: where to, and what. */
export interface SourceRequest {
  /** Scheme, host and port, such as `http://shop.example:8080`; undefined where the source does not know (an access log). */
  readonly origin: string | undefined;
  readonly step: Step;
  /** When it was, counted from the first one, where the source knows. */
  readonly at: Duration | undefined;
}

export interface Source {
  readonly format: SourceFormat;
  readonly requests: readonly SourceRequest[];
  readonly problems: readonly SourceProblem[];
  /** Present: a request that could not be read is not to be left out; nothing is asked until all of them can be. */
  readonly strict?: true;
  /** What whoever uses it should know. */
  readonly notes?: readonly string[];
}

export type SourceFormat = 'curl' | 'har' | 'vegeta' | 'access-log' | 'openapi';

export interface SourceProblem {
  /** From 1; undefined where a text has no lines worth counting. */
  readonly line: number | undefined;
  readonly message: string;
}

/** A step of the flow from what a source says; the body's length is ours to write, and hop-by-hop fields are not passed on. */
export function stepOf(
  method: string,
  pathAndQuery: string,
  headers: readonly (readonly [string, string])[],
  body: string | undefined,
): Step {
  const kept = headers.filter(([name, value]) => !ours.has(name.toLowerCase()) && isToken(name) && isOneLine(value));
  return { method: method.toUpperCase(), path: pathAndQuery, headers: Object.fromEntries(kept), body, literal: true };
}

const ours = new Set([
  'content-length',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'accept-encoding',
  'te',
  'upgrade',
]);

/** RFC 9110, 5.1. The pseudo-fields of HTTP/2 that browsers write down are none. */
const isToken = (name: string): boolean => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);

const isOneLine = (text: string): boolean => !/[\r\n\0]/.test(text);

/** Origin and path of an absolute URL; undefined when it is none that can be asked over HTTP. */
export function splitUrl(text: string): { readonly origin: string; readonly path: string } | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return { origin: url.origin, path: `${url.pathname}${url.search}` };
}
